// Writes the CUDA text of random kernels, each in a namespace with a function that launches it, for run_test.cpp to be
// compiled with.
#include <cstdio>
#include <string>

#include "base/error.h"
#include "jit/cuda/emit.h"
#include "jit/cuda/launch_plan.h"
#include "jit/cuda/nodes.h"
#include "run_test.h"

using namespace ingot;

namespace {

void rename(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// The text of a kernel in a namespace, with a function that launches its entries.
std::string launched(const loop::Kernel& kernel, const std::string& name) {
  std::string text = jit::emit_cuda(kernel), entries;
  text = text.substr(text.find("struct Args {"));
  for (const std::string entry : jit::cuda::entry_names(kernel)) entries += cat(entry, ", ");
  rename(text, "ingot_kernel", "ingot_kernel_" + name);
  rename(entries, "ingot_kernel", "ingot_kernel_" + name);
  return cat("namespace k", name, " {\n", text,
             "void run(const LaunchPlan& plan, const int64_t* sizes, const ViewArg* views, void* fault) {\n"
             "  void (*const entries[])(Args) = {",
             entries,
             "};\n"
             "  launch(entries, plan, sizes, views, fault);\n}\n}\n");
}

}  // namespace

int main() {
  std::string out = cat(jit::cuda::prelude(), jit::cuda::narrow_prelude(), jit::cuda::row_prelude(),
                        jit::cuda::fold_prelude(), jit::cuda::scan_prelude(), jit::cuda::check_prelude(),
                        "using Run = void (*)(const LaunchPlan&, const int64_t*, const ViewArg*, void*);\n",
                        launched(loop::samples::gather(), "gather"), launched(philox_block(), "philox"));
  for (const ir::DType type : {ir::DType::f32, ir::DType::f64}) {
    out += launched(whole_fold(loop::Prim::fold_sum, type), cat("sum_", ir::name(type)));
    out += launched(whole_fold(loop::Prim::fold_prod, type), cat("prod_", ir::name(type)));
  }
  std::string linear, shaped, table;
  for (const ir::DType type : cuda_pointwise) {
    const std::string name = cat("linear_", ir::name(type));
    out += launched(pointwise(type), name);
    linear += cat("  k", name, "::run,\n");
  }
  for (size_t i = 0; i < shaped_kernels().size(); ++i) {
    out += launched(shaped_kernels()[i].kernel, cat("shaped_", i));
    shaped += cat("  kshaped_", i, "::run,\n");
  }
  for (const test::Shape shape : cuda_shapes) {
    for (uint32_t seed = 1; seed <= cuda_seeds(shape); ++seed) {
      const std::string name = cat(static_cast<int>(shape), "_", seed);
      out += launched(cuda_launch(seed, shape).program.kernel, name);
      table += cat("  {ingot::test::Shape{", static_cast<int>(shape), "}, ", seed, ", k", name, "::run},\n");
    }
  }
  return std::printf(
             "%s"
             "struct Entry {\n"
             "  ingot::test::Shape shape;\n"
             "  uint32_t seed;\n"
             "  Run run;\n"
             "};\n"
             "const Entry entries[] = {\n%s};\n"
             "const Run linear[] = {\n%s};\n"
             "const Run shaped[] = {\n%s};\n",
             out.c_str(), table.c_str(), linear.c_str(), shaped.c_str()) < 0;
}
