//! The log of a query: TRAPI `LogEntry` objects as JSON texts, oldest first, the newest kept.

use redis::AsyncCommands;

use crate::connect::Store;
use crate::error::{Action, StateError};
use crate::ids::QueryId;
use crate::keys;

/// One TRAPI `LogEntry` as JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLog(pub String);

impl Store {
    /// The log of a query, oldest entry first.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked.
    pub async fn logs(&self, query: QueryId) -> Result<Vec<StoredLog>, StateError> {
        let texts: Vec<String> =
            self.small.clone().lrange(keys::logs(query), 0, -1).await.action("read the query's log")?;
        Ok(texts.into_iter().map(StoredLog).collect())
    }
}
