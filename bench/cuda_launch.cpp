// What a run on a CUDA device takes of Ingot's own time: against a driver that does nothing (cuda_null.cpp), which is
// what INGOT_CUDA_DRIVER has to name; NVRTC is INGOT_NVRTC's. And how long the text of a kernel takes to make.
//
// usage: cuda_launch [--json FILE]
#include "measure.h"

using namespace bench;

namespace {

ingot_executable* compiled(ingot_context* c, const char* text) {
  ingot_graph* g;
  check(ingot_graph_parse(c, text, INGOT_NUL, &g));
  ingot_compile_options o = INGOT_COMPILE_OPTIONS_INIT;
  o.backend = INGOT_BACKEND_CUDA;
  ingot_executable* e;
  check(ingot_compile(c, g, &o, &e));
  ingot_graph_release(g);
  return e;
}

void texts(ingot_context* c, Json& json) {
  const struct {
    const char *name, *op;
  } graphs[] = {
      {"softmax", "softmax %x"}, {"log_softmax", "log_softmax %x"}, {"gelu", "gelu %x"}, {"lgamma", "lgamma %x"}};
  for (const auto& g : graphs) {
    const std::string text =
        std::string("ingot 1.0\ngraph @g(%x: f32[N, M]) -> (f32[N, M]) {\n  %0 = ") + g.op + "\n  return %0\n}\n";
    ingot_executable* const e = compiled(c, text.c_str());
    size_t size = 0;
    const auto s = alternate({[&] {
                               ingot_buffer* out;
                               check(ingot_executable_describe(e, "cuda", INGOT_NUL, &out));
                               const char* data;
                               ingot_buffer_data(out, &data, &size);
                               ingot_buffer_release(out);
                             }},
                             21, 20);
    json.add((std::string("text_") + g.name + "_s").c_str(), s[0]);
    std::printf("  the text of %-12s %5zu bytes in %6.1f us, goal 1000\n", g.name, size, median(s[0]) * 1e6);
    ingot_executable_release(e);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Json json;
  pin();
  ingot_context_options options = INGOT_CONTEXT_OPTIONS_INIT;
  options.no_disk_cache = 1;
  ingot_context* c;
  check(ingot_context_create(&options, &c));
  ingot_executable* const e = compiled(c, poly_text);
  Array x(16), y(16), z(16), result(16);
  for (Array* a : {&x, &y, &z, &result}) a->tensor.device = {2, 0};
  const ingot_tensor* in[] = {&x.tensor, &y.tensor, &z.tensor};
  const ingot_tensor* out[] = {&result.tensor};
  ingot_call* bound;
  check(ingot_call_create(e, &bound));
  check(ingot_call_bind(bound, in, 3, out, 1));
  const auto s =
      alternate({[&] { check(ingot_run(e, in, 3, out, 1, nullptr)); }, [&] { check(ingot_call_run(bound, nullptr)); }},
                41, 20000);
  json.add("run_s", s[0]);
  json.add("bound_call_s", s[1]);
  std::printf("a launch on a CUDA device, three inputs of 16 floats, the driver taking no time, median (least):\n");
  const char* const names[] = {"ingot_run", "ingot_call_run"};
  for (size_t i = 0; i < 2; ++i)
    std::printf("  %-16s %6.1f ns (%.1f), goal 500\n", names[i], median(s[i]) * 1e9,
                *std::min_element(s[i].begin(), s[i].end()) * 1e9);
  ingot_call_release(bound);
  texts(c, json);
  ingot_executable_release(e);
  ingot_context_release(c);
  json.write(json_path(argc, argv));
  return 0;
}
