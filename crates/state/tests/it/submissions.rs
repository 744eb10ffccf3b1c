//! Sub-queries: registered once, recorded by their owner only.

use shepherd_state::{CallbackStatus, Recorded, Standing, SubmissionRecord};

use crate::scene::{NOW, Scene};

fn accepted() -> SubmissionRecord {
    SubmissionRecord::Accepted { job_id: Some("job-1".to_owned()) }
}

fn removed() -> SubmissionRecord {
    SubmissionRecord::Removed { reason: "refused".to_owned() }
}

#[tokio::test]
async fn second_registration_returns_the_first_ones_deadline_and_ids() {
    let (scene, entry, first) = Scene::registered(&["a", "b"]).await;
    let second = scene.register(&entry, &["x"]).await.unwrap();
    assert!(!first.resumed && second.resumed);
    assert_eq!(first.deadline, second.deadline);
    let ids = |fan_out: &shepherd_state::FanOut| fan_out.callbacks.iter().map(|c| c.id).collect::<Vec<_>>();
    assert_eq!(ids(&first), ids(&second));
    assert_eq!(second.callbacks[1].label, "b");
    assert_eq!(second.callbacks[1].query_graph, "{\"b\":1}");
}

#[tokio::test]
async fn only_the_owner_registers() {
    let (scene, entry) = Scene::begun().await;
    scene.store.begin(&entry, &scene.other, NOW).await.unwrap().unwrap();
    assert_eq!(scene.register(&entry, &["a"]).await.err(), Some(Standing::Lost));
}

#[tokio::test]
async fn outcomes_are_recorded_and_a_removed_one_is_not_awaited() {
    let (scene, entry, fan_out) = Scene::registered(&["a", "b", "c"]).await;
    let record = |index: usize, outcome: SubmissionRecord| {
        let (scene, entry, id) = (&scene, &entry, fan_out.callbacks[index].id);
        async move { scene.store.record_submission(entry, &scene.worker, id, &outcome, NOW).await.unwrap() }
    };
    assert_eq!(record(0, accepted()).await, Ok(Recorded { outstanding: 3 }));
    assert_eq!(record(1, SubmissionRecord::InFlight).await, Ok(Recorded { outstanding: 3 }));
    assert_eq!(record(2, removed()).await, Ok(Recorded { outstanding: 2 }));
    assert_eq!(record(2, removed()).await, Ok(Recorded { outstanding: 2 }), "a second time changes nothing");
    let records = scene.store.callbacks(scene.id).await.unwrap();
    let statuses: Vec<CallbackStatus> = records.iter().map(|record| record.status).collect();
    assert_eq!(statuses, [CallbackStatus::Accepted, CallbackStatus::InFlight, CallbackStatus::Removed]);
    assert_eq!(records[0].job_id.as_deref(), Some("job-1"));
    assert_eq!(records[2].reason.as_deref(), Some("refused"));
}

#[tokio::test]
async fn callback_that_came_before_its_acks_failure_stays_kept() {
    let (scene, entry, fan_out) = Scene::registered(&["a"]).await;
    let id = fan_out.callbacks[0].id;
    scene.call_back(id, "{}").await.unwrap();
    let recorded = scene.store.record_submission(&entry, &scene.worker, id, &removed(), NOW).await.unwrap();
    assert_eq!(recorded, Ok(Recorded { outstanding: 0 }));
    assert_eq!(scene.store.callbacks(scene.id).await.unwrap()[0].status, CallbackStatus::Returned);
}

#[tokio::test]
async fn worker_that_was_replaced_records_and_closes_nothing() {
    let (scene, entry, fan_out) = Scene::registered(&["a"]).await;
    scene.store.begin(&entry, &scene.other, NOW).await.unwrap().unwrap();
    let id = fan_out.callbacks[0].id;
    let recorded = scene.store.record_submission(&entry, &scene.worker, id, &removed(), NOW).await.unwrap();
    assert_eq!(recorded, Err(Standing::Lost));
    assert_eq!(scene.close(&entry, true).await, shepherd_state::Closing::Not(Standing::Lost));
    let record = scene.store.query(scene.id).await.unwrap().unwrap();
    assert_eq!((record.lookup_closed, record.progress.outstanding), (None, 1));
}
