//! Jobs: what a submission became, and the response it gets.

use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::time::{Duration, SystemTime};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::plan::{Behaviour, Payload};
use super::record::Submission;
use crate::answers::{self, AnswerSpec, QuestionError};

/// Retriever's own limit where the query names none.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(180);
/// Jobs remembered; older ones are forgotten, as the real one forgets after a while.
const KEPT: usize = 20_000;

/// How long a job may take: `None` for a negative timeout, which switches the limit off.
pub(super) fn time_limit(submission: &Submission) -> Option<Duration> {
    match submission.timeout() {
        Some(seconds) if seconds < 0.0 => None,
        Some(seconds) => Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)),
        None => Some(DEFAULT_TIMEOUT),
    }
}

/// What a job achieves: when it is done, and whether the clock ended it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Work {
    pub(super) takes: Duration,
    /// Share of the work done when it ends, 1 unless the time limit came first.
    share: f64,
}

impl Work {
    pub(super) fn of(behaviour: &Behaviour, limit: Option<Duration>) -> Self {
        match limit {
            Some(limit) if behaviour.obeys_timeout && behaviour.work > limit => {
                Self { takes: limit, share: limit.as_secs_f64() / behaviour.work.as_secs_f64() }
            }
            _ => Self { takes: behaviour.work, share: 1.0 },
        }
    }

    fn is_cut_short(self) -> bool {
        self.share < 1.0
    }
}

/// Everything needed to make the response, now or when somebody asks for it by id.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) submission: Submission,
    pub(super) payload: Payload,
    pub(super) traced: bool,
    pub(super) work: Work,
    pub(super) done: bool,
}

impl Job {
    /// The TRAPI response of a finished job.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share of a count of results"
    )]
    pub(super) fn response(&self, default: &AnswerSpec) -> Result<Value, QuestionError> {
        let graph = self.submission.query_graph();
        let full = match &self.payload {
            Payload::Answer(results) => results.unwrap_or(default.results),
            _ => default.results,
        };
        let results = (full as f64 * self.work.share) as usize;
        let trace = self.submission.trace().filter(|_| self.traced).or_else(|| default.trace.clone());
        let spec = AnswerSpec { results, trace, ..default.clone() };
        let (mut message, status, description) = match &self.payload {
            Payload::Status(status, description) => {
                (answers::empty_message(graph), status.clone(), description.clone())
            }
            _ => {
                let message = match &spec.knowledge {
                    Some(knowledge) => knowledge.message(graph, &self.submission.query["parameters"])?,
                    None => answers::message(graph, &spec)?,
                };
                let results = message["results"].as_array().map_or(0, Vec::len);
                (message, "Success".to_owned(), format!("{results} results."))
            }
        };
        if self.submission.query.pointer("/parameters/dehydrated") == Some(&Value::Bool(true)) {
            answers::dehydrate(&mut message["knowledge_graph"]);
        }
        let mut logs = vec![log("INFO", "The job started.")];
        if self.work.is_cut_short() {
            let waited = self.work.takes;
            logs.push(log("WARNING", &format!("The time limit of {waited:?} ended the search early.")));
        }
        logs.push(log("INFO", &description));
        let mut response = json!({
            "message": message,
            "status": status,
            "description": description,
            "logs": logs,
            "schema_version": answers::SCHEMA_VERSION,
            "biolink_version": answers::BIOLINK_VERSION,
            "job_id": self.submission.job_id,
        });
        for member in ["parameters", "submitter"] {
            if let Some(value) = self.submission.query.get(member) {
                response[member] = value.clone();
            }
        }
        Ok(response)
    }
}

fn log(level: &str, message: &str) -> Value {
    json!({ "timestamp": rfc3339(SystemTime::now()), "level": level, "message": message })
}

fn rfc3339(at: SystemTime) -> String {
    // Only years beyond 9999 have no such form.
    OffsetDateTime::from(at).format(&Rfc3339).unwrap_or_default()
}

/// The jobs by id.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    by_id: HashMap<String, Job>,
    order: VecDeque<String>,
}

impl Jobs {
    pub(super) fn add(&mut self, job: Job) {
        let id = job.submission.job_id.clone();
        self.order.push_back(id.clone());
        self.by_id.insert(id, job);
        while self.order.len() > KEPT {
            if let Some(oldest) = self.order.pop_front() {
                self.by_id.remove(&oldest);
            }
        }
    }

    pub(super) fn finish(&mut self, id: &str) {
        if let Some(job) = self.by_id.get_mut(id) {
            job.done = true;
        }
    }

    pub(super) fn get(&self, id: &str) -> Option<&Job> {
        self.by_id.get(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_ends_a_job_with_what_it_has() {
        let behaviour = Behaviour::answer().callback_after(Duration::from_secs(10));
        let limit = Some(Duration::from_secs(4));
        assert_eq!(Work::of(&behaviour, limit), Work { takes: Duration::from_secs(4), share: 0.4 });
        assert!(!Work::of(&behaviour, None).is_cut_short());
        let late = behaviour.ignoring_timeout();
        assert_eq!(Work::of(&late, limit).takes, Duration::from_secs(10));
    }
}
