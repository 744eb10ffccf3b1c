//! TRAPI messages: parsing, validation and the question a query asks. No I/O.
//!
//! Only what Shepherd decides on is typed. Everything else is kept as the bytes that came
//! ([`Members`]), so that unknown properties and the spelling of numbers survive.

pub mod biolink;
mod dialect;
mod error;
mod graph;
mod json;
mod log;
mod query;
mod question;
mod scan;
mod set_input;
mod unicode;

use indexmap::IndexMap;
use serde_json::value::RawValue;

pub use dialect::{Dialect, InDialect, UnknownVersion};
pub use error::{Invalid, Problem};
pub use graph::{PathConstraint, QEdge, QNode, QPath, Qualifier, QualifierConstraint, QueryGraph};
pub use json::{Kind, MAX_DEPTH, kind};
pub use log::{LogEntry, LogLevel, UnknownLogLevel};
pub use query::{Operation, Query};
pub use question::{Inferred, Pathfinder, Question};
pub use scan::{Flaw, scan};
pub use set_input::SetInput;
pub use unicode::is_unicode;

/// Members of a JSON object that nobody here needs, kept as the bytes that came, in order.
pub type Members = IndexMap<String, Box<RawValue>>;
