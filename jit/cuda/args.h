// The one parameter of a kernel's entries: struct Args of the text, as bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "jit/strip/launch_args.h"
#include "loop/kernel.h"

namespace ingot::jit::cuda {

// Where things lie in Args: all are 64-bit words.
class ArgLayout {
 public:
  explicit ArgLayout(const loop::Kernel& kernel);

  size_t bytes() const { return bytes_; }
  // Writes all of it to `out`, which has bytes() of room, 8-byte aligned. `fault` and `scratch` are device addresses,
  // ignored where the kernel has no use for them.
  void pack(const int64_t* sizes, const ViewArg* views, uint64_t fault, uint64_t scratch, uint64_t* out) const;
  // Where the base address of a view lies in what pack() wrote.
  uint64_t& base(size_t view, uint64_t* out) const { return out[sizes_ + view * view_words_]; }

 private:
  size_t sizes_, views_, axes_, view_words_, bytes_;
  bool fault_;
};

}  // namespace ingot::jit::cuda
