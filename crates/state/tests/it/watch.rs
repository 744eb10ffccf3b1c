//! Open queries, rescues, and steps that were given up.

use std::time::Duration;

use budget::Deadline;
use shepherd_state::{JobState, Redriven, Standing};

use crate::scene::{LOOKUP, NOW, Scene};

const PATIENCE: Duration = Duration::from_secs(5);

#[tokio::test]
async fn accepted_query_is_watched_until_it_has_a_response() {
    let (scene, entry, _) = Scene::registered(&[]).await;
    let watched = scene.store.open_queries(scene.partition(), 10).await.unwrap();
    assert_eq!(watched, [(scene.id, Deadline::after(NOW, Duration::from_secs(300)))]);
    scene.close(&entry, false).await;
    let merge = scene.take("merge").await;
    scene.begin(&merge).await.unwrap();
    assert_eq!(scene.store.open_queries(scene.partition(), 10).await.unwrap(), watched);
    scene.store_response(&merge, b"{}").await.unwrap();
    assert!(
        scene.store.open_queries(scene.partition(), 10).await.unwrap().is_empty(),
        "its delivery watches the deadline"
    );
}

#[tokio::test]
async fn one_of_several_rescuers_acts_and_the_late_worker_changes_nothing() {
    let (scene, entry, _) = Scene::registered(&["a"]).await;
    let (first, second) = tokio::join!(
        scene.store.rescue(scene.id, &scene.other, PATIENCE, NOW),
        scene.store.rescue(scene.id, &scene.other, PATIENCE, NOW),
    );
    let acting: Vec<_> = [first.unwrap(), second.unwrap()].into_iter().flatten().collect();
    assert_eq!(acting.len(), 1);
    assert_eq!((acting[0].operation.as_str(), acting[0].step), (LOOKUP, 0));
    assert_eq!(scene.close(&entry, true).await, shepherd_state::Closing::Not(Standing::Lost));
}

#[tokio::test]
async fn rescuer_that_does_not_come_back_is_replaced() {
    let (scene, ..) = Scene::registered(&["a"]).await;
    assert!(scene.store.rescue(scene.id, &scene.other, PATIENCE, NOW).await.unwrap().is_some());
    let later = Deadline::after(NOW, PATIENCE).instant();
    assert!(scene.store.rescue(scene.id, &scene.worker, PATIENCE, later).await.unwrap().is_some());
}

#[tokio::test]
async fn query_that_has_ended_is_not_rescued_and_no_longer_watched() {
    let scene = Scene::accepted().await;
    scene.store.cancel(scene.id, "gone", NOW).await.unwrap();
    let _: usize = scene.redis(&["ZADD", &scene.key("open"), "1", &scene.id.to_string()]).await;
    assert_eq!(scene.store.rescue(scene.id, &scene.other, PATIENCE, NOW).await.unwrap(), None);
    assert!(scene.store.open_queries(scene.partition(), 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn query_that_is_being_delivered_is_left_to_whoever_delivers() {
    let (scene, entry, _) = Scene::registered(&[]).await;
    scene.close(&entry, false).await;
    let merge = scene.take("merge").await;
    scene.begin(&merge).await.unwrap();
    scene.store_response(&merge, b"{}").await.unwrap();
    // as a delivery that was queued once more is
    let _: usize = scene.redis(&["ZADD", &scene.key("open"), "1", &scene.id.to_string()]).await;
    assert_eq!(scene.store.rescue(scene.id, &scene.other, PATIENCE, NOW).await.unwrap(), None);
    assert!(scene.store.open_queries(scene.partition(), 10).await.unwrap().is_empty());
    let finish = scene.take("finish_query").await;
    assert!(scene.begin(&finish).await.is_ok());
}

#[tokio::test]
async fn given_up_step_is_noted_and_can_be_queued_again() {
    let (scene, entry, _) = Scene::registered(&["a"]).await;
    scene.store.bury(&entry, 4, "it broke", NOW).await.unwrap();
    let letters = scene.store.dead_letters(scene.partition(), 10).await.unwrap();
    assert_eq!(letters.len(), 1);
    assert_eq!(
        (letters[0].operation.as_str(), letters[0].deliveries, letters[0].reason.as_str()),
        (LOOKUP, 4, "it broke")
    );
    assert_eq!(scene.store.redrive(&letters[0], NOW).await.unwrap(), Redriven::Open, "it is still at work");
    scene.end(&entry).await;
    let later = Deadline::after(NOW, Duration::from_secs(1000)).instant();
    assert_eq!(scene.store.redrive(&letters[0], later).await.unwrap(), Redriven::Queued);
    assert_eq!(scene.store.redrive(&letters[0], later).await.unwrap(), Redriven::Unknown, "once");
    let record = scene.store.query(scene.id).await.unwrap().unwrap();
    assert_eq!((record.state, record.intake, record.lookup_deadline), (JobState::Queued, later, None));
    assert_eq!(record.budget.deadline, Some(Deadline::after(later, Duration::from_secs(300))));
    let again = scene.take(LOOKUP).await;
    assert_eq!((again.query, again.step), (scene.id, 0));
}

#[tokio::test]
async fn step_is_noted_once_until_it_is_queued_again() {
    let (scene, entry, _) = Scene::registered(&["a"]).await;
    let notes = async || scene.store.dead_letters(scene.partition(), 10).await.unwrap();
    for _ in 0..2 {
        scene.store.bury(&entry, 4, "it broke", NOW).await.unwrap();
    }
    assert_eq!(notes().await.len(), 1);
    scene.end(&entry).await;
    assert_eq!(scene.store.redrive(&notes().await[0], NOW).await.unwrap(), Redriven::Queued);
    assert!(notes().await.is_empty());
    scene.store.bury(&entry, 4, "it broke again", NOW).await.unwrap();
    assert_eq!(notes().await[0].reason, "it broke again");
    let gone = shepherd_state::StepEntry {
        query: shepherd_state::QueryId::random(scene.partition(), &mut rand::rng()),
        ..entry
    };
    scene.store.bury(&gone, 1, "its query is gone", NOW).await.unwrap();
    assert_eq!(notes().await.len(), 2);
    assert!(scene.store.query(gone.query).await.unwrap().is_none());
}

#[tokio::test]
async fn dropped_note_is_gone() {
    let (scene, entry, _) = Scene::registered(&["a"]).await;
    scene.store.bury(&entry, 1, "it broke", NOW).await.unwrap();
    let letter = scene.store.dead_letters(scene.partition(), 10).await.unwrap().remove(0);
    assert!(scene.store.drop_dead_letter(scene.partition(), &letter.id).await.unwrap());
    assert!(!scene.store.drop_dead_letter(scene.partition(), &letter.id).await.unwrap());
}
