#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "loop/eval.h"
#include "math/f64_check.h"

using namespace ingot::test;

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
    std::string_view name;
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
