//! What every process tells Prometheus.

use std::collections::{BTreeMap, BTreeSet};

use http::StatusCode;
use meters::{CATALOGUE, Kind};
use testkit::ars::{Policy, Reply};
use testkit::poll::eventually;
use testkit::queries;
use testkit::retriever::{Behaviour, Plan};
use testkit::stack::GATEWAY;

use crate::scene::{self, ARAGORN, DIABETES, LIMIT, Scene, silent};

/// Samples by name and labels, as they are written.
struct Scrape(BTreeMap<String, f64>);

impl Scrape {
    /// Reads the text format: every sample must follow the type of its metric, and every metric be in the catalogue.
    #[track_caller]
    fn read(text: &str) -> Self {
        let mut types = BTreeMap::new();
        let mut samples = BTreeMap::new();
        for line in text.lines().filter(|line| !line.is_empty()) {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["#", "HELP", name, ..] => assert!(known(name).is_some(), "{line}"),
                ["#", "TYPE", name, kind] => {
                    let metric = known(name).unwrap_or_else(|| panic!("{name} is in no catalogue"));
                    let expected = match metric {
                        Kind::Counter => "counter",
                        Kind::Gauge => "gauge",
                        Kind::Histogram(_) => "histogram",
                    };
                    assert_eq!(kind, expected, "{line}");
                    types.insert(name.to_owned(), kind.to_owned());
                }
                _ => {
                    let (sample, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line}"));
                    let name = sample.split('{').next().unwrap();
                    let stems = ["_bucket", "_sum", "_count"].map(|end| name.strip_suffix(end));
                    let has_type = types.contains_key(name)
                        || stems
                            .iter()
                            .flatten()
                            .any(|stem| types.get(*stem).is_some_and(|kind| kind == "histogram"));
                    assert!(has_type, "no type goes before {line}");
                    let value: f64 = value.parse().unwrap_or_else(|_| panic!("{line}"));
                    assert!(samples.insert(sample.to_owned(), value).is_none(), "twice: {line}");
                }
            }
        }
        Self(samples)
    }

    /// The sum of a metric's samples whose labels hold all of `labels`.
    fn sum(&self, name: &str, labels: &[&str]) -> f64 {
        let of = |sample: &str| sample.split('{').next() == Some(name);
        let has = |sample: &str| labels.iter().all(|label| sample.contains(label));
        self.0.iter().filter(|(sample, _)| of(sample) && has(sample)).map(|(_, value)| value).sum()
    }

    fn names(&self) -> BTreeSet<&'static str> {
        let of = |name: &str, sample: &str| {
            let own = sample.split('{').next().unwrap_or_default();
            own == name || own.strip_suffix("_count") == Some(name)
        };
        let names = CATALOGUE.iter().map(|metric| metric.name);
        names.filter(|name| self.0.keys().any(|sample| of(name, sample))).collect()
    }
}

fn known(name: &str) -> Option<Kind> {
    CATALOGUE.iter().find(|metric| metric.name == name).map(|metric| metric.kind)
}

async fn scrape(scene: &Scene, label: &str) -> Scrape {
    let address = scene.stack.addr(label).unwrap();
    let response = scene.http.get(format!("http://{address}/metrics")).send().await.unwrap();
    assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/plain; version=0.0.4"));
    Scrape::read(&response.text().await.unwrap())
}

/// Waits until a metric of `label` shows `value`: histograms and gauges are taken in now and then.
async fn shows(scene: &Scene, label: &str, name: &str, labels: &[&str], value: f64) {
    let shown = || async {
        let sum = scrape(scene, label).await.sum(name, labels);
        ((sum - value).abs() < 1e-9).then_some(())
    };
    let seen = eventually(name, LIMIT, shown).await;
    if seen.is_err() {
        let found = scrape(scene, label).await;
        panic!("{label}: {name} {labels:?} is not {value} in {:#?}", found.0);
    }
}

#[tokio::test]
async fn every_metric_of_the_catalogue_is_told_by_some_process() {
    let plan = Plan::choose(|submission| match submission.order {
        0 => Behaviour::answer().refuse(StatusCode::BAD_REQUEST, "no"),
        1 => silent(),
        _ => Behaviour::answer(),
    });
    let workers = ARAGORN.into_iter().chain(["arax-lookup"]);
    let scene = scene::start(plan, |stack| stack.workers(workers.clone()).env("LEASE_SEC", "1")).await;
    let query = queries::with_timeout(queries::treats(DIABETES), 3);
    assert_eq!(scene.ask("aragorn", query.clone()).await.status(), "Success");
    assert_eq!(scene.post("/aragorn/query", &[], "{").await.status, 422);
    scene.ars.set_policy(Policy::always(Reply::status(400)));
    let refused = scene.submit("aragorn", query).await;
    scene.ended(&refused.id).await;

    shows(&scene, GATEWAY, "shepherd_queries_accepted_total", &[r#"ara="aragorn""#, r#"mode="async""#], 2.0)
        .await;
    shows(&scene, GATEWAY, "shepherd_queries_refused_total", &[r#"code="invalid_query""#], 1.0).await;
    shows(&scene, GATEWAY, "shepherd_callbacks_total", &[r#"outcome="kept""#], 16.0).await;
    shows(&scene, GATEWAY, "shepherd_callback_lateness_seconds_count", &[], 16.0).await;
    // all came before Retriever was to stop
    shows(&scene, GATEWAY, "shepherd_callback_lateness_seconds_bucket", &[r#"le="0""#], 16.0).await;
    let lookup = "aragorn-lookup";
    shows(&scene, lookup, "shepherd_submissions_total", &[r#"outcome="rejected""#], 1.0).await;
    shows(&scene, lookup, "shepherd_submissions_total", &[r#"outcome="accepted""#], 17.0).await;
    shows(&scene, lookup, "shepherd_lookups_closed_total", &[r#"reason="deadline""#], 1.0).await;
    shows(&scene, lookup, "shepherd_lookups_closed_total", &[r#"reason="complete""#], 1.0).await;
    shows(&scene, lookup, "shepherd_sub_queries_outstanding", &[], 0.0).await;
    let merged = ["shepherd_merge_duration_seconds_count", "shepherd_queries_finished_total"];
    for name in merged {
        shows(&scene, "operations", name, &[], 2.0).await;
    }
    shows(&scene, "operations", "shepherd_sub_queries_missing_total", &[r#"reason="late""#], 1.0).await;
    shows(&scene, "operations", "shepherd_stage_duration_seconds_count", &[r#"stage="aragorn.score""#], 2.0)
        .await;
    shows(&scene, "finish-query", "shepherd_delivery_attempts_total", &[r#"outcome="refused""#], 1.0).await;
    shows(&scene, "finish-query", "shepherd_dead_letters", &[], 1.0).await;
    shows(&scene, "finish-query", "shepherd_stream_live_workers", &[r#"operation="aragorn.lookup""#], 1.0)
        .await;

    // the first question is refused there, too
    scene.ask_sync("arax", &queries::treats(DIABETES)).await;
    let refused = [r#"ara="arax""#, r#"outcome="refused""#];
    shows(&scene, "arax-lookup", "shepherd_service_queries_total", &refused, 1.0).await;

    let mut told = BTreeSet::new();
    for label in [GATEWAY].into_iter().chain(workers) {
        let scrape = scrape(&scene, label).await;
        assert!(scrape.sum("shepherd_build_info", &[&format!("binary=\"{label}\"")]) > 0.0, "{label}");
        assert!(scrape.sum("shepherd_redis_command_duration_seconds_count", &[]) > 0.0, "{label}");
        told.extend(scrape.names());
    }
    let all: BTreeSet<&str> = CATALOGUE.iter().map(|metric| metric.name).collect();
    assert_eq!(told, all);
}
