// What it costs that one kernel serves every size: the same graphs with symbolic and with constant extents, in turn, in
// and out of cache.
//
// usage: sizes [--json FILE]
#include <cstring>

#include "measure.h"

using namespace bench;

namespace {

struct Case {
  const char* name;
  // {rows}, {cols}: extents. Inputs are f32[rows, cols], or f32[cols] for the second and third.
  const char* body;
  int inputs;
};

constexpr Case cases[] = {
    {"poly",
     "graph @g(%a: f32[{rows}, {cols}], %b: f32[{cols}]) -> (f32[{rows}, {cols}]) {\n"
     "  %0 = mul %a, 2.0\n  %1 = mul %a, %b\n  %2 = sub %0, %1\n  return %2\n}\n",
     2},
    {"softmax", "graph @g(%a: f32[{rows}, {cols}]) -> (f32[{rows}, {cols}]) {\n  %0 = softmax %a\n  return %0\n}\n", 1},
    {"layer norm",
     "graph @g(%a: f32[{rows}, {cols}], %b: f32[{cols}], %c: f32[{cols}]) -> (f32[{rows}, {cols}]) {\n"
     "  %0 = layer_norm %a, %b, %c\n  return %0\n}\n",
     3},
    {"bias + gelu",
     "graph @g(%a: f32[{rows}, {cols}], %b: f32[{cols}]) -> (f32[{rows}, {cols}]) {\n"
     "  %0 = add %a, %b\n  %1 = gelu %0\n  return %1\n}\n",
     2},
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

void compare(ingot_context* c, const Case& k, int64_t rows, int64_t cols, const char* where, Json& json) {
  const std::string text = std::string("ingot 1.0\n") + k.body;
  ingot_executable* any = compile(c, replaced(replaced(text, "{rows}", "B"), "{cols}", "N"));
  ingot_executable* fixed =
      compile(c, replaced(replaced(text, "{rows}", std::to_string(rows)), "{cols}", std::to_string(cols)));
  Array a(rows * cols), b(cols), d(cols), out_any(rows * cols), out_fixed(rows * cols);
  int64_t shape[] = {rows, cols};
  const auto matrix = [&](Array& x) {
    ingot_tensor t = x.tensor;
    t.ndim = 2;
    t.shape = shape;
    return t;
  };
  const ingot_tensor ta = matrix(a), ty = matrix(out_any), tz = matrix(out_fixed);
  const ingot_tensor* in[] = {&ta, &b.tensor, &d.tensor};
  const ingot_tensor *y[] = {&ty}, *z[] = {&tz};
  const auto inputs = static_cast<size_t>(k.inputs);
  const int calls = static_cast<int>(std::max<int64_t>(1, (int64_t{1} << 21) / (rows * cols)));
  const auto s = alternate({[&] { check(ingot_run(any, in, inputs, y, 1, nullptr)); },
                            [&] { check(ingot_run(fixed, in, inputs, z, 1, nullptr)); }},
                           31, calls);
  if (std::memcmp(out_any.data, out_fixed.data, static_cast<size_t>(rows * cols) * 4) != 0) {
    std::fprintf(stderr, "sizes: %s differs\n", k.name);
    std::exit(1);
  }
  json.add((std::string(k.name) + " " + where + " symbolic").c_str(), s[0]);
  json.add((std::string(k.name) + " " + where + " constant").c_str(), s[1]);
  std::printf("%-12s %5lld x %-5lld %-12s symbolic / constant extents: %.3f (goal 1.05)\n", k.name,
              static_cast<long long>(rows), static_cast<long long>(cols), where, median(s[0]) / median(s[1]));
  ingot_executable_release(any);
  ingot_executable_release(fixed);
}

}  // namespace

int main(int argc, char** argv) {
  pin();
  Json json;
  ingot_context* c = context();
  for (const Case& k : cases) {
    compare(c, k, 16, 256, "in cache", json);
    compare(c, k, 8192, 1024, "out of cache", json);
  }
  ingot_context_release(c);
  json.write(json_path(argc, argv));
  return 0;
}
