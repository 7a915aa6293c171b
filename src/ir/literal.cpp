#include "ir/literal.h"

#include <bit>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "ir/scalar.h"
#include "ir/utf8.h"

namespace ingot::ir {

namespace {

[[noreturn]] void refuse(const Literal& l, DType type, std::string_view why) {
  fail(Code::invalid_argument, "'", l.negative ? "-" : "", shortened(l.digits, 40), "' ", why, " ", name(type));
}

// from_chars is exact and knows no locale. Its fast path rounds in the mode that is set, which under the C interface is
// to nearest (runtime/fp_env.h). A value too small for the type is read by way of f64, where the second rounding cannot
// matter: it decides only between 0 and the least.
template <class T>
T read_float(const Literal& l, DType type) {
  const bool hex = l.digits.starts_with("0x") || l.digits.starts_with("0X");
  const std::string_view digits = hex ? l.digits.substr(2) : l.digits;
  T value{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value,
                                            hex ? std::chars_format::hex : std::chars_format::general);
  if (error == std::errc::invalid_argument || end != digits.data() + digits.size())
    refuse(l, type, "is not a number, expected a value of");
  if (error == std::errc::result_out_of_range) {
    if constexpr (sizeof(T) < sizeof(double)) {
      value = std::bit_cast<T>(static_cast<uint32_t>(float_bits(DType::f32, read_float<double>(l, type))));
      if (std::isinf(value)) refuse(l, type, "is out of the range of");
    } else {
      refuse(l, type, "is out of the range of");
    }
  }
  return l.negative ? -value : value;
}

// The digits of a decimal without zeros at either end, and the place of the first before the point: 0.0012 is "12", -2.
struct Decimal {
  std::string digits;
  int64_t exponent = 0;

  explicit Decimal(std::string_view text) {
    const size_t e = text.find_first_of("eE");
    int64_t point = 0;
    bool behind = false;
    for (const char c : text.substr(0, e)) {
      if (c == '.') {
        behind = true;
      } else {
        if (!digits.empty() || c != '0') digits.push_back(c);
        if (!behind && !digits.empty()) ++point;
        if (behind && digits.empty()) --point;
      }
    }
    while (!digits.empty() && digits.back() == '0') digits.pop_back();
    if (e != std::string_view::npos) {
      if (text[e + 1] == '+') text.remove_prefix(1);
      std::from_chars(text.data() + e + 1, text.data() + text.size(), exponent);
    }
    exponent += point;
  }
  friend auto operator<=>(const Decimal& a, const Decimal& b) {
    if (const auto order = a.exponent <=> b.exponent; order != 0) return order;
    return a.digits <=> b.digits;
  }
};

// The literal as the f64 that rounds to a narrower type as the literal itself does: an inexact one has an odd last bit
// (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums"). Rounded to nearest it could become a midpoint
// of the narrow type, and then go to the wrong side.
double read_odd(const Literal& l, DType type) {
  Literal cut = l;
  const bool hex = l.digits.starts_with("0x") || l.digits.starts_with("0X");
  constexpr size_t exact_digits = 13;  // of four bits: f64 holds any 13, and a bit is left for what is cut off
  std::string head = "0x";
  bool odd = false;
  if (hex) {
    size_t significant = 0;
    bool behind = false, exponent = false;
    for (const char c : l.digits.substr(2)) {
      exponent = exponent || c == 'p' || c == 'P';
      if (exponent || c == '.') {
        head.push_back(c);
        behind = behind || c == '.';
      } else if (significant < exact_digits) {
        significant += significant > 0 || c != '0';
        head.push_back(c);
      } else {
        odd = odd || c != '0';
        if (!behind) head.push_back('0');
      }
    }
    cut.digits = head;
  }
  double v = std::fabs(read_float<double>(cut, type));
  if (!hex && v > 0) {
    char text[1200];  // the longest f64 has 767 digits
    const auto end = std::to_chars(text, text + sizeof text, v, std::chars_format::scientific, 1100).ptr;
    const auto order = Decimal(l.digits) <=> Decimal({text, end});
    odd = order != 0;
    if (order < 0 && odd) v = std::nextafter(v, 0.0);
  }
  if (odd) v = std::bit_cast<double>(std::bit_cast<uint64_t>(v) | 1);
  return l.negative ? -v : v;
}

// Whether v is beyond what rounds to the largest value of an fp8 type, where float_bits() would saturate.
bool beyond_fp8(DType type, double v) {
  // 448 and 57344 are the largest values; half a step above, a tie goes to the even one: 448, but 65536.
  return (type == DType::f8e4m3 && std::fabs(v) > 464) || (type == DType::f8e5m2 && std::fabs(v) >= 61440);
}

std::string hex_text(uint64_t bits, size_t digits) {
  static constexpr char symbols[] = "0123456789abcdef";
  std::string out = "bits(0x";
  for (size_t i = digits; i-- > 0;) out.push_back(symbols[bits >> (4 * i) & 15]);
  return out + ')';
}

// With a point or an exponent, so that it reads as a float.
std::string with_point(std::string text) {
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

template <class T>
std::string shortest(T v) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, v).ptr};
}

}  // namespace

bool parse_unsigned(std::string_view text, uint64_t& value) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

uint64_t literal_bits(const Literal& l, DType type) {
  switch (l.kind) {
    case Literal::Kind::bits: {
      uint64_t bits;
      if (!parse_unsigned(l.digits, bits)) refuse(l, type, "is not the bits of");
      const size_t width = 8 * item_size(type);
      if (width < 64 && bits >> width != 0) refuse(l, type, "has more bits than");
      if (type == DType::boolean && bits > 1) refuse(l, type, "is not the bits of");
      return bits;
    }
    case Literal::Kind::boolean:
      if (type != DType::boolean)
        fail(Code::invalid_argument, l.truth ? "true" : "false", " is no value of ", name(type));
      return l.truth;
    case Literal::Kind::infinity:
    case Literal::Kind::nan: {
      const bool nan = l.kind == Literal::Kind::nan;
      if (!is_float(type)) fail(Code::invalid_argument, nan ? "nan" : "inf", " is no value of ", name(type));
      if (type == DType::f8e4m3 && !nan) fail(Code::invalid_argument, "f8e4m3 has no infinity");
      if (nan) return canonical_nan(type);
      if (type == DType::f8e5m2) return l.negative ? 0xfc : 0x7c;  // float_bits() saturates
      return float_bits(type, l.negative ? -HUGE_VAL : HUGE_VAL);
    }
    case Literal::Kind::number: break;
  }
  if (type == DType::boolean) refuse(l, type, "is no value of");
  if (type == DType::f32) return std::bit_cast<uint32_t>(read_float<float>(l, type));
  if (type == DType::f64) return std::bit_cast<uint64_t>(read_float<double>(l, type));
  if (is_float(type)) {
    const double v = read_odd(l, type);
    const uint64_t bits = float_bits(type, v);
    if (std::isinf(float_value(type, bits)) || beyond_fp8(type, v)) refuse(l, type, "is out of the range of");
    return bits;
  }
  uint64_t magnitude;
  if (!parse_unsigned(l.digits, magnitude)) refuse(l, type, "is not an integer, expected a value of");
  const auto bits = integer_bits(type, l.negative, magnitude);
  if (!bits) refuse(l, type, "is out of the range of");
  return *bits;
}

std::string float_text(double v) { return with_point(shortest(v)); }

std::string element_text(DType type, uint64_t bits) {
  if (type == DType::boolean) return bits ? "true" : "false";
  if (is_unsigned(type)) return shortest(bits);
  if (is_signed(type)) return shortest(integer_value(type, bits));
  const double v = float_value(type, bits);
  if (v != v) return bits == canonical_nan(type) ? "nan" : hex_text(bits, 2 * item_size(type));
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  if (type == DType::f64) return float_text(v);
  if (type == DType::f32) return with_point(shortest(std::bit_cast<float>(static_cast<uint32_t>(bits))));
  // The shortest decimal that rounds to these bits; a whole number reads best as it is: 65504, not 6.55e+04.
  if (std::fabs(v) < 1e6 && v == std::trunc(v)) return with_point(shortest(static_cast<float>(v)));
  char text[40];
  for (int digits = 1; digits <= 9; ++digits) {
    const auto end = std::to_chars(text, text + sizeof text, v, std::chars_format::general, digits).ptr;
    double back;
    std::from_chars(text, end, back);
    if (float_bits(type, back) == bits) return with_point({text, end});
  }
  return hex_text(bits, 2 * item_size(type));
}

}  // namespace ingot::ir
