#!/usr/bin/env bash
# build.sh [NINJA ARGUMENT...]
set -eu
. tools/dev/common.sh
setup_for build
configure build
exec ninja -C build "$@"
