//! What tests and the developer binary share: doubles of Retriever and of the ARS, a private redis-server, the whole
//! stack as processes, and the questions to ask it.
//!
//! Everything here talks over the loopback interface only, through real sockets and real processes, and every wait is
//! for an event under a limit. An end-to-end test reads like this:
//!
//! ```no_run
//! # use shepherd_testkit as testkit;
//! use std::time::Duration;
//! use testkit::retriever::{Behaviour, Plan};
//! use testkit::stack::RetrieverChoice;
//! use testkit::{ArsDouble, RetrieverDouble, Stack, queries};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! // The second sub-query's acknowledgement never comes, but its answer does.
//! let lost_ack = Behaviour::answer().ack_never().callback_after(Duration::from_millis(100));
//! let retriever = RetrieverDouble::builder().plan(Plan::default().nth(1, lost_ack)).start().await?;
//! let ars = ArsDouble::start().await?;
//! let stack = Stack::builder_beside_this_program()?
//!     .retriever(RetrieverChoice::At(retriever.url()))
//!     .workers(["aragorn-lookup", "operations", "finish-query"])
//!     .env("KG_RETRIEVAL_SUBMIT_TIMEOUT", "1")
//!     .start()
//!     .await?;
//!
//! let accepted = ars.submit_async(&stack.gateway_url(), "aragorn", queries::treats("MONDO:0005148")).await?;
//! let delivery = ars.wait_for(&accepted.key, Duration::from_secs(10)).await?;
//! assert_eq!(delivery.json()?["status"], "Success");
//! stack.shutdown().await?;
//! # Ok(())
//! # }
//! ```

pub mod answers;
pub mod ars;
mod babbler;
pub mod http;
mod journal;
pub mod knowledge;
pub mod lmdb;
pub mod poll;
pub mod ports;
pub mod process;
pub mod proxy;
pub mod queries;
mod redis_cluster;
mod redis_server;
pub mod retriever;
mod serve;
pub mod stack;

pub use ars::ArsDouble;
pub use babbler::Babbler;
pub use journal::WaitError;
pub use knowledge::Knowledge;
pub use proxy::TcpProxy;
pub use redis_cluster::{RedisCluster, RedisSentinel};
pub use redis_server::{PrivateRedis, PrivateRedisBuilder, RedisError};
pub use retriever::RetrieverDouble;
pub use serve::ServeError;
pub use stack::Stack;
