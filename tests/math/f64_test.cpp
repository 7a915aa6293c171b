#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>
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

// Compiled once for all tests.
const F64Runner& runner(const F64Function& f) {
  static std::map<std::string_view, F64Runner> known;
  return known.try_emplace(f.name, f).first->second;
}

void check(const F64Function& f, std::span<const F64Input> inputs) {
  const std::vector<double> out = runner(f)(inputs);
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
  const std::vector<double> out = runner(function(name))(inputs);
  size_t i = 0;
  for (const Point& p : points) {
    CAPTURE(p.x);
    CAPTURE(out[i]);
    CHECK(same(out[i], p.want));
    if (std::isnan(p.want)) CHECK(std::bit_cast<uint64_t>(out[i]) == 0x7ff8000000000000);
    ++i;
  }
}

struct PairPoint {
  double x, y, want;
};

void check_pairs(std::string_view name, std::span<const PairPoint> points) {
  std::vector<F64Input> inputs;
  for (const PairPoint& p : points) inputs.push_back({p.x, p.y});
  const std::vector<double> out = runner(function(name))(inputs);
  for (size_t i = 0; i < out.size(); ++i) {
    CAPTURE(points[i].x);
    CAPTURE(points[i].y);
    CAPTURE(out[i]);
    CHECK(same(out[i], points[i].want));
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
      {"exp2", {-0x1.ff0000002aecdp+9, 0}, 0.75},
      {"expm1", {0x1.62e432af81a24p-2, 0}, 0.88},
      {"log2", {0x1.6a09e667f1216p+0, 0}, 0.51},
      {"log1p", {-0x1.9fd1e87a682e2p-53, 0}, 0.66},
      {"exp10", {-0x1.33a714ba36cb6p+8, 0}, 0.75},
      {"log10", {0x1.6a09e667f3bd9p+0, 0}, 0.51},
      {"sin", {-0x1.889faf6be048ep-1, 0}, 0.68},
      {"cos", {0x1.90bd40e42482ep+30, 0}, 0.72},
      {"tan", {0x1.84ee3c6e6e439p+209, 0}, 0.86},
      {"sinpi", {0x1.0000000003e72p-1022, 0}, 0.98},
      {"cospi", {0x1.9233487af2632p+19, 0}, 0.69},
      {"asin", {0x1.071cffc1dd8aep-1, 0}, 1.07},
      {"acos", {0x1.800000000002ep-1, 0}, 1.03},
      {"atan", {0x1.a827999fd73f9p-2, 0}, 0.82},
      {"atan2", {0x1.51d9c8e541ba5p+721, 0x1.4ba3ca49143b9p+723}, 1.24},
      {"sinh", {-0x1.67b8603195942p-2, 0}, 0.74},
      {"cosh", {-0x1.7e09dcfe501dcp-17, 0}, 0.88},
      {"asinh", {-0x1.1aee1f9cf8af7p-53, 0}, 1.01},
      {"acosh", {0x1.16fc297485d2bp+0, 0}, 0.51},
      {"atanh", {-0x1.267f6122aa767p-54, 0}, 1.01},
      {"cbrt", {0x1.f5ff68ef99dfp+995, 0}, 0.51},
      {"hypot", {0x1.0000018306c0fp+1, -0x1.40fb964ac51f8p+1}, 0.92},
      {"erfc", {0x1.fbd22a1d99b94p-16, 0}, 0.98},
  };
  for (const Worst& w : worst) {
    const F64Function& f = function(w.name);
    const double got = runner(f)({&w.in, 1})[0];
    CAPTURE(w.name);
    CAPTURE(w.in.x);
    CHECK(ulp_error(f, w.in, got) <= w.ulp);
  }
}

TEST_CASE("f64 functions give the same bits by the reference primitives and as C") {
  namespace loop = ingot::loop;
  for (const F64Function& f : f64_functions()) {
    const F64Runner& run = runner(f);
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

TEST_CASE("f64 special results of the exponentials and logarithms") {
  check_points("exp2", {{0, 1},
                        {-0.0, 1},
                        {inf, inf},
                        {-inf, 0},
                        {qnan, qnan},
                        {-qnan, qnan},
                        {3, 8},
                        {-1, 0.5},
                        {1023, 0x1p1023},
                        {1024, inf},
                        {-1022, min_normal},
                        {-1074, denormal},
                        {-1075, 0},
                        {max, inf},
                        {-max, 0}});
  check_points("expm1", {{0, 0},
                         {-0.0, -0.0},
                         {inf, inf},
                         {-inf, -1},
                         {qnan, qnan},
                         {-qnan, qnan},
                         {denormal, denormal},
                         {-denormal, -denormal},
                         {710, inf},
                         {-40, -1},
                         {max, inf},
                         {-max, -1}});
  check_points("exp10", {{0, 1},
                         {-0.0, 1},
                         {inf, inf},
                         {-inf, 0},
                         {qnan, qnan},
                         {1, 10},
                         {2, 100},
                         {22, 1e22},
                         {309, inf},
                         {-324, 0},
                         {max, inf},
                         {-max, 0}});
  check_points("log2", {{1, 0},
                        {0, -inf},
                        {-0.0, -inf},
                        {inf, inf},
                        {-1, qnan},
                        {-denormal, qnan},
                        {-inf, qnan},
                        {qnan, qnan},
                        {8, 3},
                        {denormal, -1074},
                        {min_normal, -1022},
                        {0x1p1023, 1023}});
  check_points("log10", {{1, 0},
                         {0, -inf},
                         {-0.0, -inf},
                         {inf, inf},
                         {-1, qnan},
                         {-denormal, qnan},
                         {-inf, qnan},
                         {qnan, qnan},
                         {10, 1},
                         {1000, 3},
                         {1e22, 22}});
  check_points("log1p", {{0, 0},
                         {-0.0, -0.0},
                         {-1, -inf},
                         {-2, qnan},
                         {-inf, qnan},
                         {inf, inf},
                         {qnan, qnan},
                         {denormal, denormal},
                         {-denormal, -denormal}});
}

TEST_CASE("f64 special results of the circular functions and their inverses") {
  constexpr double half_pi = 0x1.921fb54442d18p0;
  check_points(
      "sin",
      {{0, 0}, {-0.0, -0.0}, {inf, qnan}, {-inf, qnan}, {qnan, qnan}, {denormal, denormal}, {-denormal, -denormal}});
  check_points("cos", {{0, 1}, {-0.0, 1}, {inf, qnan}, {-inf, qnan}, {qnan, qnan}, {denormal, 1}});
  check_points(
      "tan",
      {{0, 0}, {-0.0, -0.0}, {inf, qnan}, {-inf, qnan}, {qnan, qnan}, {denormal, denormal}, {-denormal, -denormal}});
  check_points("sinpi", {{0, 0},
                         {-0.0, -0.0},
                         {inf, qnan},
                         {-inf, qnan},
                         {qnan, qnan},
                         {1, 0},
                         {-1, -0.0},
                         {2, 0},
                         {-2, -0.0},
                         {0.5, 1},
                         {-0.5, -1},
                         {1.5, -1},
                         {-1.5, 1},
                         {0x1p52 + 1, 0},
                         {-max, -0.0}});
  check_points("cospi", {{0, 1},
                         {-0.0, 1},
                         {inf, qnan},
                         {-inf, qnan},
                         {qnan, qnan},
                         {1, -1},
                         {-1, -1},
                         {2, 1},
                         {0.5, 0},
                         {-0.5, 0},
                         {1.5, 0},
                         {-1.5, 0},
                         {0x1p52 + 1, -1},
                         {max, 1}});
  check_points("asin", {{0, 0},
                        {-0.0, -0.0},
                        {1, half_pi},
                        {-1, -half_pi},
                        {1.0000000000000002, qnan},
                        {-2, qnan},
                        {inf, qnan},
                        {-inf, qnan},
                        {qnan, qnan},
                        {denormal, denormal},
                        {-denormal, -denormal}});
  check_points("acos", {{1, 0},
                        {0, half_pi},
                        {-0.0, half_pi},
                        {-1, 2 * half_pi},
                        {1.0000000000000002, qnan},
                        {-2, qnan},
                        {inf, qnan},
                        {-inf, qnan},
                        {qnan, qnan}});
  check_points("atan", {{0, 0},
                        {-0.0, -0.0},
                        {inf, half_pi},
                        {-inf, -half_pi},
                        {max, half_pi},
                        {qnan, qnan},
                        {denormal, denormal},
                        {-denormal, -denormal}});
}

TEST_CASE("f64 special results of the hyperbolic functions, cbrt and erfc") {
  check_points("sinh", {{0, 0},
                        {-0.0, -0.0},
                        {inf, inf},
                        {-inf, -inf},
                        {711, inf},
                        {-max, -inf},
                        {qnan, qnan},
                        {denormal, denormal},
                        {-denormal, -denormal}});
  check_points("cosh",
               {{0, 1}, {-0.0, 1}, {inf, inf}, {-inf, inf}, {711, inf}, {-max, inf}, {qnan, qnan}, {denormal, 1}});
  check_points(
      "asinh",
      {{0, 0}, {-0.0, -0.0}, {inf, inf}, {-inf, -inf}, {qnan, qnan}, {denormal, denormal}, {-denormal, -denormal}});
  check_points(
      "acosh",
      {{1, 0}, {0.9999999999999999, qnan}, {0, qnan}, {-1, qnan}, {-3, qnan}, {-inf, qnan}, {inf, inf}, {qnan, qnan}});
  check_points("atanh", {{0, 0},
                         {-0.0, -0.0},
                         {1, inf},
                         {-1, -inf},
                         {1.0000000000000002, qnan},
                         {-2, qnan},
                         {inf, qnan},
                         {-inf, qnan},
                         {qnan, qnan},
                         {denormal, denormal},
                         {-denormal, -denormal}});
  check_points("cbrt", {{0, 0},
                        {-0.0, -0.0},
                        {inf, inf},
                        {-inf, -inf},
                        {qnan, qnan},
                        {8, 2},
                        {-27, -3},
                        {0x1p-1074, 0x1p-358},
                        {-0x1p1023, -0x1p341}});
  check_points("erfc", {{0, 1}, {-0.0, 1}, {inf, 0}, {-inf, 2}, {qnan, qnan}, {28, 0}, {max, 0}, {-7, 2}, {-max, 2}});
}

TEST_CASE("f64 special results of softplus, log_sigmoid, elu, selu and mish") {
  check_points("softplus", {{inf, inf}, {-inf, 0}, {qnan, qnan}, {-qnan, qnan}, {max, max}, {-max, 0}, {50, 50}});
  check_points("log_sigmoid",
               {{inf, -0.0}, {-inf, -inf}, {qnan, qnan}, {-qnan, qnan}, {max, -0.0}, {-max, -max}, {-50, -50}});
  for (const char* name : {"elu", "selu"})
    check_points(name, {{0, 0}, {-0.0, -0.0}, {inf, inf}, {qnan, qnan}, {-qnan, qnan}});
  check_points("elu", {{-inf, -1.0 / 3}, {-max, -1.0 / 3}, {max, max}, {denormal, denormal}});
  check_points("selu", {{-inf, -0x1.c212cc640f031p0}, {max, inf}, {-denormal, -2 * denormal}});
  check_points("mish", {{0, 0}, {-0.0, -0.0}, {inf, inf}, {-inf, -0.0}, {qnan, qnan}, {max, max}, {-max, -0.0}});
}

TEST_CASE("f64 special results of erfinv, lgamma and digamma") {
  check_points("erfinv", {{0, 0},
                          {-0.0, -0.0},
                          {1, inf},
                          {-1, -inf},
                          {1.0000000000000002, qnan},
                          {-2, qnan},
                          {inf, qnan},
                          {-inf, qnan},
                          {qnan, qnan},
                          {-qnan, qnan}});
  check_points("lgamma", {{1, 0},
                          {2, 0},
                          {0, inf},
                          {-0.0, inf},
                          {inf, inf},
                          {-inf, inf},
                          {-1, inf},
                          {-20, inf},
                          {-max, inf},
                          {max, inf},
                          {qnan, qnan},
                          {-qnan, qnan}});
  check_points("digamma", {{0, -inf},
                           {-0.0, inf},
                           {inf, inf},
                           {-inf, qnan},
                           {-1, qnan},
                           {-20, qnan},
                           {-max, qnan},
                           {denormal, -inf},
                           {-denormal, inf},
                           {qnan, qnan},
                           {-qnan, qnan}});
}

TEST_CASE("f64 pow follows Annex F") {
  const PairPoint cases[] = {
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
  check_pairs("pow", cases);
}

TEST_CASE("f64 logaddexp where one power counts alone") {
  const PairPoint cases[] = {{-inf, 5, 5},       {-0.0, -inf, 0},   {-inf, -inf, -inf}, {inf, inf, inf},
                             {inf, -inf, inf},   {-inf, inf, inf},  {max, 1, max},      {max, -max, max},
                             {-max, -max, -max}, {inf, qnan, qnan}, {qnan, -inf, qnan}, {0, -746, 0},
                             {0, -745, denormal}};
  check_pairs("logaddexp", cases);
}

TEST_CASE("f64 atan2 and hypot follow Annex F") {
  constexpr double half_pi = 0x1.921fb54442d18p0, pi = 2 * half_pi, q1 = half_pi / 2, q3 = 0x1.2d97c7f3321d2p1;
  std::vector<PairPoint> cases = {
      {qnan, 1, qnan}, {1, qnan, qnan}, {qnan, inf, qnan}, {inf, qnan, qnan}, {0, qnan, qnan}};
  const PairPoint upper[] = {{0, -0.0, pi},
                             {0, 0, 0},
                             {0, -1, pi},
                             {0, 1, 0},
                             {0, -inf, pi},
                             {0, inf, 0},
                             {1, 0, half_pi},
                             {1, -0.0, half_pi},
                             {1, -inf, pi},
                             {1, inf, 0},
                             {inf, 1, half_pi},
                             {inf, -1, half_pi},
                             {inf, -inf, q3},
                             {inf, inf, q1},
                             {1, 1, q1},
                             {1, -1, q3},
                             {denormal, denormal, q1},
                             {max, max, q1},
                             {max, -max, q3},
                             {denormal, max, 0},
                             {denormal, -max, pi},
                             {max, denormal, half_pi},
                             {denormal, 1, denormal},
                             {0x1.8p-600, 0x1p400, 0x1.8p-1000},
                             {0x1.8p-500, 0x1p520, 0x1.8p-1020}};
  for (const PairPoint& p : upper) cases.push_back(p), cases.push_back({-p.x, p.y, -p.want});
  check_pairs("atan2", cases);
  const PairPoint lengths[] = {{0, 0, 0},
                               {-0.0, 0, 0},
                               {-0.0, -0.0, 0},
                               {3, 4, 5},
                               {-3, 4, 5},
                               {5, -12, 13},
                               {0, -7, 7},
                               {inf, 1, inf},
                               {1, -inf, inf},
                               {-inf, qnan, inf},
                               {qnan, inf, inf},
                               {inf, inf, inf},
                               {qnan, 1, qnan},
                               {1, qnan, qnan},
                               {denormal, 0, denormal},
                               {3 * denormal, 4 * denormal, 5 * denormal},
                               {max, max, inf},
                               {0x1.8p1022, 0x1p1023, 0x1.4p1023},
                               {0x1p1023, denormal, 0x1p1023}};
  check_pairs("hypot", lengths);
}
