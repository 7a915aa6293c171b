#include "jit/strip/scan.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/error.h"

namespace ingot::jit {

using loop::DType;
using loop::Node;
using loop::Prim;

namespace {

constexpr int tile = 16;
constexpr int64_t chunk = 4096;

// Calls f with a value of the C++ type that a scan of this type computes in. Integers wrap, so sums and products of
// them are those of unsigned ones.
template <class F>
auto with_type(DType type, F f) {
  switch (type) {
    case DType::i8: return f(int8_t{});
    case DType::i16: return f(int16_t{});
    case DType::i32: return f(int32_t{});
    case DType::i64: return f(int64_t{});
    case DType::u8: return f(uint8_t{});
    case DType::u16: return f(uint16_t{});
    case DType::u32: return f(uint32_t{});
    case DType::u64: return f(uint64_t{});
    case DType::f32: return f(float{});
    case DType::f64: return f(double{});
    default: bug("a scan of ", ir::name(type));
  }
}

template <class T>
T from_bits(uint64_t bits) {
  T v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}
template <class T>
uint64_t to_bits(T v) {
  uint64_t bits = 0;
  std::memcpy(&bits, &v, sizeof v);
  return bits;
}

template <class T>
T extreme(bool largest) {
  using L = std::numeric_limits<T>;
  if (largest) return L::has_infinity ? -L::infinity() : L::lowest();
  return L::has_infinity ? L::infinity() : L::max();
}

// --- sums and products: tiles of 16 in 16-byte vectors

template <class T>
struct Wide {
  static constexpr int lanes = 16 / static_cast<int>(sizeof(T));
  static constexpr int parts = tile / lanes;
  using Vector [[gnu::vector_size(16)]] = T;
  using Lanes = std::make_integer_sequence<int, lanes>;

  // The last `by` lanes of `lower`, then the first ones of `upper`.
  template <int by, int... i>
  static Vector shifted(Vector lower, Vector upper, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(lower, upper, (lanes - by + i)...);
  }
  template <int... i>
  static Vector turned(Vector v, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(v, v, (lanes - 1 - i)...);
  }
  template <int... i>
  static Vector last_lane(Vector v, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(v, v, (static_cast<void>(i), lanes - 1)...);
  }
  static Vector all(T v) { return v - Vector{}; }  // exact: v - 0 is v, of -0 too
};

struct Sum {
  template <class V>
  static V join(V a, V b) {
    return a + b;
  }
  template <class T>
  static constexpr T absent = std::is_floating_point_v<T> ? static_cast<T>(-0.0) : T{0};
  template <class T>
  static constexpr T nothing = T{0};
};
struct Product {
  template <class V>
  static V join(V a, V b) {
    return a * b;
  }
  template <class T>
  static constexpr T absent = T{1};
  template <class T>
  static constexpr T nothing = T{1};
};

template <class T, class Op, bool exclusive, bool reverse>
class Tiles {
  using W = Wide<T>;
  using V = typename W::Vector;
  using Lanes = typename W::Lanes;

 public:
  explicit Tiles(const ScanState& s)
      : carry_(W::all(from_bits<T>(s.carry))),
        offset_(W::all(from_bits<T>(s.offset))),
        last_(W::all(from_bits<T>(s.last))),
        k_(s.k) {}

  void run(char* items, int64_t count) {
    for (; count >= tile; count -= tile) {
      one(reverse ? items + (count - tile) * int64_t{sizeof(T)} : items);
      if (!reverse) items += tile * sizeof(T);
    }
    if (count == 0) return;
    alignas(16) T rest[tile] = {};
    T* const at = reverse ? rest + tile - count : rest;
    const size_t bytes = static_cast<size_t>(count) * sizeof(T);
    std::memcpy(at, items, bytes);
    one(reinterpret_cast<char*>(rest));
    std::memcpy(items, at, bytes);
  }

  void save(ScanState& s) const {
    s.carry = to_bits(T{carry_[0]});
    s.offset = to_bits(T{offset_[0]});
    s.last = to_bits(T{last_[W::lanes - 1]});
    s.k = k_;
  }

 private:
  template <int by>
  static void step(V (&p)[W::parts]) {
    if constexpr (by >= W::lanes) {
      constexpr int back = by / W::lanes;
      for (int r = W::parts; r-- > back;) p[r] = Op::join(p[r - back], p[r]);
    } else {
      // Where nothing lies `by` elements before, the element is joined with what leaves it as it is.
      const V none = W::all(Op::template absent<T>);
      for (int r = W::parts; r-- > 0;)
        p[r] = Op::join(W::template shifted<by>(r ? p[r - 1] : none, p[r], Lanes{}), p[r]);
    }
  }

  void one(char* at) {
    V p[W::parts];
    std::memcpy(p, at, sizeof p);
    if constexpr (reverse) turn(p);
    step<1>(p);
    step<2>(p);
    step<4>(p);
    step<8>(p);
    const V total = W::last_lane(p[W::parts - 1], Lanes{});
    for (V& v : p) v = Op::join(offset_, Op::join(carry_, v));
    carry_ = Op::join(carry_, total);
    k_ += tile;
    if (k_ % chunk == 0) {
      offset_ = Op::join(offset_, carry_);
      carry_ = W::all(Op::template absent<T>);
    }
    if constexpr (exclusive) {
      const V before = std::exchange(last_, p[W::parts - 1]);
      for (int r = W::parts; r-- > 0;) p[r] = W::template shifted<1>(r ? p[r - 1] : before, p[r], Lanes{});
    }
    if constexpr (reverse) turn(p);
    std::memcpy(at, p, sizeof p);
  }

  static void turn(V (&p)[W::parts]) {
    for (V& v : p) v = W::turned(v, Lanes{});
    for (int r = 0; r < W::parts / 2; ++r) std::swap(p[r], p[W::parts - 1 - r]);
  }

  V carry_, offset_, last_;
  int64_t k_;
};

template <class T, class Op>
void tiles(uint64_t imm, ScanState& state, char* items, int64_t count) {
  const auto run = [&](auto walk) {
    walk.run(items, count);
    walk.save(state);
  };
  switch (imm) {
    case 0: return run(Tiles<T, Op, false, false>(state));
    case loop::scan_exclusive: return run(Tiles<T, Op, true, false>(state));
    case loop::scan_reverse: return run(Tiles<T, Op, false, true>(state));
    default: return run(Tiles<T, Op, true, true>(state));
  }
}

// --- the largest and the smallest: the order does not matter

template <class T>
T more_extreme(bool largest, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a) return a;
    if (b != b) return b;
    // Equal values differ at most as zeros: max takes +0, min -0.
    if (a == b) return std::signbit(a) == largest ? b : a;
  }
  return (a < b) == largest ? b : a;
}

template <class T>
void extremes(const Node& scan, ScanState& state, char* items, int64_t count) {
  const bool largest = scan.op == Prim::scan_max, exclusive = scan.imm & loop::scan_exclusive;
  const int64_t step = scan.imm & loop::scan_reverse ? -int64_t{sizeof(T)} : int64_t{sizeof(T)};
  char* at = step < 0 ? items + (count - 1) * int64_t{sizeof(T)} : items;
  T best = from_bits<T>(state.carry);
  for (; count > 0; --count, at += step) {
    T v;
    std::memcpy(&v, at, sizeof v);
    const T before = best;
    best = more_extreme(largest, best, v);
    std::memcpy(at, exclusive ? &before : &best, sizeof v);
  }
  state.carry = to_bits(best);
}

}  // namespace

void scan_begin(const Node& scan, ScanState& state) {
  with_type(scan.type, [&](auto t) {
    using T = decltype(t);
    state.k = 0;
    switch (scan.op) {
      case Prim::scan_sum:
        state.carry = state.offset = to_bits(Sum::absent<T>);
        state.last = to_bits(Sum::nothing<T>);
        break;
      case Prim::scan_prod: state.carry = state.offset = state.last = to_bits(T{1}); break;
      default: state.carry = to_bits(extreme<T>(scan.op == Prim::scan_max));
    }
  });
}

void scan_items(const Node& scan, ScanState& state, char* items, int64_t count) {
  with_type(scan.type, [&](auto t) {
    using T = decltype(t);
    if (scan.op == Prim::scan_max || scan.op == Prim::scan_min) return extremes<T>(scan, state, items, count);
    using U = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
    if (scan.op == Prim::scan_sum) tiles<U, Sum>(scan.imm, state, items, count);
    else tiles<U, Product>(scan.imm, state, items, count);
  });
}

}  // namespace ingot::jit
