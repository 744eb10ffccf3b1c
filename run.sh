#!/usr/bin/env bash
# Builds Shepherd and shows it at work: every process, one question, the answers. Arguments go to `shepherd demo`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. .ci/prerequisites.sh

# The dev profile: a release build takes far longer than the demonstration gains from it.
cargo build --workspace --bins --locked
exec "${CARGO_TARGET_DIR:-target}/debug/shepherd" demo "$@"
