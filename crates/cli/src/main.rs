//! The developer binary.

fn main() {}
