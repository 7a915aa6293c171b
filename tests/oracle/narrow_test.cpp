// f16, bf16 and fp8 through the engine, over all of their values and around every boundary between two, judged by the
// formats' definition (narrow.h).
#include <doctest/doctest.h>

#include <cmath>

#include "check.h"
#include "evaluate.h"
#include "narrow.h"
#include "random_graph.h"

using namespace ingot;
using namespace ingot::oracle;
using ir::Attr;
using ir::DType;
using ir::NamedAttr;
using ir::OpCode;
using ir::ValueId;

namespace {

constexpr DType narrow_types[] = {DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2};
constexpr DType halves[] = {DType::f16, DType::bf16};

uint64_t count_of(DType t) { return uint64_t{1} << (8 * ir::item_size(t)); }

Array all_values(DType t) {
  Array out{t, {static_cast<int64_t>(count_of(t))}, {}};
  for (uint64_t v = 0; v < count_of(t); ++v) out.bits.push_back(v);
  return out;
}

NamedAttr to(DType t) { return {"to", Attr::of_dtype(t)}; }

// Differences of every way from what is wanted, one text for all.
std::string faults(const std::shared_ptr<const ir::Graph>& graph, const std::vector<Array>& inputs,
                   const std::vector<Array>& want) {
  std::string out;
  for (const Way& way : all_ways()) {
    const std::vector<Array> got = run(*compile(graph, way), inputs);
    for (size_t i = 0; i < want.size(); ++i)
      if (const std::string text = difference(want[i], got[i]); !text.empty())
        out += cat(way.name, ", output ", i, ": ", text, "\n");
  }
  return out;
}

// One op on all of the inputs.
std::string cast_faults(const Array& from, DType type, const std::vector<uint64_t>& want) {
  Net net;
  const ValueId x = net.in("x", from.dtype, {net.sym("N")});
  net.out(net.op(OpCode::op_cast, {x}, {to(type)}));
  return faults(net.done(), {from}, {{type, from.shape, want}});
}

// Each value and the middle between it and the next one of the same sign.
std::vector<double> landmarks(DType t) {
  std::vector<double> out;
  for (uint64_t v = 0; v < count_of(t); ++v) {
    const double low = narrow_value(t, v), high = narrow_value(t, (v + 1) % count_of(t));
    if (!std::isfinite(low)) continue;
    out.push_back(low);
    // Beyond the largest: as far as the last step is wide.
    const double next =
        std::isfinite(high) && std::signbit(low) == std::signbit(high) ? high : 2 * low - narrow_value(t, v - 1);
    out.push_back((low + next) / 2);
  }
  return out;
}

template <class T>
Array beside(DType type, const std::vector<double>& at) {
  using Limits = std::numeric_limits<T>;
  Array out{type, {}, {}};
  for (const double v : at) {
    const T x = static_cast<T>(v);
    for (const T y : {x, std::nextafter(x, Limits::infinity()), std::nextafter(x, -Limits::infinity())})
      out.bits.push_back(to_bits(y));
  }
  for (const T special : {Limits::infinity(), Limits::max(), Limits::min(), Limits::denorm_min()})
    for (const T y : {special, -special}) out.bits.push_back(to_bits(y));
  for (const uint64_t nan : {uint64_t{0x7ff8000000000000}, uint64_t{0xfff0000000000001}, uint64_t{0x7fffffffffffffff}})
    out.bits.push_back(sizeof(T) == 8 ? nan : nan >> 32 | 0x7f800001);
  out.shape = {static_cast<int64_t>(out.bits.size())};
  return out;
}

template <class T>
std::vector<uint64_t> rounded(DType type, const Array& x) {
  std::vector<uint64_t> out;
  for (const uint64_t b : x.bits) out.push_back(narrow_bits(type, static_cast<Exact>(from_bits<T>(b))));
  return out;
}

}  // namespace

TEST_CASE("every f16, bf16 and fp8 value widens to its value and comes back as its bits") {
  for (const DType t : narrow_types) {
    Net net;
    const ValueId x = net.in("x", t, {net.sym("N")});
    for (const DType wide : {DType::f32, DType::f64}) {
      const ValueId y = net.op(OpCode::op_cast, {x}, {to(wide)});
      net.out(y);
      net.out(net.op(OpCode::op_cast, {y}, {to(t)}));
    }
    net.out(net.op(OpCode::op_cast, {x}, {to(t)}));
    const Array values = all_values(t);
    Array f32{DType::f32, values.shape, {}}, f64{DType::f64, values.shape, {}}, same = values;
    for (size_t i = 0; i < values.bits.size(); ++i) {
      const double v = narrow_value(t, i);
      f32.bits.push_back(to_bits(canonical(static_cast<float>(v))));
      f64.bits.push_back(to_bits(canonical(v)));
      if (std::isnan(v)) same.bits[i] = narrow_nan(t);
      if (t == DType::f8e5m2 && std::isinf(v)) same.bits[i] -= 1;  // a cast saturates
    }
    CHECK(faults(net.done(), {values}, {f32, same, f64, same, same}) == "");
  }
}

TEST_CASE("casts from f32 and f64 round once, at and beside every boundary") {
  for (const DType t : narrow_types) {
    const std::vector<double> at = landmarks(t);
    const Array x = beside<float>(DType::f32, at);
    CHECK(cast_faults(x, t, rounded<float>(t, x)) == "");
    const Array y = beside<double>(DType::f64, at);
    CHECK(cast_faults(y, t, rounded<double>(t, y)) == "");
  }
}

TEST_CASE("casts from integers round once, at and beside every boundary") {
  const auto check_type = [](DType from, auto zero) {
    using T = decltype(zero);
    for (const DType t : narrow_types) {
      Array x{from, {}, {}};
      const auto add = [&](Exact v) {
        if (v < static_cast<Exact>(std::numeric_limits<T>::min()) ||
            v > static_cast<Exact>(std::numeric_limits<T>::max()))
          return;
        x.bits.push_back(to_bits(static_cast<T>(v)));
      };
      for (const double v : landmarks(t))
        if (v == std::floor(v))
          for (const int d : {-2, -1, 0, 1, 2}) add(static_cast<Exact>(v) + d);
      for (int e = 0; e < 64; ++e)
        for (const int d : {-1, 0, 1})
          for (const int sign : {-1, 1}) add(sign * static_cast<Exact>(std::ldexp(1.0, e)) + d);
      x.shape = {static_cast<int64_t>(x.bits.size())};
      INFO(ir::name(from), " to ", ir::name(t));
      CHECK(cast_faults(x, t, rounded<T>(t, x)) == "");
    }
  };
  check_type(DType::i8, int8_t{});
  check_type(DType::i16, int16_t{});
  check_type(DType::i32, int32_t{});
  check_type(DType::i64, int64_t{});
  check_type(DType::u8, uint8_t{});
  check_type(DType::u16, uint16_t{});
  check_type(DType::u32, uint32_t{});
  check_type(DType::u64, uint64_t{});
}

TEST_CASE("every function of every f16 and bf16 value is that of f32, correctly rounded") {
  for (const DType t : halves) {
    Net narrow, wide;
    const ValueId x = narrow.in("x", t, {narrow.sym("N")}), y = wide.in("x", DType::f32, {wide.sym("N")});
    for (const ir::OpInfo& info : ir::op_table()) {
      if (info.rule != ir::Rule::unary || !ir::in_set(info.types, t) || info.code == OpCode::op_neg ||
          info.code == OpCode::op_abs)
        continue;
      narrow.out(narrow.op(info.code, {x}));
      wide.out(wide.op(info.code, {y}));
    }
    const auto graph = narrow.done();
    const Array values = all_values(t);
    Array f32{DType::f32, values.shape, {}};
    for (size_t i = 0; i < values.bits.size(); ++i) f32.bits.push_back(to_bits(static_cast<float>(narrow_value(t, i))));
    std::vector<Array> want = run(*compile(wide.done(), main_ways()[0]), std::vector{f32});
    for (Array& a : want) a = {t, a.shape, rounded<float>(t, a)};
    CHECK(want.size() > 10);
    CHECK(faults(graph, {values}, want) == "");
  }
}

TEST_CASE(
    "what moves, selects, negates and takes magnitudes keeps every bit, signalling NaNs and infinities included") {
  for (const DType t : narrow_types) {
    Net net;
    const auto n = net.sym("N");
    const ValueId x = net.in("x", t, {n}), c = net.in("c", DType::boolean, {n});
    net.out(net.op(OpCode::op_reverse, {net.op(OpCode::op_reverse, {x}, {{"axes", Attr::of_ints({0})}})},
                   {{"axes", Attr::of_ints({0})}}));
    net.out(net.op(OpCode::op_select, {c, x, net.g->scalar(t, 1.0)}));
    net.out(net.op(OpCode::op_pad, {x, net.g->scalar(t, 1.0)},
                   {{"low", Attr::of_ints({0})}, {"high", Attr::of_ints({1})}}));
    const bool computes = t == DType::f16 || t == DType::bf16;
    if (computes) {
      net.out(net.op(OpCode::op_neg, {x}));
      net.out(net.op(OpCode::op_abs, {net.op(OpCode::op_select, {c, x, x})}));
    }
    const Array values = all_values(t);
    Array condition{DType::boolean, values.shape, {}}, chosen = values, padded = values, negated = values,
                                                       magnitude = values;
    const uint64_t sign = count_of(t) / 2, one = narrow_bits(t, 1);
    for (size_t i = 0; i < values.bits.size(); ++i) {
      condition.bits.push_back(i % 3 != 0);
      if (i % 3 == 0) chosen.bits[i] = one;
      negated.bits[i] ^= sign;
      magnitude.bits[i] &= sign - 1;
    }
    padded.shape[0] += 1;
    padded.bits.push_back(one);
    std::vector<Array> want = {values, chosen, padded};
    if (computes) want.insert(want.end(), {negated, magnitude});
    CHECK(faults(net.done(), {values, condition}, want) == "");
  }
}

TEST_CASE("a NaN of any payload survives a rounding that no store shows") {
  for (const DType t : narrow_types) {
    Net net;
    const ValueId x = net.in("x", DType::f32, {net.sym("N")});
    const ValueId wide = net.op(OpCode::op_cast, {net.op(OpCode::op_cast, {x}, {to(t)})}, {to(DType::f32)});
    net.out(net.op(OpCode::op_add, {wide, net.g->scalar(DType::f32, 1.0)}));
    Array nans{DType::f32, {64}, {}};
    for (uint32_t i = 0; i < 64; ++i)
      nans.bits.push_back(((i % 2 ? 0xffffffffu : 0x7fffffffu) >> i / 2 << i / 2) | 0x7f800001u);
    const Array want{DType::f32, {64}, std::vector<uint64_t>(64, 0x7fc00000)};
    CHECK(faults(net.done(), {nans}, {want}) == "");
  }
}

TEST_CASE("relaxed_precision rounds at stores only") {
  // 1 + 2^-12 - 1: rounded to f16 after the addition nothing is left.
  const auto graph = [](bool relaxed) {
    Net net;
    if (relaxed) net.g->set_flags(ir::relaxed_precision);
    const ValueId x = net.in("x", DType::f16, {net.sym("N")}), one = net.g->scalar(DType::f16, 1.0);
    net.out(net.op(OpCode::op_sub, {net.op(OpCode::op_add, {x, one}), one}));
    return net.done();
  };
  const Array x{DType::f16, {17}, std::vector<uint64_t>(17, narrow_bits(DType::f16, 0x1p-12))};
  const Array zero{DType::f16, {17}, std::vector<uint64_t>(17, 0)};
  CHECK(faults(graph(false), {x}, {zero}) == "");
  for (const Way& way : main_ways()) {
    const Array got = run(*compile(graph(true), way), std::vector{x})[0];
    CHECK(difference(way.fuse ? x : zero, got) == "");  // unfused, every op stores
  }
}

TEST_CASE("relaxed_precision leaves casts to fp8 as they are") {
  for (const DType t : {DType::f8e4m3, DType::f8e5m2}) {
    Net net;
    net.g->set_flags(ir::relaxed_precision);
    const ValueId x = net.in("x", DType::f32, {net.sym("N")});
    net.out(net.op(OpCode::op_cast, {net.op(OpCode::op_cast, {x}, {to(t)})}, {to(DType::f32)}));
    const Array ones = floats({5}, std::vector<float>(5, 1.0f)), near = floats({5}, std::vector<float>(5, 1.01f));
    CHECK(faults(net.done(), {near}, {ones}) == "");
  }
}
