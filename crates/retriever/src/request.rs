//! What one sub-query looks like on the wire.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::value::RawValue;
use trapi::{Dialect, InDialect, LogLevel, Members, QueryGraph};

/// A sub-query as it is posted to Retriever: never with the client's workflow.
#[derive(Debug)]
pub struct SubQueryRequest<'a> {
    /// How it is spelled.
    pub dialect: Dialect,
    /// What is asked.
    pub query_graph: &'a QueryGraph,
    /// The client's parameters; `timeout` and, where it is missing, `tiers` are put in.
    pub parameters: &'a Members,
    /// Retriever's time limit in seconds.
    pub timeout_seconds: f64,
    /// The data tier asked for when the client names none.
    pub default_tier: u32,
    /// Who asks.
    pub submitter: &'a str,
    /// The least severe log entries wanted.
    pub log_level: Option<LogLevel>,
    /// Whether cached answers are to be passed by, where the client says so.
    pub bypass_cache: Option<&'a RawValue>,
    /// Where the answer goes; none where it is waited for on the connection.
    pub callback: Option<&'a str>,
}

#[derive(Serialize)]
struct Body<'a> {
    message: Message<'a>,
    parameters: IndexMap<&'a str, Parameter<'a>>,
    submitter: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_level: Option<LogLevel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bypass_cache: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    callback: Option<&'a str>,
}

#[derive(Serialize)]
struct Message<'a> {
    query_graph: InDialect<'a>,
}

/// A client's own parameter as it came, or one of ours.
pub(crate) enum Parameter<'a> {
    Client(&'a RawValue),
    Flag(bool),
    LogLevel(LogLevel),
    Timeout(f64),
    Tiers([u32; 1]),
}

impl Serialize for Parameter<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Client(raw) => raw.serialize(serializer),
            Self::Flag(flag) => flag.serialize(serializer),
            Self::LogLevel(level) => level.serialize(serializer),
            Self::Timeout(seconds) if seconds.fract() == 0.0 => {
                // whole seconds are written as the integer that they are
                #[expect(clippy::cast_possible_truncation, reason = "a timeout is at most a day")]
                serializer.serialize_i64(*seconds as i64)
            }
            Self::Timeout(seconds) => serializer.serialize_f64(*seconds),
            Self::Tiers(tiers) => tiers.serialize(serializer),
        }
    }
}

/// The client's parameters with Retriever's time limit.
pub(crate) fn parameters(client: &Members, timeout_seconds: f64) -> IndexMap<&str, Parameter<'_>> {
    let mut parameters: IndexMap<&str, Parameter<'_>> =
        client.iter().map(|(name, raw)| (name.as_str(), Parameter::Client(raw))).collect();
    parameters.insert("timeout", Parameter::Timeout(timeout_seconds));
    parameters
}

impl SubQueryRequest<'_> {
    /// The JSON text.
    ///
    /// # Errors
    /// A [`serde_json::Error`] when the query graph cannot be written.
    pub fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        let mut parameters = parameters(self.parameters, self.timeout_seconds);
        let no_tiers = self.parameters.get("tiers").is_none_or(|raw| raw.get() == "null");
        if no_tiers {
            parameters.insert("tiers", Parameter::Tiers([self.default_tier]));
        }
        // Each dialect has a place of its own for these two, wherever the client's had them.
        parameters.shift_remove("log_level");
        parameters.shift_remove("bypass_cache");
        let at_top = self.dialect == Dialect::V1;
        if !at_top {
            parameters.extend(self.log_level.map(|level| ("log_level", Parameter::LogLevel(level))));
            parameters.extend(self.bypass_cache.map(|raw| ("bypass_cache", Parameter::Client(raw))));
        }
        serde_json::to_vec(&Body {
            message: Message { query_graph: self.query_graph.in_dialect(self.dialect) },
            parameters,
            submitter: self.submitter,
            log_level: self.log_level.filter(|_| at_top),
            bypass_cache: self.bypass_cache.filter(|_| at_top),
            callback: self.callback,
        })
    }
}
