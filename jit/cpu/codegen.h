// LLVM IR to an ELF object or assembly text.
#pragma once

#include <memory>
#include <string>

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "jit/cpu/target.h"

namespace ingot::jit {

// Registers the two LLVM targets and sets the options that are global to this copy of LLVM. Called once.
void init_codegen();

// A target machine for the length of one compile. It is not thread-safe, and making one costs as much as compiling a
// small kernel (the tables of the target's lowering), so those that are idle wait for the next compile of their target.
class Machine {
 public:
  explicit Machine(const Target& target);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  llvm::TargetMachine& operator*() { return *machine_; }
  llvm::TargetMachine* operator->() { return machine_.get(); }

 private:
  const Target& target_;
  std::unique_ptr<llvm::TargetMachine> machine_;
};

llvm::SmallVector<char, 0> make_object(llvm::TargetMachine& machine, llvm::Module& module);
std::string make_assembly(llvm::TargetMachine& machine, llvm::Module& module);

}  // namespace ingot::jit
