// Random graphs over symbolic shapes: a text of each reads back and prints the same, whatever facts its ops found.
#include <random>

#include "support.h"

using namespace ingot;
using namespace ingot::ir;

namespace {

struct RandomGraph {
  std::mt19937_64 rng;
  Graph g{"random"};
  DimTable& t = g.dims();
  std::vector<ValueId> values;
  std::vector<DimId> extents;

  explicit RandomGraph(uint64_t seed) : rng(seed) {
    for (const char* name : {"A", "B", "C", "D"}) extents.push_back(t.symbol(name, static_cast<int64_t>(rng() % 3)));
    for (const DimId d : extents) g.dim_input("", d);
    for (const int64_t c : {1, 2, 3, 4, 8}) extents.push_back(t.constant(c));
    if (rng() % 3 == 0) state();
    for (int i = 0; i < 4; ++i) values.push_back(g.input("", DType::f32, shape()));
  }

  int64_t pick(int64_t n) { return static_cast<int64_t>(rng() % static_cast<uint64_t>(n)); }
  DimId extent() { return extents[static_cast<size_t>(pick(static_cast<int64_t>(extents.size())))]; }
  ValueId value() { return values[static_cast<size_t>(pick(static_cast<int64_t>(values.size())))]; }
  size_t rank(ValueId v) const { return g.value(v).shape.size(); }

  std::vector<DimId> shape() {
    std::vector<DimId> dims(static_cast<size_t>(pick(4)));
    for (DimId& d : dims) d = pick(5) ? extent() : t.add(t.mul(extent(), t.constant(2)), extent());
    return dims;
  }

  std::vector<int64_t> numbers(size_t count, int64_t lo, int64_t hi) {
    std::vector<int64_t> out(count);
    for (int64_t& v : out) v = lo + pick(hi - lo + 1);
    return out;
  }

  // A fact about symbols, as a host may state it at any time.
  void state() {
    const DimId both[] = {extent(), pick(2) ? t.mul(extent(), extent()) : extent()};
    try {
      if (pick(3) == 0) t.symbol(std::string(1, static_cast<char>('A' + pick(4))), pick(4));
      else t.assume(pick(2) ? DimFact::equal : DimFact::divisible, both);
    } catch (const Error& e) {
      REQUIRE(e.code() == Code::invalid_argument);
    }
  }

  void grow() {
    const ValueId x = value(), y = value();
    const size_t r = rank(x);
    switch (pick(11)) {
      case 0: return add("add", {x, y});
      case 1: return add("mul", {x, g.scalar(DType::f32, 0.5)});
      case 2: {
        std::vector<DimId> to = shape();
        if (!to.empty() && pick(3)) to[static_cast<size_t>(pick(static_cast<int64_t>(to.size())))] = t.constant(-1);
        return add("reshape", {x}, {dims("shape", to)});
      }
      case 3: {
        std::vector<int64_t> steps = numbers(r, -3, 3);
        for (int64_t& s : steps) s += s == 0;
        return add("slice", {x},
                   {ints("starts", numbers(r, -4, 4)), ints("limits", numbers(r, -4, 9)), ints("steps", steps)});
      }
      case 4: return add("concat", {x, y, x}, {integer("axis", pick(3))});
      case 5:
        return add("pad", {x, g.scalar(DType::f32, 0.0)},
                   {ints("low", numbers(r, -2, 2)), ints("high", numbers(r, -2, 3))});
      case 6: return add("matmul", {x, y});
      case 7: {
        std::vector<DimId> to = shape();
        if (pick(2)) to.insert(to.end(), g.value(x).shape.begin(), g.value(x).shape.end());
        return add("broadcast", {x}, {dims("shape", to)});
      }
      case 8: return add("reduce_sum", {x}, {ints("axes", numbers(r > 0, 0, 2)), {"keepdims", Attr::of_bool(pick(2))}});
      case 9: return add("layer_norm", {x, y});
      default: return add("softmax", {x});
    }
  }

  void add(std::string_view op, std::vector<ValueId> operands, std::vector<NamedAttr> attrs = {}) {
    values.push_back(apply(g, op, std::move(operands), std::move(attrs)));
  }
};

// Whether some sizes below 12 let the graph run. Facts may exclude all without anyone noticing: that of such a graph no
// text reads back is no loss.
bool can_run(const DimTable& t) {
  for (int64_t i = 0; i < 12 * 12 * 12 * 12; ++i) {
    if (fault([&] { value_of(t, 0, {i % 12, i / 12 % 12, i / 144 % 12, i / 1728}); }).empty()) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("random graphs print, read back and print the same") {
  size_t ops = 0, late = 0, lost = 0;
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    RandomGraph r(seed);
    const bool states_late = seed % 4 == 3;
    for (int i = 0; i < 12; ++i) {
      try {
        if (states_late && i == 6) r.state();
        r.grow();
      } catch (const Error& e) {
        REQUIRE_MESSAGE(e.code() == Code::invalid_argument, e.message());
      }
    }
    for (const ValueId v : r.values) r.g.output("", v);
    r.g.seal();
    ops += r.g.op_count();
    late += r.g.dims().has_late_facts();
    const std::string text = print(r.g);
    CAPTURE(seed);
    CAPTURE(text);
    std::string again;
    const std::string error = fault([&] { again = print(parse(text)); });
    if (again == text) continue;
    if (can_run(r.g.dims())) CHECK_MESSAGE(again == text, error);
    else ++lost;
  }
  CHECK(ops > 5000);
  CHECK(late > 50);
  CHECK(lost < 20);
}
