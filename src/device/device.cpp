#include "device/device.h"

#include <charconv>

#include "base/error.h"
#include "jit/cuda/occupancy.h"

namespace ingot::device {

namespace {

// Numbers of CUdevice_attribute, CUpointer_attribute and CUmemPool_attribute.
constexpr int clock_rate = 13, multiprocessor_count = 16, memory_clock_rate = 36, bus_width = 37, f32_to_f64 = 87,
              compute_major = 75, compute_minor = 76, pools_supported = 115, pointer_memory_type = 2,
              pointer_is_managed = 8, pointer_ordinal = 9, pool_release_threshold = 4;
constexpr int pinned_allocation = 1, on_device = 1, memory_of_device = 2;  // CUmemAllocationType, CUmemLocationType,
                                                                           // CUmemorytype

constexpr Result invalid_handle = 400;  // CUresult

// The default stream's handles belong to whatever context is current.
bool names_context(StreamHandle stream) { return reinterpret_cast<uintptr_t>(stream) > 2; }

}  // namespace

Device::Device(std::shared_ptr<const Driver> driver, int ordinal) : driver_(std::move(driver)), ordinal_(ordinal) {
  const Driver& d = *driver_;
  d.must_be_usable();
  d.must(d.cuDeviceGet(&handle_, ordinal), "finding a device");
  char name[256] = {};
  d.must(d.cuDeviceGetName(name, sizeof name - 1, handle_), "asking for a device's name");
  name_ = name;
  const auto attribute = [&](int which) {
    int value = 0;
    d.must(d.cuDeviceGetAttribute(&value, which, handle_), "asking what a device can do");
    return value;
  };
  sm_ = 10 * attribute(compute_major) + attribute(compute_minor);
  target_ = cat("sm_", sm_);
  limits_.multiprocessors = static_cast<uint32_t>(attribute(multiprocessor_count));
  if (attribute(pools_supported) == 0) return;
  PoolProps props{};
  props.allocation_type = pinned_allocation;
  props.location_type = on_device;
  props.location_id = handle_;
  d.must(d.cuMemPoolCreate(&pool_, &props), "making a memory pool");
  // Memory stays with the pool from run to run instead of going back to the system at each synchronisation.
  uint64_t keep = UINT64_MAX;
  if (const Result r = d.cuMemPoolSetAttribute(pool_, pool_release_threshold, &keep)) {
    d.cuMemPoolDestroy(pool_);  // the destructor does not run for a constructor that throws
    d.must(r, "setting up a memory pool");
  }
}

Speed Device::speed() const {
  const auto attribute = [&](int which) {
    int value = 0;
    return driver_->cuDeviceGetAttribute(&value, which, handle_) == 0 && value > 0 ? static_cast<uint32_t>(value) : 0;
  };
  Speed out{.clock_khz = attribute(clock_rate),
            .memory_clock_khz = attribute(memory_clock_rate),
            .bus_bits = attribute(bus_width)};
  out.bytes_per_s = uint64_t{out.memory_clock_khz} * 2000 * out.bus_bits / 8;
  if (const jit::Multiprocessor* mp = jit::multiprocessor(sm_))
    out.f32_per_s = uint64_t{out.clock_khz} * 1000 * limits_.multiprocessors * mp->f32_rate;
  if (const uint32_t ratio = attribute(f32_to_f64)) out.f64_per_s = out.f32_per_s / ratio;
  return out;
}

Device::~Device() {
  if (!driver_->usable()) return;
  if (pool_) driver_->cuMemPoolDestroy(pool_);
  if (primary_.load(std::memory_order_relaxed)) driver_->cuDevicePrimaryCtxRelease_v2(handle_);
}

ContextHandle Device::primary() const {
  if (ContextHandle known = primary_.load(std::memory_order_acquire)) return known;
  ContextHandle context = nullptr;
  driver_->must(driver_->cuDevicePrimaryCtxRetain(&context, handle_), "taking a device's primary context");
  ContextHandle none = nullptr;
  // Another thread was first: one reference is enough.
  if (!primary_.compare_exchange_strong(none, context, std::memory_order_acq_rel))
    driver_->cuDevicePrimaryCtxRelease_v2(handle_);
  return context;
}

void Device::trim(uint64_t bytes) const noexcept {
  if (pool_ && driver_->usable()) driver_->cuMemPoolTrimTo(pool_, bytes);
}

bool Device::runs(const std::string& target) const {
  int sm = 0;
  if (!target.starts_with("sm_")) return false;
  const char* const end = target.data() + target.size();
  const auto [rest, error] = std::from_chars(target.data() + 3, end, sm);
  if (error != std::errc{}) return false;
  // A letter names features of just one version (a), or of a family (f).
  if (rest != end && *rest == 'a') return sm == sm_;
  return sm / 10 == sm_ / 10 && sm <= sm_;
}

Scope::Scope(const Device& device, StreamHandle stream) : driver_(device.driver()) {
  driver_.must_be_usable();
  ContextHandle current = nullptr;
  driver_.must(driver_.cuCtxGetCurrent(&current), "asking for the current context");
  const auto of_device = [&] {
    int on = -1;
    driver_.must(driver_.cuCtxGetDevice(&on), "asking for the current device");
    return on == device.handle();
  };
  if (names_context(stream)) {
    const Result r = driver_.cuStreamGetCtx(stream, &context_);
    if (r == invalid_handle)
      fail(Code::invalid_argument, "the stream is none, or has been destroyed: ", driver_.words(r));
    driver_.must(r, "asking for the stream's context");
  } else if (current && of_device()) {
    context_ = current;
  } else {
    context_ = device.primary();
  }
  if (context_ != current) {
    driver_.must(driver_.cuCtxPushCurrent_v2(context_), "making a context current");
    pushed_ = true;
  }
  // The destructor does not run for a constructor that throws.
  try {
    if (names_context(stream) && !of_device())
      fail(Code::invalid_argument, "the stream is one of another device than the tensors'");
    unsigned long long id = 0;
    driver_.must(driver_.cuCtxGetId(context_, &id), "asking for a context's id");
    id_ = id;
  } catch (...) {
    if (pushed_) driver_.cuCtxPopCurrent_v2(&context_);
    throw;
  }
}

Scope::~Scope() {
  if (pushed_) driver_.cuCtxPopCurrent_v2(&context_);
}

Revisit::Revisit(const Driver& driver, ContextHandle context, uint64_t id) noexcept : driver_(driver) {
  if (!driver.usable()) return;
  // The host may have destroyed it, and another may have its address.
  unsigned long long now = 0;
  pushed_ = driver.cuCtxGetId(context, &now) == 0 && now == id && driver.cuCtxPushCurrent_v2(context) == 0;
}

Revisit::~Revisit() {
  ContextHandle popped;
  if (pushed_) driver_.cuCtxPopCurrent_v2(&popped);
}

Memory::Memory(const Device& device, const Scope& scope, size_t bytes)
    : driver_(device.shared_driver()), device_(device.handle()), context_(scope.context()), id_(scope.id()) {
  driver_->must(driver_->cuMemAlloc_v2(&at_, bytes), "allocating memory");
  ContextHandle primary = nullptr;
  if (const Result r = driver_->cuDevicePrimaryCtxRetain(&primary, device_)) {
    driver_->cuMemFree_v2(at_);
    driver_->must(r, "taking a device's primary context");
  }
}

Memory::~Memory() {
  if (!driver_->usable()) return;
  if (const Revisit there{*driver_, context_, id_}) driver_->cuMemFree_v2(at_);
  driver_->cuDevicePrimaryCtxRelease_v2(device_);
}

bool is_device_memory(const Driver& driver, Address at) noexcept {
  int type = 0;
  unsigned managed = 0;
  return driver.cuPointerGetAttribute(&type, pointer_memory_type, at) == 0 && type == memory_of_device &&
         (driver.cuPointerGetAttribute(&managed, pointer_is_managed, at) != 0 || managed == 0);
}

std::string not_device_memory(const Device& device, Address at) {
  const Driver& d = device.driver();
  int type = 0, ordinal = 0;
  if (d.cuPointerGetAttribute(&type, pointer_memory_type, at) != 0)
    return "its data is no address that the CUDA driver knows: host memory has device type 1";
  if (type == memory_of_device && d.cuPointerGetAttribute(&ordinal, pointer_ordinal, at) == 0 &&
      ordinal != device.ordinal())
    return cat("its data lies on device ", ordinal, ", the tensor says ", device.ordinal());
  return {};
}

}  // namespace ingot::device
