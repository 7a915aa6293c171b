// The code of a kernel: from memory, from disk or the host's cache, from the compiler, or interpreted.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "base/fork.h"
#include "cache/stack.h"
#include "engine/context.h"
#include "jit/image/module.h"
#include "jit/program.h"

namespace ingot::engine {

struct KernelRequest {
  std::shared_ptr<const jit::Program> program;
  std::span<const uint8_t> bytes;  // its canonical bytes
  Backend backend = Backend::automatic;
  std::string target;  // empty: the highest level of this machine
};

class Kernels final : ForkHandler {
 public:
  Kernels(Context& context, std::unique_ptr<cache::Stack> stack, std::string module_dir);
  ~Kernels();

  // Blocks while another thread makes the same kernel. `automatic` falls back to the interpreter, with one warning a
  // context, where no machine code can be had; `cpu` throws instead.
  std::shared_ptr<const jit::Body> get(const KernelRequest& request);

  // The text that the compiler module makes of a kernel: 1 LLVM IR, 2 assembly; 0 the artifact's bytes. Compiles;
  // caches nothing.
  std::vector<uint8_t> emit(std::span<const uint8_t> kernel, const std::string& target, uint32_t kind);

  // The key under which a kernel's artifact is cached: every byte that decides what its code is.
  cache::Key key(std::span<const uint8_t> kernel, const std::string& target);

  bool compiler_loaded() const { return loaded_.load(std::memory_order_acquire); }
  // Path and build-id of the compiler module; empty where there is none.
  std::string module_path();
  std::string module_id();
  // Why there is none: every place tried; else empty.
  std::string module_error();
  cache::Stack& stack() { return *stack_; }
  cache::MemoryStats memory_stats() const { return memory_.stats(); }
  void trim(uint64_t bytes) { memory_.trim(bytes); }

 private:
  std::shared_ptr<const jit::Body> machine_code(const KernelRequest& request, const std::string& target);
  std::shared_ptr<const jit::Body> interpreted(const KernelRequest& request);
  std::vector<uint8_t> compile(std::span<const uint8_t> kernel, const std::string& target, uint32_t kind);
  void find_module();

  // Waits for the compiles that are under way: LLVM's own locks would stay locked in the child, which is to compile
  // too.
  void before_fork() noexcept override;
  void after_fork_in_parent() noexcept override { module_lock_.unlock(); }
  void after_fork_in_child() noexcept override { module_lock_.unlock(); }

  Context& context_;
  std::unique_ptr<cache::Stack> stack_;
  cache::MemoryCache<jit::Body> memory_;
  const std::string module_dir_;
  std::mutex module_lock_;  // over finding, opening and the beginning of a compile
  std::atomic<bool> found_{false};
  std::string module_path_, module_id_, module_error_;
  std::shared_ptr<const jit::Module> module_;
  std::atomic<uint32_t> compiling_{0};
  std::atomic<bool> loaded_{false};
  std::atomic<bool> warned_{false};
  ForkRegistration registration_{*this};
};

}  // namespace ingot::engine
