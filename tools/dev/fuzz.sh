#!/usr/bin/env bash
# fuzz.sh [TARGET...]: every executable of tests/fuzz under libFuzzer and ASan for FUZZ_SECONDS (60) each.
# Starts from tests/fuzz/corpus/TARGET; what it finds stays in build-fuzz/corpus, crashes in build-fuzz/crashes.
# And the target `graphs`: FUZZ_GRAPHS (2000) random graphs from seed FUZZ_SEED (1) on, fused, unfused and interpreted,
# in the ordinary build; what differs is printed with its seed and a reduced graph.
set -eu
. tools/dev/common.sh
seconds=${FUZZ_SECONDS:-60}
setup_for build fuzz
CC=clang-19 CXX=clang++-19 configure build-fuzz -Dfuzz=true -Db_sanitize=address -Db_lundef=false

targets=$(meson introspect build-fuzz --targets | python3 -c '
import json, os, sys
for t in json.load(sys.stdin):
    if t["type"] == "executable" and t["defined_in"].endswith("tests/fuzz/meson.build"):
        print(os.path.relpath(t["filename"][0], os.path.realpath("build-fuzz")))')
[ -n "$targets" ] || die 'fuzz: tests/fuzz defines no executable'

wanted() {  # wanted NAME: whether the command line names it, or nothing
  [ -z "$names" ] || case " $names " in *" $1 "*) ;; *) return 1 ;; esac
}
names="$*"
export ASAN_OPTIONS="detect_odr_violation=0:allocator_may_return_null=1:${ASAN_OPTIONS:-}"
rc=0
for target in $targets; do
  name=$(basename "$target")
  wanted "$name" || continue
  ninja -C build-fuzz "$target"
  mkdir -p "build-fuzz/corpus/$name" build-fuzz/crashes
  seeds=''
  if [ -d "tests/fuzz/corpus/$name" ]; then seeds=tests/fuzz/corpus/$name; fi
  log=build-fuzz/$name.log
  say "fuzz: $name for $seconds s"
  # shellcheck disable=SC2086
  if "build-fuzz/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="build-fuzz/crashes/$name-" "build-fuzz/corpus/$name" $seeds >"$log" 2>&1; then
    grep -E 'stat::(number_of_executed_units|average_exec_per_sec|new_units_added)' "$log" || true
  else
    rc=1
    tail -n 60 "$log"
    say "fuzz: $name: FAILED (the input is in build-fuzz/crashes)"
  fi
done
if wanted graphs; then
  bash tools/dev/build.sh
  say "fuzz: ${FUZZ_GRAPHS:-2000} graphs from seed ${FUZZ_SEED:-1} on"
  build/tests/oracle/random_graphs "${FUZZ_SEED:-1}" "${FUZZ_GRAPHS:-2000}" || rc=1
fi
exit "$rc"
