#include "engine/device_kernels.h"

#include <chrono>
#include <fstream>
#include <iterator>

#include "base/bytes.h"
#include "base/hash.h"
#include "engine/executable.h"
#include "engine/kernels.h"
#include "jit/cuda/nvrtc.h"
#include "jit/cuda/occupancy.h"
#include "jit/image/build_id.h"
#include "jit/image/module.h"

namespace ingot::engine {

namespace {

// The build-id of this very library, or of what it is linked into; empty if that has none.
const std::string& own_build_id() {
  static const char here = 0;
  static const std::string id = jit::loaded_build_id(&here);
  return id;
}

// The text is a function of the kernel and of this library; it stands for it where that has no build-id. `compiler` is
// empty for an entry that serves where there is no NVRTC: as a pack, it takes the code of any.
cache::Key make_key(const DeviceSource& source, const std::string& target, const std::string& compiler) {
  const std::string& id = own_build_id();
  ByteWriter w;
  w.put_string("ingot cuda kernel");
  w.put(jit::module_stamp.kernel_format);
  w.put(jit::module_stamp.artifact_format);
  w.put_string(id.empty() ? source.text() : id);
  w.put_string(compiler);
  w.put_string(target);
  w.put(static_cast<uint32_t>(source.identity.size()));
  w.put_bytes(source.identity);
  return cache::Key::of(std::move(w.bytes()));
}

// The build-id, else a hash of all that the file holds; empty where it cannot be read.
std::string identify(const std::string& path) {
  if (path.empty()) return {};
  try {
    return jit::module_build_id(path);
  } catch (const Error& e) {
    if (e.code() != Code::unavailable) throw;
  }
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  return bytes.empty() ? "" : hash128({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}).hex();
}

}  // namespace

std::shared_ptr<const device::Driver> DeviceKernels::driver() {
  {
    const std::lock_guard lock(lock_);
    if (driver_) return driver_;
  }
  // With no lock held: opening it registers for forks, and the driver may fork itself.
  std::shared_ptr<const device::Driver> opened = device::Driver::open(context_.cuda_driver());
  const std::lock_guard lock(lock_);
  if (!driver_) driver_ = std::move(opened);
  return driver_;
}

const device::Device& DeviceKernels::at(int ordinal) {
  const bool named = ordinal >= 0 && static_cast<size_t>(ordinal) < most_devices;
  if (named)
    if (const device::Device* d = known_[static_cast<size_t>(ordinal)].load(std::memory_order_acquire)) return *d;
  const std::shared_ptr<const device::Driver> d = driver();
  if (!named || ordinal >= d->device_count())
    fail(Code::invalid_argument, "device ", ordinal, " is none: CUDA devices here are 0 to ", d->device_count() - 1);
  auto made = std::make_unique<device::Device>(d, ordinal);
  const std::lock_guard lock(lock_);
  std::atomic<const device::Device*>& known = known_[static_cast<size_t>(ordinal)];
  if (!known.load(std::memory_order_relaxed)) {
    devices_.push_back(std::move(made));
    known.store(devices_.back().get(), std::memory_order_release);
  }
  return *known.load(std::memory_order_relaxed);
}

const device::Device& DeviceKernels::preferred() {
  const std::shared_ptr<const device::Driver> d = driver();
  d->must_be_usable();
  device::ContextHandle current = nullptr;
  int handle = -1;
  if (d->cuCtxGetCurrent(&current) == 0 && current && d->cuCtxGetDevice(&handle) == 0)
    for (int i = 0; i < d->device_count(); ++i)
      if (at(i).handle() == handle) return at(i);
  return at(0);
}

std::string DeviceKernels::compiler_id() {
  {
    const std::lock_guard lock(lock_);
    if (compiler_id_) return *compiler_id_;
  }
  std::string id = identify(jit::find_nvrtc(context_.nvrtc()));
  const std::lock_guard lock(lock_);
  if (!compiler_id_) compiler_id_ = std::move(id);
  return *compiler_id_;
}

std::vector<uint8_t> DeviceKernels::compile(const DeviceSource& source, const std::string& target) {
  const std::string text = source.text();
  const Span span(context_.trace(), "compile", [&] { return cat(text.size(), " bytes of CUDA C++ for ", target); });
  Counters& counters = context_.counters();
  counters.misses.fetch_add(1, std::memory_order_relaxed);
  const auto began = std::chrono::steady_clock::now();
  std::vector<uint8_t> artifact = device::encode(
      target, source.entries, jit::compile_cubin(text, target, context_.nvrtc(), !context_.options().no_threads));
  const auto took = std::chrono::nanoseconds(std::chrono::steady_clock::now() - began);
  counters.compile_ns.fetch_add(static_cast<uint64_t>(took.count()), std::memory_order_relaxed);
  counters.compiles.fetch_add(1, std::memory_order_relaxed);
  // Now that it is loaded it is known which one it was.
  std::string id = identify(jit::nvrtc_info(context_.nvrtc()).path);
  const std::lock_guard lock(lock_);
  compiler_id_ = std::move(id);
  return artifact;
}

cache::MemoryCache<device::Kernel>::Made DeviceKernels::resident(std::shared_ptr<const device::Kernel> kernel,
                                                                 uint64_t bytes) const {
  return {resident_.counted<device::Kernel>(std::move(kernel), bytes), bytes};
}

cache::Key DeviceKernels::pack_key(const DeviceSource& source, const std::string& target) {
  return make_key(source, target, "");
}

std::optional<cache::Blob> DeviceKernels::find_packed(const DeviceSource& source, const std::string& target,
                                                      bool lower_too) {
  const std::span<const std::shared_ptr<cache::Pack>> packs = context_.kernels().packs();
  if (packs.empty()) return std::nullopt;
  const int sm = jit::sm_of(target);
  for (int minor = sm % 10; minor >= 0; --minor) {
    const cache::Key key = pack_key(source, lower_too ? cat("sm_", sm / 10 * 10 + minor) : target);
    for (const auto& pack : packs)
      if (auto blob = pack->get(key, nullptr)) return blob;
    if (!lower_too) break;
  }
  return std::nullopt;
}

std::optional<cache::Blob> DeviceKernels::find_stored(const DeviceSource& source, const std::string& target) {
  cache::Miss why;
  auto blob = context_.kernels().stack().get(make_key(source, target, compiler_id()), &why);
  if (!blob) context_.counters().missed[static_cast<size_t>(why.reason)].fetch_add(1, std::memory_order_relaxed);
  return blob;
}

void DeviceKernels::store(const DeviceSource& source, const std::string& target, std::span<const uint8_t> artifact) {
  cache::Stack& stack = context_.kernels().stack();
  stack.put(make_key(source, target, compiler_id()), artifact);
  stack.put(pack_key(source, target), artifact);
}

std::vector<uint8_t> DeviceKernels::artifact(const DeviceSource& source, const std::string& target) {
  if (auto blob = find_stored(source, target)) {
    context_.counters().disk_hits.fetch_add(1, std::memory_order_relaxed);
    return {blob->begin(), blob->end()};
  }
  std::vector<uint8_t> made = compile(source, target);
  store(source, target, made);
  return made;
}

std::shared_ptr<const device::Kernel> DeviceKernels::get(const device::Device& device, const DeviceSource& source,
                                                         const std::string& target) {
  const cache::Key key = make_key(source, target, compiler_id());
  Counters& counters = context_.counters();
  if (auto known = memory_.find(key)) {
    counters.memory_hits.fetch_add(1, std::memory_order_relaxed);
    return known;
  }
  // As for CPU code: the stores, which may be the host's, are asked and told with no key owned.
  auto blob = find_packed(source, target, target == device.target());
  const bool packed = blob.has_value();
  if (!packed) blob = find_stored(source, target);
  if (blob) {
    // A cache can only miss: what the driver will not have is compiled anew, and replaces it.
    const auto renew = [this, source, target, packed] {
      // A pack stays as it is, so what has replaced its entry is in the caches.
      if (packed)
        if (const auto stored = find_stored(source, target))
          return std::vector<uint8_t>(stored->begin(), stored->end());
      context_.log().write(LogLevel::warning, "a cached kernel is refused by the CUDA driver and is compiled anew");
      std::vector<uint8_t> made = compile(source, target);
      store(source, target, made);
      return made;
    };
    try {
      auto loaded = std::make_shared<const device::Kernel>(device.shared_driver(), *blob, renew);
      (packed ? counters.pack_hits : counters.disk_hits).fetch_add(1, std::memory_order_relaxed);
      return memory_.get_or_make(key, [&] { return resident(std::move(loaded), blob->size()); });
    } catch (const Error& e) {
      if (e.code() != Code::invalid_argument) throw;
      context_.log().write(LogLevel::warning, "a cached kernel is not usable and is compiled anew: ", e.message());
    }
  }
  std::vector<uint8_t> artifact;  // stays empty where another thread compiles
  auto made = memory_.get_or_make(key, [&] {
    artifact = compile(source, target);
    return resident(std::make_shared<const device::Kernel>(device.shared_driver(), artifact), artifact.size());
  });
  if (artifact.empty()) counters.memory_hits.fetch_add(1, std::memory_order_relaxed);
  else store(source, target, artifact);
  return made;
}

void DeviceKernels::watch(const std::shared_ptr<Executable>& executable) {
  const std::lock_guard lock(lock_);
  std::erase_if(watched_, [](const std::weak_ptr<Executable>& w) { return w.expired(); });
  watched_.push_back(executable);
}

void DeviceKernels::sync(int ordinal, device::StreamHandle stream) {
  const device::Device& device = at(ordinal);
  const device::Scope scope(device, stream);
  if (device.driver().is_captured(stream)) fail(Code::not_ready, "the stream is being captured");
  device.driver().must(device.driver().cuStreamSynchronize(stream), "synchronising a stream");
  std::vector<std::shared_ptr<Executable>> alive;
  {
    const std::lock_guard lock(lock_);
    for (const auto& w : watched_)
      if (auto e = w.lock()) alive.push_back(std::move(e));
  }
  for (const auto& e : alive) e->executor().take_faults(device.driver(), scope, stream);
}

void DeviceKernels::trim(uint64_t bytes) {
  memory_.trim(bytes);
  const std::lock_guard lock(lock_);
  for (const auto& device : devices_) device->trim(bytes);
}

}  // namespace ingot::engine
