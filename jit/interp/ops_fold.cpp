// Folds along the lanes, into the eight items of an accumulator block (NUMERICS.md, "Sum and product").
#include "jit/interp/lanes.h"
#include "jit/interp/tables.h"

namespace ingot::jit::interp::INGOT_ISA {

namespace {

constexpr int64_t group = 64;

// Eight items side by side. Wider than a register of the baseline, where the compiler takes several.
template <class T>
struct Eight {
  typedef T type __attribute__((vector_size(8 * sizeof(T))));
};

template <bool product, class V>
inline void join(V& r, const V& a, const V& b) {
  if constexpr (product) r = a * b;
  else r = a + b;
}

// t_j = ((x_j + x_{j+32}) + (x_{j+16} + x_{j+48})) + ((x_{j+8} + x_{j+40}) + (x_{j+24} + x_{j+56})), then a_j += t_j.
template <class T, bool product>
inline void add_group(typename Eight<T>::type& a, const char* src) {
  using V = typename Eight<T>::type;
  V x[8];
  __builtin_memcpy(x, src, sizeof x);  // x[i]: items 8 * i to 8 * i + 7
  V p, q, r, s, u, v, t;
  join<product>(p, x[0], x[4]);
  join<product>(q, x[2], x[6]);
  join<product>(r, x[1], x[5]);
  join<product>(s, x[3], x[7]);
  join<product>(u, p, q);
  join<product>(v, r, s);
  join<product>(t, u, v);
  join<product>(a, a, t);
}

template <class T, bool product>
void ordered(int64_t, int64_t valid, const char* src, char* acc) {
  typename Eight<T>::type a;
  __builtin_memcpy(&a, acc, sizeof a);
  const int64_t whole = valid / group * group;
  for (int64_t i = 0; i < whole; i += group) add_group<T, product>(a, src + i * int64_t{sizeof(T)});
  if (whole < valid) {
    T last[group];
    for (T& x : last) x = product ? static_cast<T>(1) : static_cast<T>(-0.0);
    __builtin_memcpy(last, src + whole * int64_t{sizeof(T)}, static_cast<uint64_t>(valid - whole) * sizeof(T));
    add_group<T, product>(a, reinterpret_cast<const char*>(last));
  }
  __builtin_memcpy(acc, &a, sizeof a);
}

// The folds without an order: `wide` partial results, so that the loop over them vectorises, then eight.
template <class T, class F>
inline void unordered(int64_t valid, const char* src, char* acc, F f) {
  constexpr int64_t wide = sizeof(T) == 8 ? 32 : 64;
  const auto x = reinterpret_cast<ConstItems<T>>(src);
  T a[8];
  __builtin_memcpy(a, acc, sizeof a);
  const int64_t whole = valid / wide * wide;
  if (whole > 0) {
    T part[wide];
    for (int64_t j = 0; j < wide; ++j) part[j] = x[j];
    for (int64_t i = wide; i < whole; i += wide)
      INGOT_LANES for (int64_t j = 0; j < wide; ++j) part[j] = f(part[j], static_cast<T>(x[i + j]));
    for (int64_t j = 0; j < wide; ++j) a[j & 7] = f(a[j & 7], part[j]);
  }
  for (int64_t i = whole; i < valid; ++i) a[i & 7] = f(a[i & 7], static_cast<T>(x[i]));
  __builtin_memcpy(acc, a, sizeof a);
}

template <class T>
FoldFn table(loop::Prim prim) {
  using loop::Prim;
  using W = Wrapped<T>;
  switch (prim) {
    case Prim::fold_sum:
      return [](int64_t, int64_t valid, const char* src, char* acc) {
        unordered<T>(valid, src, acc, [](T a, T b) -> T { return static_cast<T>(static_cast<W>(a) + static_cast<W>(b)); });
      };
    case Prim::fold_prod:
      return [](int64_t, int64_t valid, const char* src, char* acc) {
        unordered<T>(valid, src, acc, [](T a, T b) -> T { return static_cast<T>(static_cast<W>(a) * static_cast<W>(b)); });
      };
    case Prim::fold_min:
      return [](int64_t, int64_t valid, const char* src, char* acc) {
        unordered<T>(valid, src, acc, [](T a, T b) -> T { return a < b ? a : b; });
      };
    case Prim::fold_max:
      return [](int64_t, int64_t valid, const char* src, char* acc) {
        unordered<T>(valid, src, acc, [](T a, T b) -> T { return a > b ? a : b; });
      };
    default: return nullptr;
  }
}

template <class T>
FoldFn float_table(loop::Prim prim) {
  using loop::Prim;
  switch (prim) {
    case Prim::fold_sum: return &ordered<T, false>;
    case Prim::fold_prod: return &ordered<T, true>;
    case Prim::fold_min:
      return [](int64_t, int64_t valid, const char* src, char* acc) {
        unordered<T>(valid, src, acc, [](T a, T b) -> T { return float_min(a, b); });
      };
    case Prim::fold_max:
      return [](int64_t, int64_t valid, const char* src, char* acc) {
        unordered<T>(valid, src, acc, [](T a, T b) -> T { return float_max(a, b); });
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
