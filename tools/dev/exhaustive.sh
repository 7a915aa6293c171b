#!/usr/bin/env bash
set -eu
. tools/dev/common.sh
bash tools/dev/build.sh
[ -x build/tests/math/f32_exhaustive ] || die 'exhaustive: build/tests/math/f32_exhaustive was not built'
# Whole processes that race for kernels, or are killed while they make them: 64 of them, and 200 kills.
if [ -x build/tests/packs/packs_tests ]; then
  INGOT_EXHAUSTIVE=1 build/tests/packs/packs_tests --source-file='*/packs/processes_test.cpp'
fi
# CUDA text of every op and type for every architecture, and what its kernels take there.
use_local_nvrtc
for program in cuda_ops_test cuda_resources_test; do
  INGOT_EXHAUSTIVE=1 build/tests/cuda/$program
done
# Every graph of the oracle's tests, and a thousand random ones, on a device: the stand-in for the CUDA driver.
if [ -x build/tests/oracle/oracle_test ] && [ -e build/tests/cuda/standin/libcuda_standin.so ]; then
  (
    standin=$PWD/build/tests/cuda/standin
    export INGOT_TEST_BACKEND=cuda
    export INGOT_CUDA_DRIVER=$standin/libcuda_standin.so INGOT_NVRTC=$standin/libnvrtc_standin.so
    export STANDIN_CACHE=$standin/cubins
    build/tests/oracle/oracle_test
    build/tests/oracle/random_graphs 1 1000
  )
fi
exec build/tests/math/f32_exhaustive "$@"
