#include "jit/cuda/nodes.h"

namespace ingot::jit::cuda {

// Which k of a row are whose, where a block of threads has the row.
const char* row_prelude() {
  return R"(
// How many blocks of k each of the 8 warps takes.
__device__ __forceinline__ i64 warp_run(i64 blocks) {
  i64 run = 1;
  while (run * 8 < blocks) run *= 2;
  return run;
}
// Calls f with the k of a row that fold_row gives to this thread.
template <class F>
__device__ __forceinline__ void each_in_row(i64 n, F f) {
  const i64 run = warp_run((n + 1023) / 1024) * 1024, begin = (threadIdx.x >> 5) * run;
  const i64 end = begin + run < n ? begin + run : n;
  for (i64 k = begin + (threadIdx.x & 31); k < end; k += 32) f(k);
}
)";
}

// Folds in the order of docs/numerics.md. A warp folds a block of 1,024 k: lane l holds the k that are l modulo 32, so
// that two exchanges make the eight t_j of a group of 64, each in four lanes. What is absent is an identity to the bit,
// and so a tree over 2^m of which some are absent is the tree over the others. Folds whose order does not matter
// (`ordered` false) join first and exchange once a block.
const char* fold_prelude() {
  return R"(
template <class T>
__device__ __forceinline__ T from_lane(T v, int distance) {
  return (T)__shfl_xor_sync(0xffffffffu, +v, distance);  // small integers as i32
}
// The a_j of the block of k in [first, last), in the lanes that are j modulo 8.
template <bool ordered, int groups, class T, class Op, class F>
__device__ __forceinline__ T fold_block(i64 first, i64 last, T absent, Op op, F f) {
  const int lane = threadIdx.x & 31;
  T a = absent;
  for (; first + 64 * groups <= last; first += 64 * groups) {
    T x[2 * groups];
#pragma unroll
    for (int i = 0; i < 2 * groups; ++i) x[i] = f(first + lane + 32 * i);
#pragma unroll
    for (int i = 0; i < 2 * groups; i += 2) {
      T t = op(x[i], x[i + 1]);
      if (ordered) t = op(t, from_lane(t, 16));
      if (ordered) t = op(t, from_lane(t, 8));
      a = op(a, t);
    }
  }
  for (; first < last; first += 64) {
    const T x = first + lane < last ? f(first + lane) : absent;
    const T y = first + lane + 32 < last ? f(first + lane + 32) : absent;
    T t = op(x, y);
    if (ordered) t = op(t, from_lane(t, 16));
    if (ordered) t = op(t, from_lane(t, 8));
    a = op(a, t);
  }
  if (!ordered) a = op(a, from_lane(a, 16));
  if (!ordered) a = op(a, from_lane(a, 8));
  return a;
}
// What the eight a_j give, in all lanes.
template <class T, class Op>
__device__ __forceinline__ T fold_items(T a, Op op) {
  a = op(a, from_lane(a, 4));
  a = op(a, from_lane(a, 2));
  return op(a, from_lane(a, 1));
}
// The tree over values that come one after the other: a binary counter of what waits, each on a step of `stack`.
template <class T, class Op>
struct Tree {
  T* stack;
  int step;
  Op op;
  int depth = 0;
  i64 count = 0;
  __device__ Tree(T* stack, int step, Op op) : stack(stack), step(step), op(op) {}
  __device__ __forceinline__ void push(T a) {
    for (i64 b = count++; b & 1; b >>= 1) a = op(stack[--depth * step], a);
    stack[depth++ * step] = a;
  }
  __device__ __forceinline__ T finish() {
    T a = stack[--depth * step];
    while (depth > 0) a = op(stack[--depth * step], a);
    return a;
  }
};
// A row of at most a block by a warp.
template <bool ordered, int groups, class T, class Op, class F>
__device__ __forceinline__ T fold_warp(i64 n, T absent, T empty, Op op, F f) {
  if (n == 0) return empty;
  return fold_items(fold_block<ordered, groups>((i64)0, n, absent, op, f), op);
}
// The a_j of `blocks` blocks from k = first by the 8 warps, each an aligned run of 2^m of them; in every warp. `room`
// holds 64 items, then 8 stacks of 28 steps of 8.
template <bool ordered, int groups, class T, class Op, class F>
__device__ __forceinline__ T fold_blocks(i64 first, i64 n, T absent, T* room, Op op, F f) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, j = lane & 7;
  const i64 blocks = (n - first + 1023) / 1024, run = warp_run(blocks), begin = warp * run;
  const i64 end = begin + run < blocks ? begin + run : blocks;
  Tree<T, Op> tree(room + 64 + warp * 224 + j, 8, op);
  for (i64 b = begin; b < end; ++b) {
    const i64 at = first + b * 1024;
    const T a = fold_block<ordered, groups>(at, at + 1024 < n ? at + 1024 : n, absent, op, f);
    if (lane < 8) tree.push(a);
  }
  if (lane < 8) room[warp * 8 + j] = begin < end ? tree.finish() : absent;
  __syncthreads();
  T a[8];
#pragma unroll
  for (int w = 0; w < 8; ++w) a[w] = room[w * 8 + j];
  __syncthreads();
  return op(op(op(a[0], a[1]), op(a[2], a[3])), op(op(a[4], a[5]), op(a[6], a[7])));
}
// A row by a block of 8 warps.
template <bool ordered, int groups, class T, class Op, class F>
__device__ __forceinline__ T fold_row(i64 n, T absent, T empty, T* room, Op op, F f) {
  if (n == 0) return empty;
  return fold_items(fold_blocks<ordered, groups>((i64)0, n, absent, room, op, f), op);
}
// Few long rows in two stages. First the a_j of part `part` of a row go to `out`.
template <bool ordered, int groups, class T, class Op, class F>
__device__ __forceinline__ void fold_part(i64 part, i64 items, i64 n, T absent, T* room, char* out, Op op, F f) {
  const i64 first = part * items;
  const T a = fold_blocks<ordered, groups>(first, first + items < n ? first + items : n, absent, room, op, f);
  if (threadIdx.x < 8) reinterpret_cast<T*>(out)[threadIdx.x] = a;
}
// Then the tree over the parts of a row, 32 aligned runs of them at a time. `room` holds 256 items and as many stacks of
// 20 steps.
template <class T, class Op>
__device__ __forceinline__ T join_parts(i64 parts, T absent, T empty, T* room, const char* in, Op op) {
  if (parts == 0) return empty;
  const int run = threadIdx.x >> 3, j = threadIdx.x & 7;
  i64 length = 1;
  while (length * 32 < parts) length *= 2;
  const i64 end = (run + 1) * length < parts ? (run + 1) * length : parts;
  Tree<T, Op> tree(room + 256 + threadIdx.x, 256, op);
  for (i64 p = run * length; p < end; ++p) tree.push(reinterpret_cast<const T*>(in + p * 64)[j]);
  T a = run * length < end ? tree.finish() : absent;
  room[threadIdx.x] = a;
  __syncthreads();
  for (int d = 1; d < 32; d *= 2) {
    if (run % (2 * d) == 0) room[threadIdx.x] = op(room[threadIdx.x], room[threadIdx.x + 8 * d]);
    __syncthreads();
  }
  a = room[j];
  __syncthreads();
  return fold_items(a, op);
}
// Columns: 32 neighbours in the lanes, one j of the groups in each of the 8 warps. The a_j of the k in [first, n).
// `room` holds 256 stacks of as many steps as the blocks of k need.
template <class T, class Op, class F>
__device__ __forceinline__ T fold_column(i64 first, i64 n, T absent, T* room, Op op, F f) {
  const int j = threadIdx.x >> 5;
  if (first >= n) return absent;
  Tree<T, Op> tree(room + threadIdx.x, 256, op);
  for (; first < n; first += 1024) {
    const i64 last = first + 1024 < n ? first + 1024 : n;
    T item = absent;
    for (i64 k = first; k < last; k += 64) {
      T x[8];
      if (k + 64 <= last) {
#pragma unroll
        for (int i = 0; i < 8; ++i) x[i] = f(k + j + 8 * i);
      } else {
#pragma unroll
        for (int i = 0; i < 8; ++i) x[i] = k + j + 8 * i < last ? f(k + j + 8 * i) : absent;
      }
      item = op(item, op(op(op(x[0], x[4]), op(x[2], x[6])), op(op(x[1], x[5]), op(x[3], x[7]))));
    }
    tree.push(item);
  }
  return tree.finish();
}
// What the a_j of the 8 warps give each lane, in all warps. `room` holds 256 items.
template <class T, class Op>
__device__ __forceinline__ T column_items(T item, T* room, Op op) {
  __syncthreads();
  room[threadIdx.x] = item;
  __syncthreads();
  T a[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) a[j] = room[32 * j + (threadIdx.x & 31)];
  __syncthreads();
  return op(op(op(a[0], a[4]), op(a[2], a[6])), op(op(a[1], a[5]), op(a[3], a[7])));
}
// The tree over the parts of a column for this warp's j; `rows` items lie between those of two j.
template <class T, class Op>
__device__ __forceinline__ T join_column(i64 parts, i64 rows, T* room, const T* in, Op op) {
  Tree<T, Op> tree(room + threadIdx.x, 256, op);
  for (i64 p = 0; p < parts; ++p) tree.push(in[(p * 8 + (threadIdx.x >> 5)) * rows]);
  return tree.finish();
}
// The same by one thread.
template <class T, class Op, class F>
__device__ T fold_thread(i64 n, T absent, T empty, Op op, F f) {
  if (n == 0) return empty;
  T a[8], stack[32];
  for (int j = 0; j < 8; ++j) {
    Tree<T, Op> tree(stack, 1, op);
    for (i64 first = j; first < n + j; first += 1024) {
      T item = absent;
      for (i64 k = first; k < first + 1024 && k < n; k += 64) {
        T x[8];
        for (int i = 0; i < 8; ++i) x[i] = k + 8 * i < n ? f(k + 8 * i) : absent;
        item = op(item, op(op(op(x[0], x[4]), op(x[2], x[6])), op(op(x[1], x[5]), op(x[3], x[7]))));
      }
      tree.push(item);
    }
    a[j] = tree.finish();
  }
  return op(op(op(a[0], a[4]), op(a[2], a[6])), op(op(a[1], a[5]), op(a[3], a[7])));
}
)";
}

}  // namespace ingot::jit::cuda
