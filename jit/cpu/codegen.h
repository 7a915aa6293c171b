// LLVM IR to an ELF object or assembly text.
#pragma once

#include <string>
#include <vector>

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "jit/cpu/target.h"

namespace ingot::jit {

// Registers the two LLVM targets and sets the options that are global to this copy of LLVM. Called once.
void init_codegen();

// One machine per compile: it is not thread-safe.
std::unique_ptr<llvm::TargetMachine> make_machine(const Target& target);

llvm::SmallVector<char, 0> make_object(llvm::TargetMachine& machine, llvm::Module& module);
std::string make_assembly(llvm::TargetMachine& machine, llvm::Module& module);

}  // namespace ingot::jit
