#include "ir/scalar.h"

#include <bit>

#include "base/error.h"

namespace ingot::ir {

namespace {

struct Format {
  int exponent_bits, mantissa_bits;
  bool infinity;  // f8e4m3 (OCP e4m3fn) has none: its top exponent holds numbers, and one NaN
};

Format format(DType type) {
  switch (type) {
    case DType::f16: return {5, 10, true};
    case DType::bf16: return {8, 7, true};
    case DType::f32: return {8, 23, true};
    case DType::f64: return {11, 52, true};
    case DType::f8e4m3: return {4, 3, false};
    case DType::f8e5m2: return {5, 2, true};
    default: bug(name(type), " is no float type");
  }
}

constexpr int f64_mantissa = 52, f64_bias = 1023;

}  // namespace

uint64_t canonical_nan(DType type) {
  const Format f = format(type);
  const uint64_t exponent = ((uint64_t{1} << f.exponent_bits) - 1) << f.mantissa_bits;
  return exponent | (f.infinity ? uint64_t{1} << (f.mantissa_bits - 1) : (uint64_t{1} << f.mantissa_bits) - 1);
}

uint64_t float_bits(DType type, double v) {
  const Format f = format(type);
  const auto bits = std::bit_cast<uint64_t>(v);
  if (v != v) return canonical_nan(type);
  if (type == DType::f64) return bits;

  const uint64_t sign = (bits >> 63) << (f.exponent_bits + f.mantissa_bits);
  const uint64_t top = (uint64_t{1} << f.exponent_bits) - 1;  // the largest exponent field
  const bool saturates = type == DType::f8e4m3 || type == DType::f8e5m2;
  const uint64_t infinity = top << f.mantissa_bits;
  const uint64_t largest = f.infinity ? infinity - 1 : infinity | ((uint64_t{1} << f.mantissa_bits) - 2);
  const uint64_t overflow = sign | (saturates ? largest : infinity);

  const int field = static_cast<int>(bits >> f64_mantissa & 0x7ff);
  if (field == 0x7ff) return overflow;
  if (field == 0) return sign;  // zero; f64's denormals are below half the least value of every narrower type
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  int exponent = field - f64_bias + bias;  // of the result if it is normal
  int drop = f64_mantissa - f.mantissa_bits;
  if (exponent < 1) {
    drop += 1 - exponent;
    exponent = 1;
    if (drop > f64_mantissa + 2) return sign;
  }
  const uint64_t mantissa = (bits & ((uint64_t{1} << f64_mantissa) - 1)) | uint64_t{1} << f64_mantissa;
  uint64_t kept = mantissa >> drop;
  const uint64_t half = uint64_t{1} << (drop - 1), rest = mantissa & (2 * half - 1);
  kept += rest > half || (rest == half && (kept & 1));
  // `kept` holds the hidden bit, so that adding carries into the exponent; a denormal has none and exponent 1 becomes
  // 0.
  const uint64_t result = (static_cast<uint64_t>(exponent - 1) << f.mantissa_bits) + kept;
  return result > largest ? overflow : sign | result;
}

double float_value(DType type, uint64_t bits) {
  const Format f = format(type);
  if (type == DType::f64) return std::bit_cast<double>(bits);
  const uint64_t sign = (bits >> (f.exponent_bits + f.mantissa_bits) & 1) << 63;
  const uint64_t top = (uint64_t{1} << f.exponent_bits) - 1;
  const uint64_t field = bits >> f.mantissa_bits & top;
  const uint64_t mantissa = bits & ((uint64_t{1} << f.mantissa_bits) - 1);
  const int shift = f64_mantissa - f.mantissa_bits;
  const uint64_t infinity = uint64_t{0x7ff} << f64_mantissa;
  if (field == top && f.infinity) return std::bit_cast<double>(sign | infinity | mantissa << shift);
  if (field == top && mantissa == (uint64_t{1} << f.mantissa_bits) - 1)
    return std::bit_cast<double>(sign | infinity | 1);
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  if (field != 0) {
    const auto exponent = static_cast<uint64_t>(static_cast<int>(field) - bias + f64_bias);
    return std::bit_cast<double>(sign | exponent << f64_mantissa | mantissa << shift);
  }
  if (mantissa == 0) return std::bit_cast<double>(sign);
  // A denormal is normal in f64: its leading bit becomes the hidden one.
  const int lead = std::bit_width(mantissa) - 1;
  const auto exponent = static_cast<uint64_t>(lead - f.mantissa_bits + 1 - bias + f64_bias);
  const uint64_t fraction = (mantissa << (f64_mantissa - lead)) & ((uint64_t{1} << f64_mantissa) - 1);
  return std::bit_cast<double>(sign | exponent << f64_mantissa | fraction);
}

std::optional<uint64_t> integer_bits(DType type, bool negative, uint64_t magnitude) {
  if (type == DType::boolean) {
    if (magnitude > 1 || (negative && magnitude != 0)) return {};
    return magnitude;
  }
  const int width = static_cast<int>(8 * item_size(type));
  const uint64_t mask = ~uint64_t{0} >> (64 - width);
  if (is_unsigned(type)) {
    if (magnitude > mask || (negative && magnitude != 0)) return {};
    return magnitude;
  }
  const uint64_t limit = uint64_t{1} << (width - 1);
  if (magnitude > limit || (!negative && magnitude == limit)) return {};
  return (negative ? 0 - magnitude : magnitude) & mask;
}

int64_t integer_value(DType type, uint64_t bits) {
  if (!is_signed(type)) return static_cast<int64_t>(bits);
  const int shift = 64 - static_cast<int>(8 * item_size(type));
  return static_cast<int64_t>(bits << shift) >> shift;
}

}  // namespace ingot::ir
