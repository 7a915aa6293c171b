// Writes the helpers in front of generated kernels, for host_test.cpp to be compiled with.
#include <cstdio>

#include "jit/cuda/nodes.h"

int main() { return std::printf("%s%s", ingot::jit::cuda::prelude(), ingot::jit::cuda::narrow_prelude()) < 0; }
