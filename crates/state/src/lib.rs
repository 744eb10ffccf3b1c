//! What Redis holds of a query, and every command that touches it.
//!
//! Each state change is one Lua script that looks at the present state first, so that a second run of
//! it changes nothing: a command that timed out may still have run. Keys carry a hash tag of the
//! query's partition, so one query's keys and its streams live in one slot.

mod address;
mod callbacks;
mod connect;
mod dead_letters;
mod error;
mod events;
mod fan_out;
mod ids;
mod intake;
mod intermediate;
mod keys;
mod link;
mod logs;
mod payload;
mod query;
mod response;
mod script;
mod source;
mod standing;
mod tasks;
mod watch;

pub use address::{RedisAddress, RedisNode, RedisUrl};
pub use callbacks::{CallbackOwner, CallbackRefusal, CallbackReport, Kept, NewCallback};
pub use connect::{Memory, RedisSettings, Store};
pub use dead_letters::{DeadLetter, Redriven};
pub use error::StateError;
pub use events::{Event, Events};
pub use fan_out::{
    CallbackRecord, CallbackStatus, Close, Closing, FanOut, LookupTimes, NewSubQuery, Recorded,
    SubmissionRecord,
};
pub use ids::{CallbackId, ConsumerName, EntryId, InvalidId, QueryId};
pub use intake::{Delivery, NewQuery};
pub use intermediate::Intermediate;
pub use logs::StoredLog;
pub use payload::{Encoding, Payload, PayloadError};
pub use query::{Begun, JobState, Progress, QueryRecord, Standing};
pub use response::{Conclusion, FinalResponse, StoredResponse};
pub use tasks::{Delivered, StepEntry, TaskQueue};
