// Writes the helpers in front of generated kernels, for host_test.cpp to be compiled with.
#include <cstdio>

#include "jit/cuda/nodes.h"

int main() {
  using namespace ingot::jit::cuda;
  return std::printf("%s%s%s", prelude(), narrow_prelude(), scan_prelude()) < 0;
}
