#include "runtime/routines.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "ir/scalar.h"
#include "runtime/storage.h"

namespace ingot::runtime {

namespace {

using ir::DType;

// Walks the rows of a place: all indices but that along the last dim, in row-major order.
class Rows {
 public:
  // Rows exist only where no extent is 0.
  explicit Rows(const Place& shape) : shape_(shape), dims_(shape.rank > 0 ? shape.rank - 1 : 0) {}

  int64_t length() const { return shape_.rank > 0 ? shape_.extent[dims_] : 1; }
  bool next() {
    for (uint32_t d = dims_; d-- > 0;) {
      if (++index_[d] < shape_.extent[d]) return true;
      index_[d] = 0;
    }
    return false;
  }
  // Where the row begins in a tensor; `skip` names a dim that is not counted.
  char* start(const Place& p, uint32_t skip = ir::max_rank) const {
    char* at = p.data;
    for (uint32_t d = 0; d < dims_; ++d)
      if (d != skip) at += index_[d] * p.stride[d];
    return at;
  }

 private:
  const Place& shape_;
  const uint32_t dims_;
  int64_t index_[ir::max_rank] = {};
};

bool is_half(DType t) { return t == DType::f16 || t == DType::bf16; }

// a + b rounded to the type, which the bits of f16 and bf16 alone do not tell.
template <class T>
T sum(DType type, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    const T v = a + b;
    if (v == v) return v;
    T nan;
    const uint64_t bits = ir::canonical_nan(type);
    std::memcpy(&nan, &bits, sizeof nan);
    return nan;
  } else if (is_half(type)) {
    // As elsewhere: the sum in f32, then rounded.
    const auto wide = static_cast<float>(ir::float_value(type, a)) + static_cast<float>(ir::float_value(type, b));
    return static_cast<T>(ir::float_bits(type, static_cast<double>(wide)));
  } else {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
}

// T is the type in which items lie, I that of the indices.
template <class T, class I>
jit::Fault scatter_items(uint32_t axis, bool add, std::span<const RoutineTensor> tensors) {
  const Place &indices = tensors[1].place, &updates = tensors[2].place, &out = tensors[3].place;
  const DType type = tensors[3].type;
  const int64_t extent = out.extent[axis], step = out.stride[axis];
  const uint32_t last = indices.rank - 1;
  // Along the last dim the place moves with it, unless that is the axis itself.
  const int64_t out_step = axis == last ? 0 : out.stride[last];
  Rows rows(indices);
  if (extent == 0) return {1, whole(get<I>(rows.start(indices))), 0};
  do {
    const char* index_at = rows.start(indices);
    const char* update_at = rows.start(updates);
    char* const to = rows.start(out, axis);
    for (int64_t i = 0; i < rows.length(); ++i) {
      int64_t index = whole(get<I>(index_at + i * indices.stride[last]));
      if (index < 0) index += extent;
      if (index < 0 || index >= extent) return {1, index, extent};
      char* const at = to + i * out_step + index * step;
      T update = get<T>(update_at + i * updates.stride[last]);
      if (type == DType::boolean) update = update != 0;
      put(at, add ? sum(type, get<T>(at), update) : update);
    }
  } while (rows.next());
  return {};
}

}  // namespace

void make_booleans(const Place& p) {
  if (p.empty) return;
  const int64_t step = p.rank > 0 ? p.stride[p.rank - 1] : 0;
  Rows rows(p);
  do {
    char* const row = rows.start(p);
    for (int64_t i = 0; i < rows.length(); ++i) row[i * step] = row[i * step] != 0;
  } while (rows.next());
}

namespace {

jit::Fault scatter(const loop::Routine& routine, std::span<const RoutineTensor> tensors) {
  const Place& out = tensors[3].place;
  copy_strided(tensors[0].place, out, out.item);
  if (tensors[3].type == DType::boolean) make_booleans(out);
  jit::Fault fault;
  if (tensors[1].place.empty) return fault;
  const bool add = routine.op == ir::OpCode::op_scatter_add;
  with_storage(tensors[1].type, [&](auto index) {
    using I = decltype(index);
    if constexpr (std::is_integral_v<I>) {
      // Without addition the size of an item is all that matters.
      const DType type = add             ? tensors[3].type
                         : out.item == 1 ? DType::u8
                         : out.item == 2 ? DType::u16
                         : out.item == 4 ? DType::u32
                                         : DType::u64;
      with_storage(type, [&](auto item) { fault = scatter_items<decltype(item), I>(routine.axis, add, tensors); });
    }
  });
  return fault;
}

// NaN stands behind everything else and equals itself.
template <class T>
bool before(T a, T b) {
  return a < b || (b != b && a == a);
}

// `read` makes a value that compares of an item.
template <class T, class Read>
void search(bool right, std::span<const RoutineTensor> tensors, Read read) {
  const Place &sorted = tensors[0].place, &values = tensors[1].place, &out = tensors[2].place;
  const uint32_t along = sorted.rank - 1;
  const int64_t n = sorted.extent[along], step = sorted.stride[along];
  const uint32_t last = values.rank > 0 ? values.rank - 1 : 0;
  const int64_t value_step = values.rank > 0 ? values.stride[last] : 0,
                out_step = values.rank > 0 ? out.stride[last] : 0;
  Rows rows(values);
  do {
    const char* const data = sorted.rank > 1 ? rows.start(sorted) : sorted.data;
    const char* value_at = rows.start(values);
    char* out_at = rows.start(out);
    for (int64_t i = 0; i < rows.length(); ++i) {
      const auto v = read(get<T>(value_at + i * value_step));
      int64_t low = 0, left = n;
      while (left > 0) {
        const int64_t half = left / 2;
        const auto x = read(get<T>(data + (low + half) * step));
        const bool behind = right ? !before(v, x) : before(x, v);
        low = behind ? low + half + 1 : low;
        left = behind ? left - half - 1 : half;
      }
      put(out_at + i * out_step, low);
    }
  } while (rows.next());
}

void searchsorted(const loop::Routine& routine, std::span<const RoutineTensor> tensors) {
  if (tensors[1].place.empty) return;
  const DType type = tensors[0].type;
  with_storage(type, [&](auto item) {
    using T = decltype(item);
    if constexpr (std::is_same_v<T, uint16_t>)
      if (is_half(type)) return search<T>(routine.right, tensors, [&](T bits) { return ir::float_value(type, bits); });
    search<T>(routine.right, tensors, [](T v) { return v; });
  });
}

}  // namespace

jit::Fault run_routine(const loop::Routine& routine, std::span<const RoutineTensor> tensors, const RunOptions& options,
                       uint64_t& forks) noexcept {
  if (routine.op == ir::OpCode::op_gather) return gather(routine, tensors, options, forks);
  if (routine.op != ir::OpCode::op_searchsorted) return scatter(routine, tensors);
  searchsorted(routine, tensors);
  return {};
}

void Executor::bind_routine(const StepSpec& step, const Workspace& w, std::span<RoutineTensor> tensors,
                            RunCounts& counts) const {
  const size_t operands = loop::operand_count(step.routine);
  for (size_t v = 0; v <= operands; ++v) {
    const loop::ViewBinding& b = step.views[v];
    RoutineTensor& t = tensors[v];
    t = {place_of(b.ref, w), step.routine.types[v]};
    t.place.item = static_cast<uint32_t>(ir::item_size(t.type));
    if (b.compact) {
      t.place.rank = static_cast<uint32_t>(b.shape.size());
      for (uint32_t d = 0; d < t.place.rank; ++d) t.place.extent[d] = w.dims[b.shape[d]];
      make_compact(t.place, t.place.item);
    }
    // What is gathered counts by the times, not by the items that there are.
    const uint64_t bytes = bytes_of(t.place, t.place.item);
    const bool gathers = step.routine.op == ir::OpCode::op_gather;
    if (v == operands) counts.bytes_written += bytes;
    if (gathers ? v > 0 : v < operands) counts.bytes_read += bytes;
  }
  ++counts.launches;
}

jit::Fault Executor::run_routine(const StepSpec& step, const RunOptions& options, Workspace& w,
                                 RunCounts& counts) const {
  const size_t operands = loop::operand_count(step.routine);
  RoutineTensor tensors[4];
  bind_routine(step, w, tensors, counts);
  const auto ask = [&] {
    if (options.cancelled()) fail(Code::cancelled, "the run was cancelled");
  };
  ask();
  const jit::Fault fault = runtime::run_routine(step.routine, std::span(tensors, operands + 1), options, counts.forks);
  if (fault.check != 0) return fault;
  ask();
  for (size_t v = operands + 1; v < step.views.size(); ++v)
    copy_strided(tensors[operands].place, place_of(step.views[v].ref, w), tensors[operands].place.item);
  return fault;
}

}  // namespace ingot::runtime
