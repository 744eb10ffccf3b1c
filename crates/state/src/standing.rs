//! How the stream of an operation stands.

use budget::EpochMillis;
use meters::StreamStanding;
use redis::streams::StreamInfoGroupsReply;
use redis::{AsyncCommands, ErrorKind, RedisError, RedisResult};

use crate::connect::Store;
use crate::error::{Action, StateError};
use crate::keys;

impl Store {
    /// How many steps of an operation are queued and worked on, and how many workers read its stream,
    /// over all partitions.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked.
    pub async fn stream_standing(
        &self,
        operation: &str,
        now: EpochMillis,
    ) -> Result<StreamStanding, StateError> {
        const ACTION: &str = "tell how a stream stands";
        let mut sum = StreamStanding::default();
        for partition in self.partitions() {
            let stream = keys::stream(partition, operation);
            let mut link = self.small.clone();
            let workers: u64 =
                link.zcount(keys::workers(partition, operation), now.0, "+inf").await.action(ACTION)?;
            // a worker reads every partition
            sum.live_workers = sum.live_workers.max(workers);
            sum.length += link.xlen::<_, u64>(&stream).await.action(ACTION)?;
            let groups = link.xinfo_groups(&stream).await;
            let groups: Option<StreamInfoGroupsReply> = known(groups).action(ACTION)?;
            let group =
                groups.into_iter().flat_map(|reply| reply.groups).find(|group| group.name == keys::GROUP);
            let Some(group) = group else { continue };
            sum.lag += group.lag.unwrap_or_default() as u64;
            sum.pending += group.pending as u64;
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
