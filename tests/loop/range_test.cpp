// What is known of values before they are computed: too little costs instructions, too much gives wrong integers.
#include "loop/range.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

#include "loop/eval.h"
#include "loop/expr.h"
#include "random_kernel.h"

using namespace ingot;
using namespace ingot::loop;

namespace {

// The kernel that stores `make(x)` of a loaded f32, and whether its conversion is as is.
template <class Make>
bool as_is(Make make) {
  Builder b(1, 0);
  const auto view = [&](ViewKind kind, DType t) {
    return b.add_view({.kind = kind, .storage = t, .tensor = b.add_tensor(), .axes = 1, .boxes = {}, .fill = 0});
  };
  const Val x{b, b.load(view(ViewKind::load, DType::f32))};
  const Val y = make(x);
  b.store(view(ViewKind::store, y.type()), y.id());
  const Kernel k = b.finish();
  bool found = false, result = true;
  for (const Node& n : k.nodes)
    if (n.op == Prim::convert) found = true, result &= converts_as_is(k, n);
  REQUIRE(found);
  return result;
}

Val known(Val x) { return select(eq(x, x), x, 0.0); }
Val clamped(Val x, double lo, double hi) { return x.bin(Prim::max, x.lit(lo)).bin(Prim::min, x.lit(hi)); }

}  // namespace

TEST_CASE("a clamped number becomes a small integer as it is, one that may be NaN or beyond does not") {
  CHECK(as_is([](Val x) { return clamped(known(x), -128, 127).to(DType::i8); }));
  CHECK(as_is([](Val x) { return clamped(round(known(x)) + 3.0, 0, 255).to(DType::u8); }));
  CHECK(as_is([](Val x) { return round(clamped(known(x), -32768, 32767)).to(DType::i16); }));
  CHECK(!as_is([](Val x) { return clamped(x, -128, 127).to(DType::i8); }));                     // NaN gives 0
  CHECK(!as_is([](Val x) { return clamped(known(x) + known(-x), -128, 127).to(DType::i8); }));  // inf - inf
  CHECK(!as_is([](Val x) { return clamped(select(eq(x, x), abs(x), 0.0), -128, 127).to(DType::i8); }));
  CHECK(!as_is([](Val x) { return clamped(known(x), -128, 127.5).to(DType::i8); }));
  CHECK(!as_is([](Val x) { return clamped(known(x), -129, 127).to(DType::i8); }));
  CHECK(!as_is([](Val x) { return clamped(known(x), -1, 255).to(DType::u8); }));
  CHECK(!as_is([](Val x) { return known(x).bin(Prim::max, x.lit(-128.0)).to(DType::i8); }));
  CHECK(!as_is([](Val x) { return clamped(known(x), -128, 127).to(DType::i32); }));  // one instruction anyway
}

TEST_CASE("values lie in the range that is known of them") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const double samples[] = {0.0, -0.0, 1.5, -2.5, 126.5, 127.5, -128.5, 300, -300, 3e38, -3e38, inf, -inf, nan};
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    Builder b(1, 0);
    const uint16_t from = b.add_view(
        {.kind = ViewKind::load, .storage = DType::f32, .tensor = b.add_tensor(), .axes = 1, .boxes = {}, .fill = 0});
    std::vector<Val> all{Val{b, b.load(from)}, Val{b, b.literal(DType::f32, 0)}.lit(2.5)};
    const auto any = [&] { return all[random() % all.size()]; };
    for (int i = 0; i < 12; ++i) {
      const Val x = any(), y = any();
      switch (random() % 9) {
        case 0: all.push_back(x.bin(Prim::min, y)); break;
        case 1: all.push_back(x.bin(Prim::max, y)); break;
        case 2: all.push_back(x + y); break;
        case 3: all.push_back(select(eq(x, x), x, y)); break;
        case 4: all.push_back(select(lt(x, y), x, y)); break;
        case 5: all.push_back(loop::round(x)); break;
        case 6: all.push_back(floor(x)); break;
        case 7: all.push_back(-x); break;
        default: all.push_back(x.lit(samples[random() % 13])); break;
      }
    }
    const uint16_t to = b.add_view(
        {.kind = ViewKind::store, .storage = DType::f32, .tensor = b.add_tensor(), .axes = 1, .boxes = {}, .fill = 0});
    b.store(to, all.back().id());
    const Kernel k = b.finish();
    for (const double input : samples) {
      std::vector<uint64_t> v(k.nodes.size());
      for (NodeId i = 0; i < k.nodes.size(); ++i) {
        const Node& n = k.nodes[i];
        const auto arg = [&](size_t a) { return n.arg[a] == no_node ? 0 : v[n.arg[a]]; };
        if (n.op == Prim::literal) v[i] = n.imm;
        else if (n.op == Prim::load) v[i] = std::bit_cast<uint32_t>(static_cast<float>(input));
        else v[i] = eval(n.op, n.type, k.nodes[n.arg[n.op == Prim::select ? 1 : 0]].type, arg(0), arg(1), arg(2));
        if (n.type != DType::f32) continue;
        const auto value = static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(v[i])));
        const Range r = range_of(k, i);
        if (std::isnan(value)) CHECK(r.nan);
        else CHECK((value >= r.lo && value <= r.hi));
      }
    }
  }
}
