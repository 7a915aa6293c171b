#!/usr/bin/env bash
set -eu
. tools/dev/common.sh
bash tools/dev/build.sh
[ -x build/tests/math/f32_exhaustive ] || die 'exhaustive: build/tests/math/f32_exhaustive was not built'
exec build/tests/math/f32_exhaustive "$@"
