#!/usr/bin/env bash
# run_tests.sh DIR [MESON TEST ARGUMENT...]: runs the tests of a build folder; the last line is 'N passed, N failed'.
set -eu
dir=$1
shift
rm -f "$dir/meson-logs/testlog.json"
rc=0
meson test -C "$dir" --no-rebuild --print-errorlogs --timeout-multiplier "${TEST_TIMEOUT_MULTIPLIER:-2}" "$@" || rc=$?
exec python3 tools/dev/test_summary.py "$dir/meson-logs/testlog.json" tests/skips.txt "$rc"
