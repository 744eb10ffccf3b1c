# shellcheck shell=bash
# Sourced by run.sh, test.sh and .ci/run: what has to be on the machine before anything is built.

fail() {
    echo "$*" >&2
    exit 1
}

# A package of Debian's, for a program that is missing: installed where we may, named where we may not.
need() {
    local program=$1 package=$2
    command -v "$program" > /dev/null && return
    if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
        echo "Installing $package (for $program)."
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" > /dev/null
    else
        fail "$program is missing. On Debian or Ubuntu: sudo apt-get install $package"
    fi
}

command -v cargo > /dev/null || fail "The Rust toolchain is missing: see https://rustup.rs"
need cc build-essential
need redis-server redis-server
