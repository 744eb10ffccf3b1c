//! Retriever as the graph that is searched: one question of one hop for some nodes at a time.

use std::time::Duration;

use budget::Deadline;
use bytes::Bytes;
use indexmap::IndexMap;
use lookup::{AskError, Assignment};
use paths::{Answer, Edge, Neighbours, Node};
use retriever::{QueryError, SyncQuery};
use runtime::{WireEncoding, body_work};
use serde::Deserialize;
use serde_json::value::RawValue;
use trapi::{Flaw, Members, QEdge, QNode, QueryGraph};

/// The longest wait for one answer; a search has many questions to ask.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GraphError {
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error("the answer cannot be read: {0}")]
    Unreadable(String),
    #[error("the answer {0}")]
    Flawed(Flaw),
    #[error("the answer holds text that is not Unicode")]
    NotUnicode,
    #[error("the answer has no knowledge graph; its status is `{0}`")]
    NoGraph(String),
}

impl GraphError {
    /// Whether time was what it lacked.
    pub(crate) fn is_late(&self) -> bool {
        matches!(self, Self::Ask(error) if error.is_late())
    }

    /// Whether the same question may be answered the next time.
    fn may_pass(&self) -> bool {
        let too_large = |error: &AskError| matches!(error, AskError::Query(QueryError::TooLarge { .. }));
        !matches!(self, Self::Ask(error) if too_large(error) || matches!(error, AskError::Unwritable(_)))
    }
}

/// Who answers a question with the body of a TRAPI response.
pub(crate) trait Ask: Sync {
    fn ask(&self, graph: &QueryGraph) -> impl Future<Output = Result<Bytes, AskError>> + Send;
}

/// Retriever's `/query`, until `end`.
pub(crate) struct Retriever {
    pub(crate) assignment: Assignment,
    pub(crate) service: SyncQuery,
    pub(crate) end: Deadline,
}

impl Ask for Retriever {
    async fn ask(&self, graph: &QueryGraph) -> Result<Bytes, AskError> {
        let end = Deadline::after(self.assignment.clock().now(), LONGEST_WAIT).min(self.end);
        self.assignment.ask(&self.service, graph, end).await
    }
}

/// The graph that answers tell of.
pub(crate) struct Graph<'a, A>(pub(crate) &'a A);

impl<A: Ask> Neighbours for Graph<'_, A> {
    /// The node or edge as it came.
    type Content = Box<RawValue>;
    type Error = GraphError;

    /// Asks once more where there is no answer, that may help, and time is left.
    async fn neighbours(&self, nodes: &[String]) -> Result<Answer<Box<RawValue>>, GraphError> {
        let question = one_hop(nodes);
        let error = match self.ask(&question).await {
            Err(error) if error.may_pass() => error,
            answered => return answered,
        };
        tracing::debug!("asking about {} nodes again: {error}", nodes.len());
        match self.ask(&question).await {
            Err(GraphError::Ask(AskError::NoTime)) => Err(error),
            second => second,
        }
    }
}

impl<A: Ask> Graph<'_, A> {
    async fn ask(&self, question: &QueryGraph) -> Result<Answer<Box<RawValue>>, GraphError> {
        let body = self.0.ask(question).await?;
        let read = body_work(body.len(), WireEncoding::Identity, move || read(&body)).await;
        read.unwrap_or_else(|| Err(GraphError::Unreadable("the process is ending".to_owned())))
    }
}

/// All edges at `nodes`. Without predicates an edge asks for `biolink:related_to`, which has no direction, so that
/// one question brings the edges of both.
fn one_hop(nodes: &[String]) -> QueryGraph {
    let (asked, other) = ("n0".to_owned(), "n1".to_owned());
    let edge = QEdge { subject: asked.clone(), object: other.clone(), ..QEdge::default() };
    let asked_about = QNode { ids: Some(nodes.to_vec()), ..QNode::default() };
    QueryGraph {
        nodes: [(asked, asked_about), (other, QNode::default())].into_iter().collect(),
        edges: [("e0".to_owned(), edge)].into_iter().collect(),
        ..QueryGraph::default()
    }
}

#[derive(Deserialize)]
struct BodyText<'a> {
    #[serde(borrow, default)]
    message: Option<MessageText<'a>>,
    #[serde(borrow, default)]
    status: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct MessageText<'a> {
    #[serde(borrow, default)]
    knowledge_graph: Option<GraphText<'a>>,
}

#[derive(Deserialize)]
struct GraphText<'a> {
    #[serde(borrow, default)]
    nodes: Option<IndexMap<String, &'a RawValue>>,
    #[serde(borrow, default)]
    edges: Option<IndexMap<String, &'a RawValue>>,
}

/// Reads an answer. A node or an edge that is none is left out; what would spoil our own answer spoils this one.
fn read(body: &[u8]) -> Result<Answer<Box<RawValue>>, GraphError> {
    let unreadable = |error: &dyn std::error::Error| GraphError::Unreadable(error.to_string());
    let text = std::str::from_utf8(body).map_err(|error| unreadable(&error))?;
    trapi::scan(text, trapi::MAX_DEPTH).map_err(GraphError::Flawed)?;
    if !trapi::is_unicode(text) {
        return Err(GraphError::NotUnicode);
    }
    let BodyText { message, status } = serde_json::from_str(text).map_err(|error| unreadable(&error))?;
    let Some(graph) = message.and_then(|message| message.knowledge_graph) else {
        let status: Option<String> = status.and_then(member);
        return without_graph(status.as_deref().unwrap_or_default());
    };
    let nodes = graph.nodes.into_iter().flatten().filter_map(|(id, raw)| node(id, raw));
    let edges = graph.edges.into_iter().flatten().filter_map(|(id, raw)| edge(id, raw));
    Ok(Answer { nodes: nodes.collect(), edges: edges.collect() })
}

/// Nothing was found, or nothing could be looked for.
fn without_graph(status: &str) -> Result<Answer<Box<RawValue>>, GraphError> {
    match status {
        "Success" | "QueryNotTraversable" => Ok(Answer::default()),
        _ => Err(GraphError::NoGraph(status.chars().take(100).collect())),
    }
}

fn node(id: String, raw: &RawValue) -> Option<Node<Box<RawValue>>> {
    let members: IndexMap<String, &RawValue> = serde_json::from_str(raw.get()).ok()?;
    let name = members.get("name").copied().and_then(member);
    let categories = members.get("categories").copied().and_then(member).unwrap_or_default();
    Some(Node { id, name, categories, content: raw.to_owned() })
}

fn edge(id: String, raw: &RawValue) -> Option<Edge<Box<RawValue>>> {
    let members: Members = serde_json::from_str(raw.get()).ok()?;
    let (subject, object) = (member(members.get("subject")?)?, member(members.get("object")?)?);
    Some(Edge { id, subject, object, content: raw.to_owned() })
}

fn member<T: for<'de> Deserialize<'de>>(raw: &RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}
