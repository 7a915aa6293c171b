// The strip driver: walks one launch of a kernel and presents every view to the body as strips of consecutive items,
// whatever the strides, boxes and sizes. Compiled bodies and the interpreter run under this one driver.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/program.h"

namespace ingot::jit {

// Where a view lies for one launch. For load and store views: the address of the element whose axis indices are all 0
// (possibly outside the tensor when boxes or negative strides say so; it is never touched there) and a stride in bytes
// for each axis of the kernel, 0 for axes the view lacks. For iota: `value` and the increments per axis. For inside:
// unused.
struct ViewArg {
  char* base = nullptr;
  int64_t value = 0;
  int64_t stride[loop::max_axes] = {};
};

// The geometry of one launch. prepare() may be called again with other sizes; it allocates only to grow. Between
// prepare() and the end of the last run_chunk() the program and what the views point to must stay. After prepare(),
// run_chunk() may be called concurrently for different chunks, each with its own scratch.
class Launch {
 public:
  // `sizes` has Kernel::sizes entries: the extents of the axes first. Every extent is >= 0.
  // `stream` allows non-temporal stores (the caller has judged the footprint and that nothing is in place).
  void prepare(const Program& program, const int64_t* sizes, const ViewArg* views, bool stream);

  // Chunk boundaries depend on the extents alone. 0 if there is nothing to do.
  int64_t chunks() const { return chunks_; }
  // Bytes of scratch, 64-byte aligned, that each concurrent run_chunk() needs.
  size_t scratch_bytes() const { return scratch_bytes_; }

  void run_chunk(const Body& body, int64_t chunk, void* scratch) const noexcept;

 private:
  // (the driver's own; see launch.cpp)
  int64_t chunks_ = 0;
  size_t scratch_bytes_ = 0;
};

}  // namespace ingot::jit
