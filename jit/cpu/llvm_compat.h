// The differences between the LLVM versions that are served (19 to 22), in one place.
#pragma once

#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>

#if LLVM_VERSION_MAJOR >= 22
#include <llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h>
#else
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#endif

namespace ingot::jit::compat {

inline llvm::Function* intrinsic(llvm::Module* module, llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Type*> types) {
#if LLVM_VERSION_MAJOR >= 20
  return llvm::Intrinsic::getOrInsertDeclaration(module, id, types);
#else
  return llvm::Intrinsic::getDeclaration(module, id, types);
#endif
}

inline void set_triple(llvm::Module& module, const llvm::Triple& triple) {
#if LLVM_VERSION_MAJOR >= 21
  module.setTargetTriple(triple);
#else
  module.setTargetTriple(triple.str());
#endif
}

inline const llvm::Target* lookup_target(const llvm::Triple& triple, std::string& error) {
#if LLVM_VERSION_MAJOR >= 22
  return llvm::TargetRegistry::lookupTarget(triple, error);
#else
  return llvm::TargetRegistry::lookupTarget(triple.str(), error);
#endif
}

inline std::unique_ptr<llvm::TargetMachine> target_machine(const llvm::Target& target, const llvm::Triple& triple,
                                                           llvm::StringRef cpu, llvm::StringRef features,
                                                           const llvm::TargetOptions& options,
                                                           llvm::CodeModel::Model model, llvm::CodeGenOptLevel level) {
#if LLVM_VERSION_MAJOR >= 21
  const llvm::Triple& name = triple;
#else
  const std::string& name = triple.str();
#endif
  return std::unique_ptr<llvm::TargetMachine>(
      target.createTargetMachine(name, cpu, features, options, llvm::Reloc::PIC_, model, level));
}

inline std::string name(const llvm::jitlink::Symbol& symbol) {
#if LLVM_VERSION_MAJOR >= 20
  return std::string(*symbol.getName());
#else
  return symbol.getName().str();
#endif
}

// An executor that never executes: the image is captured and run elsewhere, perhaps on another architecture.
inline std::unique_ptr<llvm::orc::ExecutorProcessControl> executor(const llvm::Triple& triple) {
  return std::make_unique<llvm::orc::SelfExecutorProcessControl>(std::make_shared<llvm::orc::SymbolStringPool>(),
                                                                 std::make_unique<llvm::orc::InPlaceTaskDispatcher>(),
                                                                 triple, 4096, nullptr);
}

}  // namespace ingot::jit::compat
