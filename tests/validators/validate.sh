#!/usr/bin/env bash
# Runs the validators of the network over the responses that the end-to-end tests wrote (module `responses`).
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
target="${CARGO_TARGET_DIR:-$here/../../target}"
envs="$target/validators"
responses="$target/tmp/responses"

# An environment with one package of this version, made once.
environment() {
    local name=$1 package=$2
    if [ "$(cat "$envs/$name/installed" 2> /dev/null)" != "$package" ]; then
        rm -rf "${envs:?}/$name"
        python3 -m venv "$envs/$name"
        "$envs/$name/bin/pip" install --quiet --disable-pip-version-check "$package"
        echo "$package" > "$envs/$name/installed"
    fi
}

# `validate NAME COMMAND...`: says which validator it is whose complaint follows.
validate() {
    local name=$1
    shift
    "$@" || { echo "$name does not accept what is named above" >&2; exit 1; }
    echo "$name: valid"
}

mkdir -p "$envs"
environment tom translator-tom==2.2.0
environment pydantic6 reasoner-pydantic==6.0.0
# what the Autonomous Relay System has pinned
environment pydantic5 reasoner-pydantic==5.1.1
environment validator reasoner-validator==7.0.0

for version in 1.6 2.0; do
    count=$(find "$responses/$version" -name '*.json' | wc -l)
    [ "$count" -ge 10 ] || { echo "only $count responses in $responses/$version: run the tests first" >&2; exit 1; }
    for file in "$responses/$version"/*.json; do
        report=$("$envs/tom/bin/tom-validate" Response "$file" --version "$version" 2>&1) || {
            echo "$report" >&2
            echo "translator-tom does not accept $file" >&2
            exit 1
        }
    done
    echo "translator-tom, TRAPI $version: valid"
done
for name in pydantic6 pydantic5; do
    validate "$name" "$envs/$name/bin/python" "$here/validate.py" pydantic "$responses"/1.6/*.json
done
"$envs/tom/bin/python" "$here/validate.py" schema "$envs"
validate validator "$envs/validator/bin/python" "$here/validate.py" validator "$envs" "$responses"/*/*.json
