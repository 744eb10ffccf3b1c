//! What a Shepherd says about a query under way.

use serde::Deserialize;
use std::time::Duration;
use testkit::ArsDouble;

/// One look must not hold up the display for long.
const LIMIT: Duration = Duration::from_secs(2);

/// `GET /asyncquery_status/{job_id}`; everything but the status may be missing.
#[derive(Debug, Deserialize)]
pub(crate) struct JobStatus {
    pub(crate) status: String,
    #[serde(default)]
    pub(crate) progress: Option<Progress>,
}

/// How far the query is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Progress {
    pub(crate) sub_queries: SubQueries,
    pub(crate) stage: Option<String>,
    /// When the lookup ends at the latest, in milliseconds since the Unix epoch.
    pub(crate) deadline_ms: Option<u64>,
}

/// Counts of sub-queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct SubQueries {
    pub(crate) sent: u64,
    pub(crate) accepted: u64,
    pub(crate) returned: u64,
    pub(crate) removed: u64,
    pub(crate) outstanding: u64,
}

impl JobStatus {
    /// Asks once; `None` when there is no usable answer.
    pub(crate) async fn ask(http: &ArsDouble, base: &str, job_id: &str) -> Option<Self> {
        let answer = http.get(&format!("{base}/asyncquery_status/{job_id}"), LIMIT).await.ok()?;
        serde_json::from_slice(&answer.body).ok().filter(|_| answer.status == 200)
    }

    pub(crate) fn is_final(&self) -> bool {
        matches!(self.status.as_str(), "Completed" | "Failed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_may_be_missing_or_partial() {
        let bare: JobStatus = serde_json::from_str(r#"{"status": "Running", "logs": []}"#).unwrap();
        assert!(bare.progress.is_none() && !bare.is_final());
        let text = r#"{"status": "Completed", "progress": {"sub_queries": {"sent": 3}, "stage": "x"}}"#;
        let full: JobStatus = serde_json::from_str(text).unwrap();
        assert_eq!(full.progress.unwrap().sub_queries, SubQueries { sent: 3, ..SubQueries::default() });
    }
}
