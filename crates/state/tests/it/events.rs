//! Events reach who listens, also after Redis was away.

use std::time::Duration;

use shepherd_state::{Event, Events};
use tokio::sync::mpsc;

use crate::scene::Scene;

async fn next(heard: &mut mpsc::Receiver<Event>) -> Event {
    tokio::time::timeout(Duration::from_secs(10), heard.recv()).await.unwrap().unwrap()
}

#[tokio::test]
async fn last_callback_wakes_the_listener_and_the_one_before_does_not() {
    let (scene, _, fan_out) = Scene::registered(&["a", "b"]).await;
    let (sender, mut heard) = mpsc::channel(10);
    let store = scene.store.clone();
    tokio::spawn(async move { store.listen(Events::Returned, sender).await });
    assert_eq!(next(&mut heard).await, Event::Resumed);
    scene.call_back(fan_out.callbacks[0].id, "{}").await.unwrap();
    scene.call_back(fan_out.callbacks[1].id, "{}").await.unwrap();
    assert_eq!(next(&mut heard).await, Event::Returned(scene.id));
    assert!(heard.try_recv().is_err());
}

#[tokio::test]
async fn listener_comes_back_after_a_restart_and_says_so() {
    let mut scene = Scene::accepted().await;
    let (sender, mut heard) = mpsc::channel(10);
    let store = scene.store.clone();
    tokio::spawn(async move { store.listen(Events::Returned, sender).await });
    assert_eq!(next(&mut heard).await, Event::Resumed);
    scene.redis.restart().await.unwrap();
    assert_eq!(next(&mut heard).await, Event::Resumed);
    scene.store.cancel(scene.id, "gone", crate::scene::NOW).await.unwrap();
    assert_eq!(next(&mut heard).await, Event::Returned(scene.id));
}
