#include "jit/cpu/emit.h"

#include "base/error.h"
#include "jit/cpu/function.h"

namespace ingot::jit {

namespace {

// Registers of 64 bytes pay where there is much to compute for each item that is read or written. What waits for memory
// does better with those of 32: tensors seldom begin on a cache line, and then every access of 64 bytes touches two
// (mean((a-b)^2) out of cache took 0.57 instead of 0.45 ms).
Target registers_for(const Target& target, const loop::Kernel& kernel, const loop::Schedule& schedule) {
  constexpr size_t dear = 8;  // additions an item
  size_t work = 0;
  for (const loop::Sweep& s : schedule.sweeps) work += s.weight;
  Target out = target;
  if (target.register_bytes == 64 && !schedule.dots && work < dear * kernel.views.size()) out.register_bytes = 32;
  return out;
}

}  // namespace

std::unique_ptr<llvm::Module> emit_module(llvm::LLVMContext& context, const Target& target, const loop::Kernel& kernel,
                                          std::vector<std::string>& names) {
  auto module = std::make_unique<llvm::Module>("kernel", context);
  const loop::Schedule schedule = loop::schedule(kernel);
  const Target registers = registers_for(target, kernel, schedule);
  for (const loop::Sweep& sweep : schedule.sweeps) {
    names.push_back(cat("sweep", names.size()));
    FunctionEmitter function(*module, registers, kernel, schedule, names.back());
    if (schedule.mode == loop::LaneMode::cols) function.sweep_cols(sweep);
    else function.sweep_row(sweep);
  }
  if (!schedule.row_stores.empty()) {
    names.emplace_back("row");
    FunctionEmitter(*module, registers, kernel, schedule, names.back()).row();
  }
  return module;
}

}  // namespace ingot::jit
