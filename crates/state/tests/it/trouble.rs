//! Redis in trouble: memory that is full, scripts that are forgotten, a stream that is lost, tries that
//! were cut short.

use std::time::Duration;

use rand::RngCore;
use shepherd_state::{
    CallbackReport, Closing, Conclusion, Delivery, Encoding, JobState, Kept, LookupTimes, Payload, Standing,
    StateError, Store, SubmissionRecord,
};

use crate::scene::{LOOKUP, NOW, Scene, settings};

impl Scene {
    async fn fill_memory(&self) {
        let _: String = self.redis(&["CONFIG", "SET", "maxmemory", "1"]).await;
    }

    async fn forget_scripts(&self) {
        let _: String = self.redis(&["SCRIPT", "FLUSH"]).await;
    }

    /// A reader that comes after the trouble began, with connections of its own.
    fn another_store(&self) -> Store {
        Store::open(settings(self.redis.port())).unwrap()
    }
}

#[tokio::test]
async fn full_memory_lets_what_is_at_work_end() {
    let (scene, entry, fan_out) = Scene::registered(&["a", "b"]).await;
    scene.call_back(fan_out.callbacks[0].id, "{}").await.unwrap();
    scene.fill_memory().await;
    let removed = SubmissionRecord::Removed { reason: "refused".to_owned() };
    let id = fan_out.callbacks[1].id;
    scene.store.record_submission(&entry, &scene.worker, id, &removed, NOW).await.unwrap().unwrap();
    scene.store.hand_back(&entry, &scene.worker).await.unwrap().unwrap();
    let entry = scene.take(LOOKUP).await;
    scene.begin(&entry).await.unwrap();
    assert_eq!(scene.close(&entry, false).await, Closing::Closed { missing: 0 });
    let merge = scene.take("merge").await;
    scene.begin(&merge).await.unwrap();
    scene.hand_on(&merge, b"{}").await.unwrap();
    let score = scene.take("test.score").await;
    scene.begin(&score).await.unwrap();
    scene.store_response(&score, b"{}").await.unwrap();
    let finish = scene.take("finish_query").await;
    scene.begin(&finish).await.unwrap();
    let delivered = Conclusion { problem: None, logs: &[] };
    scene.store.conclude(&finish, &scene.worker, &delivered, NOW).await.unwrap().unwrap();
    let record = scene.store.query(scene.id).await.unwrap().unwrap();
    assert_eq!(record.state, JobState::Completed);
}

#[tokio::test]
async fn full_memory_lets_a_query_be_rescued_noted_and_cancelled_and_takes_no_new_sub_queries() {
    let (scene, entry) = Scene::begun().await;
    scene.fill_memory().await;
    let now = budget::Deadline::at(NOW);
    let times = LookupTimes { deadline: now, retriever_stop: now };
    let fan_out = scene.store.register(&entry, &scene.worker, times, &[]).await;
    assert!(fan_out.unwrap_err().is_transient());
    let rescued = scene.store.rescue(scene.id, &scene.other, Duration::from_secs(5), NOW).await.unwrap();
    assert!(rescued.is_some());
    scene.store.bury(&entry, 1, "it broke", NOW).await.unwrap();
    assert!(scene.store.cancel(scene.id, "gone", NOW).await.unwrap());
    scene.store.settle(LOOKUP, scene.partition(), &entry.id).await.unwrap();
}

#[tokio::test]
async fn first_reader_that_comes_while_memory_is_full_is_handed_what_waits() {
    let scene = Scene::accepted().await;
    scene.fill_memory().await;
    let store = scene.another_store();
    let mut queue = shepherd_state::TaskQueue::new(&store, LOOKUP, scene.partition(), &scene.other);
    let delivered = queue.read(10, Duration::from_millis(1)).await.unwrap();
    assert_eq!(delivered.len(), 1);
}

#[tokio::test]
async fn forgotten_scripts_are_loaded_again_by_whoever_needs_them() {
    let scene = Scene::new().await;
    scene.forget_scripts().await;
    scene.accept(&Delivery::Connection).await.unwrap();
    let entry = scene.take(LOOKUP).await;
    scene.forget_scripts().await;
    scene.begin(&entry).await.unwrap();
    scene.forget_scripts().await;
    let fan_out = scene.register(&entry, &["a"]).await.unwrap();
    scene.forget_scripts().await;
    assert_eq!(scene.call_back(fan_out.callbacks[0].id, "{}").await, Ok(Kept::Now { outstanding: 0 }));
    scene.forget_scripts().await;
    assert_eq!(scene.close(&entry, false).await, Closing::Closed { missing: 0 });
}

#[tokio::test]
async fn what_a_try_has_left_behind_does_not_spoil_the_next_one() {
    let (scene, _, fan_out) = Scene::registered(&["a"]).await;
    let id = fan_out.callbacks[0].id;
    // an upload that broke after its first chunk; the token is the one of `Scene::report`
    let staged = scene.key(&format!("callback:{id}:payload:staged:{:016x}", 1));
    let _: usize = scene.redis(&["RPUSH", &staged, "the first chunk"]).await;
    let mut noise = vec![0; 20 << 20];
    rand::rng().fill_bytes(&mut noise);
    let decoded_bytes = noise.len() as u64;
    let payload = Payload { encoding: Encoding::Identity, decoded_bytes, stored: noise.clone().into() };
    let kept = scene.report(id, CallbackReport::Payload(payload)).await;
    assert_eq!(kept, Ok(Kept::Now { outstanding: 0 }));
    let records = scene.store.callbacks(scene.id).await.unwrap();
    let payload = scene.store.payload(&records[0]).await.unwrap().unwrap();
    assert!(*payload.decode().unwrap() == noise[..]);
}

#[tokio::test]
async fn leases_on_a_stream_that_was_lost_are_lost_and_the_next_read_makes_it_anew() {
    let (scene, entry) = Scene::begun().await;
    let _: usize = scene.redis(&["DEL", &scene.key("stream:test.lookup")]).await;
    let mut queue = scene.queue(LOOKUP, &scene.worker);
    let held = [entry.id.clone()];
    assert_eq!(queue.renew(&held).await.unwrap(), held);
    queue.leave().await.unwrap();
    assert!(queue.claim(Duration::ZERO, 10).await.unwrap().is_empty());
    scene.nothing_waits_for(LOOKUP).await;
    // whoever holds the query can still end its step, and the next one is queued
    scene.register(&entry, &[]).await.unwrap();
    assert_eq!(scene.close(&entry, false).await, Closing::Closed { missing: 0 });
    scene.take("merge").await;
}

#[tokio::test]
async fn query_that_was_lost_is_missing_to_everybody() {
    let (scene, entry, fan_out) = Scene::registered(&["a"]).await;
    let _: String = scene.redis(&["FLUSHALL"]).await;
    assert!(scene.store.query(scene.id).await.unwrap().is_none());
    assert_eq!(scene.begin(&entry).await.err(), Some(Standing::Missing));
    assert_eq!(scene.close(&entry, false).await, Closing::Not(Standing::Missing));
    assert_eq!(scene.hand_on(&entry, b"{}").await, Err(Standing::Missing));
    assert_eq!(scene.store_response(&entry, b"{}").await, Err(Standing::Missing));
    assert_eq!(scene.store.hand_back(&entry, &scene.worker).await.unwrap(), Err(Standing::Missing));
    assert!(scene.call_back(fan_out.callbacks[0].id, "{}").await.is_err());
    assert!(!scene.store.cancel(scene.id, "gone", NOW).await.unwrap());
    assert_eq!(scene.keys().await, [""; 0], "nothing comes back to life");
}

#[tokio::test]
async fn queries_are_open_up_to_a_number_whatever_they_wait_for() {
    let scene = Scene::new().await;
    let few = shepherd_state::RedisSettings { max_open: 1, ..settings(scene.redis.port()) };
    let scene = Scene { store: Store::open(few).unwrap(), ..scene };
    scene.accept(&Delivery::Connection).await.unwrap();
    let entry = scene.take(LOOKUP).await;
    scene.begin(&entry).await.unwrap();
    scene.register(&entry, &[]).await.unwrap();
    scene.close(&entry, false).await;
    let other = shepherd_state::QueryId::random(scene.partition(), &mut rand::rng());
    let scene = Scene { id: other, ..scene };
    let refused = scene.accept(&Delivery::Connection).await;
    assert!(matches!(refused, Err(StateError::QueueFull)), "{refused:?}");
}
