// Scans: the oracle's transcription and the engine's against numpy's (tests/data/scans.py), and the ways in which a
// kernel walks them, against the oracle.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "check.h"
#include "engine/executable.h"
#include "evaluate.h"
#include "random_graph.h"
#include "scans.h"

using namespace ingot;
using namespace ingot::oracle;
using ir::Attr;
using ir::DimId;
using ir::DType;
using ir::NamedAttr;
using ir::OpCode;
using ir::ValueId;

namespace {

// As tests/data/sums.py describes it.
Array elements(DType type, bool product, int64_t n) {
  Array out{type, {n}, {}};
  for (uint64_t k = 0; k < static_cast<uint64_t>(n); ++k) {
    const uint64_t h = (k * 2654435761u + static_cast<uint64_t>(n) * 40503u) % (uint64_t{1} << 32);
    double x = static_cast<double>(h >> 24) - 127.5 + static_cast<double>(h % 65536) / 4096;
    if (product) x = 1 + (static_cast<double>((h >> 16) % 4096) - 2048) / 1048576;
    out.bits.push_back(type == DType::f32 ? to_bits(static_cast<float>(x)) : to_bits(x));
  }
  return out;
}

uint64_t hashed(const std::vector<uint64_t>& bits) {
  uint64_t h = 14695981039346656037u;
  for (const uint64_t b : bits) h = (h ^ b) * 1099511628211u;
  return h;
}

std::vector<NamedAttr> along(int64_t axis, bool exclusive = false, bool reverse = false) {
  return {{"axis", Attr::of_int(axis)}, {"exclusive", Attr::of_bool(exclusive)}, {"reverse", Attr::of_bool(reverse)}};
}

// Compares every way with the oracle; inputs by the graph's order.
void agree(Net& net, const std::vector<Array>& inputs) {
  const auto g = net.done();
  const std::string text = check(g, inputs, all_ways());
  CHECK_MESSAGE(text.empty(), text);
}

}  // namespace

TEST_CASE("scans are numpy's in the one order, in the oracle and in every kernel") {
  std::ifstream file(INGOT_TEST_DATA_DIR "/scans.txt");
  REQUIRE(file);
  std::map<std::string, std::vector<std::shared_ptr<engine::Executable>>> known;
  std::string line;
  int seen = 0;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string type_name, kind, way, hash, last;
    int64_t n = 0;
    words >> type_name >> kind >> way >> n >> hash >> last;
    if (type_name == "sha256") continue;
    INFO(line);
    const DType type = ir::parse_dtype(type_name);
    const Array x = elements(type, kind == "prod", n);
    auto& executables = known[type_name + kind + way];
    Net net;
    const bool down = way.starts_with("down");
    net.out(net.op(kind == "sum" ? OpCode::op_cumsum : OpCode::op_cumprod, {net.in("x", type, {net.sym("N")})},
                   along(0, way.ends_with("exclusive"), down)));
    const auto g = net.done();
    const std::vector<uint64_t> y = scan(g->op(0), type, x.bits);
    CHECK(hashed(y) == std::stoull(hash, nullptr, 16));
    CHECK((down ? y.front() : y.back()) == std::stoull(last, nullptr, 16));
    if (executables.empty())
      for (const Way& w : all_ways()) executables.push_back(compile(g, w));
    for (size_t w = 0; w < executables.size(); ++w) {
      INFO(all_ways()[w].name);
      const auto got = run(*executables[w], std::span(&x, 1), Layout::compact, Layout::compact, all_ways()[w].threads);
      CHECK(hashed(got[0].bits) == std::stoull(hash, nullptr, 16));
    }
    ++seen;
  }
  CHECK(seen == 224);
}

TEST_CASE("scans of scans between other ops, whichever way they go") {
  for (const int64_t n : {1, 16, 1000, 1024, 1030, 5000})
    for (const bool reverse : {false, true}) {
      CAPTURE(n);
      CAPTURE(reverse);
      Net net;
      const DimId m = net.sym("M"), k = net.sym("N");
      const ValueId x = net.in("x", DType::f32, {m, k}), y = net.in("y", DType::f32, {k});
      const ValueId s = net.op(OpCode::op_cumsum, {net.op(OpCode::op_mul, {x, y})}, along(1, false, reverse));
      const ValueId t = net.op(OpCode::op_cummax, {net.op(OpCode::op_sub, {s, x})}, along(1, true, reverse));
      net.out(net.op(OpCode::op_add, {net.op(OpCode::op_exp, {net.op(OpCode::op_neg, {t})}), s}));
      agree(net, {random_array(1, DType::f32, {3, n}), random_array(2, DType::f32, {n})});
    }
}

TEST_CASE("scans of both directions, beside folds, of scans and of what does not vary") {
  for (const int64_t n : {1, 17, 1023, 1025, 3000}) {
    CAPTURE(n);
    Net net;
    const DimId m = net.sym("M"), k = net.sym("N");
    const ValueId x = net.in("x", DType::f32, {m, k}), c = net.in("c", DType::f32, {m, net.num(1)});
    const NamedAttr last{"axes", Attr::of_ints({1})}, keep{"keepdims", Attr::of_bool(true)};
    const ValueId up = net.op(OpCode::op_cumsum, {x}, along(1)),
                  down = net.op(OpCode::op_cumsum, {x}, along(1, true, true));
    net.out(net.op(OpCode::op_sub, {up, down}));
    net.out(net.op(OpCode::op_div, {up, net.op(OpCode::op_reduce_sum, {x}, {last, keep})}));
    net.out(net.op(OpCode::op_cumsum, {net.op(OpCode::op_cumsum, {up}, along(1, false, true))}, along(1)));
    net.out(
        net.op(OpCode::op_cumprod, {net.op(OpCode::op_cumsum, {down}, along(1, false, true))}, along(1, false, true)));
    net.out(net.op(OpCode::op_softmax, {up}));
    net.out(net.op(OpCode::op_reduce_max, {net.op(OpCode::op_exp, {down})}, {last}));
    net.out(
        net.op(OpCode::op_cumsum, {net.op(OpCode::op_broadcast, {c}, {{"shape", Attr::of_dims({m, k})}})}, along(1)));
    agree(net, {random_array(3, DType::f32, {5, n}), random_array(4, DType::f32, {5, 1})});
  }
}

TEST_CASE("scans along a dim that is not the last, of moved operands, and read through moves") {
  for (const auto& [a, b] : {std::pair<int64_t, int64_t>{700, 40}, {1, 3}, {33, 1}, {2100, 5}, {4, 0}, {0, 4}}) {
    CAPTURE(a);
    CAPTURE(b);
    Net net;
    const DimId m = net.sym("M"), k = net.sym("N");
    const ValueId x = net.in("x", DType::f32, {m, k});
    const NamedAttr turn{"perm", Attr::of_ints({1, 0})}, flip{"axes", Attr::of_ints({0})};
    const ValueId down = net.op(OpCode::op_cumsum, {net.op(OpCode::op_exp, {x})}, along(0));
    net.out(net.op(OpCode::op_mul, {down, x}));
    net.out(net.op(OpCode::op_transpose, {net.op(OpCode::op_cumprod, {x}, along(0, true))}, {turn}));
    net.out(net.op(OpCode::op_cummin, {net.op(OpCode::op_transpose, {x}, {turn})}, along(0)));
    net.out(net.op(OpCode::op_reverse, {net.op(OpCode::op_cumsum, {net.op(OpCode::op_reverse, {x}, {flip})}, along(0))},
                   {flip}));
    net.out(net.op(OpCode::op_cumsum, {x}, along(0, false, true)));
    agree(net, {random_array(5, DType::f32, {a, b})});
  }
}

TEST_CASE("a scan may run in place of its operand") {
  for (const bool reverse : {false, true}) {
    Net net;
    net.out(net.op(OpCode::op_cumsum, {net.in("x", DType::f32, {net.sym("N")})}, along(0, false, reverse)));
    const auto g = net.done();
    for (int64_t n : {1, 1000, 5000}) {
      const Array x = random_array(6, DType::f32, {n});
      const std::vector<Array> want = evaluate(*g, std::span(&x, 1));
      for (const Way& way : all_ways()) {
        INFO(way.name);
        std::vector<float> data;
        for (const uint64_t b : x.bits) data.push_back(from_bits<float>(b));
        const runtime::Tensor both{data.data(), {1, 0}, 1, {2, 32, 1}, &n, nullptr, 0};
        const runtime::Tensor* const tensor = &both;
        compile(g, way)->run({&tensor, 1}, {&tensor, 1}, {.serial = true});
        bool same = true;
        for (size_t k = 0; k < data.size(); ++k) same = same && to_bits(data[k]) == want[0].bits[k];
        CHECK(same);
      }
    }
  }
}

TEST_CASE("integers wrap, signed zeros are those of + and max, a NaN stays") {
  Net net;
  const DimId k = net.sym("N");
  const ValueId x = net.in("x", DType::f32, {k}), i = net.in("i", DType::i8, {k}), u = net.in("u", DType::u64, {k});
  net.out(net.op(OpCode::op_cummax, {x}, along(0)));
  net.out(net.op(OpCode::op_cummin, {x}, along(0, true)));
  net.out(net.op(OpCode::op_cumsum, {i}, along(0)));
  net.out(net.op(OpCode::op_cummax, {i}, along(0, true)));
  net.out(net.op(OpCode::op_cumprod, {u}, along(0, false, true)));
  net.out(net.op(OpCode::op_cumsum, {x}, along(0)));
  net.out(net.op(OpCode::op_cumsum, {x}, along(0, true)));
  const auto g = net.done();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Array f{DType::f32, {6}, {}}, n{DType::i8, {6}, {100, 100, 0x80, 1, 0xff, 0x7f}},
      w{DType::u64, {6}, {3, 5, 1u << 31, 1u << 31, 2, 7}};
  for (const float v : {-0.0f, 0.0f, -0.0f, 2.0f, nan, 3.0f}) f.bits.push_back(to_bits(v));
  const auto floats = [](std::initializer_list<float> list) {
    std::vector<uint64_t> out;
    for (const float v : list) out.push_back(to_bits(v));
    return out;
  };
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<Array> inputs{f, n, w};
  for (const Way& way : all_ways()) {
    INFO(way.name);
    const auto got = run(*compile(g, way), inputs);
    CHECK(got[0].bits == floats({-0.0f, 0.0f, 0.0f, 2.0f, nan, nan}));
    CHECK(got[1].bits == floats({inf, -0.0f, -0.0f, -0.0f, -0.0f, nan}));
    CHECK(got[5].bits == floats({-0.0f, 0.0f, 0.0f, 2.0f, nan, nan}));
    CHECK(got[6].bits == floats({0.0f, -0.0f, 0.0f, 0.0f, 2.0f, nan}));
    CHECK(got[2].bits == std::vector<uint64_t>{100, 200, 72, 73, 72, 199});
    CHECK(got[3].bits == std::vector<uint64_t>{0x80, 100, 100, 100, 100, 100});
    CHECK(got[4].bits == std::vector<uint64_t>{15u * 14u * (uint64_t{1} << 62), 5u * 14u * (uint64_t{1} << 62),
                                               14u * (uint64_t{1} << 62), 14u * (uint64_t{1} << 31), 14, 7});
  }
}
