// Elements as bits: every f16 and fp8 value against its definition, rounding against exact arithmetic, integers.
#include <charconv>
#include <cmath>
#include <limits>

#include "ir/literal.h"
#include "ir/scalar.h"
#include "support.h"

using namespace ingot;
using namespace ingot::ir;

namespace {

struct Format {
  DType type;
  int exponent_bits, mantissa_bits;
};
constexpr Format formats[] = {{DType::f16, 5, 10}, {DType::bf16, 8, 7}, {DType::f8e4m3, 4, 3}, {DType::f8e5m2, 5, 2}};

// By the definition: (-1)^s * 2^(e - bias) * 1.m, or without the hidden one for e = 0; NaN and infinities apart.
double by_definition(const Format& f, uint64_t bits) {
  const int bias = (1 << (f.exponent_bits - 1)) - 1, top = (1 << f.exponent_bits) - 1;
  const int e = static_cast<int>(bits >> f.mantissa_bits) & top;
  const auto m = static_cast<double>(bits & ((1u << f.mantissa_bits) - 1));
  const double sign = bits >> (f.exponent_bits + f.mantissa_bits) & 1 ? -1 : 1,
               scale = std::ldexp(1.0, -f.mantissa_bits);
  if (f.type == DType::f8e4m3 ? (bits & 0x7f) == 0x7f : e == top && m != 0) return std::nan("");
  if (f.type != DType::f8e4m3 && e == top) return sign * HUGE_VAL;
  return e == 0 ? sign * m * scale * std::ldexp(1.0, 1 - bias) : sign * (1 + m * scale) * std::ldexp(1.0, e - bias);
}

uint64_t mask(const Format& f) { return (uint64_t{1} << (1 + f.exponent_bits + f.mantissa_bits)) - 1; }
bool is_saturating(DType t) { return t == DType::f8e4m3 || t == DType::f8e5m2; }

}  // namespace

TEST_CASE("narrow floats: every value by its definition, and back") {
  for (const Format& f : formats) {
    for (uint64_t bits = 0; bits <= mask(f); ++bits) {
      const double expected = by_definition(f, bits), got = float_value(f.type, bits);
      if (std::isnan(expected)) {
        CHECK(std::isnan(got));
        CHECK(float_bits(f.type, got) == canonical_nan(f.type));
        continue;
      }
      REQUIRE(got == expected);
      REQUIRE(std::signbit(got) == std::signbit(expected));
      if (!std::isinf(got) || !is_saturating(f.type)) REQUIRE(float_bits(f.type, got) == bits);
    }
  }
}

TEST_CASE("narrow floats: between two neighbours the nearer, at the middle the even one") {
  for (const Format& f : formats) {
    const uint64_t half = mask(f) >> 1;
    for (uint64_t bits = 0; bits < half; ++bits) {
      const double a = by_definition(f, bits), b = by_definition(f, bits + 1);
      if (!std::isfinite(a) || !std::isfinite(b)) continue;
      const double middle = (a + b) / 2;  // exact: one bit more than either
      REQUIRE(float_bits(f.type, middle) == (bits % 2 == 0 ? bits : bits + 1));
      REQUIRE(float_bits(f.type, std::nextafter(middle, 0)) == bits);
      REQUIRE(float_bits(f.type, std::nextafter(middle, HUGE_VAL)) == bits + 1);
      REQUIRE(float_bits(f.type, -std::nextafter(middle, HUGE_VAL)) == (bits + 1 + half + 1));
    }
  }
}

TEST_CASE("narrow floats: overflow") {
  CHECK(float_bits(DType::f16, 65519.99) == 0x7bff);
  CHECK(float_bits(DType::f16, 65520.0) == 0x7c00);
  CHECK(float_bits(DType::f16, -1e300) == 0xfc00);
  CHECK(float_bits(DType::f8e4m3, 1e9) == 0x7e);  // 448
  CHECK(float_bits(DType::f8e4m3, -HUGE_VAL) == 0xfe);
  CHECK(float_bits(DType::f8e5m2, HUGE_VAL) == 0x7b);  // 57344
  CHECK(float_bits(DType::f16, 1e-300) == 0);
  CHECK(float_bits(DType::f16, -5e-324) == 0x8000);
}

TEST_CASE("f32 rounding is the hardware's") {
  uint64_t x = 88172645463325252u;
  for (int i = 0; i < 200'000; ++i) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    // Exponents around f32's range, denormals and overflow included, with all mantissas.
    const auto exponent = static_cast<uint64_t>(1023 - 160 + static_cast<int>(x >> 53) % 300);
    const double v = std::bit_cast<double>((x & 0x800fffffffffffff) | exponent << 52);
    REQUIRE(float_bits(DType::f32, v) == std::bit_cast<uint32_t>(static_cast<float>(v)));
  }
}

TEST_CASE("integers: ranges of every dtype") {
  CHECK(integer_bits(DType::i8, true, 128) == 0x80);
  CHECK_FALSE(integer_bits(DType::i8, false, 128));
  CHECK_FALSE(integer_bits(DType::i8, true, 129));
  CHECK(integer_bits(DType::u8, false, 255) == 255);
  CHECK_FALSE(integer_bits(DType::u8, true, 1));
  CHECK(integer_bits(DType::i64, true, uint64_t{1} << 63) == uint64_t{1} << 63);
  CHECK(integer_bits(DType::u64, false, UINT64_MAX) == UINT64_MAX);
  CHECK_FALSE(integer_bits(DType::boolean, false, 2));
  CHECK(integer_value(DType::i16, 0xffff) == -1);
  CHECK(integer_value(DType::u16, 0xffff) == 65535);
}

TEST_CASE("element text reads back to the same bits: every narrow float, and f32 and f64 at random") {
  const auto back = [](DType type, const std::string& text) {
    std::string_view t = text;
    Literal l;
    if (t.starts_with("bits("))
      return literal_bits({Literal::Kind::bits, false, false, t.substr(5, t.size() - 6)}, type);
    l.negative = t.starts_with("-");
    if (l.negative) t.remove_prefix(1);
    l.kind = t == "inf" ? Literal::Kind::infinity : t == "nan" ? Literal::Kind::nan : Literal::Kind::number;
    l.digits = t;
    return literal_bits(l, type);
  };
  for (const Format& f : formats)
    for (uint64_t bits = 0; bits <= mask(f); ++bits) REQUIRE(back(f.type, element_text(f.type, bits)) == bits);
  uint64_t x = 1234567;
  for (int i = 0; i < 50'000; ++i) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    REQUIRE(back(DType::f64, element_text(DType::f64, x)) == x);
    REQUIRE(back(DType::f32, element_text(DType::f32, x & 0xffffffff)) == (x & 0xffffffff));
  }
  CHECK(element_text(DType::f32, 0x7fc00000) == "nan");
  CHECK(element_text(DType::f32, 0x7fc00001) == "bits(0x7fc00001)");
  CHECK(element_text(DType::f32, 0xffc00000) == "bits(0xffc00000)");
  CHECK(element_text(DType::f32, 0x80000000) == "-0.0");
  CHECK(element_text(DType::f32, 0x3dcccccd) == "0.1");
  CHECK(element_text(DType::f16, 0x2e66) == "0.1");
  CHECK(element_text(DType::i8, 0x80) == "-128");
  CHECK(element_text(DType::boolean, 2) == "true");
}

TEST_CASE("literals: ranges, forms and refusals") {
  const auto number = [](DType t, const char* digits, bool negative = false) {
    return literal_bits({Literal::Kind::number, negative, false, digits}, t);
  };
  CHECK(number(DType::f32, "16777217") == 0x4b800000);  // ties to even
  CHECK(number(DType::f32, "0x1.8p3") == 0x41400000);
  CHECK(number(DType::f32, "1e-46") == 0);
  CHECK(number(DType::f32, "1e-45", true) == 0x80000001);
  CHECK(number(DType::u8, "0xff") == 255);
  CHECK(fault([&] { number(DType::f32, "1e39"); }) == "'1e39' is out of the range of f32");
  CHECK(fault([&] { number(DType::f64, "1e999"); }) == "'1e999' is out of the range of f64");
  CHECK(fault([&] { number(DType::f16, "70000"); }) == "'70000' is out of the range of f16");
  CHECK(fault([&] { number(DType::f32, "1.2.3"); }) == "'1.2.3' is not a number, expected a value of f32");
  CHECK(fault([&] { number(DType::i32, "1.0"); }) == "'1.0' is not an integer, expected a value of i32");
  CHECK(fault([&] { number(DType::u8, "256"); }) == "'256' is out of the range of u8");
  CHECK(fault([&] { number(DType::u8, "1", true); }) == "'-1' is out of the range of u8");
  CHECK(fault([&] { number(DType::i64, "99999999999999999999"); }) != "");
  CHECK(fault([&] { number(DType::boolean, "1"); }) != "");
  CHECK(fault([&] { literal_bits({Literal::Kind::bits, false, false, "0x1ff"}, DType::u8); }) ==
        "'0x1ff' has more bits than u8");
  CHECK(fault([&] { literal_bits({Literal::Kind::nan, false, false, ""}, DType::i32); }) == "nan is no value of i32");
  CHECK(fault([&] { literal_bits({Literal::Kind::boolean, false, true, ""}, DType::f32); }) ==
        "true is no value of f32");
}

TEST_CASE("narrow floats: a literal next to the middle of two neighbours goes to the nearer, however close it is") {
  const auto bits_of = [](const std::string& digits, DType t) {
    return literal_bits({Literal::Kind::number, false, false, digits}, t);
  };
  for (const Format& f : formats) {
    for (uint64_t bits = 0; bits < mask(f) >> 1; ++bits) {
      const double a = by_definition(f, bits), b = by_definition(f, bits + 1);
      if (!std::isfinite(a) || !std::isfinite(b)) continue;
      char text[256];
      std::string middle(text, std::to_chars(text, text + sizeof text, (a + b) / 2, std::chars_format::fixed, 200).ptr);
      const std::string above = middle + "0000000001";
      const size_t last = middle.find_last_not_of("0.");
      std::string below = middle;
      --below[last];
      below.resize(std::max(last + 1, below.find('.') + 1));
      below += std::string(60, '9');
      if (below.find('.') > last) below = middle;  // a whole number, whose last digit is not the one below
      REQUIRE(bits_of(middle, f.type) == bits + bits % 2);
      REQUIRE(bits_of(above, f.type) == bits + 1);
      if (below != middle) REQUIRE(bits_of(below, f.type) == bits);

      const auto hex_end = std::to_chars(text, text + sizeof text, (a + b) / 2, std::chars_format::hex).ptr;
      std::string hex(text, hex_end);
      const size_t p = hex.find('p');
      std::string digits = hex.substr(0, p);
      if (digits.find('.') == std::string::npos) digits += '.';
      REQUIRE(bits_of("0x" + hex, f.type) == bits + bits % 2);
      REQUIRE(bits_of("0x" + digits + std::string(20, '0') + '1' + hex.substr(p), f.type) == bits + 1);
      REQUIRE(bits_of("0x000" + digits + std::string(40, '0') + hex.substr(p), f.type) == bits + bits % 2);
    }
  }
}

TEST_CASE(
    "narrow floats: a literal that rounds beyond the largest value is refused, in fp8 too, where casts saturate") {
  const auto bits_of = [](const char* digits, DType t) {
    return literal_bits({Literal::Kind::number, false, false, digits}, t);
  };
  struct Case {
    DType type;
    const char *last, *first;  // the last that rounds to the largest value, the first that does not
    uint64_t largest;
  };
  for (const Case& k : {Case{DType::f16, "65519.999999999999999999", "65520", 0x7bff},
                        Case{DType::bf16, "0x1.fefffffffffffffffp127", "0x1.ffp127", 0x7f7f},
                        Case{DType::f8e4m3, "464", "464.00000000000000000000001", 0x7e},
                        Case{DType::f8e5m2, "61439.99999999999999999999", "61440", 0x7b}}) {
    CHECK(bits_of(k.last, k.type) == k.largest);
    CHECK(fault([&] { bits_of(k.first, k.type); }).find("is out of the range of") != std::string::npos);
  }
}
