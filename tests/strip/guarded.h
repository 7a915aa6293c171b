// Memory between two pages that fault, flush with one of them: a byte read or written beyond it ends the test.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::test {

class Guarded {
 public:
  Guarded() = default;
  // `slack` bytes are left between the memory and the page, for misaligned addresses. `at_end`: flush with the page
  // after it, else with the one before.
  Guarded(size_t size, bool at_end, size_t slack);
  Guarded(Guarded&& other) noexcept;
  Guarded& operator=(Guarded&& other) noexcept;
  ~Guarded();

  char* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  char* map_ = nullptr;
  size_t mapped_ = 0;
  char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace ingot::test
