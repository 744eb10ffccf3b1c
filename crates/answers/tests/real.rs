//! Real messages go through merge, scores, sorting and filters.
//!
//! They are in `data/trapi` beside the vectors (see `VECTORS_DIR`); without them the test says so.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod real_messages;

use serde_json::Value;
use shepherd_answers::expand::DIRECT;
use shepherd_answers::merge::{Callback, Outcome, merge};
use shepherd_answers::operations::{
    Limit, Order, Profile, aragorn_score, arax_rank, filter_kgraph_orphans, filter_results_top_n,
    sort_results_score,
};
use trapi::{QueryGraph, Question};

use real_messages::{folder, text};

#[test]
fn real_messages_go_all_the_way() {
    let Some(folder) = folder() else {
        println!("no real messages found: nothing tried");
        return;
    };
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = text(&entry.unwrap().path());
        let response: Value = serde_json::from_str(&text).unwrap();
        let wanted = response["message"]["results"].as_array().unwrap().len();
        let graph = QueryGraph::parse(&response["message"]["query_graph"].to_string()).unwrap();
        let callback = Callback { index: 0, label: DIRECT, sent: &graph, body: &text };
        for question in [Question::Lookup, graph.examine().unwrap_or(Question::Lookup)] {
            let mut merged = merge("aragorn", &graph, &question, &[callback, callback]);
            assert!(
                matches!(merged.outcomes.as_slice(), [Outcome::Answered { results }, _] if *results == wanted)
            );
            let message = &mut merged.message;
            assert!(message.result_count() > 0);
            aragorn_score(message, Profile::Blended);
            arax_rank(message);
            sort_results_score(message, Order::Descending);
            filter_results_top_n(message, Limit::Of(3));
            filter_kgraph_orphans(message);
            let mut out = Vec::new();
            message.write(&mut out).unwrap();
            let written: Value = serde_json::from_slice(&out).unwrap();
            assert!(written["results"].as_array().unwrap().len() <= 3 && message.edge_count() > 0);
        }
    }
}
