#!/usr/bin/env bash
# cov.sh [MESON TEST ARGUMENT...]: line coverage of the tests by folder and file, from build-cov.
set -eu
. tools/dev/common.sh
setup_for build test cov
use_local_nvrtc
configure build-cov -Db_coverage=true
ninja -C build-cov
find build-cov -name '*.gcda' -delete
rc=0
bash tools/dev/run_tests.sh build-cov "$@" || rc=$?
gcovr --root . --object-directory build-cov --exclude 'tests/' --exclude 'subprojects/' --exclude-throw-branches \
  --txt build-cov/coverage.txt --print-summary build-cov | tail -n 4
say 'cov: the table by file is in build-cov/coverage.txt'
exit "$rc"
