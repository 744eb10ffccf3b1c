//! What the runner decides on time, on paused time, against doubles of its ports.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod doubles;
mod outages;
mod outcomes;
mod recovery;
mod takeover;
mod timing;
mod work;
