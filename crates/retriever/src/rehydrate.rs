//! The second pass: a message whose nodes and edges came without their content is sent to be filled.

use bytes::Bytes;
use trapi::Members;

use crate::request::{Parameter, parameters};

/// A message in the dialect that Retriever understands, as it is posted.
#[derive(Debug)]
pub struct RehydrationRequest<'a> {
    /// The message, a JSON object.
    pub message: &'a [u8],
    /// The client's parameters; `timeout` and `rehydrate` are put in.
    pub parameters: &'a Members,
    /// Retriever's time limit in seconds.
    pub timeout_seconds: f64,
}

impl RehydrationRequest<'_> {
    /// The JSON text.
    ///
    /// # Errors
    /// A [`serde_json::Error`] when the parameters cannot be written.
    pub fn to_json(&self) -> serde_json::Result<Bytes> {
        let mut parameters = parameters(self.parameters, self.timeout_seconds);
        parameters.insert("rehydrate", Parameter::Flag(true));
        let parameters = serde_json::to_vec(&parameters)?;
        let parts: [&[u8]; 5] = [b"{\"message\":", self.message, b",\"parameters\":", &parameters, b"}"];
        Ok(parts.concat().into())
    }
}
