// A kernel as an LLVM module: one function for each sweep of its schedule, and one for its rows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <llvm/IR/Module.h>

#include "jit/cpu/target.h"
#include "loop/kernel.h"

namespace ingot::jit {

// `names` receives the functions in entry order: sweep0, sweep1, ..., row. The kernel must be verified. Throws
// unimplemented for what the CPU backend cannot emit.
std::unique_ptr<llvm::Module> emit_module(llvm::LLVMContext& context, const Target& target, const loop::Kernel& kernel,
                                          std::vector<std::string>& names);

}  // namespace ingot::jit
