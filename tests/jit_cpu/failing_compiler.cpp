// A compiler that fails as LLVM does, in place of the real one behind the module's entry. The first byte says how.
#include <chrono>
#include <new>
#include <thread>

#include <llvm/Support/ErrorHandling.h>

#include "base/error.h"
#include "jit/cpu/codegen.h"
#include "jit/cpu/compiler.h"

namespace ingot::jit {

void init_codegen() {}

std::vector<uint8_t> compile_kernel(std::span<const uint8_t> kernel, std::string_view, Emit) {
  switch (kernel.empty() ? 0 : kernel[0]) {
    case 'f': llvm::report_fatal_error("out of registers");
    case 'b': llvm::report_bad_alloc_error("Allocation failed");
    case 'n': throw std::bad_alloc();
    case 'e': fail(Code::unimplemented, "not this");
    case 's': std::this_thread::sleep_for(std::chrono::milliseconds(200)); break;
    default: break;
  }
  return {1, 2, 3};
}

}  // namespace ingot::jit
