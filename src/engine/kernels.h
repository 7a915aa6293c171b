// The code of a kernel: from memory, from a pack, from disk or the host's cache, from the compiler, or interpreted.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fork.h"
#include "cache/pack.h"
#include "cache/stack.h"
#include "engine/context.h"
#include "engine/resident_code.h"
#include "jit/image/image.h"
#include "jit/image/module.h"
#include "jit/program.h"

namespace ingot::engine {

struct KernelRequest {
  std::shared_ptr<const jit::Program> program;
  std::span<const uint8_t> bytes;  // its canonical bytes
  Backend backend = Backend::automatic;
  std::string target;         // empty: the highest level of this machine
  std::string name;           // for profilers; made only where one is wanted
  bool stores_asked = false;  // by get_stored() a moment ago, in vain: they are not asked again
};

class Kernels final : ForkHandler {
 public:
  // Packs are asked before the stack.
  Kernels(Context& context, std::vector<std::shared_ptr<cache::Pack>> packs, std::unique_ptr<cache::Stack> stack,
          std::string module_dir);
  ~Kernels();

  // Blocks while another thread makes the same kernel. `automatic` falls back to the interpreter, with one warning a
  // context, where no machine code can be had; `cpu` throws instead.
  std::shared_ptr<const jit::Body> get(const KernelRequest& request);

  // Puts the bodies that memory, packs, disk and host have into their requests' places of `bodies`, what is read being
  // loaded as one batch; those of the rest stay null, and their requests are marked as stores_asked. Loads no compiler.
  void get_stored(std::span<KernelRequest> requests, std::span<std::shared_ptr<const jit::Body>> bodies);

  // The artifact of a kernel for any target, from disk or the host's cache, else compiled and put there. Nothing is
  // loaded, so the target need not be one that this machine runs.
  std::vector<uint8_t> artifact(std::span<const uint8_t> kernel, const std::string& target);

  // The text that the compiler module makes of a kernel: 1 LLVM IR, 2 assembly; 0 the artifact's bytes. Compiles;
  // caches nothing.
  std::vector<uint8_t> emit(std::span<const uint8_t> kernel, const std::string& target, uint32_t kind);

  // The key under which a kernel's artifact is cached: every byte that decides what its code is.
  cache::Key key(std::span<const uint8_t> kernel, const std::string& target);
  // The same but for the compiler's build-id, which is empty: a pack outlives rebuilds of the compiler that leave the
  // code generation's version as it is.
  static cache::Key pack_key(std::span<const uint8_t> kernel, const std::string& target);

  bool compiler_loaded() const { return loaded_.load(std::memory_order_acquire); }
  // Path and build-id of the compiler module; empty where there is none.
  std::string module_path();
  std::string module_id();
  // Why there is none: every place tried; else empty.
  std::string module_error();
  std::span<const std::shared_ptr<cache::Pack>> packs() const { return packs_; }
  cache::Stack& stack() { return *stack_; }
  cache::MemoryStats memory_stats() const { return memory_.stats(); }
  // Looks at every entry of the memory cache.
  CodeBytes code_bytes() const { return resident_.bytes(memory_.idle_bytes()); }
  void trim(uint64_t bytes) { memory_.trim(bytes); }

 private:
  struct Stored {
    cache::Blob artifact;
    bool from_pack;
  };
  std::optional<Stored> find_pack(std::span<const uint8_t> kernel, const std::string& target, bool lower_too);
  std::optional<Stored> find_entry(const cache::Key& key);  // in the stack
  void count_hit(const Stored& stored);
  // What a loaded body becomes in the memory cache: counted as resident until nobody holds it.
  cache::MemoryCache<jit::Body>::Made resident(std::shared_ptr<const jit::CompiledBody> body, uint64_t bytes,
                                               const std::string& name) const;
  void watch();
  std::vector<uint8_t> compile(std::span<const uint8_t> kernel, const std::string& target);
  std::shared_ptr<const jit::CompiledBody> load_stored(const Stored& stored);
  std::shared_ptr<const jit::Body> machine_code(const KernelRequest& request, const std::string& target);
  // Null where no pack or store has it.
  std::shared_ptr<const jit::Body> ask_stores(const KernelRequest& request, const std::string& target,
                                              const cache::Key& k);
  std::shared_ptr<const jit::Body> interpreted(const KernelRequest& request);
  std::vector<uint8_t> run_compiler(std::span<const uint8_t> kernel, const std::string& target, uint32_t kind);
  void find_module();

  // Waits for the compiles that are under way: LLVM's own locks would stay locked in the child, which is to compile
  // too.
  void before_fork() noexcept override;
  void after_fork_in_parent() noexcept override { module_lock_.unlock(); }
  void after_fork_in_child() noexcept override { module_lock_.unlock(); }

  Context& context_;
  const std::vector<std::shared_ptr<cache::Pack>> packs_;
  std::unique_ptr<cache::Stack> stack_;
  cache::MemoryCache<jit::Body> memory_;
  const std::string module_dir_;
  std::mutex module_lock_;  // over finding, opening and the beginning of a compile
  std::atomic<bool> found_{false};
  std::string module_path_, module_id_, module_error_;
  std::shared_ptr<const jit::Module> module_;
  std::atomic<uint32_t> compiling_{0};
  const ResidentCode resident_;
  std::atomic<bool> loaded_{false};
  std::atomic<bool> warned_{false}, warned_of_stored_{false};
  ForkRegistration registration_{*this};
};

}  // namespace ingot::engine
