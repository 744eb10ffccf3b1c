//! The Lua scripts, each with the shared prelude in front of it.
//!
//! The first line of a script tells Redis what to do with it when memory is full. One that takes something new
//! in is refused whole, before any of it has run. All others run: they write a few fields and free more, and
//! without them a full Redis would keep what is at work in it for good.

use std::sync::LazyLock;

use redis::{ErrorKind, FromRedisValue, RedisError, Script, ScriptInvocation, ServerErrorKind};

use crate::error::{Action, StateError};
use crate::link::Link;

/// Every state change there is.
pub(crate) struct Scripts {
    pub(crate) accept_query: Script,
    pub(crate) begin_step: Script,
    pub(crate) register_fan_out: Script,
    pub(crate) record_submission: Script,
    pub(crate) find_callback: Script,
    pub(crate) take_callback: Script,
    pub(crate) close_lookup: Script,
    pub(crate) hand_on: Script,
    pub(crate) store_response: Script,
    pub(crate) conclude_query: Script,
    pub(crate) cancel_query: Script,
    pub(crate) rescue_query: Script,
    pub(crate) bury_step: Script,
    pub(crate) redrive_step: Script,
    pub(crate) hand_back: Script,
    pub(crate) renew_leases: Script,
    pub(crate) settle_entry: Script,
    pub(crate) claim_entries: Script,
    pub(crate) create_group: Script,
    pub(crate) leave_group: Script,
    pub(crate) dismiss_consumers: Script,
}

macro_rules! load {
    ($shebang:literal, $file:literal) => {
        Script::new(concat!(
            $shebang,
            "\n",
            include_str!("scripts/prelude.lua"),
            "\n",
            include_str!(concat!("scripts/", $file))
        ))
    };
}

/// Refused when memory is full.
macro_rules! intake {
    ($file:literal) => {
        load!("#!lua", $file)
    };
}

/// Runs whatever the memory.
macro_rules! script {
    ($file:literal) => {
        load!("#!lua flags=allow-oom", $file)
    };
}

static SCRIPTS: LazyLock<Scripts> = LazyLock::new(|| Scripts {
    accept_query: intake!("accept_query.lua"),
    begin_step: script!("begin_step.lua"),
    register_fan_out: intake!("register_fan_out.lua"),
    record_submission: script!("record_submission.lua"),
    find_callback: script!("find_callback.lua"),
    take_callback: intake!("take_callback.lua"),
    close_lookup: script!("close_lookup.lua"),
    hand_on: script!("hand_on.lua"),
    store_response: script!("store_response.lua"),
    conclude_query: script!("conclude_query.lua"),
    cancel_query: script!("cancel_query.lua"),
    rescue_query: script!("rescue_query.lua"),
    bury_step: script!("bury_step.lua"),
    redrive_step: intake!("redrive_step.lua"),
    hand_back: script!("hand_back.lua"),
    renew_leases: script!("renew_leases.lua"),
    settle_entry: script!("settle_entry.lua"),
    claim_entries: script!("claim_entries.lua"),
    create_group: script!("create_group.lua"),
    leave_group: script!("leave_group.lua"),
    dismiss_consumers: script!("dismiss_consumers.lua"),
});

impl Scripts {
    /// The scripts, hashed once per process.
    pub(crate) fn shared() -> &'static Self {
        &SCRIPTS
    }
}

/// Runs a script.
pub(crate) trait Run {
    /// Runs it, once more when Redis has forgotten it between being told and being asked.
    async fn run<T: FromRedisValue>(&self, connection: &Link, action: &'static str) -> Result<T, StateError>;
}

impl Run for ScriptInvocation<'_> {
    async fn run<T: FromRedisValue>(&self, connection: &Link, action: &'static str) -> Result<T, StateError> {
        let mut connection = connection.clone();
        match self.invoke_async(&mut connection).await {
            Err(error) if is_forgotten(&error) => self.invoke_async(&mut connection).await.action(action),
            other => other.action(action),
        }
    }
}

fn is_forgotten(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
}
