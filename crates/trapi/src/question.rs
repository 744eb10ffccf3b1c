//! Which of the three kinds of question a query graph asks, or why it asks none we answer.

use crate::json::Path;
use crate::{Invalid, PathConstraint, Problem, QEdge, QPath, QueryGraph};

/// What a query graph asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Edges of any shape, looked up as they are.
    Lookup,
    /// One edge to be inferred, with one end pinned.
    Inferred(Inferred),
    /// Paths between two pinned nodes.
    Pathfinder(Pathfinder),
}

/// The one inferred edge of a query graph and its ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inferred {
    /// Key of the inferred edge.
    pub edge: String,
    /// Key of its end that has ids.
    pub pinned: String,
    /// Key of its other end, which the answers bind.
    pub answer: String,
}

/// The one path of a query graph and its ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pathfinder {
    /// Key of the path.
    pub path: String,
    /// Key of the node where it starts.
    pub subject: String,
    /// Key of the node where it ends.
    pub object: String,
}

/// How many nodes, edges and paths a query graph may have, each.
const MAX_PARTS: usize = 200;
/// How long a key or an id may be, in bytes.
const MAX_TEXT_BYTES: usize = 2000;

pub(crate) fn check_text(text: &str) -> Result<(), Problem> {
    if text.len() > MAX_TEXT_BYTES {
        Err(Problem::TooLong { limit: MAX_TEXT_BYTES })
    } else if text.chars().any(char::is_control) {
        Err(Problem::ControlCharacter)
    } else {
        Ok(())
    }
}

impl QueryGraph {
    /// Tells what the graph asks.
    ///
    /// # Errors
    /// When an edge or path names a node that is not there, or the graph asks what is not supported:
    /// inferred beside looked-up edges, several inferred edges or paths, an inferred edge whose ends
    /// are both or neither pinned, paths beside edges, a path with several constraints or intermediate categories.
    pub fn examine(&self) -> Result<Question, Invalid> {
        if self.nodes.is_empty() {
            return Err(at(&["nodes"], Problem::Empty));
        }
        self.check_sizes()?;
        self.check_texts()?;
        self.check_edges()?;
        match (self.paths.first(), self.edges.is_empty()) {
            (Some(_), false) => Err(at(&["paths"], Problem::PathsBesideEdges)),
            (Some((key, path)), true) => self.examine_path(key, path),
            (None, true) => Err(at(&["edges"], Problem::Empty)),
            (None, false) => self.examine_edges(),
        }
    }

    /// What is asked for must be answerable: matching a graph takes more than linear time.
    fn check_sizes(&self) -> Result<(), Invalid> {
        let sizes = [("nodes", self.nodes.len()), ("edges", self.edges.len()), ("paths", self.paths.len())];
        for (name, size) in sizes {
            if size > MAX_PARTS {
                return Err(at(&[name], Problem::TooMany { limit: MAX_PARTS }));
            }
        }
        Ok(())
    }

    /// Ids go into logs and other people's queries: no control character, no endless text.
    fn check_texts(&self) -> Result<(), Invalid> {
        let nodes = self.nodes.keys().map(|key| ("nodes", key));
        let edges = self.edges.keys().map(|key| ("edges", key));
        let paths = self.paths.keys().map(|key| ("paths", key));
        for (name, key) in nodes.chain(edges).chain(paths) {
            check_text(key).map_err(|problem| at(&[name, key], problem))?;
        }
        for (key, node) in &self.nodes {
            for id in node.ids.iter().flatten() {
                check_text(id).map_err(|problem| at(&["nodes", key, "ids"], problem))?;
            }
        }
        Ok(())
    }

    fn check_edges(&self) -> Result<(), Invalid> {
        for (key, edge) in &self.edges {
            self.check_end(&["edges", key, "subject"], &edge.subject)?;
            self.check_end(&["edges", key, "object"], &edge.object)?;
            if !matches!(edge.knowledge_type.as_deref(), None | Some("lookup" | "inferred")) {
                return Err(at(
                    &["edges", key, "knowledge_type"],
                    Problem::NotOneOf("`lookup` or `inferred`"),
                ));
            }
        }
        Ok(())
    }

    fn check_end(&self, steps: &[&str], node: &str) -> Result<(), Invalid> {
        if self.nodes.contains_key(node) { Ok(()) } else { Err(at(steps, Problem::UnknownNode)) }
    }

    fn examine_edges(&self) -> Result<Question, Invalid> {
        let mut inferred = self.edges.iter().filter(|(_, edge)| edge.is_inferred());
        let Some((key, edge)) = inferred.next() else { return Ok(Question::Lookup) };
        if let Some((other, _)) = self.edges.iter().find(|(_, edge)| !edge.is_inferred()) {
            return Err(at(&["edges", other, "knowledge_type"], Problem::Mixed));
        }
        if let Some((second, _)) = inferred.next() {
            return Err(at(&["edges", second, "knowledge_type"], Problem::SeveralInferred));
        }
        self.examine_inferred(key, edge)
    }

    fn examine_inferred(&self, key: &str, edge: &QEdge) -> Result<Question, Invalid> {
        let (pinned, answer) = match (self.pins(&edge.subject), self.pins(&edge.object)) {
            (true, false) => (&edge.subject, &edge.object),
            (false, true) => (&edge.object, &edge.subject),
            (true, true) => return Err(at(&["edges", key], Problem::BothPinned)),
            (false, false) => return Err(at(&["edges", key], Problem::NonePinned)),
        };
        Ok(Question::Inferred(Inferred {
            edge: key.to_owned(),
            pinned: pinned.clone(),
            answer: answer.clone(),
        }))
    }

    fn examine_path(&self, key: &str, path: &QPath) -> Result<Question, Invalid> {
        if let Some((second, _)) = self.paths.get_index(1) {
            return Err(at(&["paths", second], Problem::SeveralPaths));
        }
        for (end, node) in [("subject", &path.subject), ("object", &path.object)] {
            self.check_end(&["paths", key, end], node)?;
            if !self.pins(node) {
                return Err(at(&["nodes", node, "ids"], Problem::EndNotPinned));
            }
        }
        if path.subject == path.object {
            return Err(at(&["paths", key, "object"], Problem::SameEnds));
        }
        let ids = |node: &str| self.nodes.get(node).and_then(|node| node.ids.as_ref());
        if ids(&path.subject) == ids(&path.object) {
            return Err(at(&["nodes", &path.object, "ids"], Problem::SameEnds));
        }
        check_constraints(key, path.constraints.as_deref().unwrap_or_default())?;
        Ok(Question::Pathfinder(Pathfinder {
            path: key.to_owned(),
            subject: path.subject.clone(),
            object: path.object.clone(),
        }))
    }

    fn pins(&self, node: &str) -> bool {
        self.nodes.get(node).is_some_and(crate::QNode::is_pinned)
    }
}

/// A path passes one category at most: TRAPI does not say whether several are alternatives.
fn check_constraints(path: &str, constraints: &[PathConstraint]) -> Result<(), Invalid> {
    let [first, others @ ..] = constraints else { return Ok(()) };
    if !others.is_empty() {
        return Err(at(&["paths", path, "constraints"], Problem::SeveralConstraints));
    }
    let categories = first.intermediate_categories.as_deref().unwrap_or_default();
    if categories.windows(2).any(|pair| pair.first() != pair.last()) {
        // TRAPI 2.0 spells the member otherwise, so its constraint is named
        return Err(at(&["paths", path, "constraints[0]"], Problem::SeveralCategories));
    }
    Ok(())
}

/// An error below `message.query_graph`.
pub(crate) fn at(steps: &[&str], problem: Problem) -> Invalid {
    fn down(path: &Path<'_>, steps: &[&str], problem: Problem) -> Invalid {
        match steps {
            [] => path.error(problem),
            [step, rest @ ..] => down(&Path::Key(path, step), rest, problem),
        }
    }
    down(&Path::Root, &[&["message", "query_graph"], steps].concat(), problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examine(text: &str) -> Result<Question, Invalid> {
        QueryGraph::parse(text).unwrap().examine()
    }

    fn refused(text: &str) -> (String, Problem) {
        let invalid = examine(text).unwrap_err();
        (invalid.path, invalid.problem)
    }

    fn one_hop(a: &str, b: &str) -> String {
        format!(
            r#"{{"nodes":{{"a":{a},"b":{b}}},"edges":{{"e":{{"subject":"a","object":"b","knowledge_type":"inferred"}}}}}}"#
        )
    }

    fn inferred(pinned: &str, answer: &str) -> Question {
        Question::Inferred(Inferred { edge: "e".into(), pinned: pinned.into(), answer: answer.into() })
    }

    #[test]
    fn what_cannot_be_answered_or_logged_is_refused() {
        let refused = |nodes: &str| {
            let text = format!(r#"{{"nodes":{{{nodes}}},"edges":{{"e":{{"subject":"a","object":"a"}}}}}}"#);
            QueryGraph::parse(&text).unwrap().examine().unwrap_err().problem
        };
        let many: Vec<String> = (0..300).map(|i| format!("\"n{i}\":{{}}")).collect();
        assert_eq!(refused(&many.join(",")), Problem::TooMany { limit: MAX_PARTS });
        assert_eq!(refused(r#""a":{"ids":["X:\u0000"]}"#), Problem::ControlCharacter);
        assert_eq!(refused(r#""a":{},"b\n":{}"#), Problem::ControlCharacter);
        let long = format!(r#""a":{{"ids":["{}"]}}"#, "x".repeat(MAX_TEXT_BYTES + 1));
        assert_eq!(refused(&long), Problem::TooLong { limit: MAX_TEXT_BYTES });
    }

    #[test]
    fn an_inferred_edge_has_one_end_pinned() {
        assert_eq!(examine(&one_hop(r#"{"ids":["X:1"]}"#, "{}")).unwrap(), inferred("a", "b"));
        assert_eq!(examine(&one_hop(r#"{"ids":[]}"#, r#"{"ids":["X:1"]}"#)).unwrap(), inferred("b", "a"));
        assert_eq!(examine(&one_hop(r#"{"ids":null}"#, r#"{"ids":["X:1"]}"#)).unwrap(), inferred("b", "a"));
        assert_eq!(
            refused(&one_hop(r#"{"ids":["X:1"]}"#, r#"{"ids":["X:1"]}"#)),
            ("message.query_graph.edges.e".into(), Problem::BothPinned)
        );
        assert_eq!(
            refused(&one_hop("{}", r#"{"ids":[]}"#)),
            ("message.query_graph.edges.e".into(), Problem::NonePinned)
        );
    }

    #[test]
    fn the_ends_are_those_of_the_edge_not_other_nodes() {
        let text = r#"{"nodes":{"a":{"ids":["X:1"]},"b":{},"c":{"ids":["X:2"]},"d":{}},"edges":{"e":{"subject":"a","object":"b","knowledge_type":"inferred"}}}"#;
        assert_eq!(examine(text).unwrap(), inferred("a", "b"));
    }

    #[test]
    fn inferred_edges_come_alone() {
        let edges = |second: &str| {
            format!(
                r#"{{"nodes":{{"a":{{"ids":["X:1"]}},"b":{{}}}},"edges":{{"e":{{"subject":"a","object":"b","knowledge_type":"inferred"}},"f":{{"subject":"a","object":"b"{second}}}}}}}"#
            )
        };
        assert_eq!(
            refused(&edges("")),
            ("message.query_graph.edges.f.knowledge_type".into(), Problem::Mixed)
        );
        assert_eq!(
            refused(&edges(r#","knowledge_type":"inferred""#)),
            ("message.query_graph.edges.f.knowledge_type".into(), Problem::SeveralInferred)
        );
        assert!(matches!(
            refused(&edges(r#","knowledge_type":"guessed""#)),
            (path, Problem::NotOneOf(_)) if path == "message.query_graph.edges.f.knowledge_type"
        ));
    }

    #[test]
    fn a_lookup_has_any_shape() {
        let text = r#"{"nodes":{"a":{},"b":{},"c":{}},"edges":{"e":{"subject":"a","object":"b"},"f":{"subject":"b","object":"c","knowledge_type":"lookup"},"g":{"subject":"c","object":"a"}}}"#;
        assert_eq!(examine(text).unwrap(), Question::Lookup);
    }

    #[test]
    fn edges_end_at_nodes_that_are_there() {
        let text = r#"{"nodes":{"a":{}},"edges":{"e0":{"subject":"a","object":"z"}}}"#;
        let invalid = examine(text).unwrap_err();
        assert_eq!(
            invalid.to_string(),
            "message.query_graph.edges.e0.object: names no node of the query graph"
        );
    }

    #[test]
    fn something_is_asked() {
        assert_eq!(refused("{}"), ("message.query_graph.nodes".into(), Problem::Empty));
        assert_eq!(refused(r#"{"nodes":{"a":{}}}"#), ("message.query_graph.edges".into(), Problem::Empty));
        assert_eq!(
            refused(r#"{"nodes":{"a":{}},"edges":{},"paths":{}}"#),
            ("message.query_graph.edges".into(), Problem::Empty)
        );
    }

    fn path_query(paths: &str, rest: &str) -> String {
        format!(
            r#"{{"nodes":{{"a":{{"ids":["X:1"]}},"b":{{"ids":["X:2"]}},"c":{{}}}},"paths":{{{paths}}}{rest}}}"#
        )
    }

    #[test]
    fn a_path_runs_between_two_pinned_nodes() {
        let path = r#""p":{"subject":"b","object":"a"}"#;
        let expected =
            Question::Pathfinder(Pathfinder { path: "p".into(), subject: "b".into(), object: "a".into() });
        assert_eq!(examine(&path_query(path, "")).unwrap(), expected);
        assert_eq!(examine(&path_query(path, r#","edges":{}"#)).unwrap(), expected);
        assert_eq!(
            refused(&path_query(r#""p":{"subject":"b","object":"c"}"#, "")),
            ("message.query_graph.nodes.c.ids".into(), Problem::EndNotPinned)
        );
        assert_eq!(
            refused(&path_query(r#""p":{"subject":"b","object":"z"}"#, "")),
            ("message.query_graph.paths.p.object".into(), Problem::UnknownNode)
        );
        let same = r#"{"nodes":{"a":{"ids":["X:1"]},"b":{"ids":["X:1"]}},"paths":{"p":{"subject":"a","object":"b"}}}"#;
        assert_eq!(refused(same), ("message.query_graph.nodes.b.ids".into(), Problem::SameEnds));
        assert_eq!(
            refused(&path_query(r#""p":{"subject":"b","object":"b"}"#, "")),
            ("message.query_graph.paths.p.object".into(), Problem::SameEnds)
        );
    }

    #[test]
    fn a_path_passes_one_category_at_most() {
        let constrained = |constraints: &str| {
            examine(&path_query(
                &format!(r#""p":{{"subject":"b","object":"a","constraints":{constraints}}}"#),
                "",
            ))
        };
        let refused = |constraints: &str| {
            let invalid = constrained(constraints).unwrap_err();
            (invalid.path, invalid.problem)
        };
        let gene = r#"{"intermediate_categories":["biolink:Gene"]}"#;
        for one in ["null", "[]", "[{}]", &format!("[{gene}]")] {
            assert!(constrained(one).is_ok(), "{one}");
        }
        assert!(constrained(r#"[{"intermediate_categories":["biolink:Gene","biolink:Gene"]}]"#).is_ok());
        let constraints = "message.query_graph.paths.p.constraints".to_owned();
        assert_eq!(refused(&format!("[{gene},{gene}]")), (constraints.clone(), Problem::SeveralConstraints));
        for name in ["intermediate_categories", "required_intermediate_categories"] {
            let two = format!(r#"[{{"{name}":["biolink:Gene","biolink:Disease"]}}]"#);
            assert_eq!(refused(&two), (format!("{constraints}[0]"), Problem::SeveralCategories));
        }
    }

    #[test]
    fn a_path_comes_alone() {
        let two = r#""p":{"subject":"b","object":"a"},"q":{"subject":"a","object":"b"}"#;
        assert_eq!(
            refused(&path_query(two, "")),
            ("message.query_graph.paths.q".into(), Problem::SeveralPaths)
        );
        let edge = r#","edges":{"e":{"subject":"a","object":"b"}}"#;
        assert_eq!(
            refused(&path_query(r#""p":{"subject":"b","object":"a"}"#, edge)),
            ("message.query_graph.paths".into(), Problem::PathsBesideEdges)
        );
    }
}
