// Functions on 4,096 floats in L1, one thread: the compiled graph against glibc's libmvec, NumPy and numexpr; and
// composites against the sum of their parts. Prints ns an element and ratios, and writes the raw samples.
//
// usage: functions [--json FILE]     PYTHON: an interpreter with NumPy and numexpr, python3 where that is not set
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "libm_loops.h"
#include "measure.h"

using namespace bench;

namespace {

constexpr int64_t count = 4096;

struct Peer {
  const char* name;
  void (*libm)(const float*, float*, size_t);
  double low, high;
};
constexpr Peer peers[] = {{"exp", libm_exp, -8, 8},   {"log", libm_log, 0.01, 100}, {"tanh", libm_tanh, -4, 4},
                          {"erf", libm_erf, -3, 3},   {"sin", libm_sin, -30, 30},   {"cos", libm_cos, -30, 30},
                          {"exp2", libm_exp2, -8, 8}, {"expm1", libm_expm1, -4, 4}, {"log1p", libm_log1p, -0.9, 8}};

// A function and the kernels that together compute it.
struct Composite {
  const char *name, *body;
  std::array<const char*, 3> parts;  // null where there are fewer
};
constexpr Composite composites[] = {
    {"sigmoid", "%r = sigmoid %x", {"%r = exp %x", "%a = add %x, 1.0\n%r = reciprocal %a"}},
    {"gelu (erf)",
     "%r = gelu %x",
     {"%r = erf %x", "%a = mul %x, 0.70710678\n%b = add %a, 1.0\n%c = mul %b, 0.5\n%r = mul %c, %x"}},
    {"gelu (tanh)",
     "%r = gelu %x {approximate = \"tanh\"}",
     {"%r = tanh %x",
      "%a = mul %x, %x\n%b = mul %a, 0.044715\n%c = add %b, 1.0\n%d = mul %c, %x\n%r = mul %d, 0.7978846",
      "%a = add %x, 1.0\n%b = mul %a, 0.5\n%r = mul %b, %x"}},
    {"softplus", "%r = softplus %x", {"%r = exp %x", "%r = log1p %x"}},
};

class Kernel {
 public:
  Kernel(ingot_context* c, const std::string& body) : executable_(compile(c, text(body))) {}
  ~Kernel() { ingot_executable_release(executable_); }
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  void run(Array& x, Array& y) const {
    const ingot_tensor* in[] = {&x.tensor};
    const ingot_tensor* out[] = {&y.tensor};
    check(ingot_run(executable_, in, 1, out, 1, nullptr));
  }

 private:
  // The last statement, "%r = ...", is the result.
  static std::string text(const std::string& body) {
    return "ingot 1.0\ngraph @f(%x: f32[N]) -> (f32[N]) {\n" + body + "\nreturn %r\n}\n";
  }
  ingot_executable* executable_;
};

void fill(Array& x, double low, double high) {
  for (int64_t i = 0; i < count; ++i)
    x.data[i] = static_cast<float>(low + (high - low) * static_cast<double>(i) / (count - 1));
}

double least(const std::vector<double>& samples) { return *std::min_element(samples.begin(), samples.end()); }
double per_element(double seconds) { return seconds / count * 1e9; }

// NumPy's and numexpr's times, 0 where there are none.
std::pair<double, double> python(const std::string& folder, const Peer& p) {
  const char* interpreter = std::getenv("PYTHON");
  char line[64] = "";
  const std::string command = std::string(interpreter ? interpreter : "python3") + " " + folder +
                              "/python_function.py " + p.name + " " + std::to_string(p.low) + " " +
                              std::to_string(p.high) + " 2>/dev/null";
  FILE* child = popen(command.c_str(), "r");
  if (!child) return {0, 0};
  char numpy[32] = "-", numexpr[32] = "-";
  if (std::fgets(line, sizeof line, child)) std::sscanf(line, "%31s %31s", numpy, numexpr);
  pclose(child);
  return {std::atof(numpy), std::atof(numexpr)};
}

void against_peers(ingot_context* c, Json& json) {
  Array x(count), ours(count), theirs(count);
  std::printf(
      "f32[4096] in L1, one thread, least of 61 rounds, ns an element; in brackets the peer's time over ingot's\n");
  std::printf("%-8s %7s %15s %15s %15s\n", "", "ingot", "libmvec", "numpy", "numexpr");
  for (const Peer& p : peers) {
    const Kernel kernel(c, std::string("%r = ") + p.name + " %x");
    fill(x, p.low, p.high);
    kernel.run(x, ours);
    p.libm(x.data, theirs.data, count);
    for (int64_t i = 0; i < count; ++i)
      if (std::fabs(ours.data[i] - theirs.data[i]) > 1e-5f * (1 + std::fabs(ours.data[i]))) {
        std::fprintf(stderr, "functions: %s(%a) is %a here and %a in libm\n", p.name, static_cast<double>(x.data[i]),
                     static_cast<double>(ours.data[i]), static_cast<double>(theirs.data[i]));
        std::exit(1);
      }
    const auto s = alternate({[&] { kernel.run(x, ours); }, [&] { p.libm(x.data, theirs.data, count); }}, 61, 50);
    json.add((std::string(p.name) + "_ingot_s").c_str(), s[0]);
    json.add((std::string(p.name) + "_libmvec_s").c_str(), s[1]);
    const double own = per_element(least(s[0])), libm = per_element(least(s[1]));
    const auto [numpy, numexpr] = python(BENCH_FOLDER, p);
    std::printf("%-8s %7.3f %7.3f (%4.2f)", p.name, own, libm, libm / own);
    for (const double other : {numpy, numexpr}) {
      if (other > 0) std::printf("  %7.3f (%4.1f)", other, other / own);
      else std::printf("  %14s", "-");
    }
    std::printf("\n");
  }
}

void against_parts(ingot_context* c, Json& json) {
  Array x(count), y(count);
  fill(x, -4, 4);
  std::printf("\ncomposites and the sum of their parts, ns an element\n");
  for (const Composite& composite : composites) {
    std::vector<std::unique_ptr<Kernel>> kernels;
    kernels.push_back(std::make_unique<Kernel>(c, composite.body));
    for (const char* part : composite.parts)
      if (part) kernels.push_back(std::make_unique<Kernel>(c, part));
    std::vector<std::function<void()>> calls;
    for (const auto& kernel : kernels) calls.emplace_back([&x, &y, k = kernel.get()] { k->run(x, y); });
    const auto s = alternate(calls, 61, 50);
    json.add((std::string(composite.name) + "_s").c_str(), s[0]);
    double sum = 0;
    for (size_t i = 1; i < s.size(); ++i) sum += per_element(least(s[i]));
    const double own = per_element(least(s[0]));
    std::printf("%-12s %7.3f %7.3f (%4.2f)\n", composite.name, own, sum, sum / own);
  }
}

}  // namespace

int main(int argc, char** argv) {
  pin();
  ingot_context* c = context();
  Json json;
  against_peers(c, json);
  against_parts(c, json);
  ingot_context_release(c);
  json.write(json_path(argc, argv));
  return 0;
}
