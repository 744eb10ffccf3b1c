//! From what is recorded to what Prometheus reads.

use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};

use crate::catalogue::{CATALOGUE, Kind};

/// The recorder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecorderError {
    /// The buckets of a histogram are none.
    #[error("metrics cannot be recorded")]
    Build(#[from] BuildError),
}

/// What this process has recorded so far. Cheap to clone.
#[derive(Clone)]
pub struct Exposition(PrometheusHandle);

impl Exposition {
    /// The metrics in Prometheus' text format.
    pub fn render(&self) -> String {
        self.0.render()
    }

    /// Takes in what histograms have gathered; to be called every few seconds, so that what nobody scrapes
    /// does not pile up.
    pub fn upkeep(&self) {
        self.0.run_upkeep();
    }
}

/// Records from now on what this process counts and times. The first call of a process counts.
///
/// # Errors
/// [`RecorderError`] when the catalogue is unusable.
pub fn install(binary: &str, version: &'static str) -> Result<Exposition, RecorderError> {
    let mut builder = PrometheusBuilder::new();
    for metric in CATALOGUE {
        if let Kind::Histogram(buckets) = metric.kind {
            builder = builder.set_buckets_for_metric(Matcher::Full(metric.name.to_owned()), buckets)?;
        }
    }
    let recorder = builder.build_recorder();
    let exposition = Exposition(recorder.handle());
    // a second one is not heard: tests may start several parts in one process
    let _ = metrics::set_global_recorder(recorder);
    for metric in CATALOGUE {
        match metric.kind {
            Kind::Counter => metrics::describe_counter!(metric.name, metric.about),
            Kind::Gauge => metrics::describe_gauge!(metric.name, metric.about),
            Kind::Histogram(_) => metrics::describe_histogram!(metric.name, metric.about),
        }
    }
    metrics::gauge!("shepherd_build_info", "binary" => binary.to_owned(), "version" => version).set(1.0);
    Ok(exposition)
}
