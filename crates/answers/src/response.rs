//! The response that leaves the house: the message and what the client should know about it.

use std::io::{self, Write};

use trapi::{Dialect, LogEntry, Operation, Query};

use crate::Message;
use crate::json::Json;

/// A response to a client.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    /// What was found.
    pub message: &'a Message<'a>,
    /// What was asked; its parameters are echoed.
    pub query: &'a Query,
    /// How it ended, as one of the short codes that readers know, e.g. `Success`.
    pub status: &'a str,
    /// How it ended, for people.
    pub description: &'a str,
    /// What happened, oldest first.
    pub logs: &'a [LogEntry],
    /// The operations that were executed.
    pub workflow: &'a [Operation],
    /// The TRAPI version of the response, which says in which dialect it is written.
    pub schema_version: &'a str,
    /// The Biolink version of its content.
    pub biolink_version: &'a str,
    /// Our id of the query, where there is one.
    pub job_id: Option<&'a str>,
}

impl Envelope<'_> {
    /// Writes the response as JSON, in many small pieces: a file or socket wants a buffer before it.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let dialect = self.schema_version.parse().unwrap_or_default();
        Json::new(out).object(|json| {
            match dialect {
                Dialect::V1 => self.message.write_to(json.member("message")?)?,
                Dialect::V2 => self.message.write_v2(json.member("message")?)?,
            }
            json.member("status")?.text(self.status)?;
            json.member("description")?.text(self.description)?;
            if dialect == Dialect::V1 || !self.logs.is_empty() {
                json.member("logs")?.value(self.logs)?;
            }
            json.member("workflow")?.value(self.workflow)?;
            json.member("schema_version")?.text(self.schema_version)?;
            json.member("biolink_version")?.text(self.biolink_version)?;
            if !self.query.parameters.is_empty() {
                json.member("parameters")?.value(&self.query.parameters)?;
            }
            match self.job_id {
                Some(job_id) => json.member("job_id")?.text(job_id),
                None => Ok(()),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_is_there_once() {
        let body = br#"{"message":{"query_graph":{"nodes":{"a":{}},"edges":{"e":{"subject":"a","object":"a"}}}},"parameters":{"timeout":6e1}}"#;
        let query = Query::parse(body).unwrap();
        let message = Message { query_graph: query.query_graph.clone(), ..Message::default() };
        let envelope = Envelope {
            message: &message,
            query: &query,
            status: "Success",
            description: "1 \"answer\"",
            logs: &[],
            workflow: &[Operation::new("lookup")],
            schema_version: "1.6.0",
            biolink_version: "4.2.5",
            job_id: Some("j"),
        };
        let mut out = Vec::new();
        envelope.write(&mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            r#"{"message":{"query_graph":{"nodes":{"a":{}},"edges":{"e":{"subject":"a","object":"a"}}},"knowledge_graph":{"nodes":{},"edges":{}},"results":[],"auxiliary_graphs":{}},"status":"Success","description":"1 \"answer\"","logs":[],"workflow":[{"id":"lookup"}],"schema_version":"1.6.0","biolink_version":"4.2.5","parameters":{"timeout":6e1},"job_id":"j"}"#
        );
    }
}
