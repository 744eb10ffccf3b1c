"""The settings of the code, and every place that lists them: .env.example, the chart, the README.

`settings.py BINARY` compares, `settings.py BINARY --write` writes the first two anew. Names, defaults and meanings come
from `BINARY --print-config`, what a value may look like from the reader that the source calls for it.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = ROOT / "crates/runtime/src/settings/mod.rs"
ENV = ROOT / ".env.example"
VALUES = ROOT / "helm/shepherd/values.yaml"
SCHEMA = ROOT / "helm/shepherd/values.schema.json"
HELPERS = ROOT / "helm/shepherd/templates/_helpers.tpl"
BEGIN, END = "  # settings: begin (tests/deploy/settings.py --write)", "  # settings: end"

# Readers of crates/runtime/src/settings/reader.rs: unit as people read it, JSON schema of a value in the chart.
KINDS = {
    "address": ("address", {"type": "string", "pattern": r"^\S+:[0-9]+$"}),
    "count": ("number", {"type": "integer", "minimum": 0}),
    "dialect": ("version", {"type": "string", "pattern": r"^[0-9]+\.[0-9]+(\.[0-9]+)?$"}),
    "flag": ("true or false", {"type": "boolean"}),
    "level": ("level", {"type": "string", "enum": ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]}),
    "list": ("words, separated by commas", {"type": "string"}),
    "log_format": ("format", {"type": "string", "enum": ["json", "pretty"]}),
    "partitions": ("number", {"type": "integer", "minimum": 1, "maximum": 65535}),
    "port": ("port", {"type": "integer", "minimum": 1, "maximum": 65535}),
    "positive": ("number", {"type": "integer", "minimum": 1, "maximum": 1000000000}),
    "ratio": ("share", {"type": "number", "minimum": 0, "maximum": 1}),
    "redis_url": ("secret", {"type": "string"}),
    "seconds": ("seconds", {"type": "number", "minimum": 0}),
    "secret": ("secret", {"type": "string"}),
    "secret_file": ("path", {"type": "string"}),
    "size": ("size", {"type": "string", "pattern": r"^[0-9.]+ ?([kKmMgGtT]i?)?[bB]?$"}),
    "text": ("text", {"type": "string"}),
    "url": ("URL", {"type": "string", "pattern": r"^https?://\S+$"}),
}
SECRET_KINDS = {"secret", "redis_url"}


def printed(binary):
    """Name, default and meaning of every setting, in the order of the code."""
    out = subprocess.run([binary, "--print-config"], env={}, cwd="/", capture_output=True, text=True, check=True)
    found = re.findall(r"^# (.*) \(default: (.*)\)\n([A-Z][A-Z0-9_]*)=", out.stdout, re.M)
    if not found:
        sys.exit(f"{binary} --print-config shows no settings")
    return [(name, default, about) for about, default, name in found]


def readers():
    """By name: which reader reads the setting, and whether its default follows other settings."""
    call = re.compile(r'(?:\br|\n\s+)\.([a-z_]+)\(\s*"([A-Z][A-Z0-9_]+)",\s*("|[&a-z])')
    # `problem` takes a name too, of what was read before
    found = [match for match in call.findall(SOURCE.read_text()) if match[0] != "problem"]
    return {name: (kind, default != '"') for kind, name, default in found}


def settings(binary):
    kinds = readers()
    missing = [name for name, _, _ in printed(binary) if kinds.get(name, ("",))[0] not in KINDS]
    if missing:
        sys.exit(f"{SOURCE.name} and tests/deploy/settings.py do not tell the kind of {', '.join(missing)}")
    for name, default, about in printed(binary):
        kind, derived = kinds[name]
        yield {"name": name, "default": default, "about": about, "kind": kind, "derived": derived}


def in_chart(setting):
    """The default as a typed value."""
    kind, default = setting["kind"], setting["default"]
    if setting["derived"] and kind not in SECRET_KINDS | {"secret_file", "list"}:
        return None
    return json.loads(default) if KINDS[kind][1]["type"] in ("integer", "number", "boolean") else default


def env_example(all_settings):
    lines = [
        "# Copy this to `.env`, fill in what is empty above the line, and uncomment what should be otherwise than here.",
        "# Written by `tests/deploy/settings.py --write`. Durations are seconds, fractions allowed.",
        "",
        "# Compose: the password that redis-server asks for and everything else brings. There is no default.",
        "REDIS_PASSWORD=",
        "# Compose: memory that redis-server may use; new queries are refused before it is full (default: 2gb)",
        "#REDIS_MAXMEMORY=2gb",
        "# Compose: address at which the gateway, Grafana, Prometheus and Jaeger are published (default: 127.0.0.1)",
        "#PUBLISH=127.0.0.1",
        "# Compose: the image of the programs, built from deploy/Dockerfile if it is not there (default: shepherd:local)",
        "#SHEPHERD_IMAGE=shepherd:local",
        "",
        "# ---- Settings of the programs. Compose itself names its own Redis, double of Retriever, gateway and Jaeger",
        "# ---- (REDIS_HOST, KG_RETRIEVAL_URL and its siblings, CALLBACK_HOST, JAEGER_HOST) as long as they are not set.",
    ]
    for setting in all_settings:
        if setting["name"] == "REDIS_PASSWORD":
            continue
        default = setting["default"]
        lines.append(f"# {setting['about']} (default: {default})" if default else f"# {setting['about']}")
        lines.append(f"#{setting['name']}={default}")
    return "\n".join(lines) + "\n"


def values_block(all_settings):
    lines = [BEGIN]
    for setting in all_settings:
        unit = KINDS[setting["kind"]][0]
        value = in_chart(setting)
        follows = f"; null: follows others, at first {setting['default']}" if value is None else ""
        lines.append(f"  # {setting['about']} [{unit}{follows}]")
        lines.append(f"  {setting['name']}: {json.dumps(value)}")
    return "\n".join([*lines, END])


def schema_properties(all_settings):
    def of(setting):
        schema = dict(KINDS[setting["kind"]][1])
        if in_chart(setting) is None:
            schema["type"] = [schema["type"], "null"]
        return {"description": f"{setting['about']} ({KINDS[setting['kind']][0]})", **schema}

    return {setting["name"]: of(setting) for setting in all_settings}


def between(text):
    return text[text.index(BEGIN) : text.index(END) + len(END)]


def write(all_settings):
    ENV.write_text(env_example(all_settings))
    values = VALUES.read_text()
    VALUES.write_text(values.replace(between(values), values_block(all_settings)))
    schema = json.loads(SCHEMA.read_text())
    schema["definitions"]["settings"]["properties"] = schema_properties(all_settings)
    SCHEMA.write_text(json.dumps(schema, indent=2) + "\n")


def problems(all_settings):
    stale = "is not what the code's settings give: run tests/deploy/settings.py BINARY --write"
    if ENV.read_text() != env_example(all_settings):
        yield f".env.example {stale}"
    if between(VALUES.read_text()) != values_block(all_settings):
        yield f"helm/shepherd/values.yaml {stale}"
    if json.loads(SCHEMA.read_text())["definitions"]["settings"]["properties"] != schema_properties(all_settings):
        yield f"helm/shepherd/values.schema.json {stale}"
    # the block was compared as text; nothing else may have slipped in beside it
    beside = set(yaml.safe_load(VALUES.read_text())["settings"]) ^ {s["name"] for s in all_settings}
    if beside:
        yield f"helm/shepherd/values.yaml and the code do not both have {', '.join(sorted(beside))}"

    table = re.search(r"\n## Settings\n(.*?)\n## ", (ROOT / "README.md").read_text(), re.S).group(1)
    rows = {
        name: (default.strip("` "), about)
        for name, default, about in re.findall(r"^\| `([A-Z0-9_]+)` \| ?(.*?) ?\| (.*?) \|$", table, re.M)
    }
    for setting in all_settings:
        expected = (setting["default"], setting["about"])
        if rows.pop(setting["name"], None) != expected:
            yield f"the README's table of settings lacks | {setting['name']} | {' | '.join(expected)} |"
    for name in rows:
        yield f"the README's table of settings has {name}, which the code does not know"

    secrets = {s["name"] for s in all_settings if s["kind"] in SECRET_KINDS}
    listed = set(re.search(r'define "shepherd.secrets" -}}(.*?){{', HELPERS.read_text()).group(1).split())
    if secrets != listed:
        yield f"{HELPERS.name} keeps {sorted(listed)} out of the ConfigMap, the code's secrets are {sorted(secrets)}"


def main():
    binary, *options = sys.argv[1:]
    all_settings = list(settings(os.path.abspath(binary)))
    if options == ["--write"]:
        write(all_settings)
    found = list(problems(all_settings))
    for problem in found:
        print(problem, file=sys.stderr)
    if found:
        sys.exit(1)
    print(f"settings: {len(all_settings)} in the code, the chart, .env.example and the README alike")


if __name__ == "__main__":
    main()
