#include "jit/cpu/emit.h"

#include "base/error.h"
#include "jit/cpu/function.h"

namespace ingot::jit {

std::unique_ptr<llvm::Module> emit_module(llvm::LLVMContext& context, const Target& target, const loop::Kernel& kernel,
                                          std::vector<std::string>& names) {
  auto module = std::make_unique<llvm::Module>("kernel", context);
  const loop::Schedule schedule = loop::schedule(kernel);
  for (const loop::Sweep& sweep : schedule.sweeps) {
    names.push_back(cat("sweep", names.size()));
    FunctionEmitter function(*module, target, kernel, schedule, names.back());
    if (schedule.mode == loop::LaneMode::cols) function.sweep_cols(sweep);
    else function.sweep_row(sweep);
  }
  if (!schedule.row_stores.empty()) {
    names.emplace_back("row");
    FunctionEmitter(*module, target, kernel, schedule, names.back()).row();
  }
  return module;
}

}  // namespace ingot::jit
