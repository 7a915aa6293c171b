#!/usr/bin/env bash
# test.sh [MESON TEST ARGUMENT...]
set -eu
. tools/dev/common.sh
setup_for build test
bash tools/dev/build.sh
use_local_nvrtc
bash tools/dev/run_tests.sh build "$@"
