#!/bin/sh
# `redis.sh CONFIG`: runs redis-server with the password that the environment gives. It goes in by standard input, so
# that neither the list of processes nor a file shows it.
set -eu
: "${REDIS_PASSWORD:?is needed: whoever can write to Redis can do everything}"
password=$(printf '%s' "$REDIS_PASSWORD" | sed 's/[\\"]/\\&/g')
exec redis-server "$1" - <<END
requirepass "$password"
maxmemory ${REDIS_MAXMEMORY:-2gb}
END
