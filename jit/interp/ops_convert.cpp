// Value conversions between every two types.
#include "jit/interp/narrow.h"
#include "jit/interp/tables.h"

namespace ingot::jit::interp::INGOT_ISA {

namespace {

struct Boolean {};  // a byte, 0 or 1

template <class T>
struct Limits {
  static constexpr int digits = static_cast<int>(8 * sizeof(T)) - (is_signed<T> ? 1 : 0);
  static constexpr T max =
      static_cast<T>(static_cast<T>(~static_cast<Wrapped<T>>(0)) ^
                     (is_signed<T> ? static_cast<T>(static_cast<Wrapped<T>>(1) << (digits & 63)) : T{0}));
  static constexpr T min = is_signed<T> ? static_cast<T>(static_cast<Wrapped<T>>(1) << (digits & 63)) : T{0};
};

// Truncates, saturates, NaN to 0. 2^digits and -2^digits are floats of both formats; the largest T often is not.
template <class T, class F>
inline T to_int(F v) {
  constexpr int digits = Limits<T>::digits;
  constexpr F half = static_cast<F>(uint64_t{1} << (digits - 1));
  constexpr F beyond = half * 2;
  constexpr F least = is_signed<T> ? -beyond : F{0};
  // Through a type that the processor converts to; what is out of range is replaced first, so that no cast is.
  using Via = typename Wrap<(sizeof(T) < 4 || (sizeof(T) == 4 && is_signed<T>)) ? 4 : 8>::type;
  const bool in = v > least && v < beyond;
  const F safe = in ? v : F{0};
  T r;
  if constexpr (sizeof(T) == 8 && !is_signed<T>) {
    r = static_cast<T>(safe);
  } else if constexpr (sizeof(Via) == 4) {
    r = static_cast<T>(static_cast<int32_t>(safe));
  } else {
    r = static_cast<T>(static_cast<int64_t>(safe));
  }
  r = v >= beyond ? Limits<T>::max : r;
  return v <= least ? Limits<T>::min : r;
}

template <class To, class From>
struct Convert {
  using Out = To;
  using In = From;
  static To value(From v) {
    if constexpr (!is_fp<To> && is_fp<From>) return to_int<To>(v);
    else return static_cast<To>(v);
  }
};
template <class From>
struct Convert<Boolean, From> {
  using Out = uint8_t;
  using In = From;
  static uint8_t value(From v) { return v != From{0}; }
};
template <class To>
struct Convert<To, Boolean> {
  using Out = To;
  using In = uint8_t;
  static To value(uint8_t v) { return static_cast<To>(v); }
};

template <class To, class From>
void run(int64_t n, char* out, const char* a, const char*, const char*, unsigned) {
  using C = Convert<To, From>;
  map1<typename C::Out, typename C::In>(n, out, a, [](typename C::In v) { return C::value(v); });
}

template <class F>
StripFn with_type(loop::DType type, F f) {
  using loop::DType;
  switch (type) {
    case DType::boolean: return f(Boolean{});
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
    default: return nullptr;
  }
}

template <class A, class B>
inline constexpr bool same = false;
template <class A>
inline constexpr bool same<A, A> = true;

// f32 from or to a format of narrow.h.
template <class Format>
StripFn narrow_strip(bool widens) {
  using S = typename Format::Bits;
  if (widens)
    return [](int64_t n, char* out, const char* a, const char*, const char*, unsigned) {
      map1<float, S>(n, out, a, [](S v) -> float { return Format::widen(v); });
    };
  return [](int64_t n, char* out, const char* a, const char*, const char*, unsigned) {
    map1<S, float>(n, out, a, [](float v) -> S { return Format::narrow(v); });
  };
}

}  // namespace

StripFn convert_strip(loop::DType to, loop::DType from) {
  using loop::DType;
  switch (to == DType::f32 ? from : to) {
    case DType::f16: return narrow_strip<F16>(to == DType::f32);
    case DType::bf16: return narrow_strip<BF16>(to == DType::f32);
    case DType::f8e4m3: return narrow_strip<F8E4M3>(to == DType::f32);
    case DType::f8e5m2: return narrow_strip<F8E5M2>(to == DType::f32);
    default: break;
  }
  return with_type(to, [&](auto out) {
    return with_type(from, [&](auto in) -> StripFn {
      using Out = decltype(out);
      using In = decltype(in);
      if constexpr (same<Out, In>) return nullptr;
      else return &run<Out, In>;
    });
  });
}

}  // namespace ingot::jit::interp::INGOT_ISA
