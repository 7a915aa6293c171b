// Whatever the bytes are, read_cubin() reads them or throws invalid_argument.
#include "jit/cuda/cubin.h"

#include "base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    ingot::jit::read_cubin({data, size});
  } catch (const ingot::Error& e) {
    if (e.code() != ingot::Code::invalid_argument) __builtin_trap();
  }
  return 0;
}
