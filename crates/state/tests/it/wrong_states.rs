//! Every change of a query by the one who works on it, tried by whoever must not: each is refused, with the
//! reason, and leaves everything as it was.

use std::collections::BTreeMap;
use std::time::Duration;

use budget::Deadline;
use shepherd_state::{CallbackId, Closing, Conclusion, Redriven, Standing, StepEntry, SubmissionRecord};

use crate::scene::{LOOKUP, NOW, Scene};

impl Scene {
    /// How each change of `entry`'s query by this scene's worker is refused.
    async fn refusals(
        &self,
        entry: &StepEntry,
        callback: CallbackId,
    ) -> BTreeMap<&'static str, Option<Standing>> {
        let removed = SubmissionRecord::Removed { reason: "refused".to_owned() };
        let refused = Conclusion { problem: Some("refused"), logs: &[] };
        let (store, worker) = (&self.store, &self.worker);
        let closed = match self.close(entry, true).await {
            Closing::Not(standing) => Some(standing),
            Closing::Open { .. } | Closing::Closed { .. } => None,
        };
        BTreeMap::from([
            ("close", closed),
            ("register", self.register(entry, &["x"]).await.err()),
            ("record", store.record_submission(entry, worker, callback, &removed, NOW).await.unwrap().err()),
            ("hand on", self.hand_on(entry, b"{}").await.err()),
            ("store response", self.store_response(entry, b"{}").await.err()),
            ("conclude", store.conclude(entry, worker, &refused, NOW).await.unwrap().err()),
            ("hand back", store.hand_back(entry, worker).await.unwrap().err()),
        ])
    }

    /// All hashes, lists and streams of the query, as text.
    async fn everything(&self) -> Vec<String> {
        let mut all = Vec::new();
        for key in self.keys().await {
            let kind: String = self.redis(&["TYPE", &key]).await;
            let value: redis::Value = match kind.as_str() {
                "hash" => self.redis(&["HGETALL", &key]).await,
                "list" => self.redis(&["LRANGE", &key, "0", "-1"]).await,
                "stream" => self.redis(&["XRANGE", &key, "-", "+"]).await,
                "zset" => self.redis(&["ZRANGE", &key, "0", "-1", "WITHSCORES"]).await,
                _ => self.redis(&["GET", &key]).await,
            };
            all.push(format!("{key}: {value:?}"));
        }
        all
    }

    async fn assert_all_refused(&self, entry: &StepEntry, callback: CallbackId, standing: Standing) {
        for (change, refusal) in self.refusals(entry, callback).await {
            assert_eq!(refusal, Some(standing), "{change}");
        }
    }
}

#[tokio::test]
async fn whoever_lost_the_query_changes_nothing() {
    let (scene, entry, fan_out) = Scene::registered(&["a"]).await;
    scene.store.begin(&entry, &scene.other, NOW).await.unwrap().unwrap();
    let before = scene.everything().await;
    scene.assert_all_refused(&entry, fan_out.callbacks[0].id, Standing::Lost).await;
    assert_eq!(scene.everything().await, before);
}

#[tokio::test]
async fn step_that_is_past_is_not_done_again() {
    let (scene, entry, fan_out) = Scene::registered(&["a"]).await;
    scene.close(&entry, true).await;
    let before = scene.everything().await;
    scene.assert_all_refused(&entry, fan_out.callbacks[0].id, Standing::Past).await;
    assert_eq!(scene.begin(&entry).await.err(), Some(Standing::Past));
    assert_eq!(scene.everything().await, before);
}

#[tokio::test]
async fn query_that_has_ended_is_not_changed_any_more() {
    let (scene, entry, fan_out) = Scene::registered(&["a"]).await;
    scene.end(&entry).await;
    let before = scene.everything().await;
    let finish = StepEntry { operation: "finish_query".to_owned(), step: 2, ..entry.clone() };
    for entry in [&entry, &finish] {
        scene.assert_all_refused(entry, fan_out.callbacks[0].id, Standing::Over).await;
        assert_eq!(scene.begin(entry).await.err(), Some(Standing::Over));
    }
    assert!(!scene.store.cancel(scene.id, "late", NOW).await.unwrap());
    assert_eq!(scene.everything().await, before);
}

#[tokio::test]
async fn query_that_was_cancelled_is_not_changed_any_more() {
    let (scene, entry, fan_out) = Scene::registered(&["a"]).await;
    assert!(scene.store.cancel(scene.id, "gone", NOW).await.unwrap());
    scene.assert_all_refused(&entry, fan_out.callbacks[0].id, Standing::Over).await;
    assert_eq!(scene.begin(&entry).await.err(), Some(Standing::Over));
}

#[tokio::test]
async fn refused_change_takes_its_entry_off_the_stream_unless_it_is_somebody_elses() {
    for (owner_lost, left) in [(false, 0), (true, 1)] {
        let (scene, entry, _) = Scene::registered(&["a"]).await;
        if owner_lost {
            scene.store.begin(&entry, &scene.other, NOW).await.unwrap().unwrap();
        } else {
            scene.store.cancel(scene.id, "gone", NOW).await.unwrap();
        }
        scene.close(&entry, true).await;
        let entries: usize = scene.redis(&["XLEN", &scene.key("stream:test.lookup")]).await;
        assert_eq!(entries, left);
    }
}

#[tokio::test]
async fn entry_is_handed_back_and_settled_once() {
    let (scene, entry) = Scene::begun().await;
    scene.store.hand_back(&entry, &scene.worker).await.unwrap().unwrap();
    // nobody owns the query until the entry is taken again
    assert_eq!(scene.store.hand_back(&entry, &scene.worker).await.unwrap(), Err(Standing::Lost));
    let again = scene.take(LOOKUP).await;
    scene.nothing_waits_for(LOOKUP).await;
    for _ in 0..2 {
        scene.store.settle(LOOKUP, scene.partition(), &again.id).await.unwrap();
    }
    let left: usize = scene.redis(&["XLEN", &scene.key("stream:test.lookup")]).await;
    assert_eq!(left, 0);
}

#[tokio::test]
async fn query_that_is_being_delivered_is_left_to_those_who_deliver() {
    let (scene, entry, _) = Scene::registered(&[]).await;
    scene.close(&entry, false).await;
    let merge = scene.take("merge").await;
    scene.begin(&merge).await.unwrap();
    scene.store_response(&merge, b"{}").await.unwrap();
    let before = scene.everything().await;
    let rescued = scene.store.rescue(scene.id, &scene.other, Duration::from_secs(5), NOW).await.unwrap();
    assert_eq!(rescued, None);
    assert_eq!(scene.everything().await, before);
}

#[tokio::test]
async fn step_of_a_query_that_was_cancelled_or_lost_is_not_queued_again() {
    let (scene, entry) = Scene::begun().await;
    scene.store.bury(&entry, 1, "it broke", NOW).await.unwrap();
    let letter = scene.store.dead_letters(scene.partition(), 1).await.unwrap().remove(0);
    scene.store.cancel(scene.id, "gone", NOW).await.unwrap();
    let later = Deadline::after(NOW, Duration::from_secs(1)).instant();
    assert_eq!(scene.store.redrive(&letter, later).await.unwrap(), Redriven::Expired);
    let _: usize = scene.redis(&["DEL", &scene.key(&format!("query:{}", scene.id))]).await;
    assert_eq!(scene.store.redrive(&letter, later).await.unwrap(), Redriven::Expired);
    assert_eq!(scene.store.dead_letters(scene.partition(), 10).await.unwrap().len(), 1, "the note stays");
}
