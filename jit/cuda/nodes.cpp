#include "jit/cuda/nodes.h"

#include <bit>
#include <cinttypes>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "loop/rules.h"

namespace ingot::jit::cuda {

using ir::DType;
using loop::Prim;

const char* value_name(DType t) {
  switch (t) {
    case DType::boolean: return "bool";
    case DType::i8: return "i8";
    case DType::i16: return "i16";
    case DType::i32: return "i32";
    case DType::i64: return "i64";
    case DType::u8:
    case DType::f8e4m3:
    case DType::f8e5m2: return "u8";
    case DType::u16:
    case DType::f16:
    case DType::bf16: return "u16";
    case DType::u32: return "u32";
    case DType::u64: return "u64";
    case DType::f32: return "float";
    case DType::f64: return "double";
    default: fail(Code::unimplemented, "CUDA text for ", ir::name(t));
  }
}

const char* storage_name(DType t) { return t == DType::boolean ? "u8" : value_name(t); }

std::string literal(DType t, uint64_t bits) {
  char text[64];
  switch (t) {
    case DType::f32: {
      const auto v = std::bit_cast<float>(static_cast<uint32_t>(bits));
      if (std::isfinite(v)) std::snprintf(text, sizeof text, "%af", static_cast<double>(v));
      else std::snprintf(text, sizeof text, "bits<float>(0x%08" PRIx64 "u)", bits);
      return text;
    }
    case DType::f64: {
      const auto v = std::bit_cast<double>(bits);
      if (std::isfinite(v)) std::snprintf(text, sizeof text, "%a", v);
      else std::snprintf(text, sizeof text, "bits<double>(0x%016" PRIx64 "ull)", bits);
      return text;
    }
    case DType::boolean: return bits ? "true" : "false";
    default: std::snprintf(text, sizeof text, "(%s)0x%" PRIx64 "ull", value_name(t), bits); return text;
  }
}

namespace {

bool real(DType t) { return t == DType::f32 || t == DType::f64; }

// The functions of narrow_prelude(): Format<...> for a dtype.
const char* format_name(DType t) {
  switch (t) {
    case DType::f16: return "F16";
    case DType::bf16: return "BF16";
    case DType::f8e4m3: return "F8E4M3";
    default: return "F8E5M2";
  }
}

// neg, abs and copysign of f16, bf16 and fp8, whose values are their bits.
std::string narrow_sign(Prim op, DType t, const std::string& a, const std::string& b) {
  const char* name = value_name(t);
  const uint64_t sign = uint64_t{1} << (8 * ir::item_size(t) - 1);
  switch (op) {
    case Prim::neg: return cat("(", name, ")(", a, " ^ ", literal(t, sign), ")");
    case Prim::abs: return cat("(", name, ")(", a, " & ", literal(t, sign - 1), ")");
    default: return cat("(", name, ")((", a, " & ", literal(t, sign - 1), ") | (", b, " & ", literal(t, sign), "))");
  }
}

std::string call(const char* fn, const std::string& a) { return cat(fn, "(", a, ")"); }
std::string call(const char* fn, const std::string& a, const std::string& b) { return cat(fn, "(", a, ", ", b, ")"); }

// Wrapping arithmetic goes through u64: signed overflow is undefined in C++.
std::string wrap(DType t, const std::string& a, char op, const std::string& b) {
  return cat("(", value_name(t), ")((u64)", a, " ", op, " (u64)", b, ")");
}

std::string to_integer(DType to, DType from, const std::string& a) {
  const size_t width = 8 * ir::item_size(to);
  const bool is_signed = ir::is_signed(to);
  // The bounds as powers of two: the largest integers are not floats, but "at least 2^k" is exact.
  const double above = std::ldexp(1.0, static_cast<int>(is_signed ? width - 1 : width));
  const double below = is_signed ? -above : 0.0;
  const uint64_t all = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  const uint64_t lo = is_signed ? uint64_t{1} << (width - 1) : 0, hi = is_signed ? all >> 1 : all;
  const auto real_literal = [&](double v) {
    return from == DType::f32 ? literal(from, std::bit_cast<uint32_t>(static_cast<float>(v)))
                              : literal(from, std::bit_cast<uint64_t>(v));
  };
  return cat("to_int<", value_name(to), ", ", value_name(from), ">(", a, ", ", literal(to, lo), ", ", literal(to, hi),
             ", ", real_literal(below), ", ", real_literal(above), ")");
}

}  // namespace

std::string expression(Prim op, DType t, DType from, const std::string& a, const std::string& b, const std::string& c) {
  const char* name = value_name(t);
  const bool f = real(t), single = t == DType::f32;
  if (loop::is_narrow(t) && (op == Prim::neg || op == Prim::abs || op == Prim::copysign))
    return narrow_sign(op, t, a, b);
  switch (op) {
    case Prim::add: return f ? cat(a, " + ", b) : wrap(t, a, '+', b);
    case Prim::sub: return f ? cat(a, " - ", b) : wrap(t, a, '-', b);
    case Prim::mul: return f ? cat(a, " * ", b) : wrap(t, a, '*', b);
    case Prim::div: return f ? cat(a, " / ", b) : cat("idiv<", name, ">(", a, ", ", b, ")");
    case Prim::rem: return cat("irem<", name, ">(", a, ", ", b, ")");
    case Prim::min: return f ? call("fmin2", a, b) : cat(a, " < ", b, " ? ", a, " : ", b);
    case Prim::max: return f ? call("fmax2", a, b) : cat(a, " > ", b, " ? ", a, " : ", b);
    case Prim::neg:
      if (single) return cat("bits<float>(bits<u32>(", a, ") ^ 0x80000000u)");
      if (f) return cat("bits<double>(bits<u64>(", a, ") ^ 0x8000000000000000ull)");
      return cat("(", name, ")(0 - (u64)", a, ")");
    case Prim::abs:
      if (single) return cat("bits<float>(bits<u32>(", a, ") & 0x7fffffffu)");
      if (f) return cat("bits<double>(bits<u64>(", a, ") & 0x7fffffffffffffffull)");
      return ir::is_signed(t) ? cat(a, " < 0 ? (", name, ")(0 - (u64)", a, ") : ", a) : a;
    case Prim::fma: return cat(single ? "__fmaf_rn(" : "__fma_rn(", a, ", ", b, ", ", c, ")");
    case Prim::sqrt: return call(single ? "__fsqrt_rn" : "__dsqrt_rn", a);
    case Prim::floor: return call(single ? "floorf" : "floor", a);
    case Prim::ceil: return call(single ? "ceilf" : "ceil", a);
    case Prim::trunc: return call(single ? "truncf" : "trunc", a);
    case Prim::round: return call(single ? "rintf" : "rint", a);
    case Prim::copysign:
      if (single) return cat("bits<float>((bits<u32>(", a, ") & 0x7fffffffu) | (bits<u32>(", b, ") & 0x80000000u))");
      return cat("bits<double>((bits<u64>(", a, ") & 0x7fffffffffffffffull) | (bits<u64>(", b,
                 ") & 0x8000000000000000ull))");
    case Prim::scale2: return call("scale2", a, b);
    case Prim::canon: return call("canon", a);
    case Prim::and_: return cat("(", name, ")(", a, " & ", b, ")");
    case Prim::or_: return cat("(", name, ")(", a, " | ", b, ")");
    case Prim::xor_: return cat("(", name, ")(", a, " ^ ", b, ")");
    case Prim::not_: return t == DType::boolean ? cat("!", a) : cat("(", name, ")~", a);
    case Prim::shl: return cat("shl<", name, ">(", a, ", ", b, ")");
    case Prim::shr: return cat("shr<", name, ">(", a, ", ", b, ")");
    case Prim::popcount: return cat("count_ones<", name, ">(", a, ")");
    case Prim::clz: return cat("count_leading<", name, ">(", a, ")");
    case Prim::ctz: return cat("count_trailing<", name, ">(", a, ")");
    case Prim::eq: return cat(a, " == ", b);
    case Prim::ne: return cat(a, " != ", b);
    case Prim::lt: return cat(a, " < ", b);
    case Prim::le: return cat(a, " <= ", b);
    case Prim::select: return cat(a, " ? ", b, " : ", c);
    case Prim::rare: return cat(a, " ? ", c, " : ", b);
    case Prim::convert:
      if (loop::is_narrow(t)) return cat(format_name(t), "::narrow(", a, ")");
      if (loop::is_narrow(from)) return cat(format_name(from), "::widen(", a, ")");
      if (t == DType::boolean) return cat(a, " != 0");
      if (real(from) && !f) return to_integer(t, from, a);
      return cat("(", name, ")", a);
    case Prim::number: return a;
    case Prim::number_bits:
    case Prim::bitcast: return cat("bits<", name, ">(", a, ")");
    default: bug("no CUDA expression for primitive ", static_cast<int>(op));
  }
}

}  // namespace ingot::jit::cuda
