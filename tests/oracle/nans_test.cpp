// NaNs of many payloads through every function. Expansions look at bits of values that may be NaN and promise that the
// result does not depend on which (Prim::number, Prim::number_bits): here a broken promise shows.
#include <doctest/doctest.h>

#include "check.h"

using namespace ingot;
using namespace ingot::oracle;
using ir::Attr;
using ir::DType;
using ir::OpCode;
using ir::ValueId;

namespace {

struct Format {
  DType type;
  uint64_t sign, infinity, quiet;  // bits
  uint64_t nan() const { return infinity | quiet; }
};
constexpr Format formats[] = {{DType::f16, 0x8000, 0x7c00, 0x200},
                              {DType::bf16, 0x8000, 0x7f80, 0x40},
                              {DType::f32, 0x80000000, 0x7f800000, 0x400000},
                              {DType::f64, uint64_t{1} << 63, uint64_t{0x7ff} << 52, uint64_t{1} << 51}};

// Quiet and signalling, of both signs, the payload's bits anywhere.
Array nans(const Format& f) {
  Array out{f.type, {}, {}};
  for (uint64_t bits = f.quiet >> 1; bits != 0; bits >>= 1)
    for (const uint64_t low : {uint64_t{0}, bits - 1})
      for (const uint64_t top : {uint64_t{0}, f.quiet, f.sign, f.sign | f.quiet})
        out.bits.push_back(f.infinity | bits | low | top);
  out.shape = {static_cast<int64_t>(out.bits.size())};
  return out;
}

void check_functions(const Format& f) {
  const DType t = f.type;
  Net net;
  const ValueId x = net.in("x", t, {net.sym("N")}), infinity = net.in("infinity", t, {net.sym("N")});
  const ValueId made = net.op(OpCode::op_sub, {infinity, infinity});  // the hardware's own NaN
  const ValueId two = net.g->scalar(t, 2.5);
  size_t count = 0;
  for (const ir::OpInfo& info : ir::op_table()) {
    if (info.cls != ir::OpClass::function || !ir::in_set(info.types, t)) continue;
    if (info.min_operands > 2 || info.rule == ir::Rule::random || info.rule == ir::Rule::ldexp) continue;
    for (const ValueId v : {x, net.op(OpCode::op_add, {x, two}), made}) {
      for (size_t at = 0; at < info.min_operands; ++at) {
        std::vector<ValueId> operands(info.min_operands, two);
        operands[at] = v;
        net.out(net.op(info.code, operands));
        ++count;
        if (info.code != OpCode::op_gelu) continue;
        net.out(net.op(info.code, operands, {{"approximate", Attr::of_string("tanh")}}));
        ++count;
      }
    }
  }
  REQUIRE(count > 100);
  const Array in = nans(f);
  Array infinities = in;
  for (size_t i = 0; i < in.bits.size(); ++i) infinities.bits[i] = f.infinity | (i % 2 ? f.sign : 0);
  const Array want{t, in.shape, std::vector<uint64_t>(in.bits.size(), f.nan())};
  const auto graph = net.done();
  for (const Way& way : all_ways()) {
    const std::vector<Array> got = run(*compile(graph, way), {{in, infinities}});
    for (size_t i = 0; i < got.size(); ++i) {
      CAPTURE(way.name);
      CAPTURE(i);
      CHECK(difference(want, got[i]) == "");
    }
  }
}

}  // namespace

TEST_CASE("a function of a NaN is the canonical NaN, whatever the payload") {
  for (const Format& f : formats) check_functions(f);
}
