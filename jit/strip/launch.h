// The strip driver: walks one launch of a kernel and presents every view to the body as strips of consecutive items,
// whatever the strides, boxes and sizes. Compiled bodies and the interpreter run under this one driver.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/program.h"
#include "jit/strip/launch_args.h"
#include "jit/strip/plan.h"

namespace ingot::jit {

// The geometry of one launch. prepare() may be called again with other sizes; it allocates only to grow. Between
// prepare() and the end of the last run_chunk() the program and what the views point to must stay. After prepare(),
// run_chunk() may be called concurrently for different chunks, each with its own scratch. The caller sets the
// floating-point environment.
class Launch {
 public:
  // `sizes` has Kernel::sizes entries: the extents of the axes first. Every extent is >= 0.
  // Throws std::bad_alloc only.
  void prepare(const Program& program, const int64_t* sizes, const ViewArg* views);

  // Between prepare() and run_chunk(), and between launches alike but for addresses: moves the base of a load or store
  // view, and allows non-temporal stores (the caller has judged the footprint and that nothing is in place).
  void move(size_t view, char* base) noexcept {
    if (linear_) base_[view] = base;
    else plan_.geometry.views[view].base = base;
  }
  void allow_stream(bool allowed) noexcept { stream_ = plan_.stream = allowed; }
  // Likewise: lanes may be computed and stored twice, which is cheaper than copies of a few but would read what was
  // stored where an output is in place.
  void allow_twice(bool allowed) noexcept { twice_ = plan_.twice = allowed; }

  // Chunk boundaries depend on extents and strides alone, the results on neither. 0 if there is nothing to do.
  int64_t chunks() const { return chunks_; }
  // How often all chunks are to be run, each phase after the end of the one before. More than one only where a row of
  // more than chunk_elements is split; then the chunks share shared_bytes() of memory, 64-byte aligned, which begin()
  // makes ready.
  unsigned phases() const { return linear_ ? 1 : plan_.phases(); }
  size_t shared_bytes() const { return linear_ ? 0 : plan_.shared; }
  void begin(void* shared) const noexcept;
  // What the whole launch takes, estimated: additions of single lanes.
  int64_t work() const { return work_; }
  // Bytes of scratch, 64-byte aligned, that each concurrent run_chunk() with this body needs.
  size_t scratch_bytes(const Body& body) const { return scratch_ + body.scratch_bytes(); }

  // `fault` is the caller's, one per concurrent run_chunk(); a failure that is in it already stays.
  void run_chunk(const Body& body, unsigned phase, int64_t chunk, void* scratch, void* shared,
                 Fault& fault) const noexcept;
  // Of a launch without shared memory.
  void run_chunk(const Body& body, int64_t chunk, void* scratch, Fault& fault) const noexcept {
    run_chunk(body, 0, chunk, scratch, nullptr, fault);
  }

  // Whether the whole launch is a single call of the body on the tensors themselves, as tiny ones are; and that call,
  // for a body that needs no scratch.
  bool one_call() const noexcept { return one_call_; }
  void call(const Body& body, Fault& fault) const noexcept;

 private:
  bool prepare_linear(const int64_t* sizes, const ViewArg* views);
  void run_linear(const Body& body, int64_t chunk, char* scratch, Fault& fault) const noexcept;

  int64_t chunks_ = 0;
  int64_t work_ = 0;
  size_t scratch_ = 0;  // less the body's
  const Program* program_ = nullptr;
  std::vector<int64_t> sizes_;
  bool stream_ = false, twice_ = false;

  // The short way: a kernel without cols whose views are all consecutive over the one linear index, or a single item.
  bool linear_ = false;
  bool one_call_ = false;
  int64_t lanes_ = 0;
  int64_t chunk_lanes_ = 0;
  char* base_[loop::max_views];
  uint8_t step_[loop::max_views];  // bytes from lane to lane: the item size, or 0

  Plan plan_;  // otherwise
};

}  // namespace ingot::jit
