//! What the lookup workers differ in.

use answers::expand::SubQuery;
use trapi::{Invalid, Members, Query, Question};

use crate::work::Work;

/// How a sub-query is answered.
#[derive(Debug)]
pub enum Ask {
    /// By Retriever, with a callback.
    Retriever,
    /// By the worker itself.
    Work(Work),
}

/// The sub-queries of a question.
#[derive(Debug)]
pub struct Expansion {
    /// What is asked, the direct question first, and of whom.
    pub sub_queries: Vec<(SubQuery, Ask)>,
    /// The parameters that go with each: the client's, or more.
    pub parameters: Members,
}

impl Expansion {
    /// Sub-queries for Retriever with the client's own parameters.
    pub fn of_retriever(sub_queries: impl IntoIterator<Item = SubQuery>, query: &Query) -> Self {
        let sub_queries = sub_queries.into_iter().map(|sub_query| (sub_query, Ask::Retriever)).collect();
        Self { sub_queries, parameters: query.parameters.clone() }
    }

    /// One sub-query that the worker answers by work of its own.
    pub fn of_work(sub_query: SubQuery, work: Work, query: &Query) -> Self {
        Self { sub_queries: vec![(sub_query, Ask::Work(work))], parameters: query.parameters.clone() }
    }
}

/// A question that this worker cannot expand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpansionError {
    /// The question is of a kind that this worker is not for.
    WrongKind,
    /// The question is malformed.
    Invalid(String),
}

impl From<Invalid> for ExpansionError {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(invalid.to_string())
    }
}

impl std::fmt::Display for ExpansionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::WrongKind => f.write_str("this kind of question is not for this operation"),
            Self::Invalid(what) => f.write_str(what),
        }
    }
}

/// Expands questions into sub-queries.
pub trait Expand: Send + Sync + 'static {
    /// The operation, which names the stream.
    const OPERATION: &'static str;

    /// The sub-queries of `question`.
    ///
    /// # Errors
    /// [`ExpansionError`] when this worker cannot expand it.
    fn expand(&self, query: &Query, question: &Question) -> Result<Expansion, ExpansionError>;
}
