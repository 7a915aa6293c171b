#!/usr/bin/env bash
set -eu
. tools/dev/common.sh
bash tools/dev/build.sh
[ -e bench/run.sh ] || die 'bench: there is no bench/run.sh'
exec bash bench/run.sh "$@"
