// The oracle's transcription of the sum order, and the engine's, against numpy's (tests/data/sums.py).
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "check.h"
#include "folds.h"

using namespace ingot;
using namespace ingot::oracle;
using ir::DType;
using ir::OpCode;

namespace {

// As tests/data/sums.py describes it.
Array elements(DType type, const std::string& kind, int64_t n) {
  Array out{type, {n}, {}};
  for (uint64_t k = 0; k < static_cast<uint64_t>(n); ++k) {
    const uint64_t h = (k * 2654435761u + static_cast<uint64_t>(n) * 40503u) % (uint64_t{1} << 32);
    double x = static_cast<double>(h >> 24) - 127.5 + static_cast<double>(h % 65536) / 4096;
    if (kind == "prod") x = 1 + (static_cast<double>((h >> 16) % 4096) - 2048) / 1048576;
    out.bits.push_back(type == DType::f32 ? to_bits(static_cast<float>(x)) : to_bits(x));
  }
  return out;
}

}  // namespace

TEST_CASE("sums and products are numpy's in the one order, in the oracle and in every kernel") {
  std::ifstream file(INGOT_TEST_DATA_DIR "/sums.txt");
  REQUIRE(file);
  std::map<std::pair<DType, std::string>, std::vector<std::shared_ptr<engine::Executable>>> known;
  std::string line;
  int seen = 0;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string type_name, kind, bits;
    int64_t n = 0;
    words >> type_name >> kind >> n >> bits;
    if (type_name == "sha256" || kind == "tenths") continue;
    const DType type = ir::parse_dtype(type_name);
    const OpCode code = kind == "sum" ? OpCode::op_reduce_sum : OpCode::op_reduce_prod;
    const uint64_t want = std::stoull(bits, nullptr, 16);
    const Array x = elements(type, kind, n);
    INFO(line);
    CHECK(fold(code, type, x.bits) == want);
    auto& executables = known[{type, kind}];
    if (executables.empty()) {
      Net net;
      net.out(net.op(code, {net.in("x", type, {net.sym("N")})}));
      const auto g = net.done();
      for (const Way& way : all_ways()) executables.push_back(compile(g, way));
    }
    for (size_t w = 0; w < executables.size(); ++w) {
      INFO(all_ways()[w].name);
      CHECK(
          run(*executables[w], std::span(&x, 1), Layout::compact, Layout::compact, all_ways()[w].threads)[0].bits[0] ==
          want);
    }
    ++seen;
  }
  CHECK(seen == 76);
}

TEST_CASE("sums over columns have the order of sums over rows") {
  Net net;
  const ir::DimId m = net.sym("M"), n = net.sym("N");
  const ir::ValueId x = net.in("x", DType::f32, {m, n});
  net.out(net.op(OpCode::op_reduce_sum, {x}, {{"axes", ir::Attr::of_ints({0})}}));
  const auto g = net.done();
  for (const int64_t rows : {1000, 3000}) {
    const Array column = elements(DType::f32, "sum", rows);
    Array table{DType::f32, {rows, 5}, {}};
    for (const uint64_t b : column.bits)
      for (int64_t j = 0; j < 5; ++j) table.bits.push_back(b);
    const uint64_t want = fold(OpCode::op_reduce_sum, DType::f32, column.bits);
    for (const Way& way : all_ways()) {
      INFO(way.name);
      const std::vector<Array> results = run(*compile(g, way), std::span(&table, 1));
      for (const uint64_t got : results[0].bits) CHECK(got == want);
    }
  }
}
