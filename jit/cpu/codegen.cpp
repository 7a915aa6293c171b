#include "jit/cpu/codegen.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include "base/error.h"
#include "jit/cpu/llvm_compat.h"

namespace ingot::jit {

namespace {
void set_option(const char* name, const char* value) {
  auto& options = llvm::cl::getRegisteredOptions();
  const auto it = options.find(name);
  if (it == options.end() || it->second->addOccurrence(0, name, value)) bug("LLVM has no option ", name);
}

template <class Stream>
void run_codegen(llvm::TargetMachine& machine, llvm::Module& module, Stream& out, llvm::CodeGenFileType type) {
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, out, nullptr, type, /*DisableVerify=*/true))
    bug("the target emits no such file");
  passes.run(module);
}
}  // namespace

void init_codegen() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
  // The emitter interleaves independent vectors; the scheduler undoes that and spills (twice slower at 100 operations).
  set_option("enable-misched", "false");
  set_option("enable-post-misched", "false");
  // What the emitter leaves nothing to do for: addresses are base + scaled index already, constants are where they
  // belong, and there are no calls or comparisons of memory to expand.
  set_option("disable-lsr", "true");
  set_option("disable-cgp", "true");
  set_option("disable-constant-hoisting", "true");
  set_option("disable-mergeicmps", "true");
  set_option("disable-partial-libcall-inlining", "true");
}

namespace {
std::unique_ptr<llvm::TargetMachine> make_machine(const Target& target) {
  const llvm::Triple triple(target.triple);
  std::string error;
  const llvm::Target* found = compat::lookup_target(triple, error);
  if (!found) bug(error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.TrapUnreachable = false;
  // Tiny: constants by one PC-relative instruction, with no page arithmetic that would fix the image's alignment.
  const auto model = target.x86 ? llvm::CodeModel::Small : llvm::CodeModel::Tiny;
  auto machine =
      compat::target_machine(*found, triple, "generic", target.features, options, model, llvm::CodeGenOptLevel::Less);
  if (!machine) bug("no target machine for ", target.triple);
  return machine;
}

struct Idle {
  std::mutex mutex;
  std::vector<std::pair<const Target*, std::unique_ptr<llvm::TargetMachine>>> machines;
};
Idle& idle() {
  static Idle the;
  return the;
}
// As many as compile at once on most machines; a machine holds about a megabyte.
constexpr size_t most_idle = 8;
}  // namespace

Machine::Machine(const Target& target) : target_(target) {
  {
    const std::lock_guard lock(idle().mutex);
    auto& machines = idle().machines;
    const auto it = std::ranges::find(machines, &target, [](const auto& m) { return m.first; });
    if (it != machines.end()) {
      machine_ = std::move(it->second);
      machines.erase(it);
    }
  }
  if (!machine_) machine_ = make_machine(target);
}

Machine::~Machine() {
  const std::lock_guard lock(idle().mutex);
  auto& machines = idle().machines;
  if (machines.size() >= most_idle) machines.erase(machines.begin());
  try {
    machines.emplace_back(&target_, std::move(machine_));
  } catch (const std::bad_alloc&) {
    // Dropped: the next compile makes another.
  }
}

llvm::SmallVector<char, 0> make_object(llvm::TargetMachine& machine, llvm::Module& module) {
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream out(object);
  run_codegen(machine, module, out, llvm::CodeGenFileType::ObjectFile);
  return object;
}

std::string make_assembly(llvm::TargetMachine& machine, llvm::Module& module) {
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream out(text);
  run_codegen(machine, module, out, llvm::CodeGenFileType::AssemblyFile);
  return std::string(text.data(), text.size());
}

}  // namespace ingot::jit
