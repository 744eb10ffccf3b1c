//! Expansion, merge, ranking, sorting and filtering: pure functions on messages. No I/O.

pub mod expand;
