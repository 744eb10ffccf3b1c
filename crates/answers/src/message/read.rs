//! From the text of a response to a [`Message`].

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess};
use serde_json::value::RawValue;
use trapi::{Invalid, QueryGraph};

use super::answer::{AnalysisText, AnswerText, BindingTexts};
use super::aux_graph::AuxGraphText;
use super::edge::{EdgeText, SupportText, take_support};
use super::object::{Entries, Fields, Raw, Rest, Text, readable};
use super::table::once_each;
use super::{
    Analysis, Answer, AuxGraph, Binding, Bindings, Edge, EdgeId, GraphId, Index, KeyId, Message, Node,
    Support, Table,
};

/// A body that is no TRAPI response.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// No JSON, or a member of another type than TRAPI's.
    #[error("not a TRAPI response")]
    Form(#[from] serde_json::Error),
    /// There is no message in it.
    #[error("no `message`")]
    NoMessage,
}

/// Reads the message of a response, as it is.
///
/// # Errors
/// When the text is no TRAPI response.
pub fn parse(text: &str) -> Result<Message<'_>, Unreadable> {
    let body: BodyText<'_> = serde_json::from_str(text)?;
    Ok(with_query_graph(body.message.ok_or(Unreadable::NoMessage)?))
}

/// Reads a message by itself, as it is.
///
/// # Errors
/// When the text is no TRAPI message.
pub fn parse_message(text: &str) -> Result<Message<'_>, Unreadable> {
    Ok(with_query_graph(serde_json::from_str(text)?))
}

fn with_query_graph(mut text: MessageText<'_>) -> Message<'_> {
    let query_graph = text.query_graph.take();
    let mut message = text.into_message();
    message.query_graph = query_graph.and_then(|raw| QueryGraph::parse(raw.get()).ok()).unwrap_or_default();
    message
}

/// Tells whether [`parse`] can read a text, and if not, where it fails.
///
/// # Errors
/// Names the JSON path and what is wrong there.
pub fn check(text: &str) -> Result<(), Invalid> {
    let mut json = serde_json::Deserializer::from_str(text);
    match serde_path_to_error::deserialize::<_, BodyText<'_>>(&mut json) {
        Ok(_) => Ok(()),
        Err(error) => Err(Invalid::unreadable(&error.path().to_string(), &error.inner().to_string())),
    }
}

/// A response as it is read.
#[derive(Debug, Default)]
pub(crate) struct BodyText<'a> {
    pub(crate) message: Option<MessageText<'a>>,
    pub(crate) status: Option<Cow<'a, str>>,
    pub(crate) description: Option<Cow<'a, str>>,
    pub(crate) logs: Option<&'a RawValue>,
}

impl<'de> Fields<'de> for BodyText<'de> {
    const WHAT: &'static str = "a response";

    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        match name.as_ref() {
            "message" => self.message = map.next_value()?,
            "status" => self.status = lenient_text(map.next_value()?),
            "description" => self.description = lenient_text(map.next_value()?),
            "logs" => self.logs = Some(map.next_value()?),
            _ => drop(map.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }
}

readable!(BodyText);

fn lenient_text(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Text<'_>>(raw.get()).ok().map(|text| text.0)
}

/// A message as it is read, before its names are numbers.
#[derive(Debug, Default)]
pub(crate) struct MessageText<'a> {
    query_graph: Option<&'a RawValue>,
    graph: GraphText<'a>,
    results: Vec<AnswerText<'a>>,
    auxiliary_graphs: Entries<'a, AuxGraphText<'a>>,
    rest: Rest<'a>,
}

impl<'de> Fields<'de> for MessageText<'de> {
    const WHAT: &'static str = "a message";

    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        match name.as_ref() {
            "query_graph" => self.query_graph = map.next_value()?,
            "knowledge_graph" => self.graph = map.next_value::<Option<_>>()?.unwrap_or_default(),
            "results" => self.results = map.next_value::<Option<_>>()?.unwrap_or_default(),
            "auxiliary_graphs" => self.auxiliary_graphs = map.next_value()?,
            _ => self.rest.insert(name, map.next_value()?),
        }
        Ok(())
    }
}

readable!(MessageText);

/// A knowledge graph as it is read.
#[derive(Debug, Default)]
struct GraphText<'a> {
    nodes: Entries<'a, Option<Node<'a>>>,
    edges: Entries<'a, Option<EdgeText<'a>>>,
    rest: Rest<'a>,
}

impl<'de> Fields<'de> for GraphText<'de> {
    const WHAT: &'static str = "a knowledge graph";

    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        match name.as_ref() {
            "nodes" => self.nodes = map.next_value()?,
            "edges" => self.edges = map.next_value()?,
            _ => self.rest.insert(name, map.next_value()?),
        }
        Ok(())
    }
}

readable!(GraphText);

impl<'a> MessageText<'a> {
    /// The message with numbers for names.
    pub(crate) fn into_message(self) -> Message<'a> {
        let mut message = Message { rest: self.rest, graph_rest: self.graph.rest, ..Message::default() };
        message.nodes.reserve(self.graph.nodes.0.len());
        message.edges.reserve(self.graph.edges.0.len());
        for (name, node) in self.graph.nodes.0 {
            let id = message.nodes.intern(name);
            if let (Some(slot), Some(node)) = (message.nodes.slot(id), node) {
                *slot = Some(node);
            }
        }
        // All that has a place in the message gets its number in that order, before others mention it, so
        // that a message is written in the order in which it was read.
        let edges: Vec<_> =
            self.graph.edges.0.into_iter().map(|(name, edge)| (message.edges.intern(name), edge)).collect();
        let graphs = self.auxiliary_graphs.0.into_iter();
        let graphs: Vec<_> = graphs.map(|(name, graph)| (message.graphs.intern(name), graph)).collect();
        for (id, edge) in edges {
            message.add_edge(id, edge.unwrap_or_default());
        }
        for (id, graph) in graphs {
            message.add_graph(id, graph);
        }
        message.results = self.results.into_iter().map(|text| message.answer(text)).collect();
        message
    }
}

impl<'a> Message<'a> {
    /// An edge without ends or predicate is none.
    fn add_edge(&mut self, id: EdgeId, text: EdgeText<'a>) {
        let (Some(subject), Some(object), Some(predicate)) = (text.subject, text.object, text.predicate)
        else {
            return;
        };
        let mut attributes = text.attributes;
        let support = take_support(&mut attributes).map(|support| Box::new(self.support(support)));
        let edge = Edge {
            subject: self.nodes.intern(subject),
            object: self.nodes.intern(object),
            predicate: Raw::Borrowed(predicate),
            qualifiers: text.qualifiers,
            attributes,
            sources: text.sources,
            level: text.level,
            agent: text.agent,
            support,
            aggregated: false,
            rest: text.rest,
        };
        if let Some(slot) = self.edges.slot(id) {
            *slot = Some(edge);
        }
    }

    fn support(&mut self, text: SupportText<'a>) -> Support<'a> {
        let mut graphs = text.graphs.into_iter().map(|graph| self.graphs.intern(graph)).collect();
        once_each(&mut graphs);
        Support { graphs, rest: text.rest }
    }

    fn add_graph(&mut self, id: GraphId, text: AuxGraphText<'a>) {
        let mut edges = text.edges.into_iter().map(|Text(edge)| self.edges.intern(edge)).collect();
        once_each(&mut edges);
        if let Some(slot) = self.graphs.slot(id) {
            *slot = Some(AuxGraph { edges, attributes: text.attributes, rest: text.rest });
        }
    }

    fn answer(&mut self, text: AnswerText<'a>) -> Answer<'a> {
        Answer {
            node_bindings: bindings(text.node_bindings, &mut self.keys, &mut self.nodes),
            analyses: text.analyses.into_iter().map(|text| self.analysis(text)).collect(),
            rest: text.rest,
        }
    }

    fn analysis(&mut self, text: AnalysisText<'a>) -> Analysis<'a> {
        Analysis {
            resource_id: text.resource_id.map(Raw::Borrowed),
            edge_bindings: bindings(text.edge_bindings, &mut self.keys, &mut self.edges),
            path_bindings: bindings(text.path_bindings, &mut self.keys, &mut self.graphs),
            support_graphs: text
                .support_graphs
                .into_iter()
                .map(|Text(graph)| self.graphs.intern(graph))
                .collect(),
            score: text.score,
            attributes: text.attributes,
            rest: text.rest,
        }
    }
}

fn bindings<'a, I: Index, T>(
    texts: Entries<'a, BindingTexts<'a>>,
    keys: &mut Table<'a, KeyId, ()>,
    things: &mut Table<'a, I, T>,
) -> Bindings<'a, I> {
    let mut bound: Bindings<'a, I> = Vec::with_capacity(texts.0.len());
    for (key, list) in texts.0 {
        let list = list.0.into_iter().filter_map(|text| {
            let id = things.intern(text.id?);
            Some(Binding { id, attributes: text.attributes, rest: text.rest })
        });
        bound.push((keys.intern(key), list.collect()));
    }
    keep_last_of_each(&mut bound);
    bound
}

/// Of a repeated key the last bindings count.
fn keep_last_of_each<I>(bound: &mut Bindings<'_, I>) {
    if bound.len() > 1 {
        let mut known = foldhash::HashSet::default();
        bound.reverse();
        bound.retain(|(key, _)| known.insert(*key));
        bound.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_told_with_its_path() {
        let path = |message: &str| {
            let text = format!(r#"{{"message":{message},"logs":[{{"x":1.50}}]}}"#);
            check(&text).map_or_else(|invalid| invalid.path, |()| "-".to_owned())
        };
        let good = r#"{"results":[{"node_bindings":{"a":[{"id":"A","x":1}]},"analyses":null}],"knowledge_graph":{"edges":{"e":null}}}"#;
        assert_eq!(path(good), "-");
        assert_eq!(path(r#"{"results":{}}"#), "message.results");
        assert_eq!(path(r#"{"results":[{},null]}"#), "message.results[1]");
        assert_eq!(path(r#"{"knowledge_graph":{"edges":{"e":7}}}"#), "message.knowledge_graph.edges.e");
        assert_eq!(
            path(r#"{"knowledge_graph":{"edges":{"e":{"subject":{}}}}}"#),
            "message.knowledge_graph.edges.e.subject"
        );
        assert_eq!(
            path(r#"{"results":[{"analyses":[{"edge_bindings":{"e":[{"id":1}]}}]}]}"#),
            "message.results[0].analyses[0].edge_bindings.e[0].id"
        );
    }
}
