#!/usr/bin/env bash
set -eu
. tools/dev/common.sh
bash tools/dev/build.sh demo_parts
use_local_nvrtc
exec bash examples/demo.sh "$@"
