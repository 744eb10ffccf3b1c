//! One test per row of the tables, and the inequalities for every input.

use proptest::prelude::*;

use super::*;

const INTAKE: EpochMillis = EpochMillis(1_750_000_000_000);

fn seconds(s: f64) -> Duration {
    Duration::from_secs_f64(s)
}

fn after(s: f64) -> Deadline {
    Deadline::after(INTAKE, seconds(s))
}

fn at(s: f64) -> EpochMillis {
    after(s).instant()
}

fn read(json: &str) -> TimeoutParameter {
    TimeoutParameter::read(Some(json))
}

fn limited(s: f64, named: bool) -> ClientBudget {
    ClientBudget::Limited { budget: seconds(s), named }
}

#[test]
fn defaults_are_those_of_the_design_page() {
    let Budgets { lookup, query, sync_query, submit, retriever_margin, finish_reserve } = Budgets::default();
    let all = [lookup, query, sync_query, submit, retriever_margin, finish_reserve];
    assert_eq!(all, [210.0, 300.0, 300.0, 100.0, 15.0, 15.0].map(seconds));
}

#[test]
fn client_budget_is_the_parameter_else_lookup_timeout() {
    let budgets = Budgets::default();
    for (json, expected) in [
        ("60", limited(60.0, true)),
        ("\"60\"", limited(60.0, true)),
        ("null", limited(210.0, false)),
        ("0", limited(210.0, false)),
        ("\"abc\"", limited(210.0, false)),
        ("true", limited(210.0, false)),
        ("[]", limited(210.0, false)),
        ("1e400", limited(210.0, false)),
        ("-0.0", limited(210.0, false)),
        ("9223372036854775808", limited(86_400.0, true)),
        ("-1", ClientBudget::NoLimit),
    ] {
        assert_eq!(budgets.client_budget(read(json)), expected, "for {json}");
    }
}

#[test]
fn query_deadline_is_the_longer_of_query_timeout_and_client_budget() {
    let budgets = Budgets::default();
    for (json, expected) in [("60", 300.0), ("400", 400.0), ("-1", 300.0), ("null", 300.0)] {
        assert_eq!(budgets.async_query(INTAKE, read(json)).deadline, Some(after(expected)), "for {json}");
    }
}

#[test]
fn query_timeout_of_zero_disables_the_query_deadline() {
    let budgets = Budgets { query: Duration::ZERO, ..Budgets::default() };
    for json in ["60", "-1", "null"] {
        assert_eq!(budgets.async_query(INTAKE, read(json)).deadline, None, "for {json}");
    }
}

#[test]
fn lookup_deadline_is_start_plus_budget_or_the_query_deadline_less_the_reserve() {
    let budgets = Budgets::default();
    for (json, started_after, expected) in [
        ("60", 0.0, 60.0),    // the client's own
        ("60", 2.0, 62.0),    // counted from the start of the lookup
        ("null", 0.0, 210.0), // the default
        ("null", 200.0, 285.0),
        ("-1", 0.0, 285.0),
        ("300", 0.0, 285.0),
        ("400", 0.0, 385.0),
    ] {
        let query = budgets.async_query(INTAKE, read(json));
        let deadline = budgets.lookup_deadline(at(started_after), &query);
        assert_eq!(deadline, after(expected), "for {json} started after {started_after}");
    }
}

#[test]
fn lookup_without_any_limit_ends_after_a_day() {
    let budgets = Budgets { query: Duration::ZERO, ..Budgets::default() };
    let query = budgets.async_query(INTAKE, TimeoutParameter::NoLimit);
    assert_eq!(budgets.lookup_deadline(INTAKE, &query), after(86_400.0));
}

#[test]
fn ack_timeout_is_the_least_of_setting_client_budget_and_time_left() {
    let budgets = Budgets::default();
    for (json, now, expected) in [
        ("null", 0.0, 100.0),  // the setting
        ("5", 0.0, 5.0),       // the client's budget
        ("null", 190.0, 20.0), // what is left
        ("null", 211.0, 0.0),  // nothing is left
        ("-1", 0.0, 100.0),
    ] {
        let query = budgets.async_query(INTAKE, read(json));
        let lookup = budgets.lookup_deadline(INTAKE, &query);
        assert_eq!(
            budgets.ack_timeout(query.client, lookup, at(now)),
            seconds(expected),
            "for {json} at {now}"
        );
    }
}

#[test]
fn second_pass_ends_two_thirds_of_the_reserve_before_the_query_deadline() {
    let budgets = Budgets::default();
    let query = budgets.async_query(INTAKE, read("null"));
    for (now, expected) in [(20.0, Some(290.0)), (285.0, Some(290.0)), (289.5, None), (310.0, None)] {
        assert_eq!(budgets.second_pass(INTAKE, &query, at(now)), expected.map(after), "at {now}");
    }
    let endless = Budgets { query: Duration::ZERO, ..budgets };
    let query = endless.async_query(INTAKE, read("null"));
    assert_eq!(endless.second_pass(INTAKE, &query, at(20.0)), Some(after(230.0)));
}

#[test]
fn second_pass_ends_with_the_time_that_the_client_names_or_soon_after_a_lookup_that_took_it_all() {
    let budgets = Budgets::default();
    let query = budgets.async_query(INTAKE, read("60"));
    for (now, expected) in [(20.0, 60.0), (58.0, 63.0), (61.0, 66.0)] {
        assert_eq!(budgets.second_pass(INTAKE, &query, at(now)), Some(after(expected)), "at {now}");
    }
    let endless = Budgets { query: Duration::ZERO, ..budgets };
    let query = endless.async_query(INTAKE, read("60"));
    assert_eq!(endless.second_pass(INTAKE, &query, at(20.0)), Some(after(60.0)));
}

#[test]
fn retriever_timeout_is_time_left_less_the_margin_in_whole_seconds() {
    let budgets = Budgets::default();
    for (left, expected) in [
        (210.0, Some(195.0)), // the margin setting
        (40.0, Some(30.0)),   // a quarter of what is left
        (5.0, Some(3.0)),     // 3.75 rounded down
        (1.2, Some(0.9)),     // would round down to nothing
        (0.0, None),
    ] {
        assert_eq!(budgets.retriever_timeout(after(left), INTAKE), expected, "with {left} s left");
    }
}

#[test]
fn sync_wait_lasts_to_the_query_deadline_and_has_a_setting_of_its_own() {
    let budgets = Budgets { sync_query: seconds(120.0), ..Budgets::default() };
    for (json, expected) in
        [("null", 120.0), ("\"abc\"", 120.0), ("60", 300.0), ("400", 400.0), ("-1", 300.0)]
    {
        let query = budgets.sync_query(INTAKE, read(json));
        assert_eq!(query.deadline, Some(after(expected)), "for {json}");
        let lookup = budgets.lookup_deadline(INTAKE, &query);
        assert!(Some(lookup) <= query.deadline, "for {json}");
    }
}

#[test]
fn missing_callbacks_are_asked_for_inside_the_margin() {
    let budgets = Budgets::default();
    for (left, start, pause) in [(210.0, 200.0, 2.5), (40.0, 40.0 - 20.0 / 3.0, 10.0 / 6.0)] {
        let Recovery { start: first, pause: next } = budgets.recovery(after(left), INTAKE);
        assert!(first.instant().0.abs_diff(after(start).instant().0) <= 1, "with {left} s left");
        assert!(next.abs_diff(seconds(pause)) <= Duration::from_millis(1), "with {left} s left");
    }
}

fn any_seconds() -> impl Strategy<Value = Duration> {
    prop_oneof![Just(Duration::ZERO), (0u64..200_000_000).prop_map(Duration::from_millis)]
}

fn any_budgets() -> impl Strategy<Value = Budgets> {
    [any_seconds(), any_seconds(), any_seconds(), any_seconds(), any_seconds(), any_seconds()].prop_map(
        |[lookup, query, sync_query, submit, retriever_margin, finish_reserve]| Budgets {
            lookup,
            query,
            sync_query,
            submit,
            retriever_margin,
            finish_reserve,
        },
    )
}

const ODD: [&str; 17] = [
    "null",
    "0",
    "\"60\"",
    "\"abc\"",
    "true",
    "[]",
    "1e400",
    "-1",
    "-0.0",
    "9223372036854775808",
    "{}",
    "\"\"",
    "1e-320",
    "-1e-320",
    "\"1e999\"",
    "\"-Infinity\"",
    "\"nan\"",
];

fn any_parameter() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::sample::select(&ODD[..]).prop_map(str::to_owned),
        any::<f64>().prop_map(|x| if x.is_finite() { format!("{x:?}") } else { "null".to_owned() }),
        (0.0f64..400.0).prop_map(|x| x.to_string()),
        any::<String>().prop_map(|s| serde_json::to_string(&s).unwrap()),
    ]
}

proptest! {
    #[test]
    fn inequalities_hold_for_every_setting_parameter_and_instant(
        budgets in any_budgets(),
        json in any_parameter(),
        sync: bool,
        queued_ms in 0u64..1_000_000,
        later_ms in 0u64..100_000_000,
    ) {
        let parameter = TimeoutParameter::read(Some(&json));
        let query = if sync {
            budgets.sync_query(INTAKE, parameter)
        } else {
            budgets.async_query(INTAKE, parameter)
        };
        let start = EpochMillis(INTAKE.0 + queued_ms);
        let lookup = budgets.lookup_deadline(start, &query);
        if let Some(deadline) = query.deadline {
            prop_assert!(lookup <= deadline);
        }
        prop_assert!(lookup.remaining(start) <= query.client.bound());

        let now = EpochMillis(start.0 + later_ms);
        let ack = budgets.ack_timeout(query.client, lookup, now);
        prop_assert!(ack <= query.client.bound());
        prop_assert!(ack <= budgets.submit);
        prop_assert!(ack <= lookup.remaining(now));

        if let Some(end) = budgets.second_pass(INTAKE, &query, now) {
            prop_assert!(query.deadline.is_none_or(|deadline| end <= deadline));
            prop_assert!(budgets.retriever_timeout(end, now).is_some());
        }

        if let Some(timeout) = budgets.retriever_timeout(lookup, now) {
            prop_assert!(timeout.is_finite() && timeout > 0.0);
            prop_assert!(timeout < lookup.remaining(now).as_secs_f64());
        } else {
            prop_assert!(lookup.remaining(now) <= Duration::from_millis(1));
        }
    }

    #[test]
    fn any_json_text_is_read_without_panicking(json in any::<String>()) {
        let _ = TimeoutParameter::read(Some(&json));
    }
}
