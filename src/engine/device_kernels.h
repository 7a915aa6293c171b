// CUDA devices of a context, and the code of kernels for them: from memory, from disk or the host's cache, from NVRTC.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fork.h"
#include "cache/memory.h"
#include "device/kernel.h"
#include "engine/context.h"
#include "engine/device_source.h"
#include "engine/resident_code.h"

namespace ingot::engine {

class Executable;

// Free-threaded. Opens nothing before it is asked for a device; NVRTC only for what is in no cache.
class DeviceKernels final : ForkHandler {
 public:
  explicit DeviceKernels(Context& context) : context_(context), memory_(context.options().memory) {}

  // Throws unavailable where there is none.
  std::shared_ptr<const device::Driver> driver();
  // Throws unavailable where there is no driver or device, invalid_argument for an ordinal that is none.
  const device::Device& at(int ordinal);
  // That of the CUDA context which is current on this thread, else the first.
  const device::Device& preferred();

  // Blocks while another thread makes the same kernel. Target "sm_NN".
  std::shared_ptr<const device::Kernel> get(const device::Device& device, const DeviceSource& source,
                                            const std::string& target);
  // What a pack calls it: found wherever NVRTC is another or none.
  static cache::Key pack_key(const DeviceSource& source, const std::string& target);
  // Build-id or hash of the NVRTC that compiles, or would: empty where there is none.
  std::string compiler_id();
  // The artifact, from disk or the host's cache, else compiled and put there. Needs no driver.
  std::vector<uint8_t> artifact(const DeviceSource& source, const std::string& target);

  // Executables whose runs may leave faults on a device.
  void watch(const std::shared_ptr<Executable>& executable);
  // Waits for what was enqueued on the stream. Throws what became of it: out_of_range for the first index, of any run
  // that has ended in that CUDA context, that was none.
  void sync(int ordinal, device::StreamHandle stream);
  cache::MemoryStats memory_stats() const { return memory_.stats(); }
  // Of cubins, each once, in however many CUDA contexts it is loaded.
  CodeBytes code_bytes() const { return resident_.bytes(memory_.idle_bytes()); }
  // Evicts kernels and gives memory back to the devices, until at most so many bytes of each are kept.
  void trim(uint64_t bytes);

 private:
  void before_fork() noexcept override { lock_.lock(); }
  void after_fork_in_parent() noexcept override { lock_.unlock(); }
  void after_fork_in_child() noexcept override { lock_.unlock(); }
  cache::MemoryCache<device::Kernel>::Made resident(std::shared_ptr<const device::Kernel> kernel, uint64_t bytes) const;
  std::vector<uint8_t> compile(const DeviceSource& source, const std::string& target);
  // For `target`, and with `lower_too` for the earlier minor versions that its devices run as well.
  std::optional<cache::Blob> find_packed(const DeviceSource& source, const std::string& target, bool lower_too);
  std::optional<cache::Blob> find_stored(const DeviceSource& source, const std::string& target);
  void store(const DeviceSource& source, const std::string& target, std::span<const uint8_t> artifact);

  Context& context_;
  cache::MemoryCache<device::Kernel> memory_;
  const ResidentCode resident_;
  std::mutex lock_;
  std::shared_ptr<const device::Driver> driver_;
  std::optional<std::string> compiler_id_;
  // By ordinal; found without the lock once they are there.
  static constexpr size_t most_devices = 256;
  std::array<std::atomic<const device::Device*>, most_devices> known_{};
  std::vector<std::unique_ptr<device::Device>> devices_;
  std::vector<std::weak_ptr<Executable>> watched_;
  ForkRegistration registration_{*this};
};

}  // namespace ingot::engine
