#!/usr/bin/env python3
"""Writes the dashboards beside it. A panel is a title, a unit and its queries; the rest is the same for all."""

import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH, HEIGHT = 12, 8
# queries about a persona can be narrowed to some of them
ARA = 'ara=~"$ara"'


def rate(metric, by, where=""):
    return f"sum by ({by}) (rate({metric}{{{where}}}[$__rate_interval]))"


def quantile(share, metric, by="", where=""):
    groups = ", ".join(filter(None, ["le", by]))
    return f"histogram_quantile({share}, sum by ({groups}) (rate({metric}_bucket{{{where}}}[$__rate_interval])))"


def panel(title, unit, queries, about="", kind="timeseries", **options):
    targets = [
        {"datasource": SOURCE, "expr": expression, "legendFormat": legend, "refId": chr(ord("A") + n)}
        for n, (legend, expression) in enumerate(queries)
    ]
    # a share or a memory is read against zero
    from_zero = {"min": options.pop("min")} if "min" in options else {}
    if kind == "stat":
        options = {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "value", **options}
    if kind == "timeseries":
        options = {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}, **options}
    if kind == "table":
        for target in targets:
            target.update(format="table", instant=True)
    return {
        "type": kind,
        "title": title,
        "description": about,
        "datasource": SOURCE,
        "fieldConfig": {"defaults": {"unit": unit, **from_zero}, "overrides": []},
        "options": options,
        "targets": targets,
    }


def stat(title, unit, expression, about=""):
    return panel(title, unit, [("", expression)], about, kind="stat")


def dashboard(uid, title, stats, panels, by_ara=True):
    placed, y = [], 0
    for n, each in enumerate(stats):
        width = 24 // len(stats)
        placed.append({**each, "gridPos": {"x": n * width, "y": 0, "w": width, "h": 4}})
    y = 4 if stats else 0
    for n, each in enumerate(panels):
        place = {"x": n % 2 * WIDTH, "y": y + n // 2 * HEIGHT, "w": WIDTH, "h": HEIGHT}
        placed.append({**each, "gridPos": place})
    variables = [{"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Data source"}]
    if by_ara:
        query = "label_values(shepherd_queries_accepted_total, ara)"
        variables.append({
            "name": "ara", "label": "ARA", "type": "query", "datasource": SOURCE, "query": query, "refresh": 2,
            "includeAll": True, "allValue": ".*", "multi": True, "current": {"text": "All", "value": "$__all"},
        })
    return {
        "uid": uid,
        "title": title,
        "tags": ["shepherd"],
        "schemaVersion": 39,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "timezone": "browser",
        "links": [{"type": "dashboards", "tags": ["shepherd"], "asDropdown": False, "title": "Shepherd"}],
        "templating": {"list": variables},
        "panels": [{"id": n, **each} for n, each in enumerate(placed, 1)],
    }


FINISHED = "shepherd_queries_finished_total"
OVERVIEW = dashboard(
    "shepherd-overview",
    "Shepherd: overview",
    [
        stat("Queries per minute", "short", f"60 * sum(rate(shepherd_queries_accepted_total{{{ARA}}}[$__rate_interval]))"),
        stat(
            "Answered", "percentunit",
            f'sum(rate({FINISHED}{{{ARA}, status=~"Success|QueryNotTraversable"}}[$__range]))'
            f" / sum(rate({FINISHED}{{{ARA}}}[$__range]))",
            "Share of the queries that ended with an answer, over the range shown",
        ),
        stat("Sub-queries outstanding", "short", "sum(shepherd_sub_queries_outstanding)"),
        stat("Dead letters", "short", "max(shepherd_dead_letters)"),
        stat("Redis memory", "percentunit", "max(shepherd_redis_memory_used_bytes) / max(shepherd_redis_memory_max_bytes)"),
        stat("Alerts firing", "short", 'count(ALERTS{alertname=~"Shepherd.*", alertstate="firing"}) or vector(0)'),
    ],
    [
        panel("Queries accepted", "reqps", [("{{ara}} {{mode}}", rate("shepherd_queries_accepted_total", "ara, mode", ARA))]),
        panel("Queries refused", "reqps", [("{{code}}", rate("shepherd_queries_refused_total", "code"))],
              "By error code; short_of_memory, too_many_requests and unavailable are ours, the others the client's"),
        panel("Queries finished", "reqps", [("{{ara}} {{status}}", rate(FINISHED, "ara, status", ARA))]),
        panel("Queries finished by kind", "reqps", [("{{kind}}", rate(FINISHED, "kind", ARA))]),
        panel("Responses delivered", "reqps", [("{{outcome}}", rate("shepherd_delivery_attempts_total", "outcome"))]),
        panel("Bodies, 95th percentile", "bytes", [("{{kind}}", quantile(0.95, "shepherd_body_bytes", "kind"))]),
        panel("Programs", "short", [("", "count by (binary, version) (shepherd_build_info)")], kind="table"),
    ],
)

LEFT, LATE = "shepherd_lookup_time_left_seconds", "shepherd_callback_lateness_seconds"
BUDGETS = dashboard(
    "shepherd-budgets",
    "Shepherd: budgets",
    [],
    [
        panel("Where the time goes, 95th percentile", "s", [("{{stage}}", quantile(0.95, "shepherd_stage_duration_seconds", "stage"))],
              "Time per step; a lookup is mostly waiting for Retriever"),
        panel("Where the time goes, mean", "s", [("{{stage}}",
              rate("shepherd_stage_duration_seconds_sum", "stage") + " / " + rate("shepherd_stage_duration_seconds_count", "stage"))]),
        panel("Time left when lookups close", "s",
              [("5th percentile {{ara}}", quantile(0.05, LEFT, "ara", ARA)), ("median {{ara}}", quantile(0.5, LEFT, "ara", ARA))],
              "Near zero: LOOKUP_TIMEOUT is too short, or Retriever too slow"),
        panel("Lookups closed", "reqps", [("{{ara}} {{reason}}", rate("shepherd_lookups_closed_total", "ara, reason", ARA))]),
        panel("Lateness of callbacks", "s",
              [("median", quantile(0.5, LATE)), ("95th percentile", quantile(0.95, LATE)), ("99th percentile", quantile(0.99, LATE))],
              "After the instant by which Retriever was told to stop; negative: early. Beyond RETRIEVER_TIMEOUT_MARGIN: lost"),
        panel("Callbacks", "reqps", [("{{outcome}}", rate("shepherd_callbacks_total", "outcome"))],
              "late: the margin was too small; refused: we had no room for it"),
        panel("Acknowledgements", "s",
              [("median {{ara}}", quantile(0.5, "shepherd_ack_duration_seconds", "ara", ARA)),
               ("99th percentile {{ara}}", quantile(0.99, "shepherd_ack_duration_seconds", "ara", ARA))],
              "The cap is KG_RETRIEVAL_SUBMIT_TIMEOUT"),
        panel("Submissions", "reqps", [("{{ara}} {{outcome}}", rate("shepherd_submissions_total", "ara, outcome", ARA))]),
        panel("Services asked on the connection", "reqps",
              [("{{ara}} {{outcome}}", rate("shepherd_service_queries_total", "ara, outcome", ARA))],
              "Retriever's /query for searches, and ARAX"),
        panel("Their answers", "s",
              [("median {{ara}}", quantile(0.5, "shepherd_service_query_duration_seconds", "ara", ARA)),
               ("99th percentile {{ara}}", quantile(0.99, "shepherd_service_query_duration_seconds", "ara", ARA))]),
        panel("Missing sub-queries", "reqps", [("{{ara}} {{reason}}", rate("shepherd_sub_queries_missing_total", "ara, reason", ARA))],
              "Without an answer when their lookup closed"),
        panel("Second passes", "reqps", [("{{outcome}}", rate("shepherd_rehydrations_total", "outcome"))],
              "Answers to queries for paths that were filled, and why others were not"),
    ],
)

QUEUES = dashboard(
    "shepherd-queues",
    "Shepherd: queues and workers",
    [],
    [
        panel("Waiting for a worker", "short", [("{{operation}}", "max by (operation) (shepherd_stream_lag)")]),
        panel("Held by workers", "short", [("{{operation}}", "max by (operation) (shepherd_stream_pending)")],
              "Lookups that wait for Retriever are among them"),
        panel("Queued and held", "short", [("{{operation}}", "max by (operation) (shepherd_stream_length)")]),
        panel("Live workers", "short", [("{{operation}}", "max by (operation) (shepherd_stream_live_workers)")],
              "Processes that read the stream, as they say themselves"),
        panel("Steps done", "reqps", [("{{stage}}", rate("shepherd_stage_duration_seconds_count", "stage"))]),
        panel("Steps taken over", "short",
              [("{{operation}}", "sum by (operation) (increase(shepherd_lease_takeovers_total[$__rate_interval]))")],
              "From workers that did not renew their lease"),
        panel("Dead letters", "short",
              [("new: {{operation}}", "sum by (operation) (increase(shepherd_dead_letters_total[$__rate_interval]))"),
               ("kept", "max(shepherd_dead_letters)")]),
        panel("Sub-queries outstanding", "short", [("{{instance}}", "sum by (instance) (shepherd_sub_queries_outstanding)")]),
        panel("Merge", "Bps",
              [("while merging", "sum(rate(shepherd_merge_bytes_total[$__rate_interval]))"
                " / sum(rate(shepherd_merge_duration_seconds_sum[$__rate_interval]))"),
               ("over all time", "sum(rate(shepherd_merge_bytes_total[$__rate_interval]))")]),
        panel("Merge, 95th percentile", "s", [("", quantile(0.95, "shepherd_merge_duration_seconds"))]),
    ],
    by_ara=False,
)

COMMAND = "shepherd_redis_command_duration_seconds"
REDIS = dashboard(
    "shepherd-redis",
    "Shepherd: Redis",
    [],
    [
        panel("Memory", "bytes", [("used", "max(shepherd_redis_memory_used_bytes)"), ("maxmemory", "max(shepherd_redis_memory_max_bytes)")],
              "Beyond ADMISSION_MEMORY_PCT new queries are refused", min=0),
        panel("Memory, share", "percentunit",
              [("used", "max(shepherd_redis_memory_used_bytes) / (max(shepherd_redis_memory_max_bytes) > 0)")], min=0),
        panel("Commands", "s", [("median {{kind}}", quantile(0.5, COMMAND, "kind")), ("99th percentile {{kind}}", quantile(0.99, COMMAND, "kind"))]),
        panel("Commands per second", "ops", [("{{kind}}", rate(f"{COMMAND}_count", "kind"))]),
        panel("Failures", "ops", [("{{job}}", rate("shepherd_redis_errors_total", "job"))]),
        panel("Lost connections", "ops", [("{{job}}", rate("shepherd_redis_reconnects_total", "job"))]),
    ],
    by_ara=False,
)

if __name__ == "__main__":
    for found in (OVERVIEW, BUDGETS, QUEUES, REDIS):
        path = HERE / f"{found['uid'].removeprefix('shepherd-')}.json"
        path.write_text(json.dumps(found, indent=1) + "\n")
