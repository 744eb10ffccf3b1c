//! A query from its intake to its one terminal outcome.

use futures_util::TryStreamExt;
use shepherd_state::{Closing, Conclusion, Delivery, JobState, Standing, StateError, StoredResponse};

use crate::scene::{LOOKUP, NOW, Scene};

#[tokio::test]
async fn accepted_query_is_stored_and_queued_once_however_often_it_is_stored() {
    let scene = Scene::accepted().await;
    scene.accept(&Delivery::Callback("http://localhost/done".to_owned())).await.unwrap();
    let entry = scene.take(LOOKUP).await;
    assert_eq!((entry.query, entry.step, entry.traceparent.as_str()), (scene.id, 0, "00-1-2-01"));
    scene.nothing_waits_for(LOOKUP).await;
    let record = scene.store.query(scene.id).await.unwrap().unwrap();
    assert_eq!((record.state, record.ara.as_str(), record.intake), (JobState::Queued, "aragorn", NOW));
    assert_eq!(record.delivery, Delivery::Callback("http://localhost/done".to_owned()));
    assert_eq!(scene.store.logs(scene.id).await.unwrap().len(), 1);
}

#[tokio::test]
async fn full_queue_refuses_whole_queries() {
    let scene = Scene::new().await;
    for _ in 0..2 {
        let other = Scene {
            id: shepherd_state::QueryId::random(scene.partition(), &mut rand::rng()),
            ..Scene::new().await
        };
        let other = Scene { store: scene.store.clone(), ..other };
        other.accept(&Delivery::Connection).await.unwrap();
    }
    let keys = scene.keys().await;
    let refused = scene.accept(&Delivery::Connection).await;
    assert!(matches!(refused, Err(StateError::QueueFull)), "{refused:?}");
    assert_eq!(scene.keys().await, keys, "nothing was left behind");
}

#[tokio::test]
async fn full_memory_refuses_a_query_whole() {
    let scene = Scene::new().await;
    let _: String = scene.redis(&["CONFIG", "SET", "maxmemory", "1"]).await;
    assert!(scene.accept(&Delivery::Connection).await.unwrap_err().is_transient());
    assert_eq!(scene.keys().await, [""; 0]);
}

#[tokio::test]
async fn step_is_begun_by_the_last_who_asks_and_only_while_it_is_due() {
    let (scene, entry) = Scene::begun().await;
    let begun = scene.begin(&entry).await.unwrap();
    assert_eq!((begun.record.state, &begun.body[..]), (JobState::Running, &b"{\"message\":{}}"[..]));
    scene.register(&entry, &["a"]).await.unwrap();
    assert_eq!(scene.close(&entry, true).await, Closing::Closed { missing: 1 });
    assert_eq!(scene.begin(&entry).await.err(), Some(Standing::Past));
    let unknown = shepherd_state::StepEntry {
        query: shepherd_state::QueryId::random(scene.partition(), &mut rand::rng()),
        ..entry
    };
    assert_eq!(scene.begin(&unknown).await.err(), Some(Standing::Missing));
}

#[tokio::test]
async fn lookup_closes_when_nothing_is_outstanding_and_only_once() {
    let (scene, entry, fan_out) = Scene::registered(&["a", "b"]).await;
    assert_eq!(scene.close(&entry, false).await, Closing::Open { outstanding: 2 });
    for callback in &fan_out.callbacks {
        scene.call_back(callback.id, "{}").await.unwrap();
    }
    assert_eq!(scene.close(&entry, false).await, Closing::Closed { missing: 0 });
    assert_eq!(scene.close(&entry, false).await, Closing::Not(Standing::Past));
    scene.take("merge").await;
    scene.nothing_waits_for("merge").await;
    let left: usize = scene.redis(&["XLEN", &scene.key("stream:test.lookup")]).await;
    assert_eq!(left, 0, "what is done is deleted");
}

#[tokio::test]
async fn response_is_stored_and_read_back_and_the_callbacks_are_freed() {
    let (scene, entry, fan_out) = Scene::registered(&["a"]).await;
    scene.call_back(fan_out.callbacks[0].id, "{}").await.unwrap();
    scene.close(&entry, false).await;
    let merge = scene.take("merge").await;
    scene.begin(&merge).await.unwrap();
    let body: Vec<u8> = (0..3_000_000u32).map(|i| b'a' + u8::try_from(i % 23).unwrap()).collect();
    scene.store_response(&merge, &body).await.unwrap();
    assert_eq!(scene.store_response(&merge, b"another").await, Err(Standing::Past));
    let record = scene.store.query(scene.id).await.unwrap().unwrap();
    assert_eq!((record.state, record.response_bytes), (JobState::Running, Some(3_000_000)));
    let stored = StoredResponse { query: scene.id, bytes: 3_000_000 };
    let chunks: Vec<bytes::Bytes> = scene.store.read_response(&stored).try_collect().await.unwrap();
    assert!(chunks.len() > 1 && chunks.concat() == body);
    assert!(!scene.keys().await.iter().any(|key| key.ends_with(":payload")));
    scene.take("finish_query").await;
}

#[tokio::test]
async fn response_above_one_command_is_staged_and_whole() {
    use rand::RngCore;
    let (scene, entry, _) = Scene::registered(&[]).await;
    scene.close(&entry, false).await;
    let merge = scene.take("merge").await;
    scene.begin(&merge).await.unwrap();
    // noise does not compress
    let mut body = vec![0; 20 << 20];
    rand::rng().fill_bytes(&mut body);
    scene.store_response(&merge, &body).await.unwrap();
    let stored = StoredResponse { query: scene.id, bytes: body.len() as u64 };
    let chunks: Vec<bytes::Bytes> = scene.store.read_response(&stored).try_collect().await.unwrap();
    assert!(chunks.concat() == body);
    assert!(!scene.keys().await.iter().any(|key| key.contains(":staged:")));
}

#[tokio::test]
async fn query_ends_once() {
    let (scene, entry, _) = Scene::registered(&[]).await;
    scene.close(&entry, false).await;
    let merge = scene.take("merge").await;
    scene.begin(&merge).await.unwrap();
    scene.store_response(&merge, b"{}").await.unwrap();
    let finish = scene.take("finish_query").await;
    scene.begin(&finish).await.unwrap();
    let delivered = Conclusion { problem: None, logs: &[] };
    let refused = Conclusion { problem: Some("refused"), logs: &[] };
    let conclude = |conclusion| scene.store.conclude(&finish, &scene.worker, conclusion, NOW);
    assert_eq!(conclude(&delivered).await.unwrap(), Ok(()));
    assert_eq!(conclude(&refused).await.unwrap(), Err(Standing::Over));
    let record = scene.store.query(scene.id).await.unwrap().unwrap();
    assert_eq!((record.state, record.delivery_problem), (JobState::Completed, None));
}

#[tokio::test]
async fn undelivered_response_makes_the_query_failed_and_stays_readable() {
    let (scene, entry, _) = Scene::registered(&[]).await;
    scene.close(&entry, false).await;
    let merge = scene.take("merge").await;
    scene.begin(&merge).await.unwrap();
    scene.store_response(&merge, b"{}").await.unwrap();
    let finish = scene.take("finish_query").await;
    scene.begin(&finish).await.unwrap();
    let refused = Conclusion { problem: Some("the client refused it"), logs: &[] };
    scene.store.conclude(&finish, &scene.worker, &refused, NOW).await.unwrap().unwrap();
    let record = scene.store.query(scene.id).await.unwrap().unwrap();
    assert_eq!(record.state, JobState::Failed);
    assert_eq!(record.delivery_problem.as_deref(), Some("the client refused it"));
    assert_eq!(record.response_bytes, Some(2));
    let expires: u64 =
        scene.redis(&["PEXPIRETIME", &scene.key(&format!("query:{}:response", scene.id))]).await;
    let deadline = record.budget.deadline.unwrap().instant().0;
    assert_eq!(expires, deadline + 3_600_000, "kept for as long as everything else");
}

#[tokio::test]
async fn every_key_of_a_query_goes_by_itself() {
    let (scene, entry, fan_out) = Scene::registered(&["a", "b"]).await;
    scene.call_back(fan_out.callbacks[0].id, "{}").await.unwrap();
    scene.close(&entry, true).await;
    for key in scene.keys().await {
        let ttl: i64 = scene.redis(&["PTTL", &key]).await;
        assert!(ttl > 0 || key.contains(":stream:"), "{key} has no TTL");
    }
}

#[tokio::test]
async fn message_is_handed_on_once_and_freed_with_the_response() {
    let (scene, entry, fan_out) = Scene::registered(&["a"]).await;
    scene.call_back(fan_out.callbacks[0].id, "{}").await.unwrap();
    scene.close(&entry, false).await;
    let merge = scene.take("merge").await;
    assert_eq!(scene.hand_on(&merge, b"{}").await, Err(Standing::Lost), "whoever has not begun owns nothing");
    scene.begin(&merge).await.unwrap();
    // noise does not compress: this one is more than one command takes
    let mut message = vec![0; 20 << 20];
    rand::RngCore::fill_bytes(&mut rand::rng(), &mut message);
    scene.hand_on(&merge, &message).await.unwrap();
    assert_eq!(scene.hand_on(&merge, b"another").await, Err(Standing::Past));
    assert!(!scene.keys().await.iter().any(|key| key.contains("payload") || key.contains(":staged:1")));

    let score = scene.take("test.score").await;
    assert_eq!(score.step, 2);
    scene.nothing_waits_for("test.score").await;
    let record = scene.begin(&score).await.unwrap().record;
    assert_eq!((record.stage.as_str(), record.message_note.as_deref()), ("test.score", Some("a note")));
    let stored = scene.store.intermediate(&record).await.unwrap().unwrap();
    assert!(stored.decode().unwrap() == message);
    let ttl: i64 = scene.redis(&["PTTL", &scene.key(&format!("query:{}:message", scene.id))]).await;
    assert!(ttl > 0);
    scene.store_response(&score, b"{}").await.unwrap();
    assert!(!scene.keys().await.iter().any(|key| key.ends_with(":message")));
    assert_eq!(scene.hand_on(&score, b"late").await, Err(Standing::Lost), "the response has its own step");
}
