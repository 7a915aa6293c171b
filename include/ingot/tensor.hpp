// Dtypes and tensors for C++: views of the host's memory that runs and constants take. Part of ingot.hpp.
#ifndef INGOT_TENSOR_HPP
#define INGOT_TENSOR_HPP

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ingot/ingot.h"

namespace ingot_cpp {

// What a failed call throws.
class Error : public std::runtime_error {
 public:
  Error(ingot_code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ingot_code code() const noexcept { return code_; }

 private:
  ingot_code code_;
};

// --- dtypes

// The element type of a C++ type: dtype_of<float>::value and ::dlpack(). Integers by their size, so that `long long` is
// i64 too. A host's own 16-bit or 8-bit float can be added by a specialisation.
template <class T>
struct dtype_of {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8, "no dtype has this C++ type; give the ingot_dtype");

 private:
  static constexpr int log2_size = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;

 public:
  static constexpr ingot_dtype value = std::is_same_v<T, bool>       ? INGOT_BOOL
                                       : std::is_floating_point_v<T> ? INGOT_F32 + (log2_size - 2)
                                       : std::is_signed_v<T>         ? INGOT_I8 + log2_size
                                                                     : INGOT_U8 + log2_size;
  static constexpr ingot_dlpack_type dlpack() {
    const int code = std::is_same_v<T, bool> ? 6 : std::is_floating_point_v<T> ? 2 : std::is_signed_v<T> ? 0 : 1;
    return {static_cast<uint8_t>(code), static_cast<uint8_t>(8 * sizeof(T)), 1};
  }
};

// The same of a dtype known at run time; throws INVALID_ARGUMENT for a number that is none.
inline ingot_dlpack_type dlpack_of(ingot_dtype dtype) {
  if (dtype >= INGOT_I8 && dtype <= INGOT_U64)  // four signed sizes, then four unsigned ones
    return {static_cast<uint8_t>(dtype >= INGOT_U8), static_cast<uint8_t>(8 << (dtype - INGOT_I8) % 4), 1};
  switch (dtype) {
    case INGOT_BOOL: return {6, 8, 1};
    case INGOT_F16: return {2, 16, 1};
    case INGOT_BF16: return {4, 16, 1};
    case INGOT_F32: return {2, 32, 1};
    case INGOT_F64: return {2, 64, 1};
    case INGOT_F8E4M3: return {10, 8, 1};
    case INGOT_F8E5M2: return {12, 8, 1};
    case INGOT_C64: return {5, 64, 1};
    case INGOT_C128: return {5, 128, 1};
    default: throw Error(INGOT_INVALID_ARGUMENT, "unknown dtype " + std::to_string(dtype));
  }
}

namespace detail {
// Containers of consecutive items: std::vector, std::array, std::span and the like, but not vector<bool>.
template <class C, class = void>
struct item_of {};
template <class C>
struct item_of<C, std::void_t<decltype(std::declval<C&>().size()), decltype(*std::declval<C&>().data())>> {
  using type = std::remove_reference_t<decltype(*std::declval<C&>().data())>;
};
template <class C>
using item_t = typename item_of<C>::type;

template <class T>
struct Items {
  const T* items;
  size_t count;
  const T* data() const noexcept { return items; }
  size_t size() const noexcept { return count; }
};
}  // namespace detail

// --- tensors

// A device by its number, for Tensor::on() and Context::sync().
inline ingot_device cuda(int32_t number = 0) noexcept { return {2, number}; }

// A view of the host's memory, or a device's, that runs and constants take; owns its shape, borrows the data. The dtype
// is that of the C++ type, or given first. Strides in items, of any sign; none: compact row-major. Of const memory it
// may be an input or a constant, not an output.
class Tensor {
 public:
  template <class T, std::enable_if_t<!std::is_void_v<std::remove_const_t<T>>, int> = 0>
  Tensor(T* data, std::vector<int64_t> shape, std::vector<int64_t> strides = {})
      : Tensor(dtype_of<std::remove_const_t<T>>::dlpack(), data, std::is_const_v<T>, std::move(shape),
               std::move(strides)) {}
  // For dtypes without a C++ type: Tensor(INGOT_F16, bits.data(), {n}).
  template <class T>
  Tensor(ingot_dtype dtype, T* data, std::vector<int64_t> shape, std::vector<int64_t> strides = {})
      : Tensor(dlpack_of(dtype), data, std::is_const_v<T>, std::move(shape), std::move(strides)) {}
  Tensor(ingot_dtype dtype, std::nullptr_t, std::vector<int64_t> shape, std::vector<int64_t> strides = {})
      : Tensor(dlpack_of(dtype), nullptr, false, std::move(shape), std::move(strides)) {}
  // The items of a vector, array or span, compact under `shape`; without one they are of rank 1. Throws
  // INVALID_ARGUMENT unless the shape has as many items.
  template <class C, class Item = detail::item_t<C>>
  explicit Tensor(C& items) : Tensor(items.data(), {static_cast<int64_t>(items.size())}) {}
  template <class C, class Item = detail::item_t<C>>
  Tensor(C& items, std::vector<int64_t> shape) : Tensor(items.data(), std::move(shape)) {
    if (!has_items(items.size()))
      throw Error(INGOT_INVALID_ARGUMENT, "the shape does not have the container's " + std::to_string(items.size()) +
                                              (items.size() == 1 ? " item" : " items"));
  }

  Tensor(const Tensor& o) : shape_(o.shape_), strides_(o.strides_), tensor_(o.tensor_), is_const_(o.is_const_) {
    point();
  }
  Tensor(Tensor&& o) noexcept
      : shape_(std::move(o.shape_)), strides_(std::move(o.strides_)), tensor_(o.tensor_), is_const_(o.is_const_) {
    point();
  }
  Tensor& operator=(Tensor o) noexcept {
    shape_.swap(o.shape_);
    strides_.swap(o.strides_);
    tensor_ = o.tensor_;
    is_const_ = o.is_const_;
    point();
    return *this;
  }
  ~Tensor() = default;

  // The same view, its data being a device's memory, which is never read here: Tensor(pointer, {n}).on(cuda(0)). The
  // pointer is of the items' type: reinterpret_cast<float*>(p) of a CUdeviceptr.
  Tensor on(ingot_device device) const& { return Tensor(*this).on(device); }
  Tensor on(ingot_device device) && {
    tensor_.device = device;
    return std::move(*this);
  }

  const ingot_tensor* get() const noexcept { return &tensor_; }
  const std::vector<int64_t>& shape() const noexcept { return shape_; }
  ingot_device device() const noexcept { return tensor_.device; }
  bool is_const() const noexcept { return is_const_; }

 private:
  Tensor(ingot_dlpack_type type, const void* data, bool is_const, std::vector<int64_t> shape,
         std::vector<int64_t> strides)
      : shape_(std::move(shape)), strides_(std::move(strides)), is_const_(is_const) {
    if (!strides_.empty() && strides_.size() != shape_.size())
      throw Error(INGOT_INVALID_ARGUMENT, "as many strides as extents are needed, or none");
    tensor_ = {const_cast<void*>(data), {1, 0}, static_cast<int32_t>(shape_.size()), type, nullptr, nullptr, 0};
    point();
  }
  void point() noexcept {
    tensor_.shape = shape_.data();
    tensor_.strides = strides_.empty() ? nullptr : strides_.data();
  }
  // Divides instead of multiplying, so that no shape overflows.
  bool has_items(uint64_t left) const noexcept {
    for (const int64_t e : shape_)
      if (e == 0) return left == 0;
    for (const int64_t e : shape_) {
      if (e < 0 || left % static_cast<uint64_t>(e) != 0 || left == 0) return false;
      left /= static_cast<uint64_t>(e);
    }
    return left == 1;
  }

  std::vector<int64_t> shape_, strides_;
  ingot_tensor tensor_;
  bool is_const_;
};

// The tensors of one call, which must outlive it: {&x, &y}, {x, y}, or any container of Tensor or const Tensor*, so
// that their number may be known at run time only.
class Tensors {
 public:
  Tensors() = default;
  Tensors(std::initializer_list<const Tensor*> list) { add_all(list); }
  Tensors(std::initializer_list<Tensor> list) { add_all(list); }
  template <class R, class = decltype(std::begin(std::declval<const R&>()))>
  Tensors(const R& range) {  // NOLINT(google-explicit-constructor): what a run takes
    add_all(range);
  }
  const ingot_tensor* const* data() const noexcept { return list_.data(); }
  // The same as outputs; throws INVALID_ARGUMENT if one is a view of const memory.
  const ingot_tensor* const* outputs() const {
    if (first_const_ < list_.size())
      throw Error(INGOT_INVALID_ARGUMENT, "output " + std::to_string(first_const_) + " is a view of const memory");
    return list_.data();
  }
  size_t size() const noexcept { return list_.size(); }

 private:
  template <class R>
  void add_all(const R& range) {
    for (const auto& t : range) add(t);
  }
  void add(const Tensor& t) { add(&t); }
  void add(const Tensor* t) {
    if (t && t->is_const() && first_const_ == SIZE_MAX) first_const_ = list_.size();
    list_.push_back(t ? t->get() : nullptr);
  }

  std::vector<const ingot_tensor*> list_;
  size_t first_const_ = SIZE_MAX;
};

}  // namespace ingot_cpp

#endif
