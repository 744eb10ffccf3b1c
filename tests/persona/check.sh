#!/usr/bin/env bash
# Follows workers/README.md step by step on a copy of the repository: the persona that comes out is built, deployed on
# paper, started and asked. Tools of tests/deploy/check.sh are used; run that one first.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root=$PWD
CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR
work="$CARGO_TARGET_DIR/persona"
rm -rf "$work"
mkdir -p "$work/copy" "$work/bin"
trap 'rm -rf "$work"' EXIT

git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$work/copy"
cd "$work/copy"

# The page's commands are its fenced blocks up to the next part.
sed -n '/^## A persona/,/^## An operation/p' workers/README.md \
    | awk '/^ *```sh$/ { block = 1; next } /^ *```$/ { block = 0 } block' > "$work/steps.sh"
[ "$(wc -l < "$work/steps.sh")" -ge 9 ] || { echo "workers/README.md has no steps to follow" >&2; exit 1; }
bash -euo pipefail "$work/steps.sh"
cargo fmt --all --check
echo "steps followed: $(wc -l < "$work/steps.sh") lines"

# The programs share the target folder with those of the repository itself, which are put back afterwards.
cargo build --offline --locked --workspace --bins
find "$CARGO_TARGET_DIR/debug" -maxdepth 1 -type f -executable -exec cp -t "$work/bin" {} +
(cd "$root" && cargo build --locked --workspace --bins)

BINARIES="$work/bin" tests/deploy/check.sh > "$work/deploy.log" 2>&1 || { tail -40 "$work/deploy.log" >&2; exit 1; }
echo "image, Compose, chart and Prometheus: agree"

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$work/bin/shepherd" serve --gateway-port "$port" --bin-dir "$work/bin" --log-dir "$work/logs" > "$work/serve.log" 2>&1 &
stack=$!
trap 'kill -TERM $stack 2> /dev/null; wait $stack || true; rm -rf "$work"' EXIT
for _ in $(seq 300); do
    curl -sf "http://127.0.0.1:$port/readyz" > /dev/null && break
    kill -0 $stack || { cat "$work/serve.log" >&2; exit 1; }
    sleep 0.2
done
curl -sf -H 'Content-Type: application/json' "http://127.0.0.1:$port/mirror/query" -d '{
    "message": { "query_graph": {
        "nodes": { "n0": { "categories": ["biolink:SmallMolecule"] }, "n1": { "ids": ["MONDO:0005148"] } },
        "edges": { "e0": { "subject": "n0", "object": "n1", "predicates": ["biolink:treats"] } } } } }' > "$work/answer.json"
python3 - "$work/answer.json" <<'PYTHON'
import json, sys
answer = json.load(open(sys.argv[1]))
assert answer["status"] == "Success", answer
assert len(answer["message"]["results"]) == 1, answer
sources = [source["resource_id"] for edge in answer["message"]["knowledge_graph"]["edges"].values() for source in edge["sources"]]
assert sources == ["infores:shepherd-mirror"], sources
PYTHON
curl -sf "http://127.0.0.1:$port/mirror/openapi.json" | grep -q 'infores:shepherd-mirror'
echo "the new persona answers, and its document describes it"
