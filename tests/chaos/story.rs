//! What happened to one question, in order: from the journals and from the processes' logs.

use std::path::Path;
use std::time::{Instant, SystemTime};
use testkit::retriever::{CallbackOutcome, Submission};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::checks::Journals;
use crate::question;

/// Longest line of a log that is shown.
const LINE: usize = 300;

/// Tells what `instant` was on the wall's clock.
#[derive(Clone, Copy)]
pub(crate) struct WallClock(Instant, SystemTime);

impl WallClock {
    pub(crate) fn now() -> Self {
        Self(Instant::now(), SystemTime::now())
    }

    /// RFC 3339, with as many digits as the logs have.
    fn tell(self, instant: Instant) -> String {
        let at = self.1 - self.0.saturating_duration_since(instant);
        let text = OffsetDateTime::from(at).format(&Rfc3339).unwrap_or_default();
        text.chars().take(26).collect()
    }
}

/// The story of question `number`, one event per line.
pub(crate) fn of(number: usize, journals: &Journals, logs: &Path, clock: WallClock) -> String {
    let mut events: Vec<(String, String)> = Vec::new();
    let mut tell = |at: Instant, what: String| events.push((clock.tell(at), what));
    let mut job = None;
    for asked in journals.asked.iter().filter(|asked| asked.question.number == number) {
        tell(asked.sent.into_std(), format!("asked {} of {}", asked.question.ara, asked.gateway));
        tell(asked.answered.into_std(), format!("the gateway: {:?}", asked.accepted));
        job = asked.accepted.clone().ok().filter(|job| !job.is_empty());
    }
    let is_its = |submission: &Submission| question::number(submission) == Some(number);
    for submission in journals.submissions.iter().filter(|submission| is_its(submission)) {
        let trace = submission.trace().unwrap_or_default();
        let Submission { attempt, arrived, job_id, .. } = submission;
        tell(*arrived, format!("Retriever took {trace}, attempt {attempt}, job {job_id}"));
    }
    let callbacks = journals.callbacks.iter();
    for callback in callbacks.filter(|it| journals.submissions.get(it.order).is_some_and(is_its)) {
        let trace = callback.trace().unwrap_or_default();
        tell(callback.started, format!("Retriever calls back for {trace}"));
        let outcome = match &callback.outcome {
            CallbackOutcome::Answered { status, body } => format!("{status} {body}"),
            CallbackOutcome::Failed { error, .. } => error.clone(),
        };
        tell(callback.started + callback.took, format!("and gets, for {trace}: {outcome}"));
    }
    for delivery in journals.deliveries.iter().filter(|delivery| delivery.key == format!("q{number}")) {
        let kept = journals.kept.get(&delivery.key).is_some_and(|kept| kept.nth == delivery.nth);
        let bytes = delivery.body.len();
        tell(delivery.arrived, format!("delivery {} of {bytes} bytes, kept: {kept}", delivery.nth));
    }
    if let Some(job) = job {
        events.extend(logged(&job, logs));
    }
    events.sort();
    let lines: Vec<String> = events.into_iter().map(|(at, what)| format!("  {at} {what}")).collect();
    lines.join("\n")
}

/// The lines of all logs that mention `job`.
fn logged(job: &str, logs: &Path) -> Vec<(String, String)> {
    let files = std::fs::read_dir(logs).into_iter().flatten().flatten();
    let mut lines = Vec::new();
    for file in files {
        let label = file.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read(file.path()).unwrap_or_default();
        for line in String::from_utf8_lossy(&text).lines().filter(|line| line.contains(job)) {
            let (at, what) = line.split_once(' ').unwrap_or(("", line));
            let what: String = what.chars().take(LINE).collect();
            lines.push((at.chars().take(26).collect(), format!("{label}: {what}")));
        }
    }
    lines
}
