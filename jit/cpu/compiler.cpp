#include "jit/cpu/compiler.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "base/error.h"
#include "jit/cpu/codegen.h"
#include "jit/cpu/emit.h"
#include "jit/cpu/link.h"
#include "jit/cpu/llvm_compat.h"

namespace ingot::jit {

namespace {
std::vector<uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

// In debug builds only: malformed IR is a fault of the emitter, and verifying it costs a tenth of the compile.
void check([[maybe_unused]] const llvm::Module& module) {
#ifndef NDEBUG
  std::string why;
  llvm::raw_string_ostream out(why);
  if (llvm::verifyModule(module, &out)) bug("emitted malformed IR: ", why);
#endif
}
}  // namespace

std::vector<uint8_t> compile_kernel(std::span<const uint8_t> bytes, std::string_view target_name, Emit emit) {
  const Target* target = find_target(target_name);
  if (!target) fail(Code::invalid_argument, "no CPU target ", target_name);
  const loop::Kernel kernel = loop::decode(bytes.data(), bytes.size());
  llvm::LLVMContext context;
  Machine machine(*target);
  std::vector<std::string> names;
  const auto module = emit_module(context, *target, kernel, names);
  compat::set_triple(*module, llvm::Triple(target->triple));
  module->setDataLayout(machine->createDataLayout());
  check(*module);
  switch (emit) {
    case Emit::llvm: {
      std::string text;
      llvm::raw_string_ostream out(text);
      module->print(out, nullptr);
      return bytes_of(text);
    }
    case Emit::assembly: return bytes_of(make_assembly(*machine, *module));
    case Emit::artifact: {
      Artifact artifact;
      artifact.target = target->name;
      link_image(*target, make_object(*machine, *module), names, artifact);
      return encode_artifact(artifact);
    }
  }
  fail(Code::invalid_argument, "no such output of the compiler: ", static_cast<uint32_t>(emit));
}

}  // namespace ingot::jit
