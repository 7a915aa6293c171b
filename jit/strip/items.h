// Moving items between memory with any stride and strips of consecutive items. Item sizes are 1, 2, 4 and 8 bytes;
// strides are bytes of either sign; no alignment is needed.
#pragma once

#include <cstdint>

#include "jit/strip/geometry.h"

namespace ingot::jit {

// ir::item_size as a table: prepare() asks for it once a view.
constexpr uint8_t storage_size(loop::DType t) {
  constexpr uint8_t sizes[16] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 1, 1};
  return static_cast<uint8_t>(t) < 16 ? sizes[static_cast<uint8_t>(t)] : 0;
}

// `n` items from `src` and on, `stride` bytes apart, to consecutive ones at `dst`; and back.
void gather(char* dst, const char* src, int64_t stride, int64_t n, unsigned size);
void scatter(char* dst, int64_t stride, const char* src, int64_t n, unsigned size);
// `n` copies of an item given by its bits.
void fill(char* dst, uint64_t bits, int64_t n, unsigned size);
// `rows` rows of `n` items: item i of row t is read at src + t * size + i * stride, that is, the rows lie side by side
// in memory. Row t is written at dst + t * pitch.
void gather_rows(char* dst, int64_t pitch, const char* src, int64_t stride, int64_t rows, int64_t n, unsigned size);

// The other way round: item i of row t goes from src + t * pitch + i * size to dst + t * size + i * stride.
void scatter_rows(char* dst, int64_t stride, const char* src, int64_t pitch, int64_t rows, int64_t n, unsigned size);
// `rows` rows of `bytes` bytes, each pitch its own distance from one to the next. For few bytes: nothing is called.
void copy_rows(char* dst, int64_t dst_pitch, const char* src, int64_t src_pitch, int64_t rows, int64_t bytes);

uint64_t load_bits(const char* p, unsigned size);

// Writes the items that view `v` has at positions [at, at + n) of the linear, row-major index over the merged axes
// [axis, axis + count), to `dst`, boxes on those axes included. `base` (iota: `value`) is the view's element with these
// axes at 0. `first_cut` and `cut_count` name the view's cuts on these axes.
struct AxisRun {
  unsigned axis, count;
  uint32_t first_cut;
  unsigned cut_count;
};
void stage(const Geometry& g, const ViewPlan& v, const AxisRun& axes, const char* base, int64_t value, int64_t at,
           int64_t n, char* dst);
// The other way round, for stores: the items at `src` go to positions [at, at + n).
void unstage(const Geometry& g, const ViewPlan& v, const AxisRun& axes, char* base, int64_t at, int64_t n,
             const char* src);

}  // namespace ingot::jit
