#include "scans.h"

#include <algorithm>
#include <cmath>

#include "array.h"
#include "folds.h"
#include "narrow.h"
#include "scalar_ops.h"

namespace ingot::oracle {

namespace {

using ir::DType;
using ir::OpCode;

template <class T, class Merge>
std::vector<T> ordered(const std::vector<T>& x, T identity, Merge merge) {
  std::vector<T> y;
  T offset = identity, carry = identity;
  for (size_t first = 0; first < x.size(); first += 16) {
    if (first > 0 && first % 4096 == 0) {  // a new chunk
      offset = merge(offset, carry);
      carry = identity;
    }
    std::vector<T> p(x.begin() + static_cast<ptrdiff_t>(first),
                     x.begin() + static_cast<ptrdiff_t>(std::min(x.size(), first + 16)));
    for (const size_t d : {1, 2, 4, 8}) {
      const std::vector<T> old = p;
      for (size_t i = d; i < p.size(); ++i) p[i] = merge(old[i - d], old[i]);
    }
    for (const T v : p) y.push_back(merge(offset, merge(carry, v)));
    carry = merge(carry, p.back());  // of a shorter tile nothing follows
  }
  return y;
}

template <class T>
std::vector<T> inclusive(OpCode code, DType type, const std::vector<T>& x) {
  constexpr bool real = std::is_floating_point_v<T>;
  switch (code) {
    case OpCode::op_cumsum:
      if constexpr (real) return ordered<T>(x, T{-0.0}, [](T a, T b) { return a + b; });
      return ordered<T>(x, T{0}, [](T a, T b) { return static_cast<T>(uint64_t(a) + uint64_t(b)); });
    case OpCode::op_cumprod:
      if constexpr (real) return ordered<T>(x, T{1}, [](T a, T b) { return a * b; });
      return ordered<T>(x, T{1}, [](T a, T b) { return static_cast<T>(uint64_t(a) * uint64_t(b)); });
    default: {  // of two at a time, which does not depend on the order
      const OpCode of = code == OpCode::op_cummax ? OpCode::op_reduce_max : OpCode::op_reduce_min;
      std::vector<T> y;
      for (const T v : x) {
        const std::vector<uint64_t> two = {to_bits(y.empty() ? v : y.back()), to_bits(v)};
        y.push_back(from_bits<T>(fold(of, type, two)));
      }
      return y;
    }
  }
}

}  // namespace

std::vector<uint64_t> scan(const ir::Op& op, DType type, std::span<const uint64_t> bits) {
  if (is_narrow(type)) {  // in f32, rounded once
    std::vector<uint64_t> wide;
    for (const uint64_t v : bits) wide.push_back(cast(DType::f32, type, v));
    wide = scan(op, DType::f32, wide);
    for (uint64_t& v : wide) v = cast(type, DType::f32, v);
    return wide;
  }
  const bool reverse = attr(op, "reverse").i != 0;
  std::vector<uint64_t> out;
  with_type(type, [&](auto t) {
    using T = decltype(t);
    std::vector<T> x;
    for (const uint64_t v : bits) x.push_back(from_bits<T>(v));
    if (reverse) std::ranges::reverse(x);
    std::vector<T> y = inclusive(op.code, type, x);
    if (attr(op, "exclusive").i != 0 && !y.empty()) {
      y.pop_back();
      const OpCode of = op.code == OpCode::op_cumsum    ? OpCode::op_reduce_sum
                        : op.code == OpCode::op_cumprod ? OpCode::op_reduce_prod
                        : op.code == OpCode::op_cummax  ? OpCode::op_reduce_max
                                                        : OpCode::op_reduce_min;
      y.insert(y.begin(), from_bits<T>(fold(of, type, {})));  // that of nothing
    }
    if (reverse) std::ranges::reverse(y);
    for (const T v : y) out.push_back(to_bits(canonical(v)));
  });
  return out;
}

}  // namespace ingot::oracle
