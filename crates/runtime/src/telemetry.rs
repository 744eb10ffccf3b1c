//! Logs of the process, as plain lines on standard error, and traces, where an operator wants them.
//!
//! The trace context of a query travels as W3C text, in its record and with every call; with traces
//! switched on, the spans of all processes join it.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::time::Duration;

use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{TraceContextExt, TracerProvider};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::{Metadata, Span};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::filter::{FilterExt, LevelFilter, Targets, filter_fn};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

const TRACEPARENT: &str = "traceparent";
/// How long the last spans may take on their way out.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(3);

/// Flushes the last spans when the process ends.
pub(crate) struct Telemetry(Option<SdkTracerProvider>);

/// Starts logging and, with an `endpoint` (OTLP over gRPC), tracing. Libraries speak up from WARN on,
/// whatever the level of our own lines.
pub(crate) fn init(
    service: &str,
    level: LevelFilter,
    endpoint: Option<&str>,
) -> Result<Telemetry, ExporterBuildError> {
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        // a line names its query itself; spans are for traces
        .with_filter(ours(level).and(filter_fn(|metadata: &Metadata<'_>| metadata.is_event())));
    let provider = endpoint.map(|endpoint| provider(service, endpoint)).transpose()?;
    let spans = provider.as_ref().map(|provider| {
        let tracer = provider.tracer("shepherd");
        tracing_opentelemetry::layer().with_tracer(tracer).with_filter(ours(LevelFilter::INFO))
    });
    // a second call, as tests make it, changes nothing
    let _ = tracing_subscriber::registry().with(lines).with(spans).try_init();
    Ok(Telemetry(provider))
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

fn provider(service: &str, endpoint: &str) -> Result<SdkTracerProvider, ExporterBuildError> {
    let exporter =
        SpanExporter::builder().with_tonic().with_endpoint(endpoint).with_timeout(FLUSH_TIMEOUT).build()?;
    let resource = Resource::builder().with_service_name(service.to_owned()).build();
    Ok(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build())
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
