// The table of dtypes and single elements: read, written, printed, parsed.
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "array.h"
#include "error.h"

namespace ingot::tool {

namespace {

constexpr std::array table{
    DType{INGOT_BOOL, "bool", "b1", 6, 8}, DType{INGOT_I8, "i8", "i1", 0, 8},      DType{INGOT_I16, "i16", "i2", 0, 16},
    DType{INGOT_I32, "i32", "i4", 0, 32},  DType{INGOT_I64, "i64", "i8", 0, 64},   DType{INGOT_U8, "u8", "u1", 1, 8},
    DType{INGOT_U16, "u16", "u2", 1, 16},  DType{INGOT_U32, "u32", "u4", 1, 32},   DType{INGOT_U64, "u64", "u8", 1, 64},
    DType{INGOT_F16, "f16", "f2", 2, 16},  DType{INGOT_BF16, "bf16", "V2", 4, 16}, DType{INGOT_F32, "f32", "f4", 2, 32},
    DType{INGOT_F64, "f64", "f8", 2, 64},  DType{INGOT_F8E4M3, "f8e4m3", "V1", 10, 8},
    DType{INGOT_F8E5M2, "f8e5m2", "V1", 12, 8}};

// Floats below 32 bits. e4m3 has no infinity: its largest exponent holds numbers, all ones is NaN.
struct Small {
  int exponent_bits, mantissa_bits;
  bool infinity;
};
Small small(ingot_dtype t) {
  switch (t) {
    case INGOT_F16: return {5, 10, true};
    case INGOT_BF16: return {8, 7, true};
    case INGOT_F8E4M3: return {4, 3, false};
    default: return {5, 2, true};
  }
}

double decode_small(Small f, uint32_t bits) {
  const uint32_t mantissa_mask = (1U << f.mantissa_bits) - 1, exponent_mask = (1U << f.exponent_bits) - 1;
  const uint32_t mantissa = bits & mantissa_mask, exponent = bits >> f.mantissa_bits & exponent_mask;
  const double sign = bits >> (f.mantissa_bits + f.exponent_bits) & 1 ? -1 : 1;
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  if (exponent == exponent_mask && (f.infinity || mantissa == mantissa_mask)) {
    if (f.infinity && mantissa == 0) return sign * std::numeric_limits<double>::infinity();
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - f.mantissa_bits);
  return sign * std::ldexp(mantissa | 1U << f.mantissa_bits, static_cast<int>(exponent) - bias - f.mantissa_bits);
}

uint32_t encode_small(Small f, double value) {
  const uint32_t sign = std::signbit(value) ? 1U << (f.mantissa_bits + f.exponent_bits) : 0;
  const uint32_t mantissa_mask = (1U << f.mantissa_bits) - 1, exponent_mask = (1U << f.exponent_bits) - 1;
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const uint32_t top = exponent_mask << f.mantissa_bits;
  if (std::isnan(value)) return f.infinity ? top | 1U << (f.mantissa_bits - 1) : top | mantissa_mask;
  int exponent = 0;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (!std::isinf(magnitude)) std::frexp(magnitude, &exponent);
  const int unit = std::max(exponent - 1, 1 - bias) - f.mantissa_bits;  // the exponent of the last place
  const double steps = std::isinf(magnitude) ? magnitude : std::nearbyint(std::ldexp(magnitude, -unit));
  // Steps beyond the mantissa carry into the exponent by themselves, denormals into the first normal number too.
  const double bits = steps + std::ldexp(std::max(exponent - 1 + bias - 1, 0), f.mantissa_bits);
  const bool fp8 = f.mantissa_bits < 7;  // saturates
  const uint32_t largest = f.infinity ? top - 1 : top | (mantissa_mask - 1);
  if (!(bits <= largest)) return sign | (fp8 ? largest : top);
  return sign | static_cast<uint32_t>(bits);
}

template <class T>
T load(const void* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <class T>
T saturate(double v) {
  using L = std::numeric_limits<T>;
  if (std::isnan(v)) return 0;
  // The bounds as doubles: max() may round up to one past the largest value.
  if (v <= static_cast<double>(L::min())) return L::min();
  if (v >= static_cast<double>(L::max())) return L::max();
  return static_cast<T>(v);
}

// Calls with a value of the C++ type of the dtype; the small floats are not among them.
template <class F>
bool dispatch(ingot_dtype t, F f) {
  switch (t) {
    case INGOT_I8: return f(int8_t{}), true;
    case INGOT_I16: return f(int16_t{}), true;
    case INGOT_I32: return f(int32_t{}), true;
    case INGOT_I64: return f(int64_t{}), true;
    case INGOT_BOOL:
    case INGOT_U8: return f(uint8_t{}), true;
    case INGOT_U16: return f(uint16_t{}), true;
    case INGOT_U32: return f(uint32_t{}), true;
    case INGOT_U64: return f(uint64_t{}), true;
    case INGOT_F32: return f(float{}), true;
    case INGOT_F64: return f(double{}), true;
    default: return false;
  }
}

template <class T>
bool whole(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

}  // namespace

const DType& dtype(ingot_dtype number) {
  for (const DType& t : table)
    if (t.number == number) return t;
  fail(exit_unsupported, "dtype number ", number, " is not known to this tool");
}

double decode(const DType& type, const void* element) {
  if (type.number == INGOT_BOOL) return load<uint8_t>(element) != 0;
  double out = 0;
  if (dispatch(type.number, [&](auto zero) { out = static_cast<double>(load<decltype(zero)>(element)); })) return out;
  return decode_small(small(type.number), type.bits == 8 ? load<uint8_t>(element) : load<uint16_t>(element));
}

void encode(const DType& type, double value, void* element) {
  if (type.number == INGOT_BOOL) value = value != 0;
  const bool done = dispatch(type.number, [&](auto zero) {
    using T = decltype(zero);
    T v;
    if constexpr (std::is_floating_point_v<T>) v = static_cast<T>(value);
    else v = saturate<T>(value);
    std::memcpy(element, &v, sizeof v);
  });
  if (done) return;
  const uint32_t bits = encode_small(small(type.number), value);
  std::memcpy(element, &bits, type.size());  // little-endian, as every supported machine is
}

std::string element_text(const DType& type, const void* element) {
  if (type.number == INGOT_BOOL) return load<uint8_t>(element) ? "true" : "false";
  std::array<char, 32> buffer{};
  const auto print = [&](auto v) { return std::string(buffer.data(), std::to_chars(buffer.data(), buffer.end(), v).ptr); };
  std::string out;
  const bool done = dispatch(type.number, [&](auto zero) {
    const auto v = load<decltype(zero)>(element);
    if constexpr (std::is_floating_point_v<decltype(zero)>) out = std::isnan(v) ? "nan" : print(v);
    else out = std::to_string(v);
  });
  if (done) return out;
  const double v = decode(type, element);
  return std::isnan(v) ? "nan" : print(static_cast<float>(v));
}

bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double v = 0;
  return text == "true" || text == "false" || whole(text, v);
}

bool parse_element(const DType& type, std::string_view text, void* element) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text == "true" || text == "false") {
    if (type.number != INGOT_BOOL) return false;
    encode(type, text == "true", element);
    return true;
  }
  bool good = false;
  const bool direct = type.number != INGOT_BOOL && dispatch(type.number, [&](auto v) {
    good = whole(text, v);
    if (good) std::memcpy(element, &v, sizeof v);
  });
  if (direct) return good;
  double v = 0;
  if (!whole(text, v)) return false;
  if (type.number == INGOT_BOOL && v != 0 && v != 1) return false;
  encode(type, v, element);
  return true;
}

}  // namespace ingot::tool
