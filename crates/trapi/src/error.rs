//! What is wrong with a message, and where.

use std::fmt;

use crate::json::Kind;

/// A message that cannot be used: the JSON path of the fault and what it is.
///
/// Short and free of control characters whatever the client sent, so that it may be shown and logged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Invalid {
    /// JSON path, e.g. `message.query_graph.edges.e0.subject`; empty for the body as a whole.
    pub path: String,
    /// What is wrong there.
    pub problem: Problem,
}

impl Invalid {
    /// A problem at a path.
    pub fn new(path: impl Into<String>, problem: Problem) -> Self {
        Self { path: path.into(), problem }
    }
}

impl Invalid {
    /// What another reader could not read, at a path and for a reason that may hold what the client sent.
    pub fn unreadable(path: &str, why: &str) -> Self {
        Self { path: shown(path), problem: Problem::Unreadable { why: shown(why) } }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            write!(f, "request body: {}", self.problem)
        } else {
            write!(f, "{}: {}", self.path, self.problem)
        }
    }
}

/// Longest part of a foreign text that an error shows, in characters.
const SHOWN: usize = 200;

/// A foreign text, short and without control characters.
fn shown(text: &str) -> String {
    let shown = text
        .chars()
        .map(|character| if character.is_control() { char::REPLACEMENT_CHARACTER } else { character });
    shown.take(SHOWN).collect()
}

/// The ways in which a message can be wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The body is not UTF-8.
    #[error("is not UTF-8")]
    NotUtf8,
    /// The body is not one JSON value.
    #[error("is not valid JSON (line {line}, column {column})")]
    NotJson {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// Objects and lists nested too deeply.
    #[error("is nested deeper than {limit} levels")]
    TooDeep {
        /// The deepest nesting accepted.
        limit: usize,
    },
    /// An object with two members of one name: each reader would see another one.
    #[error("has a member twice: `{name}`")]
    Repeated {
        /// The name, cut to a few plain characters.
        name: String,
    },
    /// A text with an escape that stands for no character.
    #[error("holds text that is not Unicode")]
    NotUnicode,
    /// A value of another type than needed.
    #[error("must be {expected}, not {found}")]
    WrongType {
        /// The type needed.
        expected: Kind,
        /// The type found.
        found: Kind,
    },
    /// A value that is not what TRAPI has in its place.
    #[error("cannot be read: {why}")]
    Unreadable {
        /// What the reader says.
        why: String,
    },
    /// A member that must be there is not.
    #[error("is missing")]
    Missing,
    /// A collection that must hold something does not.
    #[error("must not be empty")]
    Empty,
    /// A collection that holds too much to be answered.
    #[error("must not hold more than {limit}")]
    TooMany {
        /// The most that is answered.
        limit: usize,
    },
    /// A key or an id that is too long to be one.
    #[error("must not be longer than {limit} bytes")]
    TooLong {
        /// The most bytes.
        limit: usize,
    },
    /// A key or an id with a control character in it.
    #[error("must not hold control characters")]
    ControlCharacter,
    /// A text that is none of the allowed ones.
    #[error("must be {0}")]
    NotOneOf(&'static str),
    /// An edge or path ends at a node that is not there.
    #[error("names no node of the query graph")]
    UnknownNode,
    /// Inferred and looked-up edges in one query graph.
    #[error("an edge to look up beside an inferred edge is not supported")]
    Mixed,
    /// More than one inferred edge.
    #[error("more than one inferred edge is not supported")]
    SeveralInferred,
    /// Both ends of the inferred edge have ids.
    #[error("both nodes of the inferred edge have ids; exactly one must")]
    BothPinned,
    /// Neither end of the inferred edge has ids.
    #[error("neither node of the inferred edge has ids; exactly one must")]
    NonePinned,
    /// More than one path.
    #[error("more than one path is not supported")]
    SeveralPaths,
    /// More than one constraint of a path.
    #[error("more than one constraint of a path is not supported")]
    SeveralConstraints,
    /// More than one category that a path must pass.
    #[error("more than one intermediate category is not supported")]
    SeveralCategories,
    /// Paths and edges in one query graph.
    #[error("paths beside edges are not supported")]
    PathsBesideEdges,
    /// An end of a path without ids.
    #[error("must name an id: both ends of a path are pinned")]
    EndNotPinned,
    /// A path from a node to itself.
    #[error("is the path's subject too")]
    SameEnds,
}
