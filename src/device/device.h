// CUDA devices, and the CUDA context that a run works in.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/driver.h"
#include "jit/cuda/launch_plan.h"

namespace ingot::device {

// What the driver says of a device's speed; 0 is what it does not say.
struct Speed {
  uint32_t clock_khz = 0, memory_clock_khz = 0, bus_bits = 0;
  uint64_t bytes_per_s = 0;               // of memory, twice a clock
  uint64_t f32_per_s = 0, f64_per_s = 0;  // additions or multiplications
};

// One device of the driver. Free-threaded. Keeps the primary context, which it shares with the CUDA runtime and whoever
// else uses it, from the first time that a run needs it.
class Device {
 public:
  // `ordinal` is one of the driver's.
  Device(std::shared_ptr<const Driver> driver, int ordinal);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const Driver& driver() const { return *driver_; }
  const std::shared_ptr<const Driver>& shared_driver() const { return driver_; }
  int ordinal() const { return ordinal_; }
  int handle() const { return handle_; }
  const std::string& name() const { return name_; }
  // 90 for sm_90.
  int sm() const { return sm_; }
  const std::string& target() const { return target_; }  // "sm_90"
  const jit::cuda::DeviceLimits& limits() const { return limits_; }
  Speed speed() const;
  // Throws unavailable.
  ContextHandle primary() const;
  // Memory in the order of a stream, kept by the library until trim(). Null where the device has no pools.
  PoolHandle pool() const { return pool_; }
  void trim(uint64_t bytes) const noexcept;
  // Whether a cubin for "sm_NN" runs here: the same major version, and no later minor one.
  bool runs(const std::string& target) const;

 private:
  std::shared_ptr<const Driver> driver_;
  int ordinal_, handle_ = 0, sm_ = 0;
  std::string name_, target_;
  jit::cuda::DeviceLimits limits_;
  PoolHandle pool_ = nullptr;
  mutable std::atomic<ContextHandle> primary_{nullptr};
};

// The CUDA context of a run, current while this lives: that of the stream, else the one that is current on the thread
// if it is one of the device, else the device's primary context.
class Scope {
 public:
  // Throws invalid_argument for a stream of another device.
  Scope(const Device& device, StreamHandle stream);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // One number for the life of the context, given to no other.
  uint64_t id() const { return id_; }
  ContextHandle context() const { return context_; }

 private:
  const Driver& driver_;
  ContextHandle context_ = nullptr;
  uint64_t id_ = 0;
  bool pushed_ = false;
};

// Makes a context current for as long as it lives, to give back what lies there; nothing where the context is gone, and
// nothing in a forked child.
class Revisit {
 public:
  Revisit(const Driver& driver, ContextHandle context, uint64_t id) noexcept;
  ~Revisit();
  Revisit(const Revisit&) = delete;
  Revisit& operator=(const Revisit&) = delete;
  explicit operator bool() const { return pushed_; }

 private:
  const Driver& driver_;
  bool pushed_ = false;
};

// Memory of a device, given back when this goes, which waits for the work that uses it; lost in a forked child. Holds
// the device's primary context, where the memory may lie.
class Memory {
 public:
  // In the scope's context. Throws out_of_memory.
  Memory(const Device& device, const Scope& scope, size_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  Address at() const { return at_; }

 private:
  const std::shared_ptr<const Driver> driver_;
  const int device_;  // whose primary context this holds
  ContextHandle context_;
  const uint64_t id_;
  Address at_ = 0;
};

// Whether the driver knows `at` as device memory alone, which the host cannot read.
bool is_device_memory(const Driver& driver, Address at) noexcept;
// What is wrong with `at` as memory of the device: empty if nothing.
std::string not_device_memory(const Device& device, Address at);

}  // namespace ingot::device
