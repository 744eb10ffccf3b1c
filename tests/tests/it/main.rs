//! Whole flows over real processes: the deployed programs, a redis-server of their own, and Retriever and the ARS as
//! doubles in the test's process, where a test can script them and look at what they saw.
//!
//! Times are scaled down by settings. Every wait is for an event under a limit that is generous, while the logic is
//! tight: where a test is about time, the wrong design is late by far more than a slow machine could be.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod answer;
mod memory;
mod rescues;
mod scene;
mod strict;

mod bad_queries;
mod callbacks;
mod crashes;
mod delivery;
mod dialects;
mod endings;
mod flows;
mod hang_up;
mod hostile;
mod metrics;
mod openapi;
mod operations;
mod outages;
mod paths;
mod personas;
mod redis_trouble;
mod rehydration;
mod responses;
mod secrets;
mod status;
mod sub_queries;
mod takeovers;
mod timeouts;
mod timing;
mod topologies;
mod traces;
mod wire;
