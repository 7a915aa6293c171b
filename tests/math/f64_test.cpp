#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "loop/eval.h"
#include "math/f64_reference.h"

using namespace ingot::test;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();
constexpr double min_normal = 0x1p-1022;
constexpr double denormal = 0x1p-1074;
constexpr double max = std::numeric_limits<double>::max();

const F64Function& function(std::string_view name) {
  for (const F64Function& f : f64_functions())
    if (f.name == name) return f;
  FAIL("no function ", std::string(name));
  return f64_functions().front();
}

void check(const F64Function& f, std::span<const F64Input> inputs) {
  const F64Runner run(f);
  const std::vector<double> out = run(inputs);
  size_t shown = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const double error = ulp_error(f, inputs[i], out[i]);
    const bool good = error <= f.bound;
    if (good || ++shown > 5) continue;
    CAPTURE(f.name);
    CAPTURE(std::bit_cast<uint64_t>(inputs[i].x));
    CAPTURE(inputs[i].x);
    CAPTURE(inputs[i].y);
    CAPTURE(out[i]);
    CHECK(error <= f.bound);
  }
  CHECK(shown == 0);
}

struct Point {
  double x, want;
};

bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

// Exact results, signs of zeros included; a NaN comes out canonical.
void check_points(std::string_view name, std::initializer_list<Point> points) {
  std::vector<F64Input> inputs;
  for (const Point& p : points) inputs.push_back({p.x, 0});
  const std::vector<double> out = F64Runner(function(name))(inputs);
  size_t i = 0;
  for (const Point& p : points) {
    CAPTURE(p.x);
    CAPTURE(out[i]);
    CHECK(same(out[i], p.want));
    if (std::isnan(p.want)) CHECK(std::bit_cast<uint64_t>(out[i]) == 0x7ff8000000000000);
    ++i;
  }
}

}  // namespace

TEST_CASE("f64 functions stay within their bound on spread inputs") {
  for (const F64Function& f : f64_functions()) check(f, f64_inputs(f, 20000, 42));
}

TEST_CASE("f64 functions stay within their bound at special values and their neighbours") {
  std::vector<double> values = {0,    denormal, min_normal, 0x1p-1060,  0x1p-540, 0x1p-60, 0x1p-27, 0.5, 1,   2,   3,
                                1e10, 0x1p52,   0x1p53,     0x1p53 + 2, 0x1p63,   0x1p64,  0x1p512, max, inf, qnan};
  for (const F64Function& f : f64_functions()) {
    std::vector<double> x = values;
    for (const double v : f.landmarks) x.push_back(v);
    for (size_t i = x.size(); i-- > 0;) {
      if (!std::isfinite(x[i])) continue;
      x.push_back(std::nextafter(x[i], inf));
      x.push_back(std::nextafter(x[i], -inf));
    }
    std::vector<F64Input> inputs;
    for (const double v : x)
      for (const double signed_v : {v, -v}) {
        if (f.arity == 1) inputs.push_back({signed_v, 0});
        else
          for (const double w : x) inputs.push_back({signed_v, w}), inputs.push_back({signed_v, -w});
      }
    check(f, inputs);
  }
}

// The largest errors that sampling millions of arguments found; coefficients or compensation that got worse show here.
TEST_CASE("f64 functions at the worst arguments known") {
  struct Worst {
    const char* name;
    F64Input in;
    double ulp;  // as found, rounded up
  };
  const Worst worst[] = {
      {"exp", {-0x1.e903eb14a37cdp+8, 0}, 0.84},
      {"exp", {0x1.61b2b8108bcep+9, 0}, 0.81},
      {"log", {0x1.6a09e667e657fp-1, 0}, 0.86},
      {"log", {0x1.6a09e508141dfp-1, 0}, 0.91},
      {"tanh", {0x1.64add320a2dfcp-3, 0}, 0.75},
      {"erf", {0x1.3800000033d3ap+0, 0}, 0.99},
      {"erf", {0x1.3fffff3301373p+0, 0}, 1},
      {"sigmoid", {-0x1.6269d2913078bp+9, 0}, 0.77},
      {"silu", {-0x1.658002d6bcf46p+9, 0}, 0.8},
      {"rsqrt", {0x0.fffffffffffffp-1022, 0}, 0.51},
      {"gelu_erf", {0x1.d79a2cd9f8762p-40, 0}, 0.98},
      {"gelu_erf", {-0x1.d4f2e86171b8p-6, 0}, 0.95},
      {"gelu_tanh", {-0x1.52dd133a74d7cp+4, 0}, 0.75},
      {"pow", {0x1.6a09e667ef68fp-1, 0x1.fb08d08f16b59p+10}, 0.75},
      {"pow", {0x1.6a09e667f3be5p-1, 0x1.ff25948398d54p+10}, 0.75},
  };
  for (const Worst& w : worst) {
    const F64Function& f = function(w.name);
    const double got = F64Runner(f)({&w.in, 1})[0];
    CAPTURE(w.name);
    CAPTURE(w.in.x);
    CHECK(ulp_error(f, w.in, got) <= w.ulp);
  }
}

TEST_CASE("f64 functions give the same bits by the reference primitives and as C") {
  namespace loop = ingot::loop;
  for (const F64Function& f : f64_functions()) {
    const F64Runner run(f);
    const loop::Kernel& k = run.kernel();
    const std::vector<F64Input> inputs = f64_inputs(f, 600, 7);
    const std::vector<double> out = run(inputs);
    std::vector<uint64_t> v(k.nodes.size());
    size_t differences = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      for (size_t n = 0; n < v.size(); ++n) {
        const loop::Node& node = k.nodes[n];
        const auto arg = [&](size_t j) { return node.arg[j] == loop::no_node ? 0 : v[node.arg[j]]; };
        if (node.op == loop::Prim::literal) {
          v[n] = node.imm;
        } else if (node.op == loop::Prim::load) {
          v[n] = std::bit_cast<uint64_t>(k.views[node.imm].tensor == 0 ? inputs[i].x : inputs[i].y);
        } else {
          const bool chooses = node.op == loop::Prim::select || node.op == loop::Prim::rare;
          const loop::DType arg_type = k.nodes[node.arg[chooses ? 1 : 0]].type;
          v[n] = loop::eval(node.op, node.type, arg_type, arg(0), arg(1), arg(2));
        }
      }
      differences += v[k.stores[0].value] != std::bit_cast<uint64_t>(out[i]);
    }
    CAPTURE(f.name);
    CHECK(differences == 0);
  }
}

TEST_CASE("f64 special results") {
  check_points("exp", {{0, 1},
                       {-0.0, 1},
                       {inf, inf},
                       {-inf, 0},
                       {qnan, qnan},
                       {-qnan, qnan},
                       {710, inf},
                       {max, inf},
                       {-max, 0},
                       {-745, denormal},
                       {-745.2, 0}});
  check_points(
      "log", {{1, 0}, {0, -inf}, {-0.0, -inf}, {inf, inf}, {-1, qnan}, {-denormal, qnan}, {-inf, qnan}, {qnan, qnan}});
  check_points(
      "rsqrt",
      {{0, inf}, {-0.0, -inf}, {inf, 0}, {-1, qnan}, {-inf, qnan}, {qnan, qnan}, {4, 0.5}, {0x1p-1074, 0x1p537}});
  check_points("tanh", {{0, 0},
                        {-0.0, -0.0},
                        {inf, 1},
                        {-inf, -1},
                        {qnan, qnan},
                        {denormal, denormal},
                        {-denormal, -denormal},
                        {20, 1},
                        {-max, -1}});
  check_points("erf",
               {{0, 0}, {-0.0, -0.0}, {inf, 1}, {-inf, -1}, {qnan, qnan}, {denormal, denormal}, {6, 1}, {-max, -1}});
  check_points("sigmoid",
               {{0, 0.5}, {-0.0, 0.5}, {inf, 1}, {-inf, 0}, {qnan, qnan}, {40, 1}, {max, 1}, {-max, 0}, {-746, 0}});
  // The far negative tails are limits: -0, at -inf too.
  for (const char* name : {"silu", "gelu_erf", "gelu_tanh"})
    check_points(name, {{0, 0},
                        {-0.0, -0.0},
                        {inf, inf},
                        {-inf, -0.0},
                        {qnan, qnan},
                        {max, max},
                        {-max, -0.0},
                        {50, 50},
                        {-1000, -0.0},
                        {0x1p-1022, 0x1p-1023}});
}

TEST_CASE("f64 pow follows Annex F") {
  struct Case {
    double x, y, want;
  };
  const Case cases[] = {
      {0, -1, inf},
      {-0.0, -1, -inf},
      {0, -3, inf},
      {-0.0, -3, -inf},
      {0, -2, inf},
      {-0.0, -2, inf},
      {-0.0, -2.5, inf},
      {0, -inf, inf},
      {-0.0, -inf, inf},
      {0, 3, 0},
      {-0.0, 3, -0.0},
      {-0.0, 2, 0},
      {-0.0, 0.5, 0},
      {-0.0, inf, 0},
      {-1, inf, 1},
      {-1, -inf, 1},
      {1, qnan, 1},
      {1, inf, 1},
      {qnan, 0, 1},
      {qnan, -0.0, 1},
      {inf, 0, 1},
      {-inf, -0.0, 1},
      {0, 0, 1},
      {-2, 0.5, qnan},
      {-denormal, 1.5, qnan},
      {-max, -0.1, qnan},
      {0.5, -inf, inf},
      {-0.5, -inf, inf},
      {2, -inf, 0},
      {-2, -inf, 0},
      {0.5, inf, 0},
      {-0.5, inf, 0},
      {2, inf, inf},
      {-2, inf, inf},
      {-inf, -1, -0.0},
      {-inf, -2, 0},
      {-inf, -2.5, 0},
      {-inf, 3, -inf},
      {-inf, 2, inf},
      {-inf, 2.5, inf},
      {-inf, inf, inf},
      {-inf, -inf, 0},
      {inf, -1, 0},
      {inf, 0.1, inf},
      {qnan, 1, qnan},
      {2, qnan, qnan},
      {qnan, qnan, qnan},
      {-1, qnan, qnan},
      {0, qnan, qnan},
      {inf, qnan, qnan},
      {qnan, inf, qnan},
      {-2, 3, -8},
      {-2, 2, 4},
      {-1, 0x1p53, 1},
      {-1, 0x1p53 - 1, -1},
      {-1, max, 1},
      {-2, 1024, inf},
      {-2, 1025, -inf},
      {-2, -1075, -0.0},
      {-2, -1074, denormal},
      {2, -1074, denormal},
      {-8, -357, -0x1p-1071},
  };
  std::vector<F64Input> inputs;
  for (const Case& c : cases) inputs.push_back({c.x, c.y});
  const std::vector<double> out = F64Runner(function("pow"))(inputs);
  for (size_t i = 0; i < out.size(); ++i) {
    CAPTURE(cases[i].x);
    CAPTURE(cases[i].y);
    CAPTURE(out[i]);
    CHECK(same(out[i], cases[i].want));
  }
}
