//! What tests and the developer binary share: doubles of Retriever and of the ARS, a private redis-server, the whole
//! stack as processes, and the questions to ask it.
//!
//! Everything here talks over the loopback interface only, through real sockets and real processes, and every wait is
//! for an event under a limit.

pub mod answers;
pub mod ars;
pub mod http;
mod journal;
pub mod poll;
pub mod ports;
pub mod process;
pub mod proxy;
pub mod queries;
mod redis_server;
pub mod retriever;
mod serve;
pub mod stack;

pub use ars::ArsDouble;
pub use journal::WaitError;
pub use proxy::TcpProxy;
pub use redis_server::{PrivateRedis, PrivateRedisBuilder, RedisError};
pub use retriever::RetrieverDouble;
pub use serve::ServeError;
pub use stack::Stack;
