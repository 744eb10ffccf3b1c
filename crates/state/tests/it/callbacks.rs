//! Callbacks: kept once, told when they come too late.

use rand::RngCore;
use shepherd_state::{
    CallbackId, CallbackRefusal, CallbackReport, CallbackStatus, Encoding, Kept, Payload, SubmissionRecord,
};

use crate::scene::{NOW, Scene};

#[tokio::test]
async fn callback_is_kept_once_and_a_repeated_one_changes_nothing() {
    let (scene, _, fan_out) = Scene::registered(&["a", "b"]).await;
    let id = fan_out.callbacks[0].id;
    assert_eq!(scene.call_back(id, "first").await, Ok(Kept::Now { outstanding: 1 }));
    assert_eq!(scene.call_back(id, "second").await, Ok(Kept::Before));
    let records = scene.store.callbacks(scene.id).await.unwrap();
    assert_eq!(records[0].status, CallbackStatus::Returned);
    let payload = scene.store.payload(&records[0]).await.unwrap().unwrap();
    assert_eq!(&*payload.decode().unwrap(), b"first");
    let progress = scene.store.query(scene.id).await.unwrap().unwrap().progress;
    assert_eq!((progress.returned, progress.outstanding, progress.sub_queries), (1, 1, 2));
}

#[tokio::test]
async fn unusable_callback_is_not_awaited_any_longer() {
    let (scene, _, fan_out) = Scene::registered(&["a"]).await;
    let id = fan_out.callbacks[0].id;
    let unusable = CallbackReport::Unusable("no JSON".to_owned());
    assert_eq!(scene.report(id, unusable).await, Ok(Kept::Now { outstanding: 0 }));
    let records = scene.store.callbacks(scene.id).await.unwrap();
    assert_eq!((records[0].status, records[0].reason.as_deref()), (CallbackStatus::Failed, Some("no JSON")));
}

#[tokio::test]
async fn usable_callback_after_an_unusable_one_is_kept_or_refused_but_never_ignored() {
    let (scene, entry, fan_out) = Scene::registered(&["a", "b", "c"]).await;
    let unusable = || CallbackReport::Unusable("no JSON".to_owned());
    let [first, second] = [0, 1].map(|nth| fan_out.callbacks[nth].id);
    for id in [first, second] {
        scene.report(id, unusable()).await.unwrap();
        assert_eq!(scene.report(id, unusable()).await, Ok(Kept::Before), "a second time changes nothing");
    }
    assert_eq!(scene.call_back(first, "whole").await, Ok(Kept::Now { outstanding: 1 }));
    let records = scene.store.callbacks(scene.id).await.unwrap();
    assert_eq!(records[0].status, CallbackStatus::Returned);
    let payload = scene.store.payload(&records[0]).await.unwrap().unwrap();
    assert_eq!(&*payload.decode().unwrap(), b"whole");
    let progress = scene.store.query(scene.id).await.unwrap().unwrap().progress;
    assert_eq!((progress.returned, progress.failed, progress.outstanding), (1, 1, 1));
    scene.close(&entry, true).await;
    assert_eq!(scene.store.find_callback(second).await.unwrap(), Err(CallbackRefusal::Closed(NOW)));
    assert_eq!(scene.call_back(second, "whole").await, Err(CallbackRefusal::Closed(NOW)));
}

#[tokio::test]
async fn callback_after_the_close_is_refused_and_counted() {
    let (scene, entry, fan_out) = Scene::registered(&["a", "b"]).await;
    scene.close(&entry, true).await;
    let id = fan_out.callbacks[0].id;
    let late = async || scene.store.query(scene.id).await.unwrap().unwrap().progress.late;
    assert_eq!(late().await, 0);
    assert_eq!(scene.store.find_callback(id).await.unwrap(), Err(CallbackRefusal::Closed(NOW)));
    assert_eq!(late().await, 1, "the gateway asks before it reads a body, and stops there");
    assert_eq!(scene.call_back(id, "late").await, Err(CallbackRefusal::Closed(NOW)));
    let other = fan_out.callbacks[1].id;
    assert_eq!(scene.call_back(other, "later").await, Err(CallbackRefusal::Closed(NOW)));
    assert_eq!(late().await, 2, "each sub-query once");
    assert_eq!(scene.store.query(scene.id).await.unwrap().unwrap().progress.returned, 0);
}

#[tokio::test]
async fn callback_kept_before_the_close_is_still_answered_as_kept_after_it() {
    let (scene, entry, fan_out) = Scene::registered(&["a"]).await;
    let id = fan_out.callbacks[0].id;
    scene.call_back(id, "kept").await.unwrap();
    scene.close(&entry, false).await;
    assert!(scene.store.find_callback(id).await.unwrap().is_ok());
    assert_eq!(scene.call_back(id, "again").await, Ok(Kept::Before));
}

#[tokio::test]
async fn strangers_callback_id_is_unknown() {
    let (scene, ..) = Scene::registered(&["a"]).await;
    let stranger = CallbackId::random(scene.partition(), &mut rand::rng());
    assert_eq!(scene.store.find_callback(stranger).await.unwrap(), Err(CallbackRefusal::Unknown));
    assert_eq!(scene.call_back(stranger, "{}").await, Err(CallbackRefusal::Unknown));
}

#[tokio::test]
async fn callback_of_a_removed_sub_query_is_refused() {
    let (scene, entry, fan_out) = Scene::registered(&["a"]).await;
    let id = fan_out.callbacks[0].id;
    let removed = SubmissionRecord::Removed { reason: "refused".to_owned() };
    scene.store.record_submission(&entry, &scene.worker, id, &removed, NOW).await.unwrap().unwrap();
    assert_eq!(scene.store.find_callback(id).await.unwrap(), Err(CallbackRefusal::Removed));
    assert_eq!(scene.call_back(id, "{}").await, Err(CallbackRefusal::Removed));
}

#[tokio::test]
async fn found_callback_names_its_query_and_sub_query() {
    let (scene, _, fan_out) = Scene::registered(&["a", "b"]).await;
    let owner = scene.store.find_callback(fan_out.callbacks[1].id).await.unwrap().unwrap();
    assert_eq!((owner.query, owner.index, owner.traceparent.as_str()), (scene.id, 1, "00-1-2-01"));
}

#[tokio::test]
async fn payload_above_one_command_is_staged_and_whole() {
    let (scene, _, fan_out) = Scene::registered(&["a"]).await;
    let mut noise = vec![0; 20 << 20];
    rand::rng().fill_bytes(&mut noise);
    let payload = Payload {
        encoding: Encoding::Identity,
        decoded_bytes: noise.len() as u64,
        stored: noise.clone().into(),
    };
    let kept = scene.report(fan_out.callbacks[0].id, CallbackReport::Payload(payload)).await;
    assert_eq!(kept, Ok(Kept::Now { outstanding: 0 }));
    let records = scene.store.callbacks(scene.id).await.unwrap();
    let payload = scene.store.payload(&records[0]).await.unwrap().unwrap();
    assert!(*payload.decode().unwrap() == noise[..]);
}

#[tokio::test]
async fn full_memory_refuses_a_callback_whole_and_it_can_come_again() {
    let (scene, _, fan_out) = Scene::registered(&["a"]).await;
    let id = fan_out.callbacks[0].id;
    let _: String = scene.redis(&["CONFIG", "SET", "maxmemory", "1"]).await;
    let payload = Payload { encoding: Encoding::Identity, decoded_bytes: 2, stored: "{}".into() };
    let callback = shepherd_state::NewCallback {
        id,
        query: scene.id,
        report: CallbackReport::Payload(payload),
        now: NOW,
        token: 1,
    };
    assert!(scene.store.keep_callback(&callback).await.unwrap_err().is_transient());
    let _: String = scene.redis(&["CONFIG", "SET", "maxmemory", "0"]).await;
    assert_eq!(scene.store.keep_callback(&callback).await.unwrap(), Ok(Kept::Now { outstanding: 0 }));
}
