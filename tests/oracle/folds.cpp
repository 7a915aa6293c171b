#include "folds.h"

#include <array>
#include <cmath>
#include <type_traits>

#include "array.h"
#include "narrow.h"
#include "scalar_ops.h"

namespace ingot::oracle {

namespace {

using ir::DType;
using ir::OpCode;

// The one order of float sums and products. `identity` is that of absent elements: -0.0 or 1.0.
template <class T, class Merge>
T ordered(std::span<const uint64_t> x, T identity, Merge merge) {
  const size_t n = x.size();
  const auto element = [&](size_t k) { return k < n ? from_bits<T>(x[k]) : identity; };
  using Eight = std::array<T, 8>;
  // The sum of the blocks [first, first + count), count a power of two, is a complete binary tree over them; the rest
  // of the blocks is such trees of falling size, folded from the smallest upwards.
  const auto block = [&](size_t b) {
    Eight a;
    a.fill(identity);
    for (size_t g = 0; g < 16; ++g)
      for (size_t j = 0; j < 8; ++j) {
        const size_t k = b * 1024 + g * 64 + j;
        const T low = merge(merge(element(k), element(k + 32)), merge(element(k + 16), element(k + 48)));
        const T high = merge(merge(element(k + 8), element(k + 40)), merge(element(k + 24), element(k + 56)));
        a[j] = merge(a[j], merge(low, high));
      }
    return a;
  };
  const auto both = [&](const Eight& a, const Eight& b) {
    Eight out;
    for (size_t j = 0; j < 8; ++j) out[j] = merge(a[j], b[j]);
    return out;
  };
  const auto tree = [&](const auto& self, size_t first, size_t count) -> Eight {
    if (count == 1) return block(first);
    return both(self(self, first, count / 2), self(self, first + count / 2, count / 2));
  };
  const size_t blocks = (n + 1023) / 1024;
  std::vector<Eight> whole;
  size_t first = 0;
  for (size_t bit = size_t{1} << 40; bit > 0; bit /= 2)
    if (blocks & bit) {
      whole.push_back(tree(tree, first, bit));
      first += bit;
    }
  Eight a = whole.back();
  for (size_t i = whole.size() - 1; i-- > 0;) a = both(whole[i], a);
  return merge(merge(merge(a[0], a[4]), merge(a[2], a[6])), merge(merge(a[1], a[5]), merge(a[3], a[7])));
}

template <class T>
T sum(std::span<const uint64_t> x) {
  if constexpr (std::is_floating_point_v<T>) {
    return x.empty() ? T{0} : ordered<T>(x, T{-0.0}, [](T a, T b) { return a + b; });
  } else {
    uint64_t s = 0;
    for (const uint64_t v : x) s += v;
    return static_cast<T>(s);
  }
}

template <class T>
T product(std::span<const uint64_t> x) {
  if constexpr (std::is_floating_point_v<T>) {
    return x.empty() ? T{1} : ordered<T>(x, T{1}, [](T a, T b) { return a * b; });
  } else {
    uint64_t p = 1;
    for (const uint64_t v : x) p *= v;
    return static_cast<T>(p);
  }
}

// The larger (or smaller, by sign): NaN if there is one, -0 below +0. `none` is the identity.
template <class T>
T extreme(std::span<const uint64_t> x, bool largest) {
  T best;
  if constexpr (std::is_floating_point_v<T>)
    best = largest ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
  else best = largest ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  for (const uint64_t bits : x) {
    const T v = from_bits<T>(bits);
    if (v != v) return v;
    bool better = largest ? v > best : v < best;
    if constexpr (std::is_floating_point_v<T>)
      better = better || (v == 0 && best == 0 && std::signbit(best) == largest && std::signbit(v) != largest);
    if (better) best = v;
  }
  return best;
}

// f16 and bf16 accumulate in f32.
std::vector<uint64_t> widened(DType type, std::span<const uint64_t> x) {
  std::vector<uint64_t> out;
  for (const uint64_t v : x) out.push_back(cast(DType::f32, type, v));
  return out;
}

}  // namespace

uint64_t fold(OpCode code, DType type, std::span<const uint64_t> k) {
  if (code == OpCode::op_reduce_any || code == OpCode::op_reduce_all) {
    const bool any = code == OpCode::op_reduce_any;
    for (const uint64_t v : k)
      if ((v != 0) == any) return any;
    return !any;
  }
  if (is_narrow(type)) return cast(type, DType::f32, fold(code, DType::f32, widened(type, k)));
  return with_type(type, [&](auto t) {
    using T = decltype(t);
    T out{};
    switch (code) {
      case OpCode::op_reduce_sum: out = sum<T>(k); break;
      case OpCode::op_reduce_prod: out = product<T>(k); break;
      case OpCode::op_reduce_max: out = extreme<T>(k, true); break;
      case OpCode::op_reduce_min: out = extreme<T>(k, false); break;
      case OpCode::op_reduce_mean:
        if constexpr (std::is_floating_point_v<T>) out = sum<T>(k) / static_cast<T>(k.size());
        break;
      default: bug("no reduction");
    }
    return to_bits(canonical(out));
  });
}

uint64_t dot(DType type, std::span<const uint64_t> a, std::span<const uint64_t> b) {
  if (is_narrow(type)) return cast(type, DType::f32, dot(DType::f32, widened(type, a), widened(type, b)));
  return with_type(type, [&](auto t) {
    using T = decltype(t);
    if constexpr (std::is_floating_point_v<T>) {
      if (a.empty()) return to_bits(T{0});
      T total{-0.0};
      for (size_t first = 0; first < a.size(); first += 256) {
        T p{-0.0};
        for (size_t k = first; k < std::min(a.size(), first + 256); ++k)
          p = std::fma(from_bits<T>(a[k]), from_bits<T>(b[k]), p);
        total = total + p;
      }
      return to_bits(canonical(total));
    } else {
      uint64_t s = 0;
      for (size_t k = 0; k < a.size(); ++k)
        s += static_cast<uint64_t>(from_bits<T>(a[k])) * static_cast<uint64_t>(from_bits<T>(b[k]));
      return to_bits(static_cast<T>(s));
    }
  });
}

}  // namespace ingot::oracle
