#include "array.h"

#include <sys/sysinfo.h>

#include <algorithm>

#include "error.h"

namespace ingot::tool {

int64_t byte_size(const DType& type, std::span<const int64_t> shape, const std::string& what) {
  int64_t bytes = static_cast<int64_t>(type.size());
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  for (const int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes))
      fail(exit_bad_input, what, ": the size of ", type.name, shape_text(shape), " overflows 63 bits");
  return bytes;
}

std::string shape_text(std::span<const int64_t> shape) {
  std::string out = "[";
  for (const int64_t extent : shape) out += (out.size() > 1 ? ", " : "") + std::to_string(extent);
  return out + "]";
}

Array::Array(ingot_dtype type, std::vector<int64_t> shape, const std::string& what)
    : type_(&dtype(type)), shape_(std::move(shape)) {
  const int64_t bytes = byte_size(*type_, shape_, what);
  // Linux would promise the memory and kill the process on use.
  struct sysinfo info {};
  sysinfo(&info);
  const uint64_t machine = static_cast<uint64_t>(info.totalram) * info.mem_unit;
  if (static_cast<uint64_t>(bytes) > machine)
    fail(exit_bad_input, what, ": ", text(), " needs ", bytes, " bytes; this machine has ", machine);
  count_ = static_cast<size_t>(bytes) / type_->size();
  const size_t rounded = (static_cast<size_t>(bytes) + 63) / 64 * 64;
  data_.reset(static_cast<uint8_t*>(std::aligned_alloc(64, std::max<size_t>(rounded, 64))));
  if (!data_) fail(exit_failed, what, ": out of memory for ", text());
}

void Array::make_fortran() {
  strides_.clear();
  int64_t step = 1;
  for (const int64_t extent : shape_) {
    strides_.push_back(step);
    step *= std::max<int64_t>(extent, 1);
  }
}

ingot_tensor Array::tensor() {
  ingot_tensor t{};
  t.data = data_.get();
  t.device = {1, 0};
  t.ndim = static_cast<int32_t>(shape_.size());
  t.dtype = {type_->code, type_->bits, 1};
  t.shape = shape_.data();
  t.strides = strides_.empty() ? nullptr : strides_.data();
  return t;
}

std::string Array::text() const { return cat(type_->name, shape_text(shape_)); }

}  // namespace ingot::tool
