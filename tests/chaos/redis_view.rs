//! What anyone can see in Redis: keys, their expiry, what is pending in streams and for whom.

use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, RedisResult, Value};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// Longest wait for one answer.
const LIMIT: Duration = Duration::from_secs(20);

/// Looks at Redis past all proxies.
#[derive(Clone)]
pub(crate) struct RedisView(redis::Client);

impl RedisView {
    pub(crate) fn new(url: &str) -> Self {
        Self(redis::Client::open(url).unwrap())
    }

    async fn connection(&self) -> RedisResult<MultiplexedConnection> {
        let config = redis::AsyncConnectionConfig::new().set_response_timeout(Some(LIMIT));
        self.0.get_multiplexed_async_connection_with_config(&config).await
    }

    pub(crate) async fn keys(&self) -> RedisResult<Vec<String>> {
        self.connection().await?.keys("*").await
    }

    /// Keys that would stay for ever.
    pub(crate) async fn without_ttl(&self) -> RedisResult<Vec<String>> {
        let mut redis = self.connection().await?;
        let keys: Vec<String> = redis.keys("*").await?;
        if keys.is_empty() {
            return Ok(keys);
        }
        let mut ask = redis::pipe();
        for key in &keys {
            ask.cmd("TTL").arg(key);
        }
        let left: Vec<i64> = ask.query_async(&mut redis).await?;
        Ok(keys.into_iter().zip(left).filter(|(_, left)| *left == -1).map(|(key, _)| key).collect())
    }

    async fn streams(&self) -> RedisResult<Vec<String>> {
        self.connection().await?.keys("*:stream:*").await
    }

    /// Streams with entries, and how many of these are pending.
    pub(crate) async fn unfinished(&self) -> RedisResult<BTreeMap<String, (usize, String)>> {
        let mut redis = self.connection().await?;
        let mut unfinished = BTreeMap::new();
        for stream in self.streams().await? {
            let length: usize = redis.xlen(&stream).await?;
            let mut pending = Vec::new();
            for group in groups(&mut redis, &stream).await? {
                let summary: Vec<Value> =
                    redis::cmd("XPENDING").arg(&stream).arg(&group).query_async(&mut redis).await?;
                if summary.first() != Some(&Value::Int(0)) {
                    pending.push(format!("{summary:?}"));
                }
            }
            if length > 0 || !pending.is_empty() {
                unfinished.insert(stream, (length, pending.concat()));
            }
        }
        Ok(unfinished)
    }

    /// The consumers of each stream that has any.
    pub(crate) async fn consumers(&self) -> RedisResult<BTreeMap<String, Vec<String>>> {
        let mut redis = self.connection().await?;
        let mut all = BTreeMap::new();
        for stream in self.streams().await? {
            for group in groups(&mut redis, &stream).await? {
                let mut ask = redis::cmd("XINFO");
                let names = names(ask.arg("CONSUMERS").arg(&stream).arg(&group), &mut redis).await?;
                if !names.is_empty() {
                    all.insert(stream.clone(), names);
                }
            }
        }
        Ok(all)
    }

    /// Bytes that Redis uses.
    pub(crate) async fn used_memory(&self) -> RedisResult<u64> {
        let info: redis::InfoDict =
            redis::cmd("INFO").arg("memory").query_async(&mut self.connection().await?).await?;
        Ok(info.get("used_memory").unwrap_or_default())
    }
}

async fn groups(redis: &mut MultiplexedConnection, stream: &str) -> RedisResult<Vec<String>> {
    names(redis::cmd("XINFO").arg("GROUPS").arg(stream), redis).await
}

/// The names in an answer of XINFO; none where the stream has just expired.
async fn names(ask: &redis::Cmd, redis: &mut MultiplexedConnection) -> RedisResult<Vec<String>> {
    let infos: RedisResult<Vec<HashMap<String, Value>>> = ask.query_async(redis).await;
    match infos {
        Err(error) if error.code() == Some("NOGROUP") || error.to_string().contains("no such key") => {
            Ok(Vec::new())
        }
        other => {
            let name =
                |info: &HashMap<String, Value>| redis::from_redis_value(info.get("name")?.clone()).ok();
            Ok(other?.iter().filter_map(name).collect())
        }
    }
}
