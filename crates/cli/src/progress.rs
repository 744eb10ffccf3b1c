//! The line that shows how far a query is.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::status::{JobStatus, Progress};

/// Shows progress on standard error: one line that is rewritten on a terminal, one line per change elsewhere.
#[derive(Debug)]
pub(crate) struct ProgressLine {
    started: Instant,
    terminal: bool,
    shown: Option<(String, Progress)>,
}

impl ProgressLine {
    pub(crate) fn start() -> Self {
        Self { started: Instant::now(), terminal: std::io::stderr().is_terminal(), shown: None }
    }

    /// Shows a status; without one, only the time.
    pub(crate) fn show(&mut self, status: Option<&JobStatus>) {
        let now = status.map(|status| (status.status.clone(), status.progress.clone().unwrap_or_default()));
        if self.terminal {
            let text = describe(now.as_ref(), self.started.elapsed(), SystemTime::now());
            // A terminal that cannot be written to shows nothing; that is no reason to fail.
            let _ = write!(std::io::stderr(), "\r\x1b[2K{text}");
        } else if now.is_some() && now != self.shown {
            eprintln!("{}", describe(now.as_ref(), self.started.elapsed(), SystemTime::now()));
        }
        self.shown = now;
    }

    /// Leaves the line behind, so that what follows starts on a fresh one.
    pub(crate) fn end(&self) {
        if self.terminal {
            eprintln!();
        }
    }
}

fn describe(status: Option<&(String, Progress)>, elapsed: Duration, now: SystemTime) -> String {
    let time = format!("{:6.1} s", elapsed.as_secs_f64());
    let Some((status, progress)) = status else { return time };
    let counts = progress.sub_queries;
    let mut facts = Vec::new();
    if counts.sent > 0 {
        let all = [(counts.sent, "sent"), (counts.accepted, "acknowledged"), (counts.returned, "returned")];
        facts.extend(all.map(|(count, what)| format!("{count} {what}")));
    }
    if counts.removed > 0 {
        facts.push(format!("{} removed", counts.removed));
    }
    if let Some(deadline) = progress.deadline_ms {
        let left = (UNIX_EPOCH + Duration::from_millis(deadline)).duration_since(now).unwrap_or_default();
        facts.push(format!("{:.0} s left", left.as_secs_f64()));
    }
    // Short enough for a terminal of 80 columns, which a line that is rewritten must not exceed.
    let line = format!("{time}  {}  {}", progress.stage.as_ref().unwrap_or(status), facts.join(", "));
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::SubQueries;

    #[test]
    fn the_line_says_what_is_known() {
        let now = UNIX_EPOCH + Duration::from_secs(100);
        let counts = SubQueries { sent: 19, accepted: 19, returned: 12, removed: 1, outstanding: 6 };
        let progress = Progress {
            sub_queries: counts,
            stage: Some("aragorn.lookup".to_owned()),
            deadline_ms: Some(118_000),
        };
        let status = ("Running".to_owned(), progress);
        assert_eq!(
            describe(Some(&status), Duration::from_millis(2140), now),
            "   2.1 s  aragorn.lookup  19 sent, 19 acknowledged, 12 returned, 1 removed, 18 s left"
        );
        let bare = ("Queued".to_owned(), Progress::default());
        assert_eq!(describe(Some(&bare), Duration::ZERO, now), "   0.0 s  Queued");
        assert_eq!(describe(None, Duration::ZERO, now), "   0.0 s");
    }
}
