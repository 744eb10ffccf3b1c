#!/usr/bin/env bash
# Runs every test. Arguments go to `cargo nextest run`, for example `-p shepherd-budget`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. .ci/prerequisites.sh

cargo nextest --version > /dev/null 2>&1 || cargo install --locked cargo-nextest
# The end-to-end tests start the programs themselves, which a test run alone does not build.
cargo build --workspace --bins --locked
cargo nextest run --workspace --locked "$@"
cargo test --workspace --doc --locked
