//! The contract of the scripts, against a real redis-server: each state change does what it says, does
//! nothing the second time, and is refused from a wrong state.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod callbacks;
mod cancelling;
mod events;
mod leases;
mod life_cycle;
mod scene;
mod standing;
mod submissions;
mod trouble;
mod watch;
mod wrong_states;
