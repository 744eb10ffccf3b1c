//! A private Redis with one query in it.

use std::time::Duration;

use budget::{Budgets, Deadline, EpochMillis, TimeoutParameter};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use shepherd_state::{
    Begun, CallbackId, CallbackRefusal, CallbackReport, Close, Closing, Conclusion, ConsumerName, Delivery,
    Encoding, FanOut, FinalResponse, Intermediate, JobState, Kept, LookupTimes, NewCallback, NewQuery,
    NewSubQuery, Payload, QueryId, RedisAddress, RedisNode, RedisSettings, Standing, StepEntry, Store,
    StoredLog, TaskQueue,
};
use testkit::PrivateRedis;

pub(crate) const NOW: EpochMillis = EpochMillis(4_000_000_000_000);
pub(crate) const LOOKUP: &str = "test.lookup";

pub(crate) struct Scene {
    pub(crate) redis: PrivateRedis,
    pub(crate) store: Store,
    pub(crate) id: QueryId,
    pub(crate) worker: ConsumerName,
    pub(crate) other: ConsumerName,
}

impl Scene {
    pub(crate) async fn new() -> Self {
        let redis = PrivateRedis::start().await.unwrap();
        let store = Store::open(settings(redis.port())).unwrap();
        let mut rng = StdRng::seed_from_u64(7);
        let id = QueryId::random(partitions() - 1, &mut rng);
        let worker = ConsumerName::random("worker", &mut rng);
        let other = ConsumerName::random("other", &mut rng);
        Self { redis, store, id, worker, other }
    }

    /// The partition that everything happens in: the last one.
    pub(crate) fn partition(&self) -> u16 {
        self.id.partition()
    }

    /// A key of this partition.
    pub(crate) fn key(&self, rest: &str) -> String {
        format!("shepherd:{{p{}}}:{rest}", self.partition())
    }

    /// With an accepted query.
    pub(crate) async fn accepted() -> Self {
        let scene = Self::new().await;
        scene.accept(&Delivery::Callback("http://localhost/done".to_owned())).await.unwrap();
        scene
    }

    /// With an accepted query whose lookup this worker has taken.
    pub(crate) async fn begun() -> (Self, StepEntry) {
        let scene = Self::accepted().await;
        let entry = scene.take(LOOKUP).await;
        scene.begin(&entry).await.unwrap();
        (scene, entry)
    }

    /// With registered sub-queries, one per label.
    pub(crate) async fn registered(labels: &[&str]) -> (Self, StepEntry, FanOut) {
        let (scene, entry) = Self::begun().await;
        let fan_out = scene.register(&entry, labels).await.unwrap();
        (scene, entry, fan_out)
    }

    pub(crate) async fn accept(&self, delivery: &Delivery) -> Result<(), shepherd_state::StateError> {
        let plan = [LOOKUP, "merge", "finish_query"].map(str::to_owned);
        let query = NewQuery {
            id: self.id,
            ara: "aragorn",
            delivery,
            body: b"{\"message\":{}}",
            intake: NOW,
            budget: Budgets::default().async_query(NOW, TimeoutParameter::Absent),
            plan: &plan,
            traceparent: "00-1-2-01",
            logs: &[StoredLog("{\"message\":\"accepted\"}".to_owned())],
        };
        self.store.accept(&query).await
    }

    pub(crate) fn queue(&self, operation: &str, consumer: &ConsumerName) -> TaskQueue {
        TaskQueue::new(&self.store, operation, self.partition(), consumer)
    }

    /// The one entry of an operation.
    pub(crate) async fn take(&self, operation: &str) -> StepEntry {
        let delivered = self.queue(operation, &self.worker).read(10, Duration::from_secs(1)).await.unwrap();
        assert_eq!(delivered.len(), 1, "one entry for {operation}");
        delivered.into_iter().next().unwrap().entry
    }

    pub(crate) async fn nothing_waits_for(&self, operation: &str) {
        let delivered = self.queue(operation, &self.worker).read(10, Duration::from_millis(1)).await.unwrap();
        assert!(delivered.is_empty(), "{delivered:?}");
    }

    pub(crate) async fn begin(&self, entry: &StepEntry) -> Result<Begun, Standing> {
        self.store.begin(entry, &self.worker, NOW).await.unwrap()
    }

    pub(crate) async fn register(&self, entry: &StepEntry, labels: &[&str]) -> Result<FanOut, Standing> {
        let deadline = Deadline::after(NOW, Duration::from_secs(210));
        let mut rng = StdRng::from_os_rng();
        let sub_queries: Vec<NewSubQuery> = labels
            .iter()
            .map(|label| NewSubQuery {
                callback: CallbackId::random(self.partition(), &mut rng),
                label: (*label).to_owned(),
                query_graph: format!("{{\"{label}\":1}}"),
            })
            .collect();
        let times = LookupTimes { deadline, retriever_stop: deadline };
        self.store.register(entry, &self.worker, times, &sub_queries).await.unwrap()
    }

    pub(crate) async fn call_back(&self, id: CallbackId, body: &str) -> Result<Kept, CallbackRefusal> {
        let payload = Payload {
            encoding: Encoding::Identity,
            stored: body.to_owned().into(),
            decoded_bytes: body.len() as u64,
        };
        self.report(id, CallbackReport::Payload(payload)).await
    }

    pub(crate) async fn report(
        &self,
        id: CallbackId,
        report: CallbackReport,
    ) -> Result<Kept, CallbackRefusal> {
        let callback = NewCallback { id, query: self.id, report, now: NOW, token: 1 };
        self.store.keep_callback(&callback).await.unwrap()
    }

    pub(crate) async fn close(&self, entry: &StepEntry, force: bool) -> Closing {
        let close = Close { next_operation: "merge", force, failure: None, logs: &[] };
        self.store.close_lookup(entry, &self.worker, &close, NOW).await.unwrap()
    }

    pub(crate) async fn store_response(&self, entry: &StepEntry, body: &[u8]) -> Result<(), Standing> {
        let response = FinalResponse {
            body,
            outcome: JobState::Completed,
            status: "Success",
            description: "1 result",
            http_status: 200,
            delivery_step: Some(2),
            keep_payloads_ms: 0,
            logs: &[],
            token: 2,
        };
        self.store.store_response(entry, &self.worker, &response, NOW).await.unwrap()
    }

    pub(crate) async fn hand_on(&self, entry: &StepEntry, message: &[u8]) -> Result<(), Standing> {
        let intermediate = Intermediate {
            message: &Payload::compress(message).unwrap(),
            note: "a note",
            next_step: 2,
            next_operation: "test.score",
            keep_payloads_ms: 0,
            logs: &[],
            token: rand::rng().random(),
        };
        self.store.hand_on(entry, &self.worker, &intermediate).await.unwrap()
    }

    /// Takes the query from its lookup to its end.
    pub(crate) async fn end(&self, lookup: &StepEntry) {
        self.close(lookup, true).await;
        let merge = self.take("merge").await;
        self.begin(&merge).await.unwrap();
        self.store_response(&merge, b"{}").await.unwrap();
        let finish = self.take("finish_query").await;
        self.begin(&finish).await.unwrap();
        let delivered = Conclusion { problem: None, logs: &[] };
        self.store.conclude(&finish, &self.worker, &delivered, NOW).await.unwrap().unwrap();
    }

    /// Any command, for a look behind the scenes.
    pub(crate) async fn redis<T: redis::FromRedisValue>(&self, words: &[&str]) -> T {
        let client = redis::Client::open(self.redis.url()).unwrap();
        let mut connection = client.get_multiplexed_async_connection().await.unwrap();
        let mut command = redis::cmd(words[0]);
        for word in &words[1..] {
            command.arg(word);
        }
        command.query_async(&mut connection).await.unwrap()
    }

    pub(crate) async fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = self.redis(&["KEYS", "*"]).await;
        keys.sort();
        keys
    }
}

/// The tests hold for any number of partitions; `TEST_PARTITIONS` says for how many.
fn partitions() -> u16 {
    std::env::var("TEST_PARTITIONS").map_or(1, |count| count.parse().unwrap())
}

pub(crate) fn settings(port: u16) -> RedisSettings {
    RedisSettings {
        address: RedisAddress::Single(RedisNode { host: "127.0.0.1".to_owned(), port }),
        password: None,
        command_timeout: Duration::from_secs(5),
        payload_timeout: Duration::from_secs(30),
        partitions: partitions(),
        max_queued: 2,
        max_open: 100,
        max_logs: 100,
        ttl: Duration::from_secs(3600),
    }
}
