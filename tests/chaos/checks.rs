//! What was promised, checked from the outside: by the client's and Retriever's journals alone.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;
use testkit::ars::Delivery;
use testkit::retriever::{CallbackRecord, Submission};

use crate::load::Asked;
use crate::question;
use crate::settings::{GRACE, QUERY};

/// A broken promise.
#[derive(Clone, Debug)]
pub(crate) struct Broken {
    /// The question it is about.
    pub(crate) number: usize,
    pub(crate) what: String,
}

/// All journals of a run.
pub(crate) struct Journals {
    pub(crate) asked: Vec<Asked>,
    pub(crate) submissions: Vec<Submission>,
    pub(crate) callbacks: Vec<CallbackRecord>,
    pub(crate) deliveries: Vec<Delivery>,
    /// By key, what the client kept.
    pub(crate) kept: HashMap<String, Delivery>,
}

impl Journals {
    /// Every broken promise.
    pub(crate) fn broken(&self) -> Vec<Broken> {
        let mut broken = self.unanswered();
        broken.extend(self.changed());
        broken.extend(self.lost_callbacks());
        broken
    }

    /// Accepted queries that were not answered, or too late.
    fn unanswered(&self) -> Vec<Broken> {
        let accepted = self.asked.iter().filter(|asked| asked.accepted.is_ok());
        let late = accepted.filter_map(|asked| {
            let what = match self.kept.get(&asked.question.key()) {
                None => "accepted, and never answered".to_owned(),
                Some(kept) => {
                    let took = kept.arrived.saturating_duration_since(asked.answered.into_std());
                    if took <= QUERY + GRACE {
                        return None;
                    }
                    format!("accepted, and answered {took:?} later, after its deadline")
                }
            };
            Some(Broken { number: asked.question.number, what })
        });
        late.collect()
    }

    /// Answers that were delivered in more than one version.
    fn changed(&self) -> Vec<Broken> {
        let mut versions: BTreeMap<&str, BTreeSet<&[u8]>> = BTreeMap::new();
        for delivery in &self.deliveries {
            versions.entry(&delivery.key).or_default().insert(&delivery.body);
        }
        let changed = versions.into_iter().filter(|(_, bodies)| bodies.len() > 1);
        let broken = changed.filter_map(|(key, bodies)| {
            let number = key.strip_prefix('q')?.parse().ok()?;
            Some(Broken { number, what: format!("delivered in {} versions", bodies.len()) })
        });
        broken.collect()
    }

    /// Callbacks that were answered 200 and are not in the answer.
    fn lost_callbacks(&self) -> Vec<Broken> {
        let answers: HashMap<&str, std::borrow::Cow<'_, str>> =
            self.kept.iter().map(|(key, kept)| (key.as_str(), String::from_utf8_lossy(&kept.body))).collect();
        let mut broken: BTreeMap<(usize, String), Broken> = BTreeMap::new();
        for (number, trace) in self.acknowledged() {
            let key = format!("q{number}");
            if answers.get(key.as_str()).is_none_or(|answer| !answer.contains(&trace)) {
                let what = format!("callback {trace} was answered 200 and is not in the answer");
                broken.insert((number, trace), Broken { number, what });
            }
        }
        broken.into_values().collect()
    }

    /// Question and trace of each callback that was answered 200.
    fn acknowledged(&self) -> impl Iterator<Item = (usize, String)> {
        let answered = self.callbacks.iter().filter(|callback| callback.status() == Some(200));
        answered.filter_map(|callback| {
            let number = question::number(self.submissions.get(callback.order)?)?;
            Some((number, callback.trace()?))
        })
    }

    /// Each answered question and how long its answer took.
    pub(crate) fn took(&self) -> impl Iterator<Item = (usize, Duration)> {
        self.asked.iter().filter_map(|asked| {
            let kept = self.kept.get(&asked.question.key())?;
            let took = kept.arrived.saturating_duration_since(asked.sent.into_std());
            Some((asked.question.number, took))
        })
    }

    /// The question whose answer took longest.
    pub(crate) fn slowest(&self) -> Option<(usize, Duration)> {
        self.took().max_by_key(|(_, took)| *took)
    }

    /// How many callbacks ended in each way.
    pub(crate) fn callback_outcomes(&self) -> BTreeMap<String, usize> {
        let mut outcomes = BTreeMap::new();
        for callback in &self.callbacks {
            let outcome = callback.status().map_or_else(|| "failed".to_owned(), |status| status.to_string());
            *outcomes.entry(outcome).or_default() += 1;
        }
        outcomes
    }

    /// How many answers have each TRAPI status.
    pub(crate) fn statuses(&self) -> BTreeMap<String, usize> {
        let mut statuses = BTreeMap::new();
        for kept in self.kept.values() {
            let status = kept.json().ok().and_then(|answer| answer["status"].as_str().map(str::to_owned));
            *statuses.entry(status.unwrap_or_default()).or_default() += 1;
        }
        statuses
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use std::sync::Arc;
    use std::time::{Instant, SystemTime};
    use testkit::queries;
    use testkit::retriever::CallbackOutcome;

    use super::*;
    use crate::question::Question;

    const NUMBER: usize = 50;

    fn delivery(nth: usize, body: &str, arrived: Instant) -> Delivery {
        let (key, body) = (format!("q{NUMBER}"), body.to_owned().into());
        Delivery { key, nth, arrived, headers: http::HeaderMap::default(), body }
    }

    /// One accepted question with one sub-query, whose callback was answered with `status`, and these deliveries.
    fn journals(status: u16, deliveries: Vec<Delivery>) -> Journals {
        let question = Question::of(1, NUMBER);
        let now = tokio::time::Instant::now();
        let (url, job_id) = ("http://gateway/aragorn/callback/abc".to_owned(), "job".to_owned());
        let query = Arc::new(queries::with_callback(question.query(), &url));
        let submission = Submission {
            order: 0,
            attempt: 1,
            arrived: now.into_std(),
            headers: http::HeaderMap::default(),
            body: bytes::Bytes::new(),
            query,
            job_id: job_id.clone(),
        };
        let callback = CallbackRecord {
            order: 0,
            job_id,
            url,
            started: now.into_std(),
            took: Duration::ZERO,
            ended_at: SystemTime::now(),
            connects: 1,
            wire_bytes: 0,
            encoding: None,
            outcome: CallbackOutcome::Answered { status, body: json!({}).to_string() },
        };
        let accepted = Ok("id".to_owned());
        Journals {
            asked: vec![Asked { question, gateway: "gateway", sent: now, answered: now, accepted }],
            submissions: vec![submission],
            callbacks: vec![callback],
            kept: deliveries.last().map(|kept| (kept.key.clone(), kept.clone())).into_iter().collect(),
            deliveries,
        }
    }

    fn broken(journals: &Journals) -> Vec<String> {
        journals.broken().into_iter().map(|broken| broken.what).collect()
    }

    #[test]
    fn kept_promises_are_not_complained_about() {
        let now = Instant::now();
        let answer = |nth| delivery(nth, "an answer with TRACE:abc in it", now);
        assert!(broken(&journals(200, vec![answer(1), answer(2)])).is_empty());
        // what was not acknowledged need not be there
        assert!(broken(&journals(410, vec![delivery(1, "nothing", now)])).is_empty());
    }

    #[test]
    fn broken_promises_are_found() {
        let now = Instant::now();
        let lost = broken(&journals(200, vec![delivery(1, "nothing", now)]));
        assert_eq!(lost, ["callback TRACE:abc was answered 200 and is not in the answer"]);
        let silent = broken(&journals(410, Vec::new()));
        assert_eq!(silent, ["accepted, and never answered"]);
        let late = broken(&journals(410, vec![delivery(1, "", now + QUERY + 2 * GRACE)]));
        assert!(late.len() == 1 && late[0].ends_with("after its deadline"), "{late:?}");
        let changed = broken(&journals(410, vec![delivery(1, "one", now), delivery(2, "other", now)]));
        assert_eq!(changed, ["delivered in 2 versions"]);
    }
}
