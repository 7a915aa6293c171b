// Numbers of the text form: exact both ways.
#pragma once

#include <string>
#include <string_view>

#include "ir/dtype.h"

namespace ingot::ir {

// A literal before its dtype is known.
struct Literal {
  enum class Kind : uint8_t { number, infinity, nan, boolean, bits };
  Kind kind = Kind::number;
  bool negative = false;
  bool truth = false;       // boolean
  std::string_view digits;  // number: without its sign; bits: 0x...
};

// The element's bits, zero-extended, a float rounded once. Throws invalid_argument saying what a value of the dtype
// looks like, also for a number that rounds beyond its largest value.
uint64_t literal_bits(const Literal& literal, DType type);

// Reads back to the same bits: the shortest decimal, "inf", "nan", "true", or bits(0x...) for a NaN with a payload.
std::string element_text(DType type, uint64_t bits);

// The shortest decimal of an f64, with a point or exponent.
std::string float_text(double v);

// Unsigned, decimal or 0x...; false unless the whole of the text is such a number below 2^64.
bool parse_unsigned(std::string_view text, uint64_t& value);

}  // namespace ingot::ir
