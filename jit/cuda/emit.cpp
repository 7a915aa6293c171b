#include "jit/cuda/emit.h"

#include "jit/cuda/text.h"

namespace ingot::jit {

std::string emit_cuda(const loop::Kernel& kernel) {
  cuda::KernelText head(kernel);
  head.head();
  std::string text = head.take();
  switch (cuda::traits(kernel).kind) {
    case cuda::Kind::elements: return text += cuda::elements_text(kernel);
    case cuda::Kind::product: return text += cuda::product_text(kernel);
    case cuda::Kind::columns: return text += cuda::columns_text(kernel);
    default: return text += cuda::rows_text(kernel);
  }
}

}  // namespace ingot::jit
