//! Whole messages, sound and hostile.

use std::cell::RefCell;

use super::*;
use crate::message::parse;

/// A judge that tells what it is asked.
struct Recorder(RefCell<Vec<Asked>>);

struct Asked {
    nodes: Vec<String>,
    predicates: Vec<String>,
    graph: [f32; GRAPH_FEATURES],
}

#[derive(Debug, thiserror::Error)]
#[error("no vector for it")]
struct NoVector;

impl PathModel for Recorder {
    type Error = NoVector;

    fn score(&self, path: &PathFeatures<'_>) -> Result<f64, NoVector> {
        let nodes: Vec<String> = path.nodes.iter().map(|&node| node.to_owned()).collect();
        if nodes.contains(&"X:bad".to_owned()) {
            return Err(NoVector);
        }
        let odd = nodes.contains(&"X:odd".to_owned());
        self.0.borrow_mut().push(Asked { nodes, predicates: path.predicates.clone(), graph: path.graph });
        Ok(if odd { f64::NAN } else { 0.75 })
    }
}

fn source(name: &str) -> String {
    format!(r#"[{{"resource_id":"{name}","resource_role":"primary_knowledge_source"}}]"#)
}

fn edge(subject: &str, object: &str, from: &str, attributes: &str) -> String {
    format!(
        r#"{{"subject":"{subject}","predicate":"biolink:{from}","object":"{object}","sources":{},"attributes":{attributes}}}"#,
        source(from)
    )
}

fn message(edges: &[(&str, String)], graphs: &str, analyses: &str) -> String {
    let edges: Vec<String> = edges.iter().map(|(id, edge)| format!("\"{id}\":{edge}")).collect();
    format!(
        r#"{{"message":{{"knowledge_graph":{{"nodes":{{"A":{{}},"B":{{}},"M":{{"attributes":[{{"attribute_type_id":"biolink:information_content","value":80}}]}}}},"edges":{{{}}}}},"auxiliary_graphs":{{{graphs}}},"results":[{{"node_bindings":{{"a":[{{"id":"A"}}],"b":[{{"id":"B"}}]}},"analyses":[{analyses}]}}]}}}}"#,
        edges.join(",")
    )
}

fn bound(graph: &str) -> String {
    format!(r#"{{"path_bindings":{{"p":[{{"id":"{graph}"}}]}},"score":0.1}}"#)
}

fn scores(text: &str, model: Option<&Recorder>) -> (Vec<f64>, Vec<Note>) {
    let mut message = parse(text).unwrap();
    let notes = score_paths(&mut message, model);
    let analyses = message.results.iter().flat_map(|result| &result.analyses);
    (analyses.map(|analysis| analysis.score.map_or(-1.0, |score| score.value)).collect(), notes)
}

fn edges() -> Vec<(&'static str, String)> {
    let papers = r#"[{"attribute_type_id":"biolink:publications","value":["PMID:1","PMID:2","PMID:3","PMID:4","PMID:5"]}]"#;
    vec![
        ("e1", edge("A", "M", "one", "[]")),
        ("e2", edge("M", "A", "two", papers)),
        ("e3", edge("M", "B", "one", "[]")),
        ("e4", edge("M", "M", "one", "[]")),
        ("bad", edge("A", "X:bad", "one", "[]")),
        ("odd", edge("A", "X:odd", "one", "[]")),
    ]
}

const GRAPHS: &str = r#""p":{"edges":["e1","e2","e3"]},"bad":{"edges":["bad"]},"odd":{"edges":["odd"]},"empty":{"edges":[]},"gone":{"edges":["e1","nowhere"]},"self":{"edges":["e4"]}"#;

fn close(scores: &[f64], expected: &[f64]) -> bool {
    scores.len() == expected.len()
        && scores.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-12)
}

#[test]
fn paths_are_scored_by_the_graph_and_a_flaw_costs_its_own_path() {
    let analyses = [bound("p"), bound("empty"), bound("gone"), bound("nowhere"), bound("self")].join(",");
    let text = message(&edges(), GRAPHS, &analyses);
    let (scores, notes) = scores(&text, None);
    let node = 0.9;
    let path = (1.0 - 0.5 * 0.375) * 0.5 * node;
    assert!(close(&scores, &[path, 0.1, 0.1, 0.1, 0.5 * node]), "{scores:?}");
    let [note] = &notes[..] else { panic!("{notes:?}") };
    assert_eq!(note.message, "score_paths: 3 paths are not scored; the first, because it has no edges");
}

#[test]
fn model_gets_what_the_message_tells() {
    let recorder = Recorder(RefCell::default());
    let text = message(&edges(), GRAPHS, &[bound("bad"), bound("odd"), bound("p")].join(","));
    let (scores, notes) = scores(&text, Some(&recorder));
    assert!(close(&scores, &[0.1, 0.1, 0.75]), "{scores:?}");
    assert_eq!(notes[0].message, "score_paths: 2 paths are not scored; the first, because no vector for it");
    let asked = recorder.0.borrow();
    let Asked { nodes, predicates, graph } = asked.last().unwrap();
    assert_eq!(nodes, &["A", "B", "M"]);
    assert_eq!(predicates, &["biolink:one", "biolink:two"]);
    let expected = [2.0, 3.0, 1.0, 1.0, 1.5, 6f32.ln(), 80.0, 80.0, 2f32.ln(), 2f32.ln(), 0.8125 * 0.5 * 0.9];
    assert!(graph.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-6), "{graph:?}");
}

#[test]
fn message_without_paths_is_untouched() {
    let analysis = r#"{"edge_bindings":{"e":[{"id":"e1"}]},"score":0.3}"#;
    let (scores, notes) = scores(&message(&edges(), GRAPHS, analysis), None);
    assert!(close(&scores, &[0.3]) && notes.is_empty());
    assert!(score_paths::<Recorder>(&mut Message::default(), None).is_empty());
}

#[test]
fn huge_and_odd_values_are_survived() {
    let values = ["1e400", "-5", "\"NaN\"", "null", "[1]", "{}", "\"1e308\"", "9223372036854775808"];
    for value in values {
        let attributes = format!(
            r#"[{{"attribute_type_id":"biolink:publications","value":{value}}},{{"attribute_type_id":"biolink:information_content","value":{value}}},7,null]"#
        );
        let edges = [("e", edge("A", "M", "one", &attributes)), ("f", edge("M", "B", "one", &attributes))];
        let text = message(&edges, r#""p":{"edges":["e","f","e"]}"#, &bound("p"))
            .replace(r#"[{"attribute_type_id":"biolink:information_content","value":80}]"#, &attributes);
        if let Ok(mut message) = parse(&text) {
            assert!(score_paths::<Recorder>(&mut message, None).is_empty(), "{value}");
            let score = message.results[0].analyses[0].score.unwrap().value;
            assert!(score > 0.0 && score < 1.0, "{value}: {score}");
        }
    }
    let edges: Vec<String> = (0..201).map(|number| format!("\"e{number}\"")).collect();
    let graphs = format!(r#""p":{{"edges":[{}]}}"#, edges.join(","));
    let (scores, notes) = scores(&message(&[], &graphs, &bound("p")), None);
    assert!(close(&scores, &[0.1]));
    assert!(notes[0].message.ends_with("it has more than 200 edges"), "{notes:?}");
}
