//! Questions about a set: what is near all of its members together?

use serde_json::value::RawValue;

use crate::json::{Path, list, string};
use crate::question::{at, check_text};
use crate::{Invalid, Problem, QNode, QueryGraph};

/// The one edge of a question about a set, and its ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetInput {
    /// Key of the edge.
    pub edge: String,
    /// Key of the node that is the set.
    pub set: String,
    /// Key of its other end, which the answers bind.
    pub answer: String,
    /// The id that stands for the set, where its members are named apart from it.
    pub set_id: Option<String>,
    /// The members, each once: `member_ids`, else `ids`.
    pub members: Vec<String>,
}

/// How many members a set may have.
const MAX_MEMBERS: usize = 1000;

impl QueryGraph {
    /// Reads the graph as a question about a set: one edge, one of whose ends is pinned. Several ids are a set
    /// only where the node says `set_interpretation: MANY`; one id is a set of one.
    ///
    /// # Errors
    /// When there is not one edge with one pinned end, the set is of another kind, or its members are no ids.
    pub fn set_input(&self) -> Result<SetInput, Invalid> {
        let mut edges = self.edges.iter();
        let (Some((key, edge)), None) = (edges.next(), edges.next()) else {
            let problem = Problem::NotOneOf("exactly one edge for this ARA");
            return Err(at(&["edges"], problem));
        };
        let is_pinned = |node: &str| self.nodes.get(node).is_some_and(QNode::is_pinned);
        let is_set = |node: &str| is_pinned(node) || self.nodes.get(node).is_some_and(QNode::has_members);
        let (set, answer) = match (is_set(&edge.subject), is_set(&edge.object)) {
            (true, false) => (&edge.subject, &edge.object),
            (false, true) => (&edge.object, &edge.subject),
            _ => {
                let problem = Problem::NotOneOf("an edge with ids at exactly one end for this ARA");
                return Err(at(&["edges", key], problem));
            }
        };
        let (set_id, members) = self.nodes.get(set).map_or(Ok((None, Vec::new())), |node| node.set(set))?;
        Ok(SetInput { edge: key.clone(), set: set.clone(), answer: answer.clone(), set_id, members })
    }
}

impl QNode {
    fn has_members(&self) -> bool {
        self.extra.get("member_ids").is_some_and(|raw| !matches!(raw.get(), "null" | "[]"))
    }

    /// The id of the set, where it has one of its own, and the members.
    fn set(&self, key: &str) -> Result<(Option<String>, Vec<String>), Invalid> {
        let ids = self.ids.as_deref().unwrap_or_default();
        let kind = self.extra.get("set_interpretation").map(|raw| raw.get());
        let is_many = kind == Some("\"MANY\"");
        let is_one =
            matches!(kind, None | Some("null" | "\"BATCH\"")) && ids.len() == 1 && !self.has_members();
        if !is_many && !is_one {
            let problem = Problem::NotOneOf("`MANY` for this ARA");
            return Err(at(&["nodes", key, "set_interpretation"], problem));
        }
        let named = match self.extra.get("member_ids").filter(|_| self.has_members()) {
            Some(raw) => Some(members(raw).map_err(|problem| at(&["nodes", key, "member_ids"], problem))?),
            None => None,
        };
        let (member, set_id, mut members) = match named {
            Some(named) => ("member_ids", ids.first().cloned(), named),
            None => ("ids", None, ids.to_vec()),
        };
        let mut known = std::collections::HashSet::new();
        members.retain(|id| known.insert(id.clone()));
        if members.len() > MAX_MEMBERS {
            return Err(at(&["nodes", key, member], Problem::TooMany { limit: MAX_MEMBERS }));
        }
        Ok((set_id, members))
    }
}

fn members(raw: &RawValue) -> Result<Vec<String>, Problem> {
    let members = list(raw, &Path::Root, string).map_err(|invalid| invalid.problem)?;
    members.iter().try_for_each(|id| check_text(id))?;
    Ok(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(node: &str) -> Result<SetInput, Invalid> {
        QueryGraph::parse(&format!(
            r#"{{"nodes":{{"SN":{node},"ON":{{}}}},"edges":{{"e":{{"subject":"ON","object":"SN"}}}}}}"#
        ))
        .unwrap()
        .set_input()
    }

    fn refused(node: &str) -> String {
        asked(node).unwrap_err().to_string()
    }

    #[test]
    fn set_has_an_id_and_members() {
        let node = r#"{"ids":["uuid:1"],"set_interpretation":"MANY","member_ids":["X:1","X:2","X:1"]}"#;
        let set = asked(node).unwrap();
        assert_eq!((set.set.as_str(), set.answer.as_str(), set.edge.as_str()), ("SN", "ON", "e"));
        assert_eq!(set.set_id.as_deref(), Some("uuid:1"));
        assert_eq!(set.members, ["X:1", "X:2"]);
    }

    #[test]
    fn ids_are_the_members_where_none_are_named() {
        let set = asked(r#"{"ids":["X:1","X:2"],"set_interpretation":"MANY"}"#).unwrap();
        assert_eq!((set.set_id, set.members), (None, vec!["X:1".to_owned(), "X:2".to_owned()]));
        let one = asked(r#"{"ids":["X:1"],"set_interpretation":null,"member_ids":[]}"#).unwrap();
        assert_eq!((one.set_id, one.members), (None, vec!["X:1".to_owned()]));
        let without_id = asked(r#"{"set_interpretation":"MANY","member_ids":["X:1"]}"#).unwrap();
        assert_eq!(without_id.members, ["X:1"]);
    }

    #[test]
    fn what_is_no_set_is_refused_by_field() {
        let set = "message.query_graph.nodes.SN.set_interpretation: must be `MANY` for this ARA";
        assert_eq!(refused(r#"{"ids":["X:1","X:2"]}"#), set);
        assert_eq!(refused(r#"{"ids":["X:1"],"set_interpretation":"ALL"}"#), set);
        assert_eq!(refused(r#"{"ids":["X:1"],"member_ids":["X:2"]}"#), set);
        let many = r#"{"set_interpretation":"MANY","member_ids":"#;
        let place = "message.query_graph.nodes.SN.member_ids";
        assert!(refused(&format!("{many}{{}}}}")).starts_with(place));
        assert!(refused(&format!("{many}[1]}}")).starts_with(place));
        assert!(refused(&format!("{many}[\"\\u0000\"]}}")).starts_with(place));
        let crowd = serde_json::to_string(&(0..1001).map(|n| n.to_string()).collect::<Vec<_>>()).unwrap();
        assert_eq!(refused(&format!("{many}{crowd}}}")), format!("{place}: must not hold more than 1000"));
        assert!(refused("{}").starts_with("message.query_graph.edges.e: "));
    }

    #[test]
    fn there_is_one_edge() {
        let two = r#"{"nodes":{"a":{"ids":["X:1"]},"b":{}},"edges":{"e":{"subject":"a","object":"b"},"f":{"subject":"b","object":"a"}}}"#;
        let refused = QueryGraph::parse(two).unwrap().set_input().unwrap_err();
        assert_eq!(refused.to_string(), "message.query_graph.edges: must be exactly one edge for this ARA");
    }
}
