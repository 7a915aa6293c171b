#!/usr/bin/env bash
# bench.sh [ARGUMENT...]: the project's own figures (bench/run.sh).
# bench.sh suite [ARGUMENT...]: Ingot beside code by hand and the peers that are installed (bench/suite).
# bench.sh --peers [ARGUMENT...]: installs the peers into build/bench/peers, then the suite with them.
set -eu
. tools/dev/common.sh
bash tools/dev/build.sh
[ -e bench/run.sh ] || die 'bench: there is no bench/run.sh'

peers=build/bench/peers
if [ "${1:-}" = --peers ]; then
  shift
  bash bench/suite/peers.sh "$peers" || die 'bench: the peers cannot be installed'
  set -- suite "$@"
fi
if [ "${1:-}" != suite ]; then exec bash bench/run.sh "$@"; fi

shift
# The first interpreter that has NumPy, which the reference needs; that of the peers, where they are installed.
python=''
for candidate in "$peers/bin/python" "${PYTHON:-python3}" /usr/bin/python3; do
  if [ -z "$python" ] && "$candidate" -c 'import numpy' 2>/dev/null; then python=$candidate; fi
done
[ -n "$python" ] || die "bench suite: no Python with NumPy, which the reference needs: './do bench --peers' installs it"
if [ "$(uname -m)" = x86_64 ]; then ninja -C build bench/suite/hand/libsuite_hand.so >/dev/null; fi
exec "$python" bench/suite/main.py "$@"
