"""Dashboards and alerts against what the programs export. `metrics.py PROMTOOL`.

The catalogue of the code says which metrics there are; a test of the code (tests/it/metrics.rs) sees each of them in a
scrape of a running stack. So what is in the catalogue exists, and what is not may not be used here.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
METERS = ROOT / "crates/meters/src"
RULES = ROOT / "deploy/prometheus/rules.yml"
RULES_TEST = ROOT / "deploy/prometheus/rules_test.yml"
GRAFANA = ROOT / "deploy/grafana"

# Labels that Prometheus adds, and its own metrics.
ADDED = {"le", "job", "instance", "alertname", "alertstate"}
# Values of a label that come from elsewhere in the code than from labels.rs.
OTHER_VALUES = {
    "code": ROOT / "shepherd-server/src/error.rs",
    "status": ROOT / "crates/composer/src/ending.rs",
}


def catalogue():
    """Kind of every metric: Counter, Gauge or Histogram."""
    text = (METERS / "catalogue.rs").read_text()
    histograms = set(re.findall(r"const (\w+): Kind = Kind::Histogram", text))
    found = re.findall(r'metric\(\s*"(shepherd_\w+)",\s*(?:Kind::)?(\w+)', text)
    return {name: "Histogram" if kind in histograms else kind for name, kind in found}


def labels():
    """Which labels each metric is recorded with."""
    text = (METERS / "events.rs").read_text() + (METERS / "recorder.rs").read_text()
    found = {}
    for call in re.findall(r"(?:counter|gauge|histogram)!\(([^;]*?)\)\s*\.", text, re.S):
        for name in re.findall(r'^\s*"(shepherd_\w+)"', call):
            found.setdefault(name, set()).update(re.findall(r'"(\w+)" =>', call))
    # recorded by a function or a loop that is handed the name
    for name in re.findall(r'"(shepherd_\w+)"', text):
        operation = name.startswith("shepherd_stream_") or name in ("shepherd_lease_takeovers_total", "shepherd_dead_letters_total")
        found.setdefault(name, set()).update({"operation"} if operation else set())
    return found


def dashboards():
    return {path: json.loads(path.read_text()) for path in sorted(GRAFANA.glob("*.json"))}


def expressions():
    """Where each PromQL expression is, and the expression."""
    for group in yaml.safe_load(RULES.read_text())["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule["expr"]
    for path, dashboard in dashboards().items():
        for panel in dashboard["panels"]:
            for target in panel["targets"]:
                yield f"{path.name}, {panel['title']}", target["expr"]


def problems_of(where, expression, kinds, known):
    for name, matchers in re.findall(r"\b(shepherd_\w+)(?:\{([^}]*)\})?", expression):
        stem = re.sub(r"_(bucket|sum|count)$", "", name)
        if kinds.get(stem) == "Histogram" and stem != name:
            metric = stem
        elif name in kinds and kinds[name] != "Histogram":
            metric = name
        else:
            yield f"{where}: no program exports {name}"
            continue
        for label, value in re.findall(r'(\w+)\s*[=!]~?\s*"([^"]*)"', matchers):
            if label not in known[metric] | ADDED:
                yield f"{where}: {metric} has no label {label}"
            values = (OTHER_VALUES.get(label) or METERS / "labels.rs").read_text()
            for word in value.split("|"):
                if re.fullmatch(r"\w+", word) and f'"{word}"' not in values:
                    yield f"{where}: {label} is never {word}"
    every = set().union(*(known[name] for name in kinds)) | ADDED
    for group in re.findall(r"\bby \(([^)]*)\)", expression):
        for label in re.findall(r"\w+", group):
            if label not in every | {"binary", "version"}:
                yield f"{where}: nothing has a label {label}"


def check_syntax(promtool, found):
    """promtool reads rules only, so every expression becomes one."""
    plain = [re.sub(r"\$__(rate_interval|range)", "5m", expression).replace("$ara", ".*") for _, expression in found]
    rules = [{"record": f"shepherd:checked:{n}", "expr": expression} for n, expression in enumerate(plain)]
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        yaml.safe_dump({"groups": [{"name": "checked", "rules": rules}]}, file)
        file.flush()
        out = subprocess.run([promtool, "check", "rules", "--lint=none", file.name], capture_output=True, text=True, check=False)
    if out.returncode != 0:
        yield out.stderr


def check_alerts():
    tested = RULES_TEST.read_text()
    for group in yaml.safe_load(RULES.read_text())["groups"]:
        for rule in group["rules"]:
            if not rule["annotations"].get("runbook") or not rule["annotations"].get("summary"):
                yield f"{rule['alert']} does not say what to do"
            if rule["labels"].get("severity") not in ("info", "warning", "critical"):
                yield f"{rule['alert']} has no severity"
            if rule["alert"] not in tested:
                yield f"{rule['alert']} is in no test"


def check_dashboards():
    written = {path: path.read_bytes() for path in GRAFANA.glob("*.json")}
    with tempfile.TemporaryDirectory() as directory:
        copy = pathlib.Path(directory) / "generate.py"
        copy.write_bytes((GRAFANA / "generate.py").read_bytes())
        subprocess.run([sys.executable, copy], check=True)
        generated = {path.name: path.read_bytes() for path in pathlib.Path(directory).glob("*.json")}
    if generated != {path.name: text for path, text in written.items()}:
        yield "deploy/grafana/*.json are not what generate.py writes"
    for path, dashboard in dashboards().items():
        places = [tuple(panel["gridPos"][k] for k in "xywh") for panel in dashboard["panels"]]
        for n, (x, y, w, h) in enumerate(places):
            for a, b, c, d in places[:n]:
                if x < a + c and a < x + w and y < b + d and b < y + h:
                    yield f"{path.name}: panels overlap at {x}, {y}"


def main():
    kinds, known = catalogue(), labels()
    found = list(expressions())
    problems = [problem for where, text in found for problem in problems_of(where, text, kinds, known)]
    problems += [*check_syntax(sys.argv[1], found), *check_alerts(), *check_dashboards()]
    used = " ".join(text for where, text in found if ".json" in where)
    shown = {re.sub(r"_(bucket|sum|count)$", "", name) for name in re.findall(r"shepherd_\w+", used)}
    problems += [f"{name} is on no dashboard" for name in kinds if name not in shown]
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        sys.exit(1)
    print(f"metrics: {len(found)} expressions use what the programs export, and all {len(kinds)} metrics are shown")


if __name__ == "__main__":
    main()
