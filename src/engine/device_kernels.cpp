#include "engine/device_kernels.h"

#include <chrono>

#include "base/bytes.h"
#include "engine/executable.h"
#include "engine/kernels.h"
#include "jit/cuda/emit.h"
#include "jit/cuda/nvrtc.h"
#include "jit/cuda/routines.h"
#include "jit/image/artifact.h"
#include "jit/image/build_id.h"
#include "runtime/device_copy.h"

namespace ingot::engine {

namespace {

// The build-id of this very library, or of what it is linked into; empty if that has none.
const std::string& own_build_id() {
  static const char here = 0;
  static const std::string id = jit::loaded_build_id(&here);
  return id;
}

// The text is a function of the kernel and of this library; `text` is asked for where that has no build-id.
cache::Key make_key(std::span<const uint8_t> kernel, const std::string& target,
                    const std::function<std::string()>& text) {
  const std::string& id = own_build_id();
  ByteWriter w;
  w.put_string("ingot cuda kernel");
  w.put(jit::module_stamp.kernel_format);
  w.put(jit::module_stamp.artifact_format);
  w.put_string(id.empty() ? text() : id);
  w.put_string(target);
  w.put(static_cast<uint32_t>(kernel.size()));
  w.put_bytes(kernel);
  return cache::Key::of(std::move(w.bytes()));
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

std::shared_ptr<const device::Kernel> DeviceKernels::get(const device::Device& device, const loop::Kernel& kernel,
                                                         std::span<const uint8_t> bytes, const std::string& target) {
  return get(device, bytes, [&] { return jit::emit_cuda(kernel); }, jit::cuda::entry_names(kernel), target);
}

std::shared_ptr<const device::Kernel> DeviceKernels::get(const device::Device& device, const loop::Routine& routine,
                                                         const std::string& target) {
  const std::string text = jit::cuda::routine_text(routine);
  return get(
      device, {reinterpret_cast<const uint8_t*>(text.data()), text.size()},
      [&] { return jit::cuda::routine_text(routine); }, jit::cuda::routine_entries(routine), target);
}

std::shared_ptr<const device::Kernel> DeviceKernels::get(const device::Device& device,
                                                         std::span<const uint8_t> identity,
                                                         const std::function<std::string()>& make_text,
                                                         std::span<const char* const> entries,
                                                         const std::string& target) {
  const cache::Key key = make_key(identity, target, make_text);
  Counters& counters = context_.counters();
  if (auto known = memory_.find(key)) {
    counters.memory_hits.fetch_add(1, std::memory_order_relaxed);
    return known;
  }
  // As for CPU code: the stores, which may be the host's, are asked and told with no key owned.
  cache::Miss why;
  if (const auto blob = context_.kernels().stack().get(key, &why)) {
    try {
      auto loaded = std::make_shared<const device::Kernel>(device.shared_driver(), *blob);
      counters.disk_hits.fetch_add(1, std::memory_order_relaxed);
      return memory_.get_or_make(
          key, [&]() -> cache::MemoryCache<device::Kernel>::Made { return {std::move(loaded), blob->size()}; });
    } catch (const Error& e) {
      if (e.code() != Code::invalid_argument) throw;
      context_.log().write(LogLevel::warning, "a cached kernel is not usable and is compiled anew: ", e.message());
    }
  } else {
    counters.missed[static_cast<size_t>(why.reason)].fetch_add(1, std::memory_order_relaxed);
  }
  std::vector<uint8_t> artifact;  // stays empty where another thread compiles
  auto made = memory_.get_or_make(key, [&]() -> cache::MemoryCache<device::Kernel>::Made {
    const std::string text = make_text();
    const Span span(context_.trace(), "compile", [&] { return cat(text.size(), " bytes of CUDA C++ for ", target); });
    counters.misses.fetch_add(1, std::memory_order_relaxed);
    const auto began = std::chrono::steady_clock::now();
    artifact = device::encode(target, entries,
                              jit::compile_cubin(text, target, context_.nvrtc(), !context_.options().no_threads));
    const auto took = std::chrono::nanoseconds(std::chrono::steady_clock::now() - began);
    counters.compile_ns.fetch_add(static_cast<uint64_t>(took.count()), std::memory_order_relaxed);
    counters.compiles.fetch_add(1, std::memory_order_relaxed);
    return {std::make_shared<const device::Kernel>(device.shared_driver(), artifact), artifact.size()};
  });
  if (artifact.empty()) counters.memory_hits.fetch_add(1, std::memory_order_relaxed);
  else context_.kernels().stack().put(key, artifact);
  return made;
}

std::shared_ptr<const device::Kernel> DeviceKernels::find_copier(const std::string& target, uint32_t rank,
                                                                 size_t item) {
  const std::lock_guard lock(lock_);
  const auto known = copiers_.find({target, rank, item});
  return known == copiers_.end() ? nullptr : known->second;
}

std::shared_ptr<const device::Kernel> DeviceKernels::copier(const device::Device& device, const std::string& target,
                                                            uint32_t rank, size_t item) {
  if (auto known = find_copier(target, rank, item)) return known;
  const loop::Kernel kernel = runtime::copy_kernel(rank, item);
  std::shared_ptr<const device::Kernel> made = get(device, kernel, loop::encode(kernel), target);
  const std::lock_guard lock(lock_);
  return copiers_.emplace(std::tuple(target, rank, item), std::move(made)).first->second;
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
