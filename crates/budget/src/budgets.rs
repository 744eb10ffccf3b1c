//! The formulas. Each method is one row of the table in the design page's section on budgets.

use std::time::Duration;

use crate::instant::{Deadline, EpochMillis};
use crate::parameter::TimeoutParameter;

/// No budget is longer than a day, whatever a client or an operator writes: every wait ends, and no
/// sum of an instant and a budget overflows.
pub(crate) const LONGEST_BUDGET: Duration = Duration::from_secs(24 * 60 * 60);

/// The budgets an operator sets; every field is a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budgets {
    /// `LOOKUP_TIMEOUT`: the lookup budget when the client names none.
    pub lookup: Duration,
    /// `QUERY_TIMEOUT_SEC`: the whole-query budget, from intake; zero disables it.
    pub query: Duration,
    /// `SYNC_QUERY_TIMEOUT_SEC`: the whole-query budget of `/query` when the client names no timeout;
    /// zero disables it.
    pub sync_query: Duration,
    /// `KG_RETRIEVAL_SUBMIT_TIMEOUT`: the longest wait for one ACK.
    pub submit: Duration,
    /// `RETRIEVER_TIMEOUT_MARGIN`: how much earlier than our deadline Retriever is told to stop.
    pub retriever_margin: Duration,
    /// `FINISH_RESERVE_SEC`: kept back from the whole-query budget for merging, ranking and delivery.
    pub finish_reserve: Duration,
}

impl Default for Budgets {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            lookup: seconds(210),
            query: seconds(300),
            sync_query: seconds(300),
            submit: seconds(100),
            retriever_margin: seconds(15),
            finish_reserve: seconds(15),
        }
    }
}

/// `T`, the time a client gives the lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientBudget {
    /// This long, and whether the client said so itself.
    Limited {
        /// The budget.
        budget: Duration,
        /// Whether it is the client's own number and not the default.
        named: bool,
    },
    /// The client wants no limit of its own; the whole-query budget binds.
    NoLimit,
}

impl ClientBudget {
    /// The budget as a bound for arithmetic: a day where there is no limit.
    pub fn bound(self) -> Duration {
        match self {
            Self::Limited { budget, .. } => budget,
            Self::NoLimit => LONGEST_BUDGET,
        }
    }
}

/// How the client waits for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Async,
    Sync,
}

/// The instants of one query, fixed at its intake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryBudget {
    /// `T`.
    pub client: ClientBudget,
    /// When the answer must have been delivered; `None` where the operator disabled the limit.
    pub deadline: Option<Deadline>,
}

impl Budgets {
    /// Client budget `T`: parsed `parameters.timeout`, else `LOOKUP_TIMEOUT`.
    pub fn client_budget(&self, parameter: TimeoutParameter) -> ClientBudget {
        match parameter {
            TimeoutParameter::Budget(budget) => {
                ClientBudget::Limited { budget: budget.min(LONGEST_BUDGET), named: true }
            }
            TimeoutParameter::NoLimit => ClientBudget::NoLimit,
            TimeoutParameter::Absent | TimeoutParameter::Unusable(_) => {
                ClientBudget::Limited { budget: self.lookup.min(LONGEST_BUDGET), named: false }
            }
        }
    }

    /// The budget of a query that answers to a callback.
    pub fn async_query(&self, intake: EpochMillis, parameter: TimeoutParameter) -> QueryBudget {
        self.query_budget(Mode::Async, intake, parameter)
    }

    /// The budget of a query whose client holds the connection. Its deadline is also the end of the
    /// wait: a stage that works on the query and the connection that waits for it know one instant.
    pub fn sync_query(&self, intake: EpochMillis, parameter: TimeoutParameter) -> QueryBudget {
        self.query_budget(Mode::Sync, intake, parameter)
    }

    /// Query deadline: intake + max(`QUERY_TIMEOUT_SEC`, T); `QUERY_TIMEOUT_SEC=0` disables it.
    /// Without a limit of the client's own only `QUERY_TIMEOUT_SEC` binds, and a sync query whose
    /// client names no timeout has `SYNC_QUERY_TIMEOUT_SEC`.
    fn query_budget(&self, mode: Mode, intake: EpochMillis, parameter: TimeoutParameter) -> QueryBudget {
        let client = self.client_budget(parameter);
        let whole = match (mode, client) {
            (Mode::Sync, ClientBudget::Limited { named: false, .. }) => self.sync_query,
            (_, ClientBudget::NoLimit) => self.query,
            (_, ClientBudget::Limited { budget, .. }) if !self.query.is_zero() => self.query.max(budget),
            (_, ClientBudget::Limited { .. }) => Duration::ZERO,
        };
        let deadline = (!whole.is_zero()).then(|| Deadline::after(intake, whole.min(LONGEST_BUDGET)));
        QueryBudget { client, deadline }
    }

    /// Lookup deadline: min(lookup start + T, query deadline − `FINISH_RESERVE_SEC`), taken before the
    /// first submission. It may have passed already, for a query that waited too long in a queue.
    pub fn lookup_deadline(&self, start: EpochMillis, query: &QueryBudget) -> Deadline {
        let own = Deadline::after(start, query.client.bound());
        match query.deadline {
            Some(deadline) => own.min(deadline.earlier_by(self.finish_reserve)),
            None => own,
        }
    }

    /// ACK timeout of one submission: min(`KG_RETRIEVAL_SUBMIT_TIMEOUT`, T, lookup deadline − now).
    pub fn ack_timeout(&self, client: ClientBudget, lookup: Deadline, now: EpochMillis) -> Duration {
        self.submit.min(client.bound()).min(lookup.remaining(now))
    }

    /// Margin: min(`RETRIEVER_TIMEOUT_MARGIN`, a quarter of the time left).
    fn margin(&self, left: Duration) -> Duration {
        self.retriever_margin.min(left / 4)
    }

    /// Retriever's `parameters.timeout` in seconds: (lookup deadline − now) − margin, rounded down to
    /// whole seconds where that leaves at least 1. `None` when nothing is left, so that no submission
    /// is worth sending.
    pub fn retriever_timeout(&self, lookup: Deadline, now: EpochMillis) -> Option<f64> {
        let left = lookup.remaining(now);
        // a margin of nothing still leaves the callback a moment to arrive in
        let budget = left.checked_sub(self.margin(left).max(Duration::from_millis(1)))?;
        if budget.is_zero() {
            return None;
        }
        let whole = budget.as_secs();
        Some(if whole >= 1 { Duration::from_secs(whole) } else { budget }.as_secs_f64())
    }
}

impl Budgets {
    /// When work of a lookup worker's own must have its answer, so that it is stored before the lookup deadline:
    /// lookup deadline − min(2 s, a tenth of the time left).
    pub fn answer_by(&self, lookup: Deadline, now: EpochMillis) -> Deadline {
        const LONGEST_RESERVE: Duration = Duration::from_secs(2);
        lookup.earlier_by(LONGEST_RESERVE.min(lookup.remaining(now) / 10))
    }

    /// When Retriever was told to stop, if it was asked at `submitted`: one margin before the lookup deadline.
    pub fn retriever_stop(&self, lookup: Deadline, submitted: EpochMillis) -> Deadline {
        lookup.earlier_by(self.margin(lookup.remaining(submitted)))
    }
}

impl Budgets {
    /// When the second pass over a found message must have ended: two thirds of `FINISH_RESERVE_SEC` before the query
    /// deadline, so that the rest of a lookup that took all its time still has a third for merging and this, and the
    /// answer is written before a watchdog looks for it, half of the reserve before the deadline. Without a query
    /// deadline `LOOKUP_TIMEOUT` after `now`. A client that names its own timeout is not kept waiting beyond it, but for
    /// a third of the reserve from `now`. `None` where less than a second is left: no answer would come in it.
    pub fn second_pass(
        &self,
        intake: EpochMillis,
        query: &QueryBudget,
        now: EpochMillis,
    ) -> Option<Deadline> {
        const LEAST: Duration = Duration::from_secs(1);
        let end = match query.deadline {
            Some(deadline) => deadline.earlier_by(self.finish_reserve * 2 / 3),
            None => Deadline::after(now, self.lookup.min(LONGEST_BUDGET)),
        };
        let end = match query.client {
            ClientBudget::Limited { budget, named: true } => {
                let own = Deadline::after(intake, budget);
                end.min(own.max(Deadline::after(now, self.finish_reserve / 3)))
            }
            ClientBudget::Limited { named: false, .. } | ClientBudget::NoLimit => end,
        };
        (end.remaining(now) >= LEAST).then_some(end)
    }
}

/// When callbacks that have not come are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The first time.
    pub start: Deadline,
    /// The pause until the next.
    pub pause: Duration,
}

impl Budgets {
    /// Retriever was told to stop one margin before the lookup deadline. A third of the margin later its
    /// callbacks must have come; from then on they are asked for, four times at most.
    pub fn recovery(&self, lookup: Deadline, submitted: EpochMillis) -> Recovery {
        let margin = self.margin(lookup.remaining(submitted));
        let pause = (margin / 6).max(Duration::from_millis(50));
        Recovery { start: lookup.earlier_by(margin * 2 / 3), pause }
    }
}

#[cfg(test)]
mod tests;
