//! Work of the worker's own is awaited as a callback is: against the same deadline, and by whoever has the lookup.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use answers::expand::{DIRECT, SubQuery};
use budget::Budgets;
use shepherd_lookup::{Assignment, Expand, Expansion, ExpansionError, Work, WorkError};
use trapi::{Query, Question};

use crate::doubles::Scene;

const SECOND: Duration = Duration::from_secs(1);

/// How the work goes.
#[derive(Clone)]
enum Course {
    After(Duration, Result<&'static str, WorkError>),
    Hangs,
}

/// Expands into one sub-query that is worked on.
struct Worker {
    course: Course,
    /// Time left at each start.
    starts: Arc<Mutex<Vec<Duration>>>,
}

impl Expand for Worker {
    const OPERATION: &'static str = "test.lookup";

    fn expand(&self, query: &Query, _: &Question) -> Result<Expansion, ExpansionError> {
        let (course, starts) = (self.course.clone(), Arc::clone(&self.starts));
        let work = Work::new(move |assignment: Assignment| async move {
            starts.lock().unwrap().push(assignment.remaining());
            match course {
                Course::After(pause, outcome) => {
                    tokio::time::sleep(pause).await;
                    outcome.map(|body| body.as_bytes().to_vec())
                }
                Course::Hangs => std::future::pending().await,
            }
        });
        let sub_query = SubQuery { label: DIRECT.to_owned(), query_graph: query.query_graph.clone() };
        Ok(Expansion::of_work(sub_query, work, query))
    }
}

fn scene() -> Scene {
    Scene::new(60, Budgets::default(), &[])
}

/// Runs the lookup; how much time its work had.
async fn run(scene: &Scene, course: Course) -> Vec<Duration> {
    let starts = Arc::default();
    let worker = Worker { course, starts: Arc::clone(&starts) };
    scene.runner_with(1, worker).run(scene.task()).await.unwrap();
    starts.lock().unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn the_answer_ends_the_lookup() {
    let scene = scene();
    let starts = run(&scene, Course::After(3 * SECOND, Ok(r#"{"message":{}}"#))).await;
    let (after, missing, _) = scene.closed();
    assert_eq!((after, missing), (3 * SECOND, 0));
    assert_eq!(starts, [58 * SECOND], "a little is kept back, so that the answer is stored in time");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_answered_ends_the_lookup_and_is_told() {
    let scene = scene();
    run(&scene, Course::After(3 * SECOND, Err(WorkError::Failed("the service is ill".to_owned())))).await;
    let (after, missing, log) = scene.closed();
    assert_eq!((after, missing), (3 * SECOND, 0));
    assert!(log.contains("ERROR") && log.contains("the service is ill"), "{log}");
}

#[tokio::test(start_paused = true)]
async fn answer_that_is_none_is_of_no_use() {
    let scene = scene();
    run(&scene, Course::After(SECOND, Ok("{}"))).await;
    assert_eq!(scene.closed().0, SECOND);
    assert_eq!(scene.store.held().unusable, ["message: is missing"]);
}

#[tokio::test(start_paused = true)]
async fn where_nothing_is_heard_the_deadline_ends_the_lookup() {
    for course in [Course::After(58 * SECOND, Err(WorkError::Late)), Course::Hangs] {
        let scene = scene();
        run(&scene, course).await;
        let (after, missing, _) = scene.closed();
        assert_eq!((after, missing), (60 * SECOND, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn who_takes_over_begins_the_work_anew_against_the_same_deadline() {
    let scene = scene();
    let starts = Arc::default();
    let worker = |course| Worker { course, starts: Arc::clone(&starts) };
    let dead = scene.runner_with(1, worker(Course::Hangs));
    tokio::time::timeout(20 * SECOND, dead.run(scene.task())).await.expect_err("still waiting");
    let course = Course::After(SECOND, Ok(r#"{"message":{}}"#));
    scene.runner_with(2, worker(course)).run(scene.task()).await.unwrap();
    let (after, missing, _) = scene.closed();
    assert_eq!((after, missing), (21 * SECOND, 0));
    assert_eq!(starts.lock().unwrap()[..], [58 * SECOND, 38 * SECOND]);
}
