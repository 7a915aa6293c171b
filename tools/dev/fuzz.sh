#!/usr/bin/env bash
# fuzz.sh [TARGET...]: every executable of tests/fuzz under libFuzzer and ASan for FUZZ_SECONDS (60) each.
# Starts from tests/fuzz/corpus/TARGET; what it finds stays in build-fuzz/corpus, crashes in build-fuzz/crashes.
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

export ASAN_OPTIONS="detect_odr_violation=0:allocator_may_return_null=1:${ASAN_OPTIONS:-}"
rc=0
for target in $targets; do
  name=$(basename "$target")
  if [ $# -gt 0 ]; then case " $* " in *" $name "*) ;; *) continue ;; esac; fi
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
exit "$rc"
