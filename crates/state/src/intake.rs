//! The first step: a query is stored and queued in one atomic step.

use budget::{ClientBudget, EpochMillis, QueryBudget};

use crate::connect::Store;
use crate::error::StateError;
use crate::ids::QueryId;
use crate::keys;
use crate::logs::StoredLog;
use crate::script::Run;

/// Where the response of a query goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Posted to the client's callback URL.
    Callback(String),
    /// Fetched by the gateway whose client holds the connection.
    Connection,
}

/// A client's request that has passed every check.
#[derive(Clone, Debug)]
pub struct NewQuery<'a> {
    /// Its id.
    pub id: QueryId,
    /// The persona it is addressed to.
    pub ara: &'a str,
    /// Where the response goes.
    pub delivery: &'a Delivery,
    /// The request body as it came.
    pub body: &'a [u8],
    /// When it came.
    pub intake: EpochMillis,
    /// What time it has.
    pub budget: QueryBudget,
    /// The operations it runs through, in order.
    pub plan: &'a [String],
    /// W3C trace context of the request, empty without one.
    pub traceparent: &'a str,
    /// What its log begins with.
    pub logs: &'a [StoredLog],
}

impl Store {
    /// Stores `query` and queues its first operation. A second call with the same id changes nothing.
    ///
    /// # Errors
    /// [`StateError::QueueFull`] when too much is waiting or at work, [`StateError::Redis`] when Redis cannot take it.
    pub async fn accept(&self, query: &NewQuery<'_>) -> Result<(), StateError> {
        let first = query.plan.first().ok_or(StateError::Record { field: "plan" })?;
        let fields = self.fields(query)?;
        let expires_ms = self.expires_ms(query);
        let mut invocation = self.scripts.accept_query.prepare_invoke();
        invocation
            .key(keys::query(query.id))
            .key(keys::body(query.id))
            .key(keys::stream(query.id.partition(), first))
            .key(keys::logs(query.id))
            .key(keys::open(query.id.partition()))
            .arg(expires_ms)
            .arg(self.settings.max_queued)
            .arg(query.body)
            .arg(query.id.to_string())
            .arg(query.traceparent)
            .arg(self.settings.max_logs)
            .arg(query.budget.deadline.map_or_else(String::new, |deadline| deadline.to_string()))
            .arg(self.settings.max_open)
            .arg(fields.len())
            .arg(&fields);
        for log in query.logs {
            invocation.arg(&log.0);
        }
        let answer: String = invocation.run(&self.small, "store the query").await?;
        match answer.as_str() {
            "accepted" | "exists" => Ok(()),
            "full" => Err(StateError::QueueFull),
            _ => Err(StateError::Answer { script: "accept_query" }),
        }
    }

    /// What a query leaves in Redis goes `REDIS_TTL` after its deadline.
    fn expires_ms(&self, query: &NewQuery<'_>) -> u64 {
        let end = query.budget.deadline.map_or_else(
            || budget::Deadline::after(query.intake, query.budget.client.bound()).instant(),
            budget::Deadline::instant,
        );
        budget::Deadline::after(end, self.settings.ttl).instant().0
    }

    fn fields(&self, query: &NewQuery<'_>) -> Result<Vec<String>, StateError> {
        let plan = serde_json::to_string(query.plan).map_err(|_| StateError::Record { field: "plan" })?;
        let callback = match query.delivery {
            Delivery::Callback(url) => url.as_str(),
            Delivery::Connection => "",
        };
        let (client_ms, named) = match query.budget.client {
            ClientBudget::Limited { budget, named } => (budget.as_millis().to_string(), named),
            ClientBudget::NoLimit => (String::new(), true),
        };
        let deadline = query.budget.deadline.map_or_else(String::new, |d| d.to_string());
        let pairs = [
            ("state", "queued"),
            ("step", "0"),
            ("stage", query.plan.first().map_or("", String::as_str)),
            ("ara", query.ara),
            ("callback", callback),
            ("intake_ms", &query.intake.to_string()),
            ("deadline_ms", &deadline),
            ("client_budget_ms", &client_ms),
            ("client_named", if named { "1" } else { "0" }),
            ("plan", &plan),
            ("traceparent", query.traceparent),
            ("expires_ms", &self.expires_ms(query).to_string()),
        ];
        Ok(pairs.iter().flat_map(|(name, value)| [(*name).to_owned(), (*value).to_owned()]).collect())
    }
}
