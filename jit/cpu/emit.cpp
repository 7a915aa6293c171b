#include "jit/cpu/emit.h"

#include <algorithm>

#include "base/error.h"
#include "jit/cpu/function.h"

namespace ingot::jit {

namespace {

// Registers of 64 bytes pay wherever there is something to compute or to store. But tensors seldom begin on a cache
// line, and an access of 64 bytes then touches two: sums of rows around which little is done do better with those of 32
// (mean((a-b)^2) out of cache: 0.57 instead of 0.67 ms; AdamW in place, on the other side, 1.84 instead of 1.4).
Target registers_for(const Target& target, const loop::Kernel& kernel, const loop::Schedule& schedule) {
  constexpr size_t dear = 8;  // additions an item
  size_t work = 0;
  for (const loop::Sweep& s : schedule.sweeps) work += s.weight;
  const bool adds_up =
      schedule.mode == loop::LaneMode::cols &&
      std::ranges::any_of(schedule.folds, [&](loop::NodeId f) { return loop::is_ordered(kernel.nodes[f]); });
  Target out = target;
  if (target.register_bytes == 64 && adds_up && work < dear * kernel.views.size()) out.register_bytes = 32;
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
