//! What the lookup workers differ in.

use std::path::{Path, PathBuf};

use answers::expand::SubQuery;
use trapi::{Invalid, Members, Query, Question};

/// How a sub-query is answered.
#[derive(Clone, Debug)]
pub enum Ask {
    /// By Retriever, with a callback.
    Retriever,
    /// By the worker itself: the body of the callback.
    Own(Vec<u8>),
}

/// The sub-queries of a question.
#[derive(Clone, Debug)]
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

/// A rule file that cannot be read.
#[derive(Debug)]
pub struct LoadError {
    /// The file or directory.
    pub path: PathBuf,
    /// Why.
    pub source: std::io::Error,
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RULES_DIR: {} cannot be read", self.path.display())
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// All `.json` files below `directory` with their paths, in the order of their names.
///
/// # Errors
/// [`LoadError`] names the file or directory that cannot be read.
pub fn read_rules(directory: &Path) -> Result<Vec<(PathBuf, String)>, LoadError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| LoadError { path, source }
    };
    let mut found = Vec::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        for item in std::fs::read_dir(&directory).map_err(unreadable(&directory))? {
            let path = item.map_err(unreadable(&directory))?.path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                let text = std::fs::read_to_string(&path).map_err(unreadable(&path))?;
                found.push((path, text));
            }
        }
    }
    found.sort();
    Ok(found)
}
