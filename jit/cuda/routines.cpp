#include "jit/cuda/routines.h"

#include <algorithm>

#include "base/error.h"
#include "jit/cuda/kinds.h"
#include "jit/cuda/nodes.h"
#include "loop/rules.h"

namespace ingot::jit::cuda {

namespace {

using ir::DType;
using ir::OpCode;
using loop::Routine;

bool is_scatter(const Routine& r) { return r.op == OpCode::op_scatter || r.op == OpCode::op_scatter_add; }

// What all of them need: strided places, and indices that count from the end.
constexpr const char* common = R"(
struct Place {
  char* data;
  i64 extent[16], stride[16], rank;
};
struct Args {
  Place operand[3], result;
  i64 axis;
  Fault* fault;
};

__device__ __forceinline__ i64 items(const Place& p) {
  i64 n = 1;
  for (i64 d = 0; d < p.rank; ++d) n *= p.extent[d];
  return n;
}
// An index as it is looked up: what no i64 is stays out of range.
__device__ __forceinline__ i64 whole(Index v) { return (Index)-1 > 0 && (u64)v > 0x7fffffffffffffffull ? 0x7fffffffffffffffll : (i64)v; }
__device__ __forceinline__ i64 from_end(i64 index, i64 extent) { return index < 0 ? index + extent : index; }
)";

constexpr const char* gather = R"(
// One thread copies one item.
extern "C" __global__ void __launch_bounds__(256) ingot_gather(const Args a) {
  const Place &data = a.operand[0], &indices = a.operand[1], &out = a.result;
  const i64 total = items(out), extent = data.extent[a.axis];
  for (i64 r = blockIdx.x * 256ll + threadIdx.x; r < total; r += gridDim.x * 256ll) {
    const char *from = data.data, *index_at = indices.data;
    char* to = out.data;
    i64 rest = r;
    for (i64 d = out.rank - 1; d >= 0; --d) {
      const i64 i = rest % out.extent[d];
      rest /= out.extent[d];
      to += i * out.stride[d];
      if (d < a.axis) from += i * data.stride[d];
      else if (d < a.axis + indices.rank) index_at += i * indices.stride[d - a.axis];
      else from += i * data.stride[d - indices.rank + 1];
    }
    const i64 index = from_end(whole(at<Index>(index_at)), extent);
    if (check(a.fault, 0, true, index, extent)) {
      const Item item = at<Item>(from + index * data.stride[a.axis]);
      *reinterpret_cast<Item*>(to) = stored(item);
    }
  }
}
)";

constexpr const char* scatter = R"(
// The operand, one thread an item.
extern "C" __global__ void __launch_bounds__(256) ingot_copy(const Args a) {
  const Place &data = a.operand[0], &out = a.result;
  const i64 total = items(out);
  for (i64 r = blockIdx.x * 256ll + threadIdx.x; r < total; r += gridDim.x * 256ll) {
    i64 rest = r, from = 0, to = 0;
    for (i64 d = out.rank - 1; d >= 0; --d) {
      const i64 i = rest % out.extent[d];
      rest /= out.extent[d];
      from += i * data.stride[d];
      to += i * out.stride[d];
    }
    *reinterpret_cast<Item*>(out.data + to) = stored(at<Item>(data.data + from));
  }
}

// One thread walks the updates along the axis, in their order, which is part of the result.
extern "C" __global__ void __launch_bounds__(256) ingot_scatter(const Args a) {
  const Place &indices = a.operand[1], &updates = a.operand[2], &out = a.result;
  const i64 along = indices.extent[a.axis], extent = out.extent[a.axis];
  if (along == 0) return;
  const i64 lines = items(indices) / along;
  for (i64 r = blockIdx.x * 256ll + threadIdx.x; r < lines; r += gridDim.x * 256ll) {
    i64 rest = r;
    const char *index_at = indices.data, *update_at = updates.data;
    char* to = out.data;
    for (i64 d = indices.rank - 1; d >= 0; --d) {
      if (d == a.axis) continue;
      const i64 i = rest % indices.extent[d];
      rest /= indices.extent[d];
      index_at += i * indices.stride[d];
      update_at += i * updates.stride[d];
      to += i * out.stride[d];
    }
    for (i64 i = 0; i < along; ++i) {
      const i64 index = from_end(whole(at<Index>(index_at + i * indices.stride[a.axis])), extent);
      if (!check(a.fault, 0, true, index, extent)) continue;
      char* const place = to + index * out.stride[a.axis];
      const Item update = stored(at<Item>(update_at + i * updates.stride[a.axis]));
      *reinterpret_cast<Item*>(place) = merged(at<Item>(place), update);
    }
  }
}
)";

constexpr const char* search = R"(
// One thread searches for one value. NaN stands behind everything else and equals itself.
template <class T>
__device__ __forceinline__ bool before(T a, T b) {
  return a < b || (b != b && a == a);
}
extern "C" __global__ void __launch_bounds__(256) ingot_search(const Args a) {
  const Place &sorted = a.operand[0], &values = a.operand[1], &out = a.result;
  const i64 total = items(out), last = sorted.rank - 1;
  for (i64 r = blockIdx.x * 256ll + threadIdx.x; r < total; r += gridDim.x * 256ll) {
    i64 rest = r;
    const char *data = sorted.data, *value_at = values.data;
    char* to = out.data;
    for (i64 d = out.rank - 1; d >= 0; --d) {
      const i64 i = rest % out.extent[d];
      rest /= out.extent[d];
      if (last > 0 && d < last) data += i * sorted.stride[d];
      value_at += i * values.stride[d];
      to += i * out.stride[d];
    }
    const auto v = number(at<Item>(value_at));
    i64 low = 0, left = sorted.extent[last];
    while (left > 0) {
      const i64 half = left / 2;
      const auto x = number(at<Item>(data + (low + half) * sorted.stride[last]));
      const bool behind = right ? !before(v, x) : before(x, v);
      low = behind ? low + half + 1 : low;
      left = behind ? left - half - 1 : half;
    }
    *reinterpret_cast<i64*>(to) = low;
  }
}
)";

const char* format_of(DType t) { return t == DType::f16 ? "F16" : "BF16"; }
bool is_half(DType t) { return t == DType::f16 || t == DType::bf16; }

// What a + b is in the type, which the items' own type does not tell.
std::string sum_of(DType t) {
  if (is_half(t)) return cat(format_of(t), "::narrow(", format_of(t), "::widen(a) + ", format_of(t), "::widen(b))");
  if (ir::is_float(t)) return "canon(a + b)";
  return "(Item)((u64)a + (u64)b)";
}

}  // namespace

std::string routine_text(const Routine& r) {
  const DType item = r.types[0];
  std::string text = "// Generated by Ingot; compile with -fmad=false.\n";
  text += prelude();
  if (loop::is_narrow(item)) text += narrow_prelude();
  text += check_prelude();
  const bool searches = r.op == OpCode::op_searchsorted;
  text += cat("typedef ", storage_name(item), " Item;\ntypedef ", searches ? "i64" : storage_name(r.types[1]),
              " Index;\n", common);
  if (searches) {
    text += is_half(item)
                ? cat("__device__ __forceinline__ float number(Item v) { return ", format_of(item), "::widen(v); }\n")
                : std::string("__device__ __forceinline__ Item number(Item v) { return v; }\n");
    return cat(text, "static const bool right = ", r.right, ";\n", search);
  }
  text +=
      cat("__device__ __forceinline__ Item stored(Item v) { return ", item == DType::boolean ? "v != 0" : "v", "; }\n");
  if (r.op == OpCode::op_gather) return text + gather;
  if (!is_scatter(r)) fail(Code::unimplemented, "CUDA text for ", ir::op_info(r.op)->name);
  text += cat("__device__ __forceinline__ Item merged(Item a, Item b) { return ",
              r.op == OpCode::op_scatter_add ? sum_of(item) : "b", "; }\n");
  return text + scatter;
}

std::vector<const char*> routine_entries(const Routine& r) {
  if (r.op == OpCode::op_gather) return {"ingot_gather"};
  if (r.op == OpCode::op_searchsorted) return {"ingot_search"};
  return {"ingot_copy", "ingot_scatter"};
}

LaunchPlan plan_routine(const Routine& r, const RoutineArgs& args, const DeviceLimits& limits) {
  LaunchPlan plan;
  const auto items = [](const RoutinePlace& p) {
    uint64_t n = 1;
    for (int64_t d = 0; d < p.rank; ++d) n *= static_cast<uint64_t>(p.extent[d]);
    return n;
  };
  const auto add = [&](uint32_t entry, uint64_t threads) {
    if (threads == 0) return;
    const uint64_t blocks =
        std::min((threads + block_threads - 1) / block_threads, uint64_t{blocks_each} * limits.multiprocessors);
    plan.stages[plan.count++] = {entry, static_cast<uint32_t>(blocks), block_threads};
  };
  add(0, items(args.result));
  if (is_scatter(r)) {
    const int64_t along = args.operand[1].extent[args.axis];
    add(1, along > 0 ? items(args.operand[1]) / static_cast<uint64_t>(along) : 0);
  }
  return plan;
}

}  // namespace ingot::jit::cuda
