use std::collections::HashMap;
use std::time::Duration;

use super::draft::{Victim, victims};
use super::{Fault, Plan, Trouble};
use crate::cast::CAST;

const LENGTH: Duration = Duration::from_secs(100);

#[test]
fn seed_alone_makes_the_plan() {
    assert_eq!(Plan::of(7, LENGTH), Plan::of(7, LENGTH));
    assert_ne!(Plan::of(7, LENGTH).events, Plan::of(8, LENGTH).events);
}

#[test]
fn troubles_come_in_order_and_end_in_time() {
    for seed in 0..200 {
        let plan = Plan::of(seed, LENGTH);
        assert!(plan.events.is_sorted_by_key(|event| event.at));
        assert!(plan.events.iter().all(|event| event.at + event.lasts <= LENGTH), "{plan}");
    }
}

#[test]
fn every_process_and_redis_are_killed_and_every_kind_of_trouble_is_made() {
    for seed in 0..200 {
        let plan = Plan::of(seed, LENGTH);
        let has = |wanted: &dyn Fn(Trouble) -> bool| plan.events.iter().any(|event| wanted(event.trouble));
        for (label, _) in CAST {
            assert!(has(&|trouble| trouble == Trouble::Kill(label)), "{label}: {plan}");
        }
        for wanted in [
            Trouble::RedisKilled,
            Trouble::RedisRestarted,
            Trouble::RedisPaused,
            Trouble::ClientRefuses,
            Trouble::ClientGone,
        ] {
            assert!(has(&|trouble| trouble == wanted), "{wanted}: {plan}");
        }
        for fault in [Fault::Cut, Fault::Slow, Fault::Frozen, Fault::Down] {
            assert!(has(&|trouble| matches!(trouble, Trouble::Link(_, made) if made == fault)), "{plan}");
        }
    }
}

#[test]
fn nobody_is_in_two_troubles_at_once() {
    for seed in 0..200 {
        let plan = Plan::of(seed, LENGTH);
        let mut until: HashMap<Victim, Duration> = HashMap::new();
        for event in &plan.events {
            for victim in victims(event.trouble) {
                let before = until.insert(victim, event.at + event.lasts);
                assert!(before.is_none_or(|before| before < event.at), "{event}: {plan}");
            }
        }
    }
}

#[test]
fn seeds_differ_in_what_they_run_on() {
    let plans: Vec<_> = (0..40).map(|seed| Plan::of(seed, LENGTH)).collect();
    for partitions in [1, 4] {
        assert!(plans.iter().any(|plan| plan.partitions == partitions));
    }
    assert!(plans.iter().any(|plan| plan.divided) && plans.iter().any(|plan| !plan.divided));
}
