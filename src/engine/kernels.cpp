#include "engine/kernels.h"

#include <chrono>

#include "base/bytes.h"
#include "jit/interp/interp.h"

namespace ingot::engine {

namespace {

cache::Key make_key(std::span<const uint8_t> kernel, const std::string& target, std::string_view module_id) {
  ByteWriter w;
  w.put_string("ingot cpu kernel");
  w.put(jit::module_stamp.kernel_format);
  w.put(jit::module_stamp.artifact_format);
  w.put(jit::module_stamp.frame);
  w.put(jit::module_stamp.codegen);
  w.put_string(module_id);
  w.put_string(target);
  w.put(uint32_t{0});  // options that affect code generation: there are none yet
  w.put(static_cast<uint32_t>(kernel.size()));
  w.put_bytes(kernel);
  return cache::Key::of(std::move(w.bytes()));
}

std::string target_of(const KernelRequest& request) {
  return request.target.empty() ? std::string(jit::host_target()) : request.target;
}

}  // namespace

Kernels::Kernels(Context& context, std::vector<std::shared_ptr<cache::Pack>> packs, std::unique_ptr<cache::Stack> stack,
                 std::string module_dir)
    : context_(context),
      packs_(std::move(packs)),
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

std::vector<uint8_t> Kernels::run_compiler(std::span<const uint8_t> kernel, const std::string& target, uint32_t kind) {
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
  return module_->compile(kernel, target, kind, context_.options().no_threads ? jit::module_no_thread : 0);
}

cache::Key Kernels::key(std::span<const uint8_t> kernel, const std::string& target) {
  find_module();
  return make_key(kernel, target, module_id_);
}

cache::Key Kernels::pack_key(std::span<const uint8_t> kernel, const std::string& target) {
  return make_key(kernel, target, "");
}

std::vector<uint8_t> Kernels::emit(std::span<const uint8_t> kernel, const std::string& target, uint32_t kind) {
  return run_compiler(kernel, target, kind);
}

std::shared_ptr<const jit::Body> Kernels::interpreted(const KernelRequest& request) {
  return jit::interpreter(*request.program);
}

// For `target`, and with `lower_too` for the levels below it that its machines run as well, highest first: the bits are
// the same, and what is there costs less than a compile.
std::optional<Kernels::Stored> Kernels::find_pack(std::span<const uint8_t> kernel, const std::string& target,
                                                  bool lower_too) {
  if (packs_.empty()) return std::nullopt;
  for (const std::string_view level : jit::targets_below(target)) {
    const cache::Key k = pack_key(kernel, std::string(level));
    for (const auto& pack : packs_)
      if (auto blob = pack->get(k, nullptr)) return Stored{std::move(*blob), true};
    if (!lower_too) break;
  }
  return std::nullopt;
}

std::optional<Kernels::Stored> Kernels::find_entry(const cache::Key& key) {
  const Span span(context_.trace(), "look up", [&] { return key.hash.hex(); });
  cache::Miss why;
  if (auto blob = stack_->get(key, &why)) return Stored{std::move(*blob), false};
  context_.counters().missed[static_cast<size_t>(why.reason)].fetch_add(1, std::memory_order_relaxed);
  context_.log().write(LogLevel::debug, "kernel ", key.hash.hex(), " missed (", cache::miss_reason_name(why.reason),
                       why.detail.empty() ? ")" : ") ", why.detail);
  return std::nullopt;
}

void Kernels::count_hit(const Stored& stored) {
  Counters& counters = context_.counters();
  (stored.from_pack ? counters.pack_hits : counters.disk_hits).fetch_add(1, std::memory_order_relaxed);
}

cache::MemoryCache<jit::Body>::Made Kernels::resident(std::shared_ptr<const jit::CompiledBody> body, uint64_t bytes,
                                                      const std::string& name) const {
  if (const PerfMap* map = context_.perf_map())
    for (const jit::ArtifactSymbol& symbol : body->symbols())
      map->add(body->code() + symbol.offset, symbol.size, cat(name, ":", symbol.name));
  return {resident_.counted<jit::Body>(std::move(body), bytes), bytes};
}

// After something was made: no lock is held, and no key.
void Kernels::watch() {
  if (!context_.alarms().wanted()) return;
  context_.alarms().cache(AlarmKind::memory_cache, memory_.stats().bytes, context_.options().memory.bytes);
  if (const cache::DiskCache* disk = context_.disk())
    context_.alarms().cache(AlarmKind::disk_cache, disk->stats().bytes, disk->limits().bytes);
}

// Null, with one warning a context, for bytes that are no artifact of this version. The store's checksum held, so
// another build wrote them under this key; where they can be replaced, what is compiled now does it.
std::shared_ptr<const jit::CompiledBody> Kernels::load_stored(const Stored& stored) {
  const Span span(context_.trace(), "load", [&] { return cat(stored.artifact.size(), " bytes"); });
  try {
    auto loaded = jit::load(stored.artifact);
    count_hit(stored);
    return loaded;
  } catch (const Error& e) {
    if (e.code() != Code::invalid_argument && e.code() != Code::failed_precondition) throw;
    if (!warned_of_stored_.exchange(true))
      context_.log().write(LogLevel::warning, "a cached kernel is not usable and is compiled anew: ", e.message());
    return nullptr;
  }
}

std::vector<uint8_t> Kernels::compile(std::span<const uint8_t> kernel, const std::string& target) {
  const Span span(context_.trace(), "compile", [&] { return cat(kernel.size(), " bytes of kernel IR for ", target); });
  Counters& counters = context_.counters();
  counters.misses.fetch_add(1, std::memory_order_relaxed);
  const auto began = std::chrono::steady_clock::now();
  std::vector<uint8_t> artifact = run_compiler(kernel, target, 0);
  const auto took = std::chrono::nanoseconds(std::chrono::steady_clock::now() - began);
  counters.compile_ns.fetch_add(static_cast<uint64_t>(took.count()), std::memory_order_relaxed);
  counters.compiles.fetch_add(1, std::memory_order_relaxed);
  return artifact;
}

// No key is owned while the host is called, by a callback of the cache or the log: it may come back for kernels that
// another thread owns, which may wait for this one in turn. So the stores are asked before, and told afterwards.
std::shared_ptr<const jit::Body> Kernels::machine_code(const KernelRequest& request, const std::string& target) {
  const cache::Key k = key(request.bytes, target);
  if (!request.stores_asked) {
    if (auto known = memory_.find(k)) {
      context_.counters().memory_hits.fetch_add(1, std::memory_order_relaxed);
      return known;
    }
    if (auto body = ask_stores(request, target, k)) {
      watch();
      return body;
    }
  }
  std::vector<uint8_t> artifact;  // stays empty where another thread compiles, or has
  auto body = memory_.get_or_make(k, [&]() -> cache::MemoryCache<jit::Body>::Made {
    artifact = compile(request.bytes, target);
    return resident(jit::load(artifact), artifact.size(), request.name);
  });
  if (artifact.empty()) {
    context_.counters().memory_hits.fetch_add(1, std::memory_order_relaxed);
  } else {
    stack_->put(k, artifact);
    watch();
  }
  return body;
}

std::shared_ptr<const jit::Body> Kernels::ask_stores(const KernelRequest& request, const std::string& target,
                                                     const cache::Key& k) {
  const auto load = [&](const std::optional<Stored>& stored) -> std::shared_ptr<const jit::Body> {
    auto loaded = stored ? load_stored(*stored) : nullptr;
    if (!loaded) return nullptr;
    return memory_.get_or_make(k, [&]() -> cache::MemoryCache<jit::Body>::Made {
      return resident(std::move(loaded), stored->artifact.size(), request.name);
    });
  };
  if (auto body = load(find_pack(request.bytes, target, request.target.empty()))) return body;
  return load(find_entry(k));
}

// Here, too, no key is owned. Threads that ask at once may each read an entry; one of what they loaded stays.
void Kernels::get_stored(std::span<KernelRequest> requests, std::span<std::shared_ptr<const jit::Body>> bodies) {
  struct Found {
    size_t index;
    cache::Key key;
    Stored stored;
  };
  std::vector<Found> found;
  for (size_t i = 0; i < requests.size(); ++i) {
    KernelRequest& request = requests[i];
    const std::string target = target_of(request);
    if (request.backend == Backend::interpreter || !jit::can_run(jit::host_target(), target)) continue;
    cache::Key k = key(request.bytes, target);
    bodies[i] = memory_.find(k);
    if (bodies[i]) {
      context_.counters().memory_hits.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    std::optional<Stored> stored = find_pack(request.bytes, target, request.target.empty());
    if (!stored) stored = find_entry(k);
    request.stores_asked = !stored;
    if (stored) found.push_back({i, std::move(k), std::move(*stored)});
  }
  std::vector<std::span<const uint8_t>> artifacts;
  for (const Found& f : found) artifacts.emplace_back(f.stored.artifact);
  std::vector<std::shared_ptr<const jit::CompiledBody>> loaded;
  try {
    const Span span(context_.trace(), "load", [&] { return cat(artifacts.size(), " artifacts"); });
    loaded = jit::load_batch(artifacts);
  } catch (const Error& e) {
    if (e.code() != Code::unavailable) throw;
    return;  // no executable memory: get() knows what to do about it
  }
  for (size_t i = 0; i < found.size(); ++i) {
    if (!loaded[i]) continue;  // get() says why, and compiles
    bodies[found[i].index] = memory_.get_or_make(found[i].key, [&]() -> cache::MemoryCache<jit::Body>::Made {
      count_hit(found[i].stored);
      return resident(std::move(loaded[i]), found[i].stored.artifact.size(), requests[found[i].index].name);
    });
  }
}

std::vector<uint8_t> Kernels::artifact(std::span<const uint8_t> kernel, const std::string& target) {
  const cache::Key k = key(kernel, target);
  if (auto blob = stack_->get(k)) {
    try {
      if (jit::decode_artifact(*blob).target == target) {
        context_.counters().disk_hits.fetch_add(1, std::memory_order_relaxed);
        return std::move(*blob);
      }
    } catch (const Error&) {
      // Another build's bytes under this key: replaced below.
    }
  }
  std::vector<uint8_t> made = compile(kernel, target);
  stack_->put(k, made);
  return made;
}

std::shared_ptr<const jit::Body> Kernels::get(const KernelRequest& request) {
  if (request.backend == Backend::interpreter) return interpreted(request);
  const std::string target = target_of(request);
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
