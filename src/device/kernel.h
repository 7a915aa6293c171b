// A kernel's code for a kind of device, and its modules in the CUDA contexts where it has run.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/fork.h"
#include "device/device.h"

namespace ingot::device {

// Free-threaded. Modules stay loaded as long as the kernel lives; a CUDA context of the host's that is destroyed takes
// those in it along.
class Kernel final : ForkHandler {
 public:
  // `artifact` is one whose image is a cubin and whose entries are its functions. Throws invalid_argument for other
  // bytes (a cache treats that as a miss). `renew`, where there is one, makes the artifact anew: it is asked once for
  // that if the driver will not have this one.
  Kernel(std::shared_ptr<const Driver> driver, std::span<const uint8_t> artifact,
         std::function<std::vector<uint8_t>()> renew = {});
  ~Kernel();

  // The entries as functions of the scope's context, in the order of the artifact; they live as long as the kernel.
  // Null: the context has no module yet.
  const FunctionHandle* find(const Scope& scope) const noexcept;
  // Loads one where there is none.
  const FunctionHandle* load(const Scope& scope) const;

 private:
  struct Loaded {
    uint64_t id;
    ContextHandle context;
    ModuleHandle module = nullptr;
    std::vector<FunctionHandle> functions;
    std::unique_ptr<Loaded> older;
  };
  void take(std::span<const uint8_t> artifact) const;
  Result try_load(const Scope& scope, Loaded& into) const;
  const FunctionHandle* publish(std::unique_ptr<Loaded> fresh) const;
  void before_fork() noexcept override { loading_.lock(); }
  void after_fork_in_parent() noexcept override { loading_.unlock(); }
  void after_fork_in_child() noexcept override { loading_.unlock(); }

  std::shared_ptr<const Driver> driver_;
  mutable std::mutex loading_;
  mutable std::vector<uint8_t> cubin_;
  mutable std::vector<std::string> entries_;
  mutable std::function<std::vector<uint8_t>()> renew_;
  mutable std::atomic<Loaded*> loaded_{nullptr};  // only ever grows
  ForkRegistration registration_{*this};
};

// The artifact that the constructor takes.
std::vector<uint8_t> encode(const std::string& target, std::span<const char* const> entries,
                            std::vector<uint8_t> cubin);

}  // namespace ingot::device
