"""Renders the chart in many ways and looks at what comes out. `chart.py HELM BINARY`.

Kubernetes' own kinds are checked against its schemas (kubernetes-validate), those of KEDA and of the Prometheus operator
against custom_objects.json, which has the fields of their definitions that the chart uses. What no schema sees is
checked here: that names meet, that selectors select, and that the programs accept the settings they get.
"""

import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import jsonschema
import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CHART = ROOT / "helm/shepherd"
KUBERNETES = "1.35.0"
CUSTOM = json.loads((HERE / "custom_objects.json").read_text())

# Name, and values beside the chart's own.
GOOD = {
    "default": [],
    "minimal": ["-f", HERE / "values/minimal.yaml"],
    "full": ["-f", HERE / "values/full.yaml"],
    "full with hpa": ["-f", HERE / "values/full.yaml", "--set", "autoscaling=hpa,bundledRedis.storage="],
    "sentinel": [
        *("--set", "settings.REDIS_URL=redis-sentinel://a.example.org:26379/main,autoscaling=keda"),
        *("--set", "keda.scaler=redis-sentinel-streams,keda.metadata.sentinelMaster=main"),
        *("--set-string", "keda.metadata.hosts=a.example.org,keda.metadata.ports=26379"),
    ],
    "no query limit": ["--set", "settings.QUERY_TIMEOUT_SEC=0"],
}

# Values that must not be rendered, and words of the sentence that says why.
BAD = {
    "settings.LOOKUP_TIMEOUT=300": "LOOKUP_TIMEOUT (300 s) must be less than settings.QUERY_TIMEOUT_SEC (300 s)",
    "settings.LOOKUP_TIMEOUT=290": "together must not exceed settings.QUERY_TIMEOUT_SEC (300 s)",
    "settings.RETRIEVER_TIMEOUT_MARGIN=210": "RETRIEVER_TIMEOUT_MARGIN (210 s) must be less than settings.LOOKUP_TIMEOUT",
    "settings.KG_RETRIEVAL_SUBMIT_TIMEOUT=211": "KG_RETRIEVAL_SUBMIT_TIMEOUT (211 s) must not exceed",
    "settings.WORKER_DRAIN_TIMEOUT_SEC=40": "must exceed its WORKER_DRAIN_TIMEOUT_SEC (40 s)",
    "gateway.preStopSec=15": "terminationGracePeriodSeconds of gateway (45 s) must exceed",
    "workers.operations.terminationGracePeriodSeconds=30": "terminationGracePeriodSeconds of operations (30 s)",
    "workers.operations.autoscaling.minReplicas=9": "minReplicas of operations must not exceed",
    "settings.OMNICORP_CURIES_LMDB_PATH=/x": "must be set both or neither",
    "settings.ADMISSION_MEMORY_PCT=101": "cannot exceed 100",
    "ingress.enabled=true": "ingress.enabled needs a name",
    "bundledRedis.enabled=true": "bundledRedis.enabled needs a password",
    "bundledRedis.enabled=true,existingSecret=s,settings.REDIS_HOST=a.example.org": "exclude each other",
    "autoscaling=keda,settings.REDIS_URL=redis://a.example.org": "KEDA does not read that URL",
    "workers.redis.program=operations": "a worker cannot be called redis",
    # by values.schema.json
    "settings.LOOKUP_TIMEOUT=soon": "LOOKUP_TIMEOUT",
    "settings.LOOKUP_TIMEUOT=60": "LOOKUP_TIMEUOT",
    "settings.LOG_LEVEL=LOUD": "LOG_LEVEL",
    "settings.KG_RETRIEVAL_URL=retriever": "KG_RETRIEVAL_URL",
    "workers.operations.settings.OPERATION=merge": "OPERATION",
    "workers.operations.program=score": "program",
    "autoscaling=both": "autoscaling",
    "gatway.replicas=3": "gatway",
}


class Problem(Exception):
    pass


def expect(condition, sentence):
    if not condition:
        raise Problem(sentence)


def helm(helm_binary, *arguments):
    command = [helm_binary, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def render(helm_binary, arguments):
    out = helm(helm_binary, "template", "rel", CHART, "--namespace", "here", "--kube-version", KUBERNETES, *arguments)
    expect(out.returncode == 0, out.stderr)
    return out.stdout


def check_schemas(text, objects):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(yaml.safe_dump_all([o for o in objects if o["kind"] not in CUSTOM]))
        file.flush()
        validator = pathlib.Path(sys.executable).with_name("kubernetes-validate")
        command = [validator, "--strict", "-k", KUBERNETES, file.name]
        out = subprocess.run(command, capture_output=True, text=True, check=False)
        # a kind it does not know is only a warning of its
        expect(out.returncode == 0 and "WARN" not in out.stdout + out.stderr, out.stdout + out.stderr)
    for found in objects:
        if found["kind"] in CUSTOM:
            jsonschema.validate(found["spec"], CUSTOM[found["kind"]])
    expect("<no value>" not in text and "%!" not in text, "a template prints what is not there")


def selected(pods, labels):
    return [name for name, pod in pods.items() if labels.items() <= pod["metadata"]["labels"].items()]


def check_names(objects, outside):
    """Whatever names or selects something finds it."""
    keys = [(o["kind"], o["metadata"]["name"]) for o in objects]
    expect(len(set(keys)) == len(keys), f"two objects have one name: {sorted(keys)}")
    expect(all(len(name) <= 63 for _, name in keys), "a name is too long")
    pods = {o["metadata"]["name"]: o["spec"]["template"] for o in objects if o["kind"] in ("Deployment", "StatefulSet")}
    ports = {
        name: {port["name"] for container in pod["spec"]["containers"] for port in container["ports"]}
        for name, pod in pods.items()
    }
    for found in objects:
        kind, name, spec = found["kind"], found["metadata"]["name"], found.get("spec")
        if kind in ("Deployment", "StatefulSet"):
            expect(selected(pods, spec["selector"]["matchLabels"]) == [name], f"{kind} {name} does not select itself alone")
            check_pod(name, spec["template"]["spec"], keys, outside)
        if kind == "PodDisruptionBudget":
            expect(selected(pods, spec["selector"]["matchLabels"]) == [name], f"{kind} {name} selects something else")
        if kind in ("HorizontalPodAutoscaler", "ScaledObject"):
            expect(("Deployment", spec["scaleTargetRef"]["name"]) in keys, f"{kind} {name} scales nothing")
        if kind == "Deployment":
            scalers = [o for o in objects if o.get("spec", {}).get("scaleTargetRef", {}).get("name") == name]
            expect(len(scalers) + ("replicas" in spec) == 1, f"{name} is scaled by none or by two")
        if kind == "Service":
            backends = selected(pods, spec["selector"])
            expect(backends, f"Service {name} selects nothing")
            for port in spec["ports"]:
                expect(all(port["targetPort"] in ports[b] for b in backends), f"Service {name} misses a port")
        if kind == "ServiceMonitor":
            wanted = {endpoint["port"] for endpoint in spec["endpoints"]}
            services = [o for o in objects if o["kind"] == "Service"]
            labels = spec["selector"]["matchLabels"].items()
            offered = {p["name"] for s in services if labels <= s["metadata"]["labels"].items() for p in s["spec"]["ports"]}
            expect(wanted <= offered, f"ServiceMonitor {name} scrapes {wanted - offered}")
        if kind == "NetworkPolicy":
            chosen = selected(pods, spec["podSelector"]["matchLabels"])
            expect(chosen, f"NetworkPolicy {name} selects nothing")
            for rule in spec.get("ingress") or []:
                named = {port["port"] for port in rule.get("ports", [])}
                expect(all(named <= ports[pod] for pod in chosen), f"NetworkPolicy {name} names a port that is not there")
        if kind == "Ingress":
            for rule in spec["rules"]:
                for path in rule["http"]["paths"]:
                    expect(("Service", path["backend"]["service"]["name"]) in keys, f"Ingress {name} leads nowhere")
        if kind == "ScaledObject":
            for trigger in spec["triggers"]:
                reference = trigger.get("authenticationRef")
                expect(reference is None or ("TriggerAuthentication", reference["name"]) in keys, f"{name} has no password")


def check_pod(name, pod, keys, outside):
    secure = pod["securityContext"]
    expect(secure["runAsNonRoot"] and secure["runAsUser"] > 0, f"{name} may run as root")
    expect(pod["enableServiceLinks"] is False, f"{name} has service links")
    for container in pod["containers"]:
        own = container["securityContext"]
        expect(own["readOnlyRootFilesystem"] and not own["allowPrivilegeEscalation"], f"{name} may do too much")
        expect(own["capabilities"] == {"drop": ["ALL"]}, f"{name} has capabilities")
        expect(container["resources"]["requests"] and container["resources"]["limits"]["memory"], f"{name} has no bounds")
        expect("readinessProbe" in container and "livenessProbe" in container, f"{name} lacks probes")
        probes = [container[p].get("httpGet", {}).get("path") for p in ("livenessProbe", "readinessProbe")]
        expect(probes in (["/livez", "/readyz"], [None, None]), f"{name} has probes {probes}")
        named = {port["name"] for port in container["ports"]}
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            port = container.get(probe, {}).get("httpGet", {}).get("port")
            expect(port is None or port in named, f"{name} is probed at {port}")
        for source in container.get("envFrom", []):
            expect(("ConfigMap", source["configMapRef"]["name"]) in keys, f"{name} has no settings")
        for variable in container.get("env", []):
            secret = variable.get("valueFrom", {}).get("secretKeyRef")
            known = secret is None or secret.get("optional") or ("Secret", secret["name"]) in keys
            expect(known or secret["name"] in outside, f"{name} has no {variable['name']}")


def environment_of(container, objects):
    """What the process will find in its environment."""
    of = {(o["kind"], o["metadata"]["name"]): o.get("data") or o.get("stringData") for o in objects}
    environment = dict(of[("ConfigMap", container["envFrom"][0]["configMapRef"]["name"])])
    for variable in container["env"]:
        secret = variable.get("valueFrom", {}).get("secretKeyRef")
        value = variable.get("value") if secret is None else of.get(("Secret", secret["name"]), {}).get(secret["key"])
        if value is not None:
            environment[variable["name"]] = value
    return environment


def check_settings(binary, objects):
    """The programs accept what they are given, and read what was meant."""
    for found in objects:
        if found["kind"] != "Deployment":
            continue
        spec = found["spec"]["template"]["spec"]
        environment = environment_of(spec["containers"][0], objects)
        out = subprocess.run([binary, "--print-config"], env=environment, capture_output=True, text=True, check=False)
        expect(out.returncode == 0, f"{found['metadata']['name']}: {out.stderr}")
        shown = dict(line.split("=", 1) for line in out.stdout.splitlines() if not line.startswith("#"))
        for name, value in environment.items():
            expect(shown[name] in (value, "********"), f"{name} is {shown[name]}, the chart says {value}")
        drain = float(shown["WORKER_DRAIN_TIMEOUT_SEC"])
        expect(spec["terminationGracePeriodSeconds"] > math.ceil(drain), f"{found['metadata']['name']} is killed too early")


def check_full(objects):
    """What only the full values show."""
    of = {(o["kind"], o["metadata"]["name"]): o for o in objects}
    settings = of[("ConfigMap", "shep")]["data"]
    expect(settings["MAX_QUEUED"] == "1000000" and settings["LOOKUP_TIMEOUT"] == "170.5", "numbers are spelled otherwise")
    expect(settings["REDIS_HOST"] == "shep-redis", "the bundled Redis is not used")
    expect(settings["CALLBACK_HOST"] == "http://shep-gateway.here.svc:5439", "Retriever would call back elsewhere")
    expect(settings["SERVER_URL"] == "https://shepherd.example.org", "the Ingress is not told")
    expect("REDIS_PASSWORD" not in settings, "the password is in the ConfigMap")
    scoring = of[("ScaledObject", "shep-scoring")]["spec"]["triggers"]
    streams = {trigger["metadata"]["stream"] for trigger in scoring}
    expect(streams == {f"shepherd:{{p{p}}}:stream:aragorn.score" for p in (0, 1)}, f"KEDA counts {streams}")
    expect(all(t["metadata"]["address"] == "shep-redis:6379" for t in scoring), "KEDA looks elsewhere")
    dashboards = of[("ConfigMap", "shep-dashboards")]["data"]
    expect(len(dashboards) == 4 and all(json.loads(text) for text in dashboards.values()), "dashboards are missing")


def check_copies():
    """The chart can only read what is inside it, so it has copies."""
    copies = {
        "files/redis.conf": "deploy/redis.conf",
        "files/redis.sh": "deploy/redis.sh",
        "files/rules.yml": "deploy/prometheus/rules.yml",
    }
    for path in (ROOT / "deploy/grafana").glob("*.json"):
        copies[f"files/dashboards/{path.name}"] = path.relative_to(ROOT)
    for copy, original in copies.items():
        there = CHART / copy
        expect(there.is_file() and there.read_bytes() == (ROOT / original).read_bytes(), f"cp {original} helm/shepherd/{copy}")
    extra = {path.name for path in (CHART / "files").rglob("*") if path.is_file()} - {pathlib.Path(c).name for c in copies}
    expect(not extra, f"helm/shepherd/files has {extra}, which deploy does not")


def main():
    helm_binary, binary = sys.argv[1], os.path.abspath(sys.argv[2])
    check_copies()
    for name, arguments in GOOD.items():
        lint = helm(helm_binary, "lint", "--strict", CHART, *arguments)
        expect(lint.returncode == 0, f"{name}: {lint.stdout}")
        text = render(helm_binary, arguments)
        objects = [found for found in yaml.safe_load_all(text) if found]
        check_schemas(text, objects)
        check_names(objects, outside={"redis-password"})
        check_settings(binary, objects)
        if name == "full":
            check_full(objects)
        print(f"chart, {name}: {len(objects)} objects are valid")
    for values, words in BAD.items():
        out = helm(helm_binary, "template", "rel", CHART, "--set", values)
        expect(out.returncode != 0, f"{values} is rendered")
        expect(words in out.stderr, f"{values} is refused, but not by its sentence: {out.stderr}")
    print(f"chart: {len(BAD)} bad values are refused, each by its sentence")


if __name__ == "__main__":
    try:
        main()
    except (Problem, jsonschema.ValidationError) as problem:
        sys.exit(f"chart: {problem}")
