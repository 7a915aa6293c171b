// Gathers of whole rows: every index names a run of the inner dims, which is copied. A kernel would compute the address
// of each element, which costs ten times the copy.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "runtime/routines.h"
#include "runtime/storage.h"

namespace ingot::runtime {

namespace {

// Bytes of one task, about: enough to hide what claiming it costs.
constexpr int64_t task_bytes = 1 << 18;

int64_t index_at(const char* p, ir::DType type) {
  int64_t index = 0;
  with_storage(type, [&](auto zero) {
    if constexpr (std::is_integral_v<decltype(zero)>) index = whole(get<decltype(zero)>(p));
  });
  return index;
}

class Gather {
 public:
  // Dims of the result: `axis` outer ones of the data, those of the indices, the inner ones of the data.
  Gather(uint32_t axis, std::span<const RoutineTensor> tensors)
      : axis_(axis),
        data_(tensors[0].place),
        indices_(tensors[1].place),
        out_(tensors[2].place),
        index_type_(tensors[1].type),
        boolean_(tensors[2].type == ir::DType::boolean) {
    const uint32_t inner = axis + indices_.rank;  // of the result
    const auto part = [&](const Place& of, uint32_t first) {
      Place p;
      p.item = of.item;
      p.compact = false;  // whole_ tells
      p.rank = of.rank - first;
      std::copy_n(of.extent + first, p.rank, p.extent);
      std::copy_n(of.stride + first, p.rank, p.stride);
      return p;
    };
    from_ = part(data_, axis + 1);
    to_ = part(out_, inner);
    Place compact = from_;
    make_compact(compact, compact.item);
    whole_ = std::equal(from_.stride, from_.stride + from_.rank, compact.stride) &&
             std::equal(to_.stride, to_.stride + to_.rank, compact.stride);
    bytes_ = static_cast<int64_t>(bytes_of(from_, from_.item));
    rows_ = 1;
    for (uint32_t d = 0; d < inner; ++d) rows_ *= out_.extent[d];
  }

  // The first index, in row-major order, that is none.
  jit::Fault fault() const {
    int64_t count = 1;
    for (uint32_t d = 0; d < indices_.rank; ++d) count *= indices_.extent[d];
    const int64_t extent = data_.extent[axis_];
    for (int64_t i = 0; i < count; ++i) {
      int64_t index = index_at(index_place(i), index_type_);
      if (index < 0) index += extent;
      if (index < 0 || index >= extent) return {1, index, extent};
    }
    return {};
  }

  bool empty() const { return rows_ == 0 || bytes_ == 0; }
  int64_t rows() const { return rows_; }
  int64_t rows_of_task() const { return std::max<int64_t>(1, task_bytes / std::max<int64_t>(bytes_, 1)); }

  // Rows [first, last) of the result in row-major order. All indices are inside.
  void copy(int64_t first, int64_t last) const {
    const uint32_t rank = axis_ + indices_.rank;
    int64_t at[ir::max_rank];
    for (int64_t d = rank, rest = first; d-- > 0; rest /= out_.extent[d]) at[d] = rest % out_.extent[d];
    for (int64_t row = first; row < last; ++row) {
      const char* from = data_.data;
      const char* index_from = indices_.data;
      char* to = out_.data;
      for (uint32_t d = 0; d < rank; ++d) {
        to += at[d] * out_.stride[d];
        if (d < axis_) from += at[d] * data_.stride[d];
        else index_from += at[d] * indices_.stride[d - axis_];
      }
      int64_t index = index_at(index_from, index_type_);
      if (index < 0) index += data_.extent[axis_];
      move(from + index * data_.stride[axis_], to);
      for (uint32_t d = rank; d > 0; --d) {
        if (++at[d - 1] < out_.extent[d - 1]) break;
        at[d - 1] = 0;
      }
    }
  }

 private:
  const char* index_place(int64_t i) const {
    const char* at = indices_.data;
    for (uint32_t d = indices_.rank; d-- > 0; i /= indices_.extent[d])
      at += i % indices_.extent[d] * indices_.stride[d];
    return at;
  }

  void move(const char* from, char* to) const {
    if (!whole_) {
      Place source = from_, target = to_;
      source.data = const_cast<char*>(from);  // only read
      target.data = to;
      copy_strided(source, target, from_.item);
      if (boolean_) make_booleans(target);
    } else if (boolean_) {
      for (int64_t i = 0; i < bytes_; ++i) to[i] = from[i] != 0;
    } else {
      std::memcpy(to, from, static_cast<size_t>(bytes_));
    }
  }

  const uint32_t axis_;
  const Place &data_, &indices_, &out_;
  const ir::DType index_type_;
  const bool boolean_;
  Place from_, to_;  // a row, but for where it begins
  bool whole_;       // both are compact
  int64_t bytes_, rows_;
};

}  // namespace

jit::Fault gather(const loop::Routine& routine, std::span<const RoutineTensor> tensors, const RunOptions& options,
                  uint64_t& forks) noexcept {
  const Gather work(routine.axis, tensors);
  if (work.empty()) return {};
  if (const jit::Fault fault = work.fault(); fault.check != 0) return fault;
  const int64_t each = work.rows_of_task(), pieces = (work.rows() + each - 1) / each;
  struct Shared {
    const Gather& work;
    const RunOptions& options;
    int64_t each, rows;
    std::atomic<int64_t> next{0};
  } shared{work, options, each, work.rows()};
  // Each task claims pieces until none is left.
  const Parallel::Task task = [](void* context, uint32_t) {
    auto& s = *static_cast<Shared*>(context);
    while (!s.options.cancelled()) {
      const int64_t first = s.next.fetch_add(s.each, std::memory_order_relaxed);
      if (first >= s.rows) return;
      s.work.copy(first, std::min(s.rows, first + s.each));
    }
  };
  const auto tasks = static_cast<uint32_t>(std::min<int64_t>(pieces, width_of(options)));
  if (tasks > 1) {
    ++forks;
    options.parallel->run(tasks, task, &shared);
  } else {
    task(&shared, 0);
  }
  return {};
}

}  // namespace ingot::runtime
