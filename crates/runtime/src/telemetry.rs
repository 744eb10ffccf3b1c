//! Logs of the process, on standard error, and traces, where an operator wants them.
//!
//! A line is a JSON object for programs, with the trace that it belongs to, or plain text for people.
//! The trace context of a query travels as W3C text, in its record and with every call; with traces
//! switched on, the spans of all processes join it.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::str::FromStr;
use std::time::Duration;

use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{TraceContextExt, TracerProvider};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use tracing::{Metadata, Span};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::filter::{FilterExt, LevelFilter, Targets, filter_fn};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

const TRACEPARENT: &str = "traceparent";
/// How long the last spans may take on their way out.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(3);

/// Flushes the last spans when the process ends.
pub(crate) struct Telemetry(Option<SdkTracerProvider>);

/// How lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// One JSON object per line, for programs.
    #[default]
    Json,
    /// Plain text, for people.
    Pretty,
}

impl FromStr for LogFormat {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text.to_ascii_lowercase().as_str() {
            "json" => Ok(Self::Json),
            "pretty" => Ok(Self::Pretty),
            _ => Err(()),
        }
    }
}

/// What is logged and how.
#[derive(Clone, Copy, Debug)]
pub struct LogSettings {
    /// `LOG_LEVEL`: the level of our own lines. Libraries speak up from WARN on, whatever it is.
    pub level: LevelFilter,
    /// `LOG_FORMAT`.
    pub format: LogFormat,
}

/// Where traces go.
#[derive(Clone, Debug)]
pub struct TraceSettings {
    /// An OTLP endpoint (gRPC).
    pub endpoint: String,
    /// The share of traces that is recorded where the caller has not decided, from 0 to 1.
    pub sample_ratio: f64,
}

/// Starts logging and, where `traces` are wanted, tracing.
pub(crate) fn init(
    service: &str,
    logs: LogSettings,
    traces: Option<&TraceSettings>,
) -> Result<Telemetry, ExporterBuildError> {
    let provider = traces.map(|traces| provider(service, traces)).transpose()?;
    let spans = provider.as_ref().map(|provider| {
        let tracer = provider.tracer("shepherd");
        tracing_opentelemetry::layer().with_tracer(tracer).with_filter(ours(LevelFilter::INFO))
    });
    let registry = tracing_subscriber::registry().with(lines(logs)).with(spans);
    // a second call, as tests make it, changes nothing
    let _ = registry.try_init();
    Ok(Telemetry(provider))
}

fn lines<S>(LogSettings { level, format }: LogSettings) -> Box<dyn Layer<S> + Send + Sync>
where
    S: tracing::Subscriber + for<'a> LookupSpan<'a>,
{
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_target(false);
    match format {
        LogFormat::Json => {
            let layer = layer.json().flatten_event(true).with_current_span(true).with_span_list(false);
            layer.with_filter(ours(level)).boxed()
        }
        // a line names its query itself; spans are for traces
        LogFormat::Pretty => layer
            .with_ansi(std::io::stderr().is_terminal())
            .with_filter(ours(level).and(filter_fn(|metadata: &Metadata<'_>| metadata.is_event())))
            .boxed(),
    }
}

/// The trace id of a W3C trace context, for log lines; empty without one.
pub fn trace_id(traceparent: &str) -> &str {
    traceparent.split('-').nth(1).unwrap_or_default()
}

fn ours(level: LevelFilter) -> Targets {
    const CRATES: [&str; 10] = [
        "aragorn",
        "bte",
        "example",
        "finish",
        "lookup",
        "operations",
        "retriever",
        "runtime",
        "shepherd",
        "state",
    ];
    Targets::new()
        .with_default(level.min(LevelFilter::WARN))
        .with_targets(CRATES.map(|prefix| (prefix, level)))
}

/// Spans are sent from a thread of its own, out of a bounded queue: a collector that is down costs spans,
/// never time.
fn provider(service: &str, traces: &TraceSettings) -> Result<SdkTracerProvider, ExporterBuildError> {
    let exporter = SpanExporter::builder()
        .with_tonic()
        .with_endpoint(&traces.endpoint)
        .with_timeout(FLUSH_TIMEOUT)
        .build()?;
    let resource = Resource::builder().with_service_name(service.to_owned()).build();
    let ratio = Sampler::TraceIdRatioBased(traces.sample_ratio);
    Ok(SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_sampler(Sampler::ParentBased(Box::new(ratio)))
        .with_resource(resource)
        .build())
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        if let Some(provider) = &self.0
            && let Err(error) = provider.shutdown_with_timeout(FLUSH_TIMEOUT)
        {
            tracing::warn!("the last spans were not sent: {error}");
        }
    }
}

/// Makes `span` a child of the trace context that a request or a task brought, W3C text.
pub fn join_trace(span: &Span, traceparent: &str) {
    if traceparent.is_empty() {
        return;
    }
    let carrier = HashMap::from([(TRACEPARENT.to_owned(), traceparent.to_owned())]);
    let context = TraceContextPropagator::new().extract(&carrier);
    // an error only says that no layer records spans
    let _ = span.set_parent(context);
}

/// The trace context to send along from within `span`; `inherited` where spans are not recorded.
pub fn traceparent(span: &Span, inherited: &str) -> String {
    let context = span.context();
    if !context.span().span_context().is_valid() {
        return inherited.to_owned();
    }
    let mut carrier = HashMap::new();
    TraceContextPropagator::new().inject_context(&context, &mut carrier);
    carrier.remove(TRACEPARENT).unwrap_or_else(|| inherited.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn spans_join_the_trace_they_are_given_and_pass_it_on() {
        let provider = SdkTracerProvider::builder().build();
        let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            let span = tracing::info_span!("task.run");
            join_trace(&span, SENT);
            let passed_on = traceparent(&span, "");
            assert!(passed_on.starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-"), "{passed_on}");
            assert_ne!(passed_on, SENT, "the span is the callee's parent");
        });
    }

    #[test]
    fn context_is_passed_on_as_it_came_where_nothing_is_recorded() {
        let span = tracing::info_span!("task.run");
        join_trace(&span, SENT);
        assert_eq!(traceparent(&span, SENT), SENT);
    }
}
