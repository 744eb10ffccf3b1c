//! A search that is told to stop, or whose questions fail.

use std::time::Duration;

use shepherd_paths::{Ended, Limits};
use tokio::time::{Instant, sleep};

use crate::brute::Asked;
use crate::made::{Failed, Made, Served};
use crate::{ask, between, find, run, shown};

/// One node per question, two questions at once.
fn one_by_one() -> Asked {
    let asked = between("S", "T");
    let (ids_per_batch, batches_in_flight) = (1.try_into().unwrap(), 2.try_into().unwrap());
    Asked { limits: Limits { ids_per_batch, batches_in_flight, ..asked.limits }, ..asked }
}

#[test]
fn what_is_known_when_it_stops_is_returned() {
    let graph = Made::of("S-T S-a a-T S-b b-c c-d d-T S-e e-f f-g g-T");
    let delays = ["b", "g"].map(|id| (id.to_owned(), 1000)).into();
    let served = Served { graph, delays, ..Served::default() };
    run(async {
        let started = Instant::now();
        let asked = Asked {
            limits: Limits { batches_in_flight: 9.try_into().unwrap(), ..one_by_one().limits },
            ..one_by_one()
        };
        let stop = sleep(Duration::from_secs(60));
        let found = ask(&served, &served, &asked, stop).await;
        assert_eq!(started.elapsed(), Duration::from_secs(60));
        assert_eq!(found.ended, Ended::Stopped);
        assert_eq!((found.batches, found.answered), (7, 5));
        assert_eq!(shown(&found), ["S-T", "S-a-T"]);
    });
}

#[test]
fn a_graph_that_never_answers_has_no_paths() {
    let delays = [("S".to_owned(), 1000)].into();
    let served = Served { graph: Made::of("S-T"), delays, ..Served::default() };
    let asked = between("S", "T");
    let found = run(async { ask(&served, &served, &asked, sleep(Duration::from_secs(60))).await });
    assert!(found.paths.is_empty());
    assert_eq!((found.ended, found.batches, found.answered), (Ended::Stopped, 1, 0));
}

#[test]
fn a_question_that_fails_costs_only_what_it_would_have_told() {
    let graph = Made::of("S-a a-b b-T S-c c-d d-e e-T S-f f-g g-h h-T");
    let failing = ["a", "f"].map(str::to_owned).into();
    let found = find(&Served { graph, failing, ..Served::default() }, &one_by_one());
    assert_eq!(found.ended, Ended::Complete);
    assert_eq!(found.failed, ["a", "f"].map(|id| Failed(id.to_owned())));
    assert_eq!(shown(&found), ["S-a-b-T", "S-c-d-e-T"], "a and b are known from the other side");
}

#[test]
fn one_end_is_enough_for_short_paths() {
    let graph = Made::of("S-T S-a a-T S-b b-c c-T");
    let found = find(&Served { graph, failing: ["T".to_owned()].into(), ..Served::default() }, &one_by_one());
    assert_eq!(shown(&found), ["S-T", "S-a-T"]);
}
