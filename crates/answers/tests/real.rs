//! Real messages go through merge, scores, sorting and filters.
//!
//! They are in `data/trapi` beside the vectors (see `VECTORS_DIR`); without them the test says so.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;
use shepherd_answers::expand::DIRECT;
use shepherd_answers::merge::{Callback, Outcome, merge};
use shepherd_answers::operations::{
    Limit, Order, Profile, aragorn_score, arax_rank, filter_kgraph_orphans, filter_results_top_n,
    sort_results_score,
};
use trapi::{QueryGraph, Question};

fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("VECTORS_DIR").map(|vectors| Path::new(&vectors).join("../data/trapi"));
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/trapi");
    [named, Some(beside)].into_iter().flatten().find(|path| path.is_dir())
}

fn text(file: &Path) -> String {
    let file_reader = File::open(file).unwrap();
    let mut text = String::new();
    if file.extension().is_some_and(|extension| extension == "zst") {
        zstd::stream::read::Decoder::new(file_reader).unwrap().read_to_string(&mut text).unwrap();
    } else {
        flate2::read::GzDecoder::new(file_reader).read_to_string(&mut text).unwrap();
    }
    text
}

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
