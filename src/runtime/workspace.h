// What one run of an executor works on; kept between runs so that a warm run allocates nothing. Private to the
// executor's files.
#pragma once

#include <cstdlib>
#include <new>

#include "runtime/executor.h"
#include "runtime/overlap.h"

namespace ingot::runtime {

// A tensor of a run, resolved: where it lies and how, in bytes.
struct Place {
  char* data = nullptr;
  uint32_t rank = 0;
  int64_t extent[ir::max_rank];
  int64_t stride[ir::max_rank];  // bytes
  bool compact = true;
  Span span{0, 0};  // of the host's memory
};

// 64-byte-aligned memory that only grows.
class Scratch {
 public:
  ~Scratch() { std::free(data_); }
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  char* reserve(size_t bytes) {
    if (bytes <= size_) return data_;
    std::free(data_);
    size_ = 0;
    const size_t rounded = (bytes + 63) / 64 * 64;
    data_ = static_cast<char*>(std::aligned_alloc(64, rounded));
    if (!data_) throw std::bad_alloc();
    size_ = rounded;
    return data_;
  }
  size_t size() const { return size_; }

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
};

struct Executor::Workspace {
  std::vector<int64_t> dims;  // values of the plan's dim table
  std::vector<Place> inputs, outputs, constants, buffers;
  // Where the host's memory is when a temporary stands in for it: copied in before, or out after, the steps.
  std::vector<const Place*> home;  // per input, then output; null: no temporary
  std::vector<Place> homes;
  std::vector<size_t> slot_bytes;
  std::vector<uint64_t> slot_at;
  std::vector<int64_t> sizes;
  std::vector<jit::ViewArg> views;
  jit::Launch launch;
  bool in_place = false;
  uint64_t scratch_bytes = 0;  // of buffers and temporaries, before the tasks' own
  Scratch scratch;             // buffers and temporaries
  Scratch task_scratch;        // one part per concurrent task
};

inline size_t bytes_of(const Place& p, size_t item) {
  size_t n = item;
  for (uint32_t d = 0; d < p.rank; ++d) n *= static_cast<size_t>(p.extent[d]);
  return n;
}

// Strides of a compact tensor with the place's extents.
inline void make_compact(Place& p, size_t item) {
  auto stride = static_cast<int64_t>(item);
  for (uint32_t d = p.rank; d-- > 0;) {
    p.stride[d] = stride;
    stride *= p.extent[d] > 0 ? p.extent[d] : 1;
  }
  p.compact = true;
}

// Copies between two places of equal extents, item by item along the innermost dim.
void copy_strided(const Place& from, const Place& to, size_t item);

}  // namespace ingot::runtime
