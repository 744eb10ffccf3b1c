//! A query that nobody waits for.

use shepherd_state::{CallbackRefusal, JobState, Standing};

use crate::scene::{LOOKUP, NOW, Scene};

#[tokio::test]
async fn cancelled_query_ends_whatever_works_on_it() {
    let (scene, entry, fan_out) = Scene::registered(&["a", "b"]).await;
    scene.call_back(fan_out.callbacks[0].id, "{}").await.unwrap();
    assert!(scene.store.cancel(scene.id, "the client hung up", NOW).await.unwrap());
    assert!(!scene.store.cancel(scene.id, "again", NOW).await.unwrap());
    let late = scene.call_back(fan_out.callbacks[1].id, "{}").await;
    assert_eq!(late, Err(CallbackRefusal::Closed(NOW)));
    assert_eq!(scene.close(&entry, true).await, shepherd_state::Closing::Not(Standing::Over));
    scene.store.discard_payloads(scene.id).await.unwrap();
    let left = scene.keys().await;
    assert!(!left.iter().any(|key| key.ends_with(":payload") || key.ends_with(":body")), "{left:?}");
    let entries: usize = scene.redis(&["XLEN", &scene.key("stream:test.lookup")]).await;
    assert_eq!(entries, 0);
    let record = scene.store.query(scene.id).await.unwrap().unwrap();
    assert_eq!(
        (record.state, record.description.as_deref()),
        (JobState::Cancelled, Some("the client hung up"))
    );
}

#[tokio::test]
async fn cancelled_query_is_not_begun() {
    let scene = Scene::accepted().await;
    scene.store.cancel(scene.id, "gone", NOW).await.unwrap();
    let entry = scene.take(LOOKUP).await;
    assert_eq!(scene.begin(&entry).await.err(), Some(Standing::Over));
}
