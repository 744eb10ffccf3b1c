//! Expansion, merge, ranking, sorting and filtering: pure functions on messages. No I/O.

mod canonical;
mod inference;
mod json;
mod note;

pub mod expand;
pub mod merge;
pub mod message;
pub mod operations;
pub mod rehydrate;
pub mod response;
pub mod set_input;

pub use message::Message;
pub use note::Note;
