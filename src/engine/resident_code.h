// How much machine code is held, in bytes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace ingot::engine {

// What was held at one moment: all of it, in the memory caches or by executables alone; and what trim(0) would leave,
// since executables hold it.
struct CodeBytes {
  uint64_t resident = 0, pinned = 0;
  CodeBytes& operator+=(const CodeBytes& o) {
    resident += o.resident;
    pinned += o.pinned;
    return *this;
  }
};

class ResidentCode {
 public:
  // The same, counted until nobody holds it.
  template <class T, class From>
  std::shared_ptr<const T> counted(std::shared_ptr<const From> made, uint64_t bytes) const {
    const T* const raw = made.get();
    total_->fetch_add(bytes, std::memory_order_relaxed);
    // Where the control block cannot be allocated the deleter is called all the same.
    return std::shared_ptr<const T>(raw, [held = std::move(made), total = total_, bytes](const T*) mutable {
      held.reset();
      total->fetch_sub(bytes, std::memory_order_relaxed);
    });
  }
  // `idle`: bytes that only a memory cache holds.
  CodeBytes bytes(uint64_t idle) const {
    const uint64_t all = total_->load(std::memory_order_relaxed);
    return {all, all > idle ? all - idle : 0};  // both move while they are read
  }

 private:
  // Shared with what is counted: an executable's last thread may drop some after the context is gone.
  std::shared_ptr<std::atomic<uint64_t>> total_ = std::make_shared<std::atomic<uint64_t>>(0);
};

}  // namespace ingot::engine
