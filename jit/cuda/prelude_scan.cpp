#include "jit/cuda/nodes.h"

namespace ingot::jit::cuda {

// Scans in the order of docs/numerics.md: tiles of 16, carries from tile to tile in chunks of 4,096, offsets from chunk
// to chunk.
const char* scan_prelude() {
  return R"(
// Bytes up to a multiple of 8.
__device__ __forceinline__ i64 up8(i64 bytes) { return (bytes + 7) / 8 * 8; }
// Item by item by one thread. What the steps at distances 1, 2, 4 and 8 in a tile look back to is in registers.
template <class T, class Op>
struct Scan {
  T before1, before2[2], before4[4], before8[8], absent, carry, offset, last;
  Op op;
  int i = 0, tiles = 0;
  __device__ Scan(T absent, T nothing, Op op) : absent(absent), carry(absent), offset(absent), last(nothing), op(op) {}
  template <int distance>
  __device__ __forceinline__ T step(T p, T* before) {
    const T y = i >= distance ? op(before[distance - 1], p) : p;
#pragma unroll
    for (int b = distance - 1; b > 0; --b) before[b] = before[b - 1];
    before[0] = p;
    return y;
  }
  __device__ __forceinline__ T inclusive(T v) {
    const T p = step<8>(step<4>(step<2>(step<1>(v, &before1), before2), before4), before8);
    const T y = op(offset, op(carry, p));
    if (++i == 16) {
      carry = op(carry, p);
      i = 0;
      if (++tiles == 256) {
        offset = op(offset, carry);
        carry = absent;
        tiles = 0;
      }
    }
    return y;
  }
  __device__ __forceinline__ T exclusive(T v) {
    const T y = last;
    last = inclusive(v);
    return y;
  }
};
template <class T, class Op>
__device__ Scan<T, Op> make_scan(T absent, T nothing, Op op) {
  return Scan<T, Op>(absent, nothing, op);
}
template <int distance, class T, class Op>
__device__ __forceinline__ void tile_step(T* p, Op op) {
#pragma unroll
  for (int i = 15; i >= distance; --i) p[i] = op(p[i - distance], p[i]);
}
// A row by a block of 256 threads, a chunk at a time, a tile a thread. `room` holds 256 tiles, each with one item
// between it and the next, and 257 carries.
template <class T, class S, class Op, class F>
__device__ __forceinline__ void scan_row(i64 n, bool exclusive, bool reverse, T absent, T nothing, T* room, Op op, F f, S* out) {
  const int id = threadIdx.x;
  T *const tile = room + 17 * id, *const carry = room + 17 * 256;
  T offset = absent;
  for (i64 first = 0; first < n; first += 4096) {
    for (int e = id; e < 4096; e += 256) {
      const i64 k = first + e;
      room[e + e / 16] = k < n ? f(reverse ? n - 1 - k : k) : absent;
    }
    __syncthreads();
    T p[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) p[i] = tile[i];
    tile_step<1>(p, op);
    tile_step<2>(p, op);
    tile_step<4>(p, op);
    tile_step<8>(p, op);
    carry[id] = p[15];
    __syncthreads();
    if (id == 0) {
      T c = absent;
      for (int t = 0; t < 256; ++t) {
        const T total = carry[t];
        carry[t] = c;
        c = op(c, total);
      }
      carry[256] = c;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) tile[i] = op(offset, op(carry[id], p[i]));
    offset = op(offset, carry[256]);
    __syncthreads();
    for (int e = id; e < 4096; e += 256) {
      const i64 k = first + e + (exclusive ? 1 : 0);
      if (k < n) out[reverse ? n - 1 - k : k] = (S)room[e + e / 16];
    }
    __syncthreads();
  }
  if (exclusive && n > 0 && id == 0) out[reverse ? n - 1 : 0] = (S)nothing;
  __syncthreads();
}
)";
}

}  // namespace ingot::jit::cuda
