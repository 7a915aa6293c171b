// Folds along the lanes, into the eight items of an accumulator block (NUMERICS.md, "Sum and product").
#include "jit/interp/lanes.h"
#include "jit/interp/tables.h"

namespace ingot::jit::interp::INGOT_ISA {

namespace {

constexpr int64_t group = 64;

// Eight items side by side. Wider than a register of the baseline, where the compiler takes several.
template <class T>
struct Eight {
  using type [[gnu::vector_size(8 * sizeof(T))]] = T;
  using memory [[gnu::vector_size(8 * sizeof(T)), gnu::aligned(1), gnu::may_alias]] = T;
};

template <bool product, class V>
inline __attribute__((always_inline)) V join(V a, V b) {
  if constexpr (product) return a * b;
  else return a + b;
}

// a_j joined with t_j = ((x_j + x_{j+32}) + (x_{j+16} + x_{j+48})) + ((x_{j+8} + x_{j+40}) + (x_{j+24} + x_{j+56})).
template <class T, bool product, class V>
inline __attribute__((always_inline)) V add_group(V a, const char* src) {
  const auto x = [src](int i) __attribute__((always_inline)) -> V {  // items 8 * i to 8 * i + 7
    return *reinterpret_cast<const typename Eight<T>::memory*>(src + i * int64_t{sizeof(V)});
  };
  const V low = join<product>(join<product>(x(0), x(4)), join<product>(x(2), x(6)));
  const V high = join<product>(join<product>(x(1), x(5)), join<product>(x(3), x(7)));
  return join<product>(a, join<product>(low, high));
}

template <class T, bool product>
void ordered(int64_t, int64_t valid, const char* src, char* acc) {
  typename Eight<T>::type a;
  __builtin_memcpy(&a, acc, sizeof a);
  const int64_t whole = valid / group * group;
  for (int64_t i = 0; i < whole; i += group) a = add_group<T, product>(a, src + i * int64_t{sizeof(T)});
  if (whole < valid) {
    T last[group];
    for (T& x : last) x = product ? static_cast<T>(1) : static_cast<T>(-0.0);
    __builtin_memcpy(last, src + whole * int64_t{sizeof(T)}, static_cast<uint64_t>(valid - whole) * sizeof(T));
    a = add_group<T, product>(a, reinterpret_cast<const char*>(last));
  }
  __builtin_memcpy(acc, &a, sizeof a);
}

// The folds without an order: `wide` partial results, so that the loop over them vectorises, then eight. `none` is the
// identity, for the lanes that a last short run lacks.
template <class T, class F>
inline void unordered(int64_t valid, const char* src, char* acc, T none, F f) {
  constexpr int64_t wide = 64;
  const auto x = reinterpret_cast<ConstItems<T>>(src);
  T part[wide];
  const int64_t first = valid < wide ? valid : wide;
  for (int64_t j = 0; j < first; ++j) part[j] = x[j];
  for (int64_t j = first; j < wide; ++j) part[j] = none;
  int64_t i = wide;
  for (; i + wide <= valid; i += wide)
    INGOT_LANES for (int64_t j = 0; j < wide; ++j) part[j] = f(part[j], static_cast<T>(x[i + j]));
  if (i < valid) {
    T last[wide];
    for (int64_t j = 0; j < valid - i; ++j) last[j] = x[i + j];
    for (int64_t j = valid - i; j < wide; ++j) last[j] = none;
    INGOT_LANES for (int64_t j = 0; j < wide; ++j) part[j] = f(part[j], last[j]);
  }
  INGOT_LANES for (int64_t j = 0; j < 32; ++j) part[j] = f(part[j], part[j + 32]);
  INGOT_LANES for (int64_t j = 0; j < 16; ++j) part[j] = f(part[j], part[j + 16]);
  T a[8];
  __builtin_memcpy(a, acc, sizeof a);
  INGOT_LANES for (int64_t j = 0; j < 8; ++j) a[j] = f(a[j], f(part[j], part[j + 8]));
  __builtin_memcpy(acc, a, sizeof a);
}

template <class T>
inline constexpr T largest = static_cast<T>(is_signed<T> ? (Wrapped<T>{1} << (8 * sizeof(T) - 1)) - 1 : ~Wrapped<T>{0});
template <class T>
inline constexpr T smallest = static_cast<T>(is_signed<T> ? Wrapped<T>{1} << (8 * sizeof(T) - 1) : Wrapped<T>{0});

template <class T>
FoldFn table(loop::Prim prim) {
  using loop::Prim;
  using W = Wrapped<T>;
  switch (prim) {
    case Prim::fold_sum:
      return [](int64_t, int64_t valid, const char* src, char* acc) {
        unordered<T>(valid, src, acc, 0,
                     [](T a, T b) -> T { return static_cast<T>(static_cast<W>(a) + static_cast<W>(b)); });
      };
    case Prim::fold_prod:
      return [](int64_t, int64_t valid, const char* src, char* acc) {
        unordered<T>(valid, src, acc, 1,
                     [](T a, T b) -> T { return static_cast<T>(static_cast<W>(a) * static_cast<W>(b)); });
      };
    case Prim::fold_min:
      return [](int64_t, int64_t valid, const char* src, char* acc) {
        unordered<T>(valid, src, acc, largest<T>, [](T a, T b) -> T { return a < b ? a : b; });
      };
    case Prim::fold_max:
      return [](int64_t, int64_t valid, const char* src, char* acc) {
        unordered<T>(valid, src, acc, smallest<T>, [](T a, T b) -> T { return a > b ? a : b; });
      };
    default: return nullptr;
  }
}

template <class T>
FoldFn float_table(loop::Prim prim) {
  using loop::Prim;
  static constexpr T infinity = static_cast<T>(__builtin_inf());
  switch (prim) {
    case Prim::fold_sum: return &ordered<T, false>;
    case Prim::fold_prod: return &ordered<T, true>;
    case Prim::fold_min:
      return [](int64_t, int64_t valid, const char* src, char* acc) {
        unordered<T>(valid, src, acc, infinity, [](T a, T b) -> T { return float_min(a, b); });
      };
    case Prim::fold_max:
      return [](int64_t, int64_t valid, const char* src, char* acc) {
        unordered<T>(valid, src, acc, -infinity, [](T a, T b) -> T { return float_max(a, b); });
      };
    default: return nullptr;
  }
}

}  // namespace

FoldFn fold(loop::Prim prim, loop::DType type) {
  using loop::DType;
  switch (type) {
    case DType::boolean:
    case DType::u8: return table<uint8_t>(prim);
    case DType::i8: return table<int8_t>(prim);
    case DType::i16: return table<int16_t>(prim);
    case DType::i32: return table<int32_t>(prim);
    case DType::i64: return table<int64_t>(prim);
    case DType::u16: return table<uint16_t>(prim);
    case DType::u32: return table<uint32_t>(prim);
    case DType::u64: return table<uint64_t>(prim);
    case DType::f32: return float_table<float>(prim);
    case DType::f64: return float_table<double>(prim);
    default: return nullptr;
  }
}

}  // namespace ingot::jit::interp::INGOT_ISA
