//! The bodies of TRAPI, as the document describes them. They are read elsewhere, with less ceremony: these
//! types only describe. Members that are not listed are allowed, as in TRAPI itself.
#![expect(dead_code, reason = "described, never made")]

use std::collections::BTreeMap;

use serde_json::Value;
use utoipa::ToSchema;

/// A question whose response is wanted on the connection.
#[derive(ToSchema)]
pub(crate) struct Query {
    /// What is asked, in `query_graph`; a workflow without a lookup works on `results` brought along.
    message: Message,
    /// Who asks.
    submitter: Option<String>,
    /// The least grave level of log entries that the response should hold.
    log_level: Option<LogLevel>,
    /// Whether sources are to be asked anew where they could answer from a cache.
    bypass_cache: Option<bool>,
    /// `timeout` (seconds), `tiers` and others; repeated in the response.
    parameters: Option<QueryParameters>,
    /// The operations to run; without it, the persona's own.
    workflow: Option<Vec<Operation>>,
}

/// A question whose response is posted to `callback`.
#[derive(ToSchema)]
pub(crate) struct AsyncQuery {
    /// Where the response goes, by http or https.
    #[schema(format = "uri")]
    callback: String,
    #[schema(inline)]
    #[serde(flatten)]
    query: Query,
}

/// How a query is to be run.
#[derive(ToSchema)]
pub(crate) struct QueryParameters {
    /// How long the client waits, in seconds; negative: no limit of its own.
    timeout: Option<f64>,
    /// TRAPI 2.0's place for the log level.
    log_level: Option<LogLevel>,
    /// TRAPI 2.0's place for the cache switch.
    bypass_cache: Option<bool>,
}

/// One step of a workflow.
#[derive(ToSchema)]
pub(crate) struct Operation {
    /// Its name.
    id: String,
    /// Its options.
    parameters: Option<BTreeMap<String, Value>>,
}

/// A question and what is known about it.
#[derive(ToSchema)]
pub(crate) struct Message {
    query_graph: Option<QueryGraph>,
    knowledge_graph: Option<KnowledgeGraph>,
    /// The answers, the best first.
    results: Option<Vec<ResultItem>>,
    /// Edges that support an edge, an analysis or a path, by id.
    auxiliary_graphs: Option<BTreeMap<String, AuxiliaryGraph>>,
}

/// What is asked: nodes with edges, or with one path.
#[derive(ToSchema)]
pub(crate) struct QueryGraph {
    nodes: BTreeMap<String, QNode>,
    edges: Option<BTreeMap<String, QEdge>>,
    paths: Option<BTreeMap<String, QPath>>,
}

/// A node of the question.
#[derive(ToSchema)]
pub(crate) struct QNode {
    /// CURIEs; any of them may be bound.
    ids: Option<Vec<String>>,
    /// Biolink categories; any of them may be bound.
    categories: Option<Vec<String>>,
    /// How several ids are meant: `BATCH`, `ALL`, `MANY`, in TRAPI 2.0 also `COLLATE`.
    set_interpretation: Option<String>,
}

/// An edge of the question.
#[derive(ToSchema)]
pub(crate) struct QEdge {
    /// Key of its subject node.
    subject: String,
    /// Key of its object node.
    object: String,
    /// Biolink predicates; any of them may be bound.
    predicates: Option<Vec<String>>,
    /// `lookup` or `inferred`.
    knowledge_type: Option<String>,
    /// TRAPI 1.x: sets of qualifiers, any of which an edge may satisfy.
    qualifier_constraints: Option<Vec<QualifierConstraint>>,
    /// TRAPI 1.x: attributes that an edge must have.
    attribute_constraints: Option<Vec<BTreeMap<String, Value>>>,
}

/// Qualifiers that an edge must all have.
#[derive(ToSchema)]
pub(crate) struct QualifierConstraint {
    qualifier_set: Vec<Qualifier>,
}

/// A qualifier of an edge.
#[derive(ToSchema)]
pub(crate) struct Qualifier {
    /// What is qualified, e.g. `biolink:object_aspect_qualifier`.
    qualifier_type_id: String,
    /// How.
    qualifier_value: String,
}

/// A path of the question: any way from one pinned node to another.
#[derive(ToSchema)]
pub(crate) struct QPath {
    /// Key of the node where it starts.
    subject: String,
    /// Key of the node where it ends.
    object: String,
    predicates: Option<Vec<String>>,
    /// What a node between must be, e.g. by `intermediate_categories`.
    constraints: Option<Vec<BTreeMap<String, Value>>>,
}

/// What is known.
#[derive(ToSchema)]
pub(crate) struct KnowledgeGraph {
    /// Nodes by CURIE.
    nodes: BTreeMap<String, Node>,
    /// Edges by id.
    edges: BTreeMap<String, Edge>,
}

/// A thing.
#[derive(ToSchema)]
pub(crate) struct Node {
    name: Option<String>,
    /// Biolink categories.
    categories: Vec<String>,
    attributes: Option<Vec<Attribute>>,
}

/// A statement about two things.
#[derive(ToSchema)]
pub(crate) struct Edge {
    /// CURIE of the subject.
    subject: String,
    /// Biolink predicate.
    predicate: String,
    /// CURIE of the object.
    object: String,
    qualifiers: Option<Vec<Qualifier>>,
    attributes: Option<Vec<Attribute>>,
    /// Where it comes from.
    #[schema(min_items = 1)]
    sources: Vec<RetrievalSource>,
}

/// Something said of a node, an edge or an analysis.
#[derive(ToSchema)]
pub(crate) struct Attribute {
    /// What is said, a CURIE.
    attribute_type_id: String,
    /// Any JSON value.
    value: Value,
}

/// Who provided an edge.
#[derive(ToSchema)]
pub(crate) struct RetrievalSource {
    /// An infores CURIE.
    resource_id: String,
    /// `primary_knowledge_source`, `aggregator_knowledge_source` or `supporting_data_source`.
    resource_role: String,
    upstream_resource_ids: Option<Vec<String>>,
}

/// One answer.
#[derive(ToSchema)]
#[schema(as = Result)]
pub(crate) struct ResultItem {
    /// What each node of the question stands for: a list in TRAPI 1.x, an object with `ids` in 2.0.
    node_bindings: BTreeMap<String, Value>,
    analyses: Option<Vec<Analysis>>,
}

/// Why it is an answer, and how good a one.
#[derive(ToSchema)]
pub(crate) struct Analysis {
    /// Who made it, an infores CURIE.
    resource_id: String,
    /// What each edge of the question stands for: a list in TRAPI 1.x, an object with `ids` in 2.0.
    edge_bindings: Option<BTreeMap<String, Value>>,
    /// What the path of the question stands for: ids of auxiliary graphs.
    path_bindings: Option<BTreeMap<String, Value>>,
    /// The higher the better.
    score: Option<f64>,
    support_graphs: Option<Vec<String>>,
    scoring_method: Option<String>,
    attributes: Option<Vec<Attribute>>,
}

/// Edges that belong together.
#[derive(ToSchema)]
pub(crate) struct AuxiliaryGraph {
    /// Ids of edges.
    #[schema(min_items = 1)]
    edges: Vec<String>,
    /// In TRAPI 1.x only.
    attributes: Option<Vec<Attribute>>,
}

/// How grave a log entry is.
#[derive(ToSchema)]
#[schema(rename_all = "UPPERCASE")]
pub(crate) enum LogLevel {
    Error,
    Warning,
    Info,
    Debug,
}

/// What happened on the way.
#[derive(ToSchema)]
pub(crate) struct LogEntry {
    #[schema(format = "date-time")]
    timestamp: String,
    level: Option<LogLevel>,
    /// A short name for programs.
    code: Option<String>,
    message: String,
}

/// The answer to a query.
#[derive(ToSchema)]
pub(crate) struct Response {
    message: Message,
    /// `Success`, `QueryNotTraversable`, `KPsNotAvailable` or `Failed`.
    status: String,
    /// What the status means here.
    description: String,
    logs: Vec<LogEntry>,
    /// The operations that were run.
    workflow: Vec<Operation>,
    parameters: Option<QueryParameters>,
    /// The version of TRAPI that this response is written in: that of its request.
    schema_version: String,
    /// The version of the Biolink model.
    biolink_version: String,
}

/// What Retriever has found for a sub-query.
#[derive(ToSchema)]
pub(crate) struct Callback {
    message: Message,
    status: Option<String>,
    description: Option<String>,
    logs: Option<Vec<LogEntry>>,
}

/// What kinds of statements there are.
#[derive(ToSchema)]
pub(crate) struct MetaKnowledgeGraph {
    /// Biolink categories, with the prefixes of their CURIEs.
    nodes: BTreeMap<String, Value>,
    /// Triples of category, predicate and category.
    edges: Vec<BTreeMap<String, Value>>,
}
