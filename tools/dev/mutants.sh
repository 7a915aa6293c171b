#!/usr/bin/env bash
# mutants.sh [NAME...]: tests/mutants/README.md
set -eu
. tools/dev/common.sh
setup_for build test
use_local_nvrtc
# The copy of the tree that mutants.py keeps has its own build folder, which the tree's ccache makes cheap.
exec python3 tools/dev/mutants.py "$@"
