//! How a query ended, as its readers see it.

use answers::merge::Outcome;
use meters::MissingReason;
use serde::{Deserialize, Serialize};
use state::{CallbackRecord, CallbackStatus, JobState};

/// What became of the sub-queries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// Whether the client has brought the message itself, so that nobody was asked.
    pub(crate) brought: bool,
    /// How many there were.
    pub(crate) sub_queries: usize,
    /// How many gave an answer, an empty one included.
    pub(crate) answered: usize,
    /// How many Retriever cannot traverse.
    pub(crate) not_traversable: usize,
    /// How many answers were unusable.
    pub(crate) unusable: usize,
    /// How many Retriever refused, or was not reached for.
    pub(crate) refused: usize,
    /// How many had no answer when the lookup closed.
    pub(crate) late: usize,
    /// The first reason for a refusal or an unusable answer.
    pub(crate) reason: Option<String>,
}

/// How a query ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    /// TRAPI `status`, one of the codes that validators know where that is true.
    pub(crate) status: &'static str,
    /// TRAPI `description`.
    pub(crate) description: String,
    /// How the job ended.
    pub(crate) job: JobState,
    /// What `/query` answers with.
    pub(crate) http_status: u16,
}

impl Tally {
    /// Of a message that the client has brought itself.
    pub(crate) fn of_the_client() -> Self {
        Self { brought: true, ..Self::default() }
    }

    /// Counts what the records tell and what the merge made of the bodies that came.
    pub(crate) fn count<'a>(
        callbacks: &[CallbackRecord],
        outcomes: impl IntoIterator<Item = &'a Outcome>,
    ) -> Self {
        let mut tally = Self { sub_queries: callbacks.len(), ..Self::default() };
        for callback in callbacks {
            match callback.status {
                // the merge has looked at these
                CallbackStatus::Returned => {}
                CallbackStatus::Failed => tally.unusable(callback.reason.as_deref()),
                CallbackStatus::Removed => {
                    tally.refused += 1;
                    tally.keep_reason(callback.reason.as_deref());
                }
                CallbackStatus::Registered | CallbackStatus::Accepted | CallbackStatus::InFlight => {
                    tally.late += 1;
                }
            }
        }
        for outcome in outcomes {
            match outcome {
                Outcome::Answered { .. } => tally.answered += 1,
                Outcome::NotTraversable => tally.not_traversable += 1,
                Outcome::Failed { reason } => tally.unusable(Some(&reason.to_string())),
            }
        }
        tally
    }

    /// Counts the sub-queries that gave nothing.
    pub(crate) fn count_missing(&self, ara: &str) {
        let counts = [
            (MissingReason::Late, self.late),
            (MissingReason::Refused, self.refused),
            (MissingReason::Unusable, self.unusable),
        ];
        for (reason, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            meters::sub_queries_missing(ara, reason, count as u64);
        }
    }

    fn unusable(&mut self, reason: Option<&str>) {
        self.unusable += 1;
        self.keep_reason(reason);
    }

    fn keep_reason(&mut self, reason: Option<&str>) {
        if self.reason.is_none() {
            self.reason = reason.map(str::to_owned);
        }
    }

    /// How many gave nothing, and why, in words; `None` when all did.
    pub(crate) fn missing(&self) -> Option<String> {
        let parts = [
            (self.late, "had no answer before the deadline"),
            (self.refused, "were refused or did not arrive"),
            (self.unusable, "had an unusable answer"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        if parts.is_empty() {
            return None;
        }
        let count = self.late + self.refused + self.unusable;
        let reason = self.reason.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"));
        Some(format!("{count} of {} sub-queries are missing: {}{reason}", self.sub_queries, parts.join(", ")))
    }

    /// How the query ended, with so many results; `failure` where an operation failed for good.
    pub(crate) fn ending(&self, results: usize, failure: Option<&str>) -> Ending {
        let ending = |status, description, job, http_status| Ending { status, description, job, http_status };
        if let Some(failure) = failure {
            return ending("Failed", failure.to_owned(), JobState::Failed, 500);
        }
        let missing = self.missing();
        if self.answered == 0 && self.not_traversable > 0 && missing.is_none() {
            let description = "Retriever cannot traverse this query".to_owned();
            return ending("QueryNotTraversable", description, JobState::Completed, 200);
        }
        if self.answered + self.not_traversable == 0 && !self.brought {
            let description =
                missing.unwrap_or_else(|| "no sub-query was sent before the deadline".to_owned());
            let http_status = if self.late > 0 || self.sub_queries == 0 { 504 } else { 502 };
            return ending("KPsNotAvailable", description, JobState::Failed, http_status);
        }
        let results = if results == 1 { "1 result".to_owned() } else { format!("{results} results") };
        let description = match missing {
            Some(missing) => format!("{results}; {missing}"),
            None => results,
        };
        ending("Success", description, JobState::Completed, 200)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(answered: usize, not_traversable: usize, late: usize, refused: usize) -> Tally {
        let sub_queries = answered + not_traversable + late + refused;
        Tally { sub_queries, answered, not_traversable, refused, late, ..Tally::default() }
    }

    #[track_caller]
    fn ends(tally: &Tally, status: &str, job: JobState, http_status: u16) -> String {
        let ending = tally.ending(3, None);
        assert_eq!((ending.status, ending.job, ending.http_status), (status, job, http_status));
        ending.description
    }

    #[test]
    fn every_sub_query_answered_is_a_success() {
        assert_eq!(ends(&tally(2, 0, 0, 0), "Success", JobState::Completed, 200), "3 results");
        ends(&tally(1, 1, 0, 0), "Success", JobState::Completed, 200);
    }

    #[test]
    fn some_missing_is_a_success_that_says_how_many_and_why() {
        let description = ends(&tally(2, 0, 1, 1), "Success", JobState::Completed, 200);
        assert_eq!(
            description,
            "3 results; 2 of 4 sub-queries are missing: 1 had no answer before the deadline, \
             1 were refused or did not arrive"
        );
    }

    #[test]
    fn all_not_traversable_is_told_as_such() {
        ends(&tally(0, 2, 0, 0), "QueryNotTraversable", JobState::Completed, 200);
    }

    #[test]
    fn none_answered_says_whether_it_was_refusal_or_time() {
        ends(&tally(0, 0, 0, 2), "KPsNotAvailable", JobState::Failed, 502);
        ends(&tally(0, 0, 1, 1), "KPsNotAvailable", JobState::Failed, 504);
        let unusable = Tally { sub_queries: 1, unusable: 1, reason: Some("why".into()), ..Tally::default() };
        let description = ends(&unusable, "KPsNotAvailable", JobState::Failed, 502);
        assert!(description.ends_with("1 had an unusable answer (why)"), "{description}");
    }

    #[test]
    fn message_that_the_client_brought_is_a_success() {
        assert_eq!(ends(&Tally::of_the_client(), "Success", JobState::Completed, 200), "3 results");
    }

    #[test]
    fn failure_goes_before_everything_else() {
        let ending = tally(2, 0, 0, 0).ending(3, Some("it broke"));
        assert_eq!((ending.status, ending.http_status), ("Failed", 500));
        assert_eq!(ending.description, "it broke");
    }
}
