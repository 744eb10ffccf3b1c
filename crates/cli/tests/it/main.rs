//! The developer binary and the supervisor, on real processes.
//!
//! The gateway and the workers are stood in for by small scripts that become `shepherd retriever`: what is tested here is
//! starting, watching and ending processes, not what they do.

#![expect(clippy::unwrap_used, reason = "set-up that fails should fail the test on the spot")]

mod demo;
mod query;
mod retriever;
mod serve;
mod stack;
mod support;
