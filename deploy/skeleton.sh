#!/bin/sh
# `skeleton.sh FROM TO`: copies the manifests of the workspace with empty programs and libraries beside them. What is
# built from this is the dependencies alone, so an image layer of it lasts until a manifest changes.
set -eu
from=$1 to=$2

# `stub FILE TEXT`
stub() {
    mkdir -p "$(dirname "$1")"
    printf '%s\n' "$2" > "$1"
}

mkdir -p "$to"
to=$(cd "$to" && pwd)
cd "$from"
cp Cargo.toml Cargo.lock "$to"
for manifest in crates/*/Cargo.toml workers/*/Cargo.toml shepherd-server/Cargo.toml tests/Cargo.toml; do
    member=$(dirname "$manifest")
    mkdir -p "$to/$member"
    cp "$manifest" "$to/$manifest"
    for target in lib.rs main.rs; do
        if [ -e "$member/src/$target" ]; then
            stub "$to/$member/src/$target" 'fn main() {}'
        fi
    done
    # a benchmark that a manifest names must be there, or nothing can be built
    for bench in "$member"/benches/*.rs; do
        if [ -e "$bench" ]; then
            stub "$to/$bench" 'fn main() {}'
        fi
    done
done
