#!/usr/bin/env bash
# Looks at what the gateway tells of itself, on a running stack: the documents are valid, requests made from them
# are answered as they say and never with a server error, and the page for people works in a browser.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
target="${CARGO_TARGET_DIR:-$here/../../target}"
work="$target/openapi"
seconds="${FUZZ_SECONDS:-20}"

mkdir -p "$work"
if [ ! -x "$work/env/bin/schemathesis" ]; then
    python3 -m venv "$work/env"
    "$work/env/bin/pip" install --quiet --disable-pip-version-check \
        openapi-spec-validator==0.9.0 schemathesis==4.32.5 selenium==4.51.0
fi

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
base="http://127.0.0.1:$port"
"$target/debug/shepherd" serve --gateway-port "$port" --bin-dir "$target/debug" --log-dir "$work/logs" > "$work/serve.log" 2>&1 &
stack=$!
trap 'kill -TERM $stack 2> /dev/null; wait $stack || true' EXIT
for _ in $(seq 300); do
    curl -sf "$base/readyz" > /dev/null && break
    kill -0 $stack || { cat "$work/serve.log" >&2; exit 1; }
    sleep 0.2
done

for path in openapi.json {aragorn,arax,bte,example,sipr}/openapi.json; do
    curl -sf "$base/$path" -o "$work/document.json"
    "$work/env/bin/openapi-spec-validator" --subschema-errors all "$work/document.json" > /dev/null || {
        echo "$path is not valid OpenAPI" >&2
        exit 1
    }
done
echo "OpenAPI documents: valid"

for ara in aragorn arax bte example sipr; do
    (cd "$work" && "$work/env/bin/schemathesis" run "$base/$ara/openapi.json" --url "$base" --max-time "$seconds" \
        --request-timeout 60 --no-color \
        --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance) \
        > "$work/$ara.log" 2>&1 || { tail -60 "$work/$ara.log" >&2; exit 1; }
    echo "requests made from the document of $ara: answered as it says ($(grep -o '[0-9]* generated, .*' "$work/$ara.log" | tail -1))"
done

(cd "$work" && "$work/env/bin/python" "$here/browse.py" "$base" "$(command -v chromium)" "$(command -v chromedriver)")
