// Every function of the interpreter's tables against loop::eval, value by value.
#include "jit/interp/ops.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "base/error.h"
#include "loop/eval.h"
#include "loop/rules.h"

using namespace ingot;
using jit::interp::Ops;
using loop::DType;
using loop::Prim;

namespace {

constexpr DType types[] = {DType::boolean, DType::i8,     DType::i16,    DType::i32, DType::i64,
                           DType::u8,      DType::u16,    DType::u32,    DType::u64, DType::f16,
                           DType::bf16,    DType::f8e4m3, DType::f8e5m2, DType::f32, DType::f64};

std::vector<std::pair<std::string, const Ops*>> tables() {
  std::vector<std::pair<std::string, const Ops*>> all{{"baseline", &jit::interp::ops_baseline()}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    all.push_back({"avx2", &jit::interp::ops_avx2()});
#endif
  return all;
}

std::mt19937_64 random_bits(1);

uint64_t some_value(DType t) {
  const uint64_t mask = loop::bits_mask(t);
  const auto size = ir::item_size(t);
  if (t == DType::boolean) return random_bits() & 1;
  const uint64_t sign = uint64_t{1} << (8 * size - 1);
  switch (random_bits() % 4) {
    case 0:
      if (t == DType::f32) {
        static constexpr uint32_t edges[] = {0,          1,          0x7F800000, 0x7F7FFFFF, 0x7FC00000,
                                             0x7F800001, 0x7FC12345, 0x00800000, 0x007FFFFF, 0x4F000000,
                                             0x4EFFFFFF, 0x5F000000, 0x5F800000, 0x4F800000, 0x3F800000,
                                             0x3F000000, 0x40200000, 0x4B000000, 0x4AFFFFFF, 0x43000000};
        return edges[random_bits() % std::size(edges)] | (random_bits() & 1 ? sign : 0);
      }
      if (t == DType::f64) {
        static constexpr uint64_t edges[] = {0,
                                             1,
                                             0x7FF0000000000000,
                                             0x7FEFFFFFFFFFFFFF,
                                             0x7FF8000000000000,
                                             0x7FF0000000000001,
                                             0x0010000000000000,
                                             0x000FFFFFFFFFFFFF,
                                             0x41E0000000000000,
                                             0x43E0000000000000,
                                             0x43F0000000000000,
                                             0x41DFFFFFFFC00000,
                                             0x3FE0000000000000,
                                             0x4330000000000000,
                                             0x36A0000000000000,
                                             0x47EFFFFFF0000000};
        return edges[random_bits() % std::size(edges)] | (random_bits() & 1 ? sign : 0);
      }
      {
        const uint64_t edges[] = {0, 1, 2, mask, sign, sign - 1, sign + 1, mask - 1, 8 * size, 8 * size - 1};
        return edges[random_bits() % std::size(edges)] & mask;
      }
    case 1:
      if (t == DType::f32)
        return std::bit_cast<uint32_t>(static_cast<float>(static_cast<int64_t>(random_bits() % 4001) - 2000) / 8);
      if (t == DType::f64)
        return std::bit_cast<uint64_t>(static_cast<double>(static_cast<int64_t>(random_bits() % 4001) - 2000) / 8);
      return random_bits() % 100;
    default: return random_bits() & mask;
  }
}

// What a later canon would make of it: NaNs of arithmetic are compared as one.
uint64_t seen(DType t, uint64_t bits) {
  if (t == DType::f32 && std::isnan(std::bit_cast<float>(static_cast<uint32_t>(bits)))) return 0x7FC00000u;
  if (t == DType::f64 && std::isnan(std::bit_cast<double>(bits))) return 0x7FF8000000000000u;
  return bits;
}

struct Column {
  std::vector<uint64_t> bits;
  std::vector<char> bytes;  // misaligned by one
  Column(DType t, size_t n) : bits(n), bytes(n * 8 + 1) {
    const size_t size = ir::item_size(t);
    for (size_t i = 0; i < n; ++i) {
      bits[i] = some_value(t);
      std::memcpy(bytes.data() + 1 + i * size, &bits[i], size);
    }
  }
  const char* data() const { return bytes.data() + 1; }
};

// Checks all mixes of strips and single items; returns what first differs.
std::string fault(const Ops& ops, Prim op, DType type, DType a, DType b, DType c, size_t n) {
  const bool second = op == Prim::select || op == Prim::rare;
  const DType arg = second ? b : a;
  const jit::interp::StripFn fn = ops.strip(op, type, arg);
  if (!fn) return "no function";
  const unsigned arity = loop::prim_info(op)->arity;
  const size_t size = ir::item_size(type);
  // A unary operation on a single item is a single item.
  for (unsigned scalars = 0; scalars < (arity == 1 ? 1u : 1u << arity); ++scalars) {
    const Column x(a, n), y(b == DType::invalid ? a : b, n), z(c == DType::invalid ? a : c, n);
    std::vector<char> out(n * 8 + 65, 0x5A);
    fn(static_cast<int64_t>(n), out.data() + 1, x.data(), arity > 1 ? y.data() : nullptr,
       arity > 2 ? z.data() : nullptr, scalars);
    for (size_t i = 0; i < n; ++i) {
      const uint64_t va = x.bits[scalars & 1 ? 0 : i], vb = y.bits[scalars & 2 ? 0 : i],
                     vc = z.bits[scalars & 4 ? 0 : i];
      const uint64_t want = loop::eval(op, type, arg, va, vb, vc);
      uint64_t got = 0;
      std::memcpy(&got, out.data() + 1 + i * size, size);
      const bool moves = second || op == Prim::neg || op == Prim::abs || op == Prim::copysign || op == Prim::canon;
      if (moves ? got != want : seen(type, got) != seen(type, want))
        return cat(loop::prim_info(op)->name, " ", ir::name(type), " of ", ir::name(a), " with scalars ", scalars, ": ",
                   va, " ", vb, " ", vc, " gives ", got, ", not ", want);
    }
    for (size_t i = n * size; i < out.size() - 1; ++i)
      if (out[1 + i] != 0x5A) return "it writes beyond the lanes";
  }
  return {};
}

}  // namespace

TEST_CASE("every strip function gives eval's bits for strips and single items") {
  for (const auto& [name, ops] : tables()) {
    size_t functions = 0;
    for (unsigned number = 0; number < 256; ++number) {
      const auto op = static_cast<Prim>(number);
      const loop::PrimInfo* info = loop::prim_info(op);
      if (!info || loop::has_imm(info->cls) || loop::ends_sweep(op)) continue;
      if (op == Prim::bitcast || op == Prim::number_bits || op == Prim::number) continue;  // no step is made for them
      for (const DType type : types)
        for (const DType a : types) {
          const bool chooses = op == Prim::select || op == Prim::rare;
          const DType b = info->arity < 2 ? DType::invalid : chooses ? type : op == Prim::scale2 ? DType::i32 : a;
          const DType c = info->arity < 3 ? DType::invalid : chooses ? type : a;
          if (loop::type_fault(op, type, a, b, c)) continue;
          ++functions;
          for (const size_t n : {size_t{1}, size_t{16}, size_t{64}, size_t{1024}}) {
            const std::string text = fault(*ops, op, type, a, b, c, n);
            INFO(name, ": ", text);
            CHECK(text.empty());
          }
        }
    }
    CHECK(functions > 250);
  }
}

TEST_CASE("fma and scale2 are rounded once") {
  for (const auto& [name, ops] : tables())
    for (int round = 0; round < 300; ++round)
      for (const DType t : {DType::f32, DType::f64}) {
        const std::string text = fault(*ops, Prim::fma, t, t, t, t, 1024) +
                                 fault(*ops, Prim::scale2, t, t, DType::i32, DType::invalid, 1024);
        INFO(name, ": ", text);
        CHECK(text.empty());
      }
}

TEST_CASE("scale2 is right at every exponent") {
  for (const auto& [name, ops] : tables())
    for (int32_t e = -2300; e <= 2300; ++e) {
      std::vector<double> x(64), out(64);
      std::vector<float> x32(64), out32(64);
      for (size_t i = 0; i < 64; ++i) {
        x[i] = std::bit_cast<double>(some_value(DType::f64));
        x32[i] = std::bit_cast<float>(static_cast<uint32_t>(some_value(DType::f32)));
      }
      const auto bytes = [](auto& v) { return reinterpret_cast<char*>(v.data()); };
      const auto* exponent = reinterpret_cast<const char*>(&e);
      ops->strip(Prim::scale2, DType::f64, DType::f64)(64, bytes(out), bytes(x), exponent, nullptr, 2);
      ops->strip(Prim::scale2, DType::f32, DType::f32)(64, bytes(out32), bytes(x32), exponent, nullptr, 2);
      for (size_t i = 0; i < 64; ++i) {
        const double want = std::scalbn(x[i], e);
        const float want32 = std::scalbn(x32[i], e);
        const bool same =
            std::isnan(want) ? std::isnan(out[i]) : std::bit_cast<uint64_t>(want) == std::bit_cast<uint64_t>(out[i]);
        const bool same32 = std::isnan(want32) ? std::isnan(out32[i])
                                               : std::bit_cast<uint32_t>(want32) == std::bit_cast<uint32_t>(out32[i]);
        INFO(name, " ", e);
        if (!same || !same32) CHECK(false);
      }
    }
}

TEST_CASE("f16, bf16 and fp8 convert every value and every boundary between two as eval does") {
  for (const auto& [name, ops] : tables()) {
    for (const DType t : {DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2}) {
      const size_t size = ir::item_size(t), n = size == 1 ? 256 : 65536;
      std::vector<char> narrow(n * size);
      std::vector<uint32_t> wide(n);
      for (size_t i = 0; i < n; ++i) std::memcpy(&narrow[i * size], &i, size);
      ops->strip(Prim::convert, DType::f32, t)(static_cast<int64_t>(n), reinterpret_cast<char*>(wide.data()),
                                               narrow.data(), nullptr, nullptr, 0);
      size_t wrong = 0;
      for (size_t i = 0; i < n; ++i)
        wrong += seen(DType::f32, wide[i]) != seen(DType::f32, loop::eval(Prim::convert, DType::f32, t, i));
      CHECK(wrong == 0);
      // Every value, the middle to the next one, beside each, and anything at all.
      std::vector<uint32_t> from;
      for (size_t i = 0; i + 1 < n; ++i) {
        const uint32_t middle = wide[i] / 2 + wide[i + 1] / 2 + (wide[i] & wide[i + 1] & 1);
        for (const uint32_t d : {0u, 1u, ~0u, 2u, ~1u})
          for (const uint32_t at : {wide[i], middle}) from.push_back(at + d);
      }
      for (int i = 0; i < 200000; ++i) from.push_back(static_cast<uint32_t>(random_bits()));
      std::vector<char> to(from.size() * size);
      ops->strip(Prim::convert, t, DType::f32)(static_cast<int64_t>(from.size()), to.data(),
                                               reinterpret_cast<const char*>(from.data()), nullptr, nullptr, 0);
      for (size_t i = 0; i < from.size(); ++i) {
        const uint64_t want = loop::eval(Prim::convert, t, DType::f32, from[i]);
        uint64_t got = 0;
        std::memcpy(&got, &to[i * size], size);
        if (got != want && ++wrong < 4) MESSAGE(name, " ", ir::name(t), ": ", from[i], " gives ", got, ", not ", want);
      }
      CHECK(wrong == 0);
    }
    // A boolean's byte.
    std::vector<char> bytes(256), value(256);
    for (size_t i = 0; i < 256; ++i) bytes[i] = static_cast<char>(i);
    ops->load(DType::boolean)(256, value.data(), bytes.data(), nullptr, nullptr, 0);
    for (size_t i = 0; i < 256; ++i) CHECK(value[i] == (i != 0));
  }
}
