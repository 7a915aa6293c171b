#include "engine/kernels.h"

#include <chrono>

#include "base/bytes.h"
#include "jit/image/image.h"
#include "jit/interp/interp.h"

namespace ingot::engine {

Kernels::Kernels(Context& context, std::unique_ptr<cache::Stack> stack, std::string module_dir)
    : context_(context),
      stack_(std::move(stack)),
      memory_(context.options().memory),
      module_dir_(std::move(module_dir)) {}

Kernels::~Kernels() = default;

// Once a context: where the compiler is and which one it is, without loading it.
void Kernels::find_module() {
  if (found_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(module_lock_);
  if (found_.load(std::memory_order_relaxed)) return;
  try {
    module_path_ = jit::find_module(module_dir_);
    module_id_ = jit::module_build_id(module_path_);
  } catch (const Error& e) {
    module_error_ = e.message();
  }
  found_.store(true, std::memory_order_release);
}

std::string Kernels::module_path() {
  find_module();
  return module_path_;
}

std::string Kernels::module_id() {
  find_module();
  return module_id_;
}

std::string Kernels::module_error() {
  find_module();
  return module_error_;
}

void Kernels::before_fork() noexcept {
  module_lock_.lock();
  for (uint32_t n; (n = compiling_.load(std::memory_order_acquire)) != 0;) compiling_.wait(n);
}

std::vector<uint8_t> Kernels::compile(std::span<const uint8_t> kernel, const std::string& target, uint32_t kind) {
  find_module();
  if (!module_error_.empty()) fail(Code::unavailable, module_error_);
  {
    const std::lock_guard lock(module_lock_);
    if (!module_) {
      module_ = jit::Module::open(module_path_, module_id_);
      loaded_.store(true, std::memory_order_release);
    }
    compiling_.fetch_add(1, std::memory_order_relaxed);
  }
  struct Done {
    std::atomic<uint32_t>& compiling;
    ~Done() {
      compiling.fetch_sub(1, std::memory_order_release);
      compiling.notify_all();
    }
  } const done{compiling_};
  return module_->compile(kernel, target, kind);
}

cache::Key Kernels::key(std::span<const uint8_t> kernel, const std::string& target) {
  find_module();
  ByteWriter w;
  w.put_string("ingot cpu kernel");
  w.put(jit::module_stamp.kernel_format);
  w.put(jit::module_stamp.artifact_format);
  w.put(jit::module_stamp.frame);
  w.put(jit::module_stamp.codegen);
  w.put_string(module_id_);
  w.put_string(target);
  w.put(uint32_t{0});  // options that affect code generation: there are none yet
  w.put(static_cast<uint32_t>(kernel.size()));
  w.put_bytes(kernel);
  return cache::Key::of(std::move(w.bytes()));
}

std::vector<uint8_t> Kernels::emit(std::span<const uint8_t> kernel, const std::string& target, uint32_t kind) {
  return compile(kernel, target, kind);
}

std::shared_ptr<const jit::Body> Kernels::interpreted(const KernelRequest& request) {
  return jit::interpreter(*request.program);
}

std::shared_ptr<const jit::Body> Kernels::machine_code(const KernelRequest& request, const std::string& target) {
  Counters& counters = context_.counters();
  const cache::Key k = key(request.bytes, target);
  cache::Outcome outcome = cache::Outcome::made;
  auto body = memory_.get_or_make(
      k,
      [&]() -> cache::MemoryCache<jit::Body>::Made {
        cache::Miss why;
        if (const auto blob = stack_->get(k, &why)) {
          try {
            auto loaded = jit::load(*blob);
            counters.disk_hits.fetch_add(1, std::memory_order_relaxed);
            return {std::move(loaded), blob->size()};
          } catch (const Error& e) {
            // The store's checksum held, so another build wrote it under this key; what is compiled now replaces it.
            if (e.code() != Code::invalid_argument) throw;
            context_.log().write(LogLevel::warning,
                                 "a cached kernel is not usable and is compiled anew: ", e.message());
          }
        }
        counters.misses.fetch_add(1, std::memory_order_relaxed);
        context_.log().write(LogLevel::debug, "kernel ", k.hash.hex(), " missed (", cache::miss_reason_name(why.reason),
                             ") ", why.detail);
        const auto began = std::chrono::steady_clock::now();
        const std::vector<uint8_t> artifact = compile(request.bytes, target, 0);
        counters.compile_ns.fetch_add(
            static_cast<uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - began).count()),
            std::memory_order_relaxed);
        counters.compiles.fetch_add(1, std::memory_order_relaxed);
        auto loaded = jit::load(artifact);
        stack_->put(k, artifact);
        return {std::move(loaded), artifact.size()};
      },
      &outcome);
  if (outcome != cache::Outcome::made) counters.memory_hits.fetch_add(1, std::memory_order_relaxed);
  return body;
}

std::shared_ptr<const jit::Body> Kernels::get(const KernelRequest& request) {
  if (request.backend == Backend::interpreter) return interpreted(request);
  const std::string target = request.target.empty() ? std::string(jit::host_target()) : request.target;
  try {
    if (!jit::can_run(jit::host_target(), target))
      fail(Code::failed_precondition, "this machine runs ", jit::host_target(), ", not ", target);
    return machine_code(request, target);
  } catch (const Error& e) {
    const bool fall_back =
        e.code() == Code::unavailable || e.code() == Code::unimplemented || e.code() == Code::failed_precondition;
    if (request.backend != Backend::automatic || !fall_back) throw;
    context_.counters().interpreted.fetch_add(1, std::memory_order_relaxed);
    if (!warned_.exchange(true)) context_.log().write(LogLevel::warning, "kernels are interpreted: ", e.message());
    return interpreted(request);
  }
}

}  // namespace ingot::engine
