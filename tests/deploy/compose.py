"""What a schema does not see in docker-compose.yml, the Dockerfile and prometheus.yml: that they mean the same programs."""

import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPOSE = ROOT / "docker-compose.yml"
ENV = ROOT / ".env.example"
DOCKERFILE = ROOT / "deploy/Dockerfile"
# The gateway's service is called by what it is to others.
PROGRAM_OF = {"gateway": "shepherd-server"}


def programs():
    """Names of the programs that the workspace builds."""
    found = set()
    for manifest in [*ROOT.glob("workers/*/Cargo.toml"), ROOT / "shepherd-server/Cargo.toml"]:
        text = manifest.read_text()
        named = re.search(r'\[\[bin\]\]\nname = "(.*)"', text) or re.search(r'\[package\]\nname = "(.*)"', text)
        found.add(named.group(1))
    return found


def problems():
    text = COMPOSE.read_text()
    services = yaml.safe_load(text)["services"]
    wanted = programs()

    run = {service["entrypoint"][0] for name, service in services.items() if name not in ("redis", "retriever") and "entrypoint" in service}
    if run != wanted:
        yield f"docker-compose.yml runs {sorted(run)}, the workspace builds {sorted(wanted)}"
    dockerfile = DOCKERFILE.read_text()
    installed = set(re.findall(r"target/release/([a-z-]+)", dockerfile)) - {"shepherd"}
    targets = dict(re.findall(r'^FROM shepherd AS (\S+)\nHEALTHCHECK .* CMD \["(\S+)", "--check-health"\]', dockerfile, re.M))
    entries = set(re.findall(r'^ENTRYPOINT \["(\S+)"\]', dockerfile, re.M)) - {"shepherd"}
    if not installed == set(targets) == set(targets.values()) == entries == wanted:
        yield f"deploy/Dockerfile does not install, name, check and run just {sorted(wanted)}"
    rust = re.search(r"rust:([0-9.]+)-", dockerfile).group(1)
    oldest = re.search(r'rust-version = "([0-9.]+)"', (ROOT / "Cargo.toml").read_text()).group(1)
    if [int(n) for n in rust.split(".")] < [int(n) for n in oldest.split(".")]:
        yield f"deploy/Dockerfile builds with Rust {rust}, Cargo.toml asks for {oldest}"

    for name, service in services.items():
        if service.get("read_only") is not True or service.get("cap_drop") != ["ALL"] or "user" not in service:
            yield f"service {name} may do too much"
        if service.get("security_opt") != ["no-new-privileges:true"] or "privileged" in service:
            yield f"service {name} may gain privileges"
        image = service["image"]
        if not re.search(r":[^:}]*[0-9]", image) and "SHEPHERD_IMAGE" not in image:
            yield f"service {name} runs no fixed version: {image}"
        for other, condition in service.get("depends_on", {}).items():
            if condition["condition"] == "service_healthy" and "test" not in services[other].get("healthcheck", {}):
                yield f"service {name} waits for the health of {other}, which has no check"
        program = PROGRAM_OF.get(name, name)
        if program in wanted:
            if service["healthcheck"]["test"] != ["CMD", program, "--check-ready"]:
                yield f"service {name} does not check itself"
            if service["depends_on"].get("redis") != {"condition": "service_healthy"}:
                yield f"service {name} does not wait for Redis"
        for port in service.get("ports", []):
            if port["host_ip"] != "${PUBLISH:-127.0.0.1}":
                yield f"service {name} is published to everybody"
        for variable, value in (service.get("environment") or {}).items():
            if re.search("PASSWORD|SECRET|TOKEN", variable) and not re.match(r"\$\{[A-Z_]+:\?", str(value)):
                yield f"service {name} has a default for {variable}"

    known = set(re.findall(r"^#?([A-Z][A-Z0-9_]+)=", ENV.read_text(), re.M))
    for variable in sorted(set(re.findall(r"(?<!\$)\$\{([A-Z0-9_]+)", text)) - known):
        yield f".env.example does not have {variable}, which docker-compose.yml reads"
    set_there = [name for name in re.findall(r"^([A-Z][A-Z0-9_]+)=.+", ENV.read_text(), re.M)]
    if set_there:
        yield f".env.example sets {set_there}: what is not commented out must be empty"
    drain = float(re.search(r"^#WORKER_DRAIN_TIMEOUT_SEC=(.*)", ENV.read_text(), re.M).group(1))
    for name, service in services.items():
        if PROGRAM_OF.get(name, name) in wanted and float(service["stop_grace_period"].rstrip("s")) <= drain:
            yield f"service {name} is killed before it has drained"

    scraped = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text())["scrape_configs"]
    by_port = {"5439": {"gateway"}, "5440": {n for n in services if PROGRAM_OF.get(n, n) in wanted - {"shepherd-server"}}}
    for job in scraped:
        for found in job.get("dns_sd_configs", []):
            if set(found["names"]) != by_port[str(found["port"])]:
                yield f"prometheus.yml scrapes {found['names']} on {found['port']}, not {sorted(by_port[str(found['port'])])}"


def main():
    found = list(problems())
    for problem in found:
        print(problem, file=sys.stderr)
    if found:
        sys.exit(1)
    print(f"compose: {len(programs())} programs are built, run, checked and scraped under the same names")


if __name__ == "__main__":
    main()
