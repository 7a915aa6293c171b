// Random numbers: the generator against its authors' known answers, the engine's against the oracle in every way, and
// their distributions.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "check.h"
#include "evaluate.h"
#include "loop/eval.h"
#include "loop/philox.h"
#include "random_graph.h"
#include "randoms.h"

using namespace ingot;
using namespace ingot::oracle;
using ir::Attr;
using ir::DimId;
using ir::DType;
using ir::NamedAttr;
using ir::OpCode;
using ir::ValueId;
using Block = std::array<uint32_t, 4>;

namespace {

// What the engine's expansion gives for a counter and key, by the scalar reference of its primitives.
Block expanded(Block counter, std::array<uint32_t, 2> key) {
  loop::Builder b(1, 0);
  const auto word = [&](uint32_t v) { return loop::Val(b, b.literal(DType::u32, v)); };
  const auto out = loop::philox4x32({word(counter[0]), word(counter[1]), word(counter[2]), word(counter[3])},
                                    word(key[0]), word(key[1]));
  std::vector<uint64_t> value(b.node_count());
  for (loop::NodeId i = 0; i < value.size(); ++i) {
    const loop::Node& n = b.node(i);
    const auto arg = [&](size_t a) { return n.arg[a] == loop::no_node ? 0 : value[n.arg[a]]; };
    value[i] = n.op == loop::Prim::literal ? n.imm : loop::eval(n.op, n.type, b.type(n.arg[0]), arg(0), arg(1), arg(2));
  }
  Block words;
  for (size_t w = 0; w < 4; ++w) words[w] = static_cast<uint32_t>(value[out[w].id()]);
  return words;
}

std::vector<double> sample(OpCode code, DType type, int64_t n, uint64_t seed) {
  Net net;
  net.out(net.op(code, {net.in("seed", DType::u64, {})},
                 {{"shape", Attr::of_dims({net.num(n)})}, {"dtype", Attr::of_dtype(type)}}));
  const Array s{DType::u64, {}, {seed}};
  const std::vector<Array> got = run(*compile(net.done(), main_ways().back()), std::span(&s, 1));
  std::vector<double> out;
  for (const uint64_t b : got[0].bits)
    out.push_back(type == DType::f32 ? double{from_bits<float>(b)} : from_bits<double>(b));
  return out;
}

// The largest distance between the sample's distribution and `cdf`, times the root of its size: above 1.95 in one
// sample of a thousand (Kolmogorov). The seeds are fixed, so that a pass stays one.
template <class F>
double kolmogorov(std::vector<double> x, F cdf) {
  std::ranges::sort(x);
  const auto n = static_cast<double>(x.size());
  double most = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double at = cdf(x[i]);
    most = std::max({most, at - static_cast<double>(i) / n, (static_cast<double>(i) + 1) / n - at});
  }
  return most * std::sqrt(n);
}

double mean_power(const std::vector<double>& x, int power) {
  double sum = 0;
  for (const double v : x) sum += std::pow(v, power);
  return sum / static_cast<double>(x.size());
}

}  // namespace

TEST_CASE("Philox gives the known answers of Random123, in the oracle and as primitives") {
  // kat_vectors of Random123, philox 4x32 10.
  const struct {
    Block counter;
    std::array<uint32_t, 2> key;
    Block want;
  } known[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const auto& k : known) {
    CHECK(philox(k.counter, k.key) == k.want);
    CHECK(expanded(k.counter, k.key) == k.want);
  }
}

TEST_CASE("random numbers are the same fused and alone, moved, in every way and layout") {
  for (const int64_t n : {1, 5, 1000, 1030}) {
    CAPTURE(n);
    Net net;
    const DimId m = net.sym("M"), k = net.sym("N");
    const ValueId x = net.in("x", DType::f32, {m, k}), u = net.in("u", DType::u64, {}), i = net.in("i", DType::i64, {});
    const auto with = [&](std::vector<DimId> shape, int64_t stream, DType type) {
      return std::vector<NamedAttr>{
          {"shape", Attr::of_dims(shape)}, {"stream", Attr::of_int(stream)}, {"dtype", Attr::of_dtype(type)}};
    };
    for (const DType t : {DType::u8, DType::u16, DType::u32, DType::u64})
      net.out(net.op(OpCode::op_random_bits, {u}, with({m, k}, -1, t)));
    for (const OpCode code : {OpCode::op_random_uniform, OpCode::op_random_normal})
      for (const DType t : {DType::f16, DType::bf16, DType::f32, DType::f64})
        net.out(net.op(code, {t == DType::f16 ? u : i}, with({k, m}, 3, t)));
    net.out(net.op(OpCode::op_random_uniform, {i}, with({}, 0, DType::f32)));
    const ValueId z = net.op(OpCode::op_random_normal, {u}, with({m, k}, 0, DType::f32));
    net.out(net.op(OpCode::op_add, {x, z}));
    net.out(net.op(OpCode::op_transpose, {z}, {{"perm", Attr::of_ints({1, 0})}}));
    net.out(net.op(OpCode::op_slice, {z},
                   {{"starts", Attr::of_ints({-1, -1})},
                    {"limits", Attr::of_ints({-99, -9999})},
                    {"steps", Attr::of_ints({-1, -2})}}));
    net.out(net.op(OpCode::op_reduce_sum, {net.op(OpCode::op_mul, {x, z})}, {{"axes", Attr::of_ints({1})}}));
    net.out(net.op(OpCode::op_dropout, {x, u}, {{"p", Attr::of_float(0.25)}, {"stream", Attr::of_int(7)}}));
    net.out(
        net.op(OpCode::op_random_bernoulli, {u, net.op(OpCode::op_sigmoid, {x})}, {{"shape", Attr::of_dims({m, k})}}));
    const std::vector<Array> inputs{random_array(1, DType::f32, {3, n}),
                                    {DType::u64, {}, {0x123456789abcdef0}},
                                    {DType::i64, {}, {static_cast<uint64_t>(-5)}}};
    const auto g = net.done();
    const std::string text = check(g, inputs, all_ways());
    CHECK_MESSAGE(text.empty(), text);
  }
}

TEST_CASE("every stream of a seed runs on one kernel") {
  const auto context = make_context();
  std::vector<std::vector<uint64_t>> words;
  for (const int64_t stream : {0, 1, -1, 1 << 20}) {
    Net net;
    net.out(net.op(OpCode::op_random_bits, {net.in("seed", DType::u64, {})},
                   {{"shape", Attr::of_dims({net.num(8)})}, {"stream", Attr::of_int(stream)}}));
    const Array seed{DType::u64, {}, {1}};
    words.push_back(run(*compile(net.done(), main_ways().back(), context), std::span(&seed, 1))[0].bits);
    for (uint64_t i = 0; i < 8; ++i)
      CHECK(words.back()[i] == philox({static_cast<uint32_t>(i / 4), 0, static_cast<uint32_t>(stream),
                                       static_cast<uint32_t>(static_cast<uint64_t>(stream) >> 32)},
                                      {1, 0})[i % 4]);
  }
}

TEST_CASE("random numbers have the distributions they are named for") {
  constexpr int64_t n = 200'000;
  const double root = std::sqrt(static_cast<double>(n));
  for (const DType type : {DType::f32, DType::f64}) {
    const std::vector<double> u = sample(OpCode::op_random_uniform, type, n, 11);
    CHECK(kolmogorov(u, [](double v) { return v; }) < 1.95);
    CHECK(*std::ranges::min_element(u) >= 0);
    CHECK(*std::ranges::max_element(u) < 1);
    const std::vector<double> z = sample(OpCode::op_random_normal, type, n, 12);
    CHECK(kolmogorov(z, [](double v) { return std::erfc(-v / std::sqrt(2.0)) / 2; }) < 1.95);
    // Four standard errors each.
    CHECK(std::abs(mean_power(z, 1)) < 4 / root);
    CHECK(std::abs(mean_power(z, 2) - 1) < 4 * std::sqrt(2.0) / root);
    CHECK(std::abs(mean_power(z, 3)) < 4 * std::sqrt(15.0) / root);
    CHECK(std::abs(mean_power(z, 4) - 3) < 4 * std::sqrt(96.0) / root);
    double neighbours = 0;
    for (size_t i = 0; i + 1 < z.size(); ++i) neighbours += z[i] * z[i + 1];
    CHECK(std::abs(neighbours) < 4 * root);
  }
}

TEST_CASE("dropout and bernoulli keep their share, dropout the mean") {
  constexpr int64_t n = 100'000;
  Net net;
  const DimId k = net.num(n);
  const ValueId seed = net.in("seed", DType::u64, {}),
                one = net.op(OpCode::op_broadcast, {net.g->scalar(DType::f32, 1.0)}, {{"shape", Attr::of_dims({k})}});
  for (const double p : {0.0, 0.3, 1.0}) net.out(net.op(OpCode::op_dropout, {one, seed}, {{"p", Attr::of_float(p)}}));
  net.out(net.op(OpCode::op_random_bernoulli, {seed, net.g->scalar(DType::f32, 0.3)}, {{"shape", Attr::of_dims({k})}}));
  const Array s{DType::u64, {}, {5}};
  const std::vector<Array> got = run(*compile(net.done(), main_ways().back()), std::span(&s, 1));
  const auto count = [&](size_t output, uint64_t bits) { return std::ranges::count(got[output].bits, bits); };
  CHECK(count(0, to_bits(1.0f)) == n);
  CHECK(count(1, 0) + count(1, to_bits(static_cast<float>(1 / 0.7))) == n);
  CHECK(std::abs(static_cast<double>(count(1, 0)) / n - 0.3) < 0.006);  // four standard errors
  CHECK(count(2, 0) == n);
  CHECK(count(3, 1) == count(1, 0));  // one stream: what is dropped is what is drawn
}

TEST_CASE("unpack_bits is Arrow's validity and NumPy's unpackbits") {
  Net net;
  const DimId m = net.sym("M"), k = net.sym("K"), n = net.sym("N");
  const ValueId p = net.in("p", DType::u8, {m, k});
  net.in("values", DType::f32, {n});
  net.out(net.op(OpCode::op_unpack_bits, {p}));
  net.out(net.op(OpCode::op_unpack_bits, {p}, {{"bitorder", Attr::of_string("big")}}));
  net.out(net.op(OpCode::op_unpack_bits, {p}, {{"count", {.kind = ir::AttrKind::dim, .i = n}}}));
  const auto g = net.done();
  const std::vector<Array> inputs{{DType::u8, {1, 2}, {0b00001101, 0b10000000}}, random_array(1, DType::f32, {11})};
  const std::string text = check(g, inputs, all_ways());
  CHECK_MESSAGE(text.empty(), text);
  const std::vector<Array> got = run(*compile(g, all_ways()[0]), inputs);
  CHECK(got[0].bits == std::vector<uint64_t>{1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  // numpy.unpackbits of the same two items.
  CHECK(got[1].bits == std::vector<uint64_t>{0, 0, 0, 0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0});
  CHECK(got[2].bits == std::vector<uint64_t>{1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0});
  const std::vector<Array> many{random_array(2, DType::u8, {7, 200}), random_array(3, DType::f32, {1599})};
  const std::string long_rows = check(g, many, all_ways());
  CHECK_MESSAGE(long_rows.empty(), long_rows);
  CHECK_THROWS(run(*compile(g, all_ways()[0]), std::vector<Array>{inputs[0], random_array(1, DType::f32, {17})}));
}
