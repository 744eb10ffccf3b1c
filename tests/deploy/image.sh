#!/usr/bin/env bash
# `image.sh BINARIES`: does what the last stage of deploy/Dockerfile does, into a directory, and runs the programs there as
# the unprivileged user of the image. No container engine is needed; what it cannot show is that the base image is enough.
set -euo pipefail
binaries=$(cd "$1" && pwd)
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$here/../.."
stage=$(mktemp -d)
pids=()
clean() {
    for pid in "${pids[@]}"; do kill "$pid" 2> /dev/null || true; done
    wait
    rm -rf "$stage"
}
trap clean EXIT
fail() {
    echo "image: $*" >&2
    exit 1
}

# The skeleton is a workspace that Cargo can read, and has every manifest.
sh "$root/deploy/skeleton.sh" "$root" "$stage/skeleton"
(cd "$stage/skeleton" && cargo metadata --locked --no-deps --format-version 1 > /dev/null)

mkdir -p "$stage/bin" "$stage/share"
cp -r "$root/rules" "$stage/share/rules"
programs=$(sed -n 's|.*target/release/\([a-z-]*\).*|\1|p' "$root/deploy/Dockerfile")
for program in $programs; do
    # hard links: eight copies of a debug build would be half a gigabyte
    ln "$binaries/$program" "$stage/bin/" 2> /dev/null || cp "$binaries/$program" "$stage/bin/"
done
chmod -R a+rX "$stage"

# Nothing beyond what every Debian has may be linked dynamically.
for program in $programs; do
    if found=$(ldd "$stage/bin/$program" | grep -vE 'linux-vdso|libgcc_s|libm\.so|libc\.so|ld-linux'); then
        fail "$program needs $found, which the image does not have"
    fi
done

env=$(command -v env)
prefix=()
if [ "$(id -u)" = 0 ]; then
    prefix=("$(command -v setpriv)" --reuid 10001 --regid 10001 --clear-groups --no-new-privs --inh-caps=-all)
fi
free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
# As an image starts them: its directory of work, its path, nothing else around them. Takes the place of the shell.
run() {
    cd "$stage/share"
    exec "$env" -i PATH="$stage/bin" REDIS_PORT="$redis_port" REDIS_PASSWORD=secret \
        BIND_ADDR="127.0.0.1:$2" ADMIN_ADDR="127.0.0.1:$2" LOG_LEVEL=WARNING "${prefix[@]}" "$1" "${@:3}"
}
# `ask PROGRAM PORT QUESTION`: a program that does not know the question would start and stay.
ask() {
    local alone=("${prefix[@]}")
    local prefix=("$(command -v timeout)" 5 "${alone[@]}")
    (run "$@") 2> /dev/null
}

redis_port=$(free_port)
mkdir "$stage/redis"
{ cat "$root/deploy/redis.conf"; echo "port $redis_port"; echo "bind 127.0.0.1"; } > "$stage/redis/redis.conf"
(cd "$stage/redis" && REDIS_PASSWORD=secret REDIS_MAXMEMORY=100mb exec "$root/deploy/redis.sh" redis.conf > redis.log) &
pids+=($!)

"$stage/bin/shepherd" --version > /dev/null
for program in $programs; do
    [ "$program" != shepherd ] || continue
    port=$(free_port)
    if ask "$program" "$port" --check-health; then fail "$program is healthy before it runs"; fi
    run "$program" "$port" &
    pid=$!
    pids+=("$pid")
    ready=
    for _ in $(seq 100); do
        if ask "$program" "$port" --check-ready; then ready=1 && break; fi
        sleep 0.1
    done
    [ -n "$ready" ] || fail "$program does not become ready"
    ask "$program" "$port" --check-health || fail "$program is ready but not healthy"
    python3 -c 'import sys, urllib.request as r; sys.stdout.buffer.write(r.urlopen(sys.argv[1]).read())' \
        "http://127.0.0.1:$port/metrics" > "$stage/metrics"
    grep -q "shepherd_build_info{binary=\"$program\"" "$stage/metrics" || fail "$program does not tell its metrics"
    promtool check metrics < "$stage/metrics" || fail "$program tells metrics that Prometheus does not like"
    if [ "$(id -u)" = 0 ]; then
        [ "$(awk '/^Uid:/ {print $2}' "/proc/$pid/status")" = 10001 ] || fail "$program runs as root"
    fi
    kill "$pid"
    wait "$pid" || fail "$program does not stop well"
done
echo "image: $(wc -w <<< "$programs") programs start, tell their health and metrics, and stop, unprivileged and alone in a directory"
