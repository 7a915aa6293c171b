#include "host.h"

#include <algorithm>
#include <cstring>

namespace ingot::oracle {

namespace {
constexpr uint8_t poison = 0xa5;
// Bytes before and after, to see what a kernel writes there.
constexpr size_t margin = 192;
}  // namespace

std::string_view name(Layout layout) {
  switch (layout) {
    case Layout::compact: return "compact";
    case Layout::unaligned: return "unaligned";
    case Layout::strided: return "strided";
    case Layout::negative: return "negative";
    case Layout::transposed: return "transposed";
    default: return "broadcast";
  }
}

void HostTensor::lay_out(Layout layout) {
  const size_t rank = shape_.size();
  item_ = ir::item_size(dtype_);
  const auto item = static_cast<int64_t>(item_);
  strides_.assign(rank, 0);
  int64_t step = layout == Layout::strided ? 3 : 1;
  for (size_t i = 0; i < rank; ++i) {
    const size_t d = layout == Layout::transposed ? i : rank - 1 - i;
    if (layout == Layout::broadcast && d == rank - 1) continue;
    strides_[d] = step;
    step = step * std::max<int64_t>(shape_[d], 1) + (layout == Layout::strided ? 5 : 0);
  }
  int64_t low = 0, high = 0;
  for (size_t d = 0; d < rank; ++d) {
    if (layout == Layout::negative) strides_[d] = -strides_[d];
    const int64_t reach = strides_[d] * std::max<int64_t>(shape_[d] - 1, 0);
    (reach < 0 ? low : high) += reach;
  }
  memory_.assign(static_cast<size_t>((high - low + 1) * item) + 2 * margin + 64, poison);
  const size_t align = (64 - reinterpret_cast<uintptr_t>(memory_.data()) % 64) % 64;
  base_ = align + margin + static_cast<size_t>(-low * item);
  if (layout == Layout::unaligned) base_ += 1;
  tensor_ = {memory_.data(),
             {runtime::device_cpu, 0},
             static_cast<int32_t>(rank),
             runtime::to_dlpack(dtype_),
             shape_.data(),
             layout == Layout::compact || layout == Layout::unaligned ? nullptr : strides_.data(),
             base_};
}

template <class F>
void HostTensor::each(F f) const {
  if (element_count(shape_) == 0) return;
  std::vector<int64_t> index(shape_.size(), 0);
  for (;;) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * strides_[d];
    f(static_cast<size_t>(static_cast<int64_t>(base_) + at * static_cast<int64_t>(item_)));
    size_t d = index.size();
    for (; d > 0; --d) {
      if (++index[d - 1] < shape_[d - 1]) break;
      index[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

HostTensor::HostTensor(const Array& contents, Layout layout) : dtype_(contents.dtype), shape_(contents.shape) {
  lay_out(layout);
  size_t n = 0;
  each([&](size_t at) {
    uint64_t bits = contents.bits[n];
    if (dtype_ == ir::DType::boolean && bits) bits = n % 3 == 0 ? 1 : n % 3 == 1 ? 0x80 : 0xff;
    std::memcpy(&memory_[at], &bits, item_);
    ++n;
  });
  before_ = memory_;
}

HostTensor::HostTensor(ir::DType dtype, std::vector<int64_t> shape, Layout layout)
    : dtype_(dtype), shape_(std::move(shape)) {
  lay_out(layout);
  before_ = memory_;
  own_.assign(memory_.size(), 0);
  each([&](size_t at) { std::memset(&own_[at], 1, item_); });
}

Array HostTensor::read_raw() const {
  Array out{dtype_, shape_, {}};
  out.bits.reserve(element_count(shape_));
  each([&](size_t at) {
    uint64_t bits = 0;
    std::memcpy(&bits, &memory_[at], item_);
    out.bits.push_back(bits);
  });
  return out;
}

Array HostTensor::read() const {
  Array out = read_raw();
  if (dtype_ == ir::DType::boolean)
    for (uint64_t& b : out.bits) b = b != 0;
  return out;
}

bool HostTensor::strayed() const {
  if (own_.empty()) return memory_ != before_;
  for (size_t i = 0; i < memory_.size(); ++i)
    if (memory_[i] != before_[i] && !own_[i]) return true;
  return false;
}

namespace {

std::string value_text(ir::DType t, uint64_t bits) {
  std::string hex;
  for (int shift = static_cast<int>(8 * ir::item_size(t)) - 4; shift >= 0; shift -= 4)
    hex += "0123456789abcdef"[bits >> shift & 15];
  if (t == ir::DType::f32) return cat("0x", hex, " (", static_cast<double>(from_bits<float>(bits)), ")");
  if (t == ir::DType::f64) return cat("0x", hex, " (", from_bits<double>(bits), ")");
  return cat("0x", hex);
}

}  // namespace

std::string difference(const Array& want, const Array& got) {
  if (want.dtype != got.dtype) return cat("dtype ", ir::name(got.dtype), ", expected ", ir::name(want.dtype));
  if (want.shape != got.shape) return "another shape";
  size_t wrong = 0, first = 0;
  for (size_t i = want.bits.size(); i-- > 0;)
    if (want.bits[i] != got.bits[i]) {
      ++wrong;
      first = i;
    }
  if (wrong == 0) return {};
  std::string shape;
  for (const int64_t e : want.shape) shape += cat(shape.empty() ? "" : "x", e);
  return cat(wrong, " of ", want.bits.size(), " elements of ", ir::name(want.dtype), "[", shape, "] differ, first at ",
             first, ": ", value_text(want.dtype, got.bits[first]), ", expected ",
             value_text(want.dtype, want.bits[first]));
}

}  // namespace ingot::oracle
