//! How the stream of an operation stands.

use std::time::Duration;

use meters::StreamStanding;
use redis::streams::{StreamInfoConsumersReply, StreamInfoGroupsReply};
use redis::{AsyncCommands, ErrorKind, RedisError, RedisResult};

use crate::connect::Store;
use crate::error::{Action, StateError};
use crate::keys;

impl Store {
    /// How many steps of an operation are queued and worked on, and how many workers have read its stream
    /// within `alive_within`, over all partitions.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked.
    pub async fn stream_standing(
        &self,
        operation: &str,
        alive_within: Duration,
    ) -> Result<StreamStanding, StateError> {
        const ACTION: &str = "tell how a stream stands";
        let mut sum = StreamStanding::default();
        for partition in self.partitions() {
            let stream = keys::stream(partition, operation);
            let mut link = self.small.clone();
            sum.length += link.xlen::<_, u64>(&stream).await.action(ACTION)?;
            let groups = link.xinfo_groups(&stream).await;
            let groups: Option<StreamInfoGroupsReply> = known(groups).action(ACTION)?;
            let group =
                groups.into_iter().flat_map(|reply| reply.groups).find(|group| group.name == keys::GROUP);
            let Some(group) = group else { continue };
            sum.lag += group.lag.unwrap_or_default() as u64;
            sum.pending += group.pending as u64;
            let consumers = link.xinfo_consumers(&stream, keys::GROUP).await;
            let consumers: Option<StreamInfoConsumersReply> = known(consumers).action(ACTION)?;
            let alive = consumers
                .into_iter()
                .flat_map(|reply| reply.consumers)
                .filter(|consumer| Duration::from_millis(consumer.idle as u64) < alive_within);
            // a worker reads every partition
            sum.live_workers = sum.live_workers.max(alive.count() as u64);
        }
        Ok(sum)
    }
}

/// `None` where there is no such stream or group yet.
fn known<T>(reply: RedisResult<T>) -> RedisResult<Option<T>> {
    match reply {
        Err(error) if is_absent(&error) => Ok(None),
        other => other.map(Some),
    }
}

fn is_absent(error: &RedisError) -> bool {
    error.code() == Some("NOGROUP")
        || (matches!(error.kind(), ErrorKind::Server(_)) && error.to_string().contains("no such key"))
}
