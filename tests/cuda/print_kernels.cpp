// Writes the CUDA text of random kernels, each in a namespace with a function that launches it, for run_test.cpp to be
// compiled with.
#include <cstdio>
#include <string>

#include "base/error.h"
#include "jit/cuda/emit.h"
#include "jit/cuda/nodes.h"
#include "run_test.h"

using namespace ingot;

namespace {

// Empty for what has no text.
std::string text_of(const loop::Kernel& kernel) {
  try {
    const std::string text = jit::emit_cuda(kernel);
    return text.substr(text.find("struct Args {"));
  } catch (const Error& e) {
    if (e.code() != Code::unimplemented) throw;
    return {};
  }
}

void rename(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// The text in a namespace, with a function that launches one of its entries.
std::string launched(std::string text, const std::string& name, const std::string& entry = "") {
  rename(text, "ingot_kernel", "ingot_kernel_" + name);
  return cat("namespace k", name, " {\n", text,
             "void run(const int64_t* sizes, const ViewArg* views, Fault* fault) {\n"
             "  launch<Args>(sizes, views, fault, [](const Args& a) { ingot_kernel_",
             name, entry, "(a); });\n}\n}\n");
}

}  // namespace

int main() {
  std::string out =
      cat(jit::cuda::prelude(), jit::cuda::narrow_prelude(), jit::cuda::fold_prelude(), jit::cuda::scan_prelude(),
          jit::cuda::check_prelude(), launched(text_of(loop::samples::gather()), "gather"),
          launched(text_of(philox_block()), "philox"));
  for (const ir::DType type : {ir::DType::f32, ir::DType::f64}) {
    out += launched(text_of(whole_fold(loop::Prim::fold_sum, type)), cat("sum_", ir::name(type)));
    out += launched(text_of(whole_fold(loop::Prim::fold_prod, type)), cat("prod_", ir::name(type)));
  }
  std::string table;
  std::string linear;
  for (const ir::DType type : cuda_pointwise) {
    const std::string name = cat("linear_", ir::name(type));
    out += launched(text_of(pointwise(type)), name, "_linear");
    linear += cat("  k", name, "::run,\n");
  }
  for (const test::Shape shape : {test::Shape::pointwise, test::Shape::folds, test::Shape::dot}) {
    for (uint32_t seed = 1; seed <= cuda_seeds; ++seed) {
      const std::string text = text_of(cuda_launch(seed, shape).program.kernel);
      if (text.empty()) continue;
      const std::string name = cat(static_cast<int>(shape), "_", seed);
      out += launched(text, name);
      table += cat("  {ingot::test::Shape{", static_cast<int>(shape), "}, ", seed, ", k", name, "::run},\n");
    }
  }
  return std::printf(
             "%s"
             "struct Entry {\n"
             "  ingot::test::Shape shape;\n"
             "  uint32_t seed;\n"
             "  void (*run)(const int64_t*, const ViewArg*, Fault*);\n"
             "};\n"
             "const Entry entries[] = {\n%s};\n"
             "void (*const linear[])(const int64_t*, const ViewArg*, Fault*) = {\n%s};\n",
             out.c_str(), table.c_str(), linear.c_str()) < 0;
}
