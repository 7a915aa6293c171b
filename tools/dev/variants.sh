#!/usr/bin/env bash
# variants.sh [MESON TEST ARGUMENT...]: without LLVM (build-nollvm) all builds, and runs on the interpreter alone.
set -eu
. tools/dev/common.sh
setup_for build test
configure build-nollvm -Dllvm=disabled
ninja -C build-nollvm
exec bash tools/dev/run_tests.sh build-nollvm --no-suite dev "$@"
