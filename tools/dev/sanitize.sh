#!/usr/bin/env bash
# sanitize.sh [asan|tsan [MESON TEST ARGUMENT...]]: the tests under ASan and UBSan (build-asan) and TSan (build-tsan).
# Tests of the suite 'nosan' are left out: they say at their place why a sanitizer cannot run them. TSan runs those of
# the suite 'threads', which start threads or run on the library's; in the others it has nothing to see.
set -eu
. tools/dev/common.sh
which=${1:-all}
[ $# = 0 ] || shift
setup_for build test fuzz
use_local_nvrtc

# Sanitizers cost up to ten times.
export TEST_TIMEOUT_MULTIPLIER=10
supp=$PWD/tools/dev
# odr: libingot and the compiler module hold copies of the same static libraries on purpose, with hidden symbols.
export ASAN_OPTIONS="detect_odr_violation=0:allocator_may_return_null=1:strict_string_checks=1:${ASAN_OPTIONS:-}"
export LSAN_OPTIONS="suppressions=$supp/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1:${UBSAN_OPTIONS:-}"
# die_after_fork: the cache and pool tests fork on purpose, and their children may start threads.
export TSAN_OPTIONS="suppressions=$supp/tsan.supp:halt_on_error=1:die_after_fork=0:${TSAN_OPTIONS:-}"

rc=0
variant() {  # variant NAME SANITIZERS [MESON TEST ARGUMENT...]
  local dir=build-$1 sanitizers=$2 targets=all
  shift 2
  say "sanitize: $sanitizers in $dir"
  # Undefined symbols are legal here: the sanitizer's runtime comes with the executable.
  # Clang at -O1 compiles checked code twice as fast as GCC does. A report shows lines, no more.
  CC=clang-19 CXX=clang++-19 configure "$dir" -Db_sanitize="$sanitizers" -Db_lundef=false -Doptimization=1 \
    -Ddebug=false -Dc_args=-gline-tables-only -Dcpp_args=-gline-tables-only
  if [ "$sanitizers" = thread ]; then
    ninja -C "$dir" build.ninja >/dev/null  # what is asked next is of the tests as they are now
    targets=$(python3 tools/dev/test_targets.py "$dir" threads)
    set -- --suite threads "$@"
  fi
  # shellcheck disable=SC2086
  ninja -C "$dir" $targets
  bash tools/dev/run_tests.sh "$dir" --no-suite dev --no-suite nosan "$@" || rc=1
}
case $which in
  all)
    variant asan address,undefined
    variant tsan thread ;;
  asan) variant asan address,undefined "$@" ;;
  tsan) variant tsan thread "$@" ;;
  *) die "sanitize: '$which' is neither asan nor tsan" ;;
esac
exit "$rc"
