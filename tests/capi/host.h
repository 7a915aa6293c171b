// What the C++ tests of the C ABI share: handles that release themselves, tensors over vectors, statuses as codes.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ingot/ingot.h"

namespace host {

template <class T, void (*release)(T*)>
struct Releaser {
  void operator()(T* p) const { release(p); }
};
template <class T, void (*release)(T*)>
using Owned = std::unique_ptr<T, Releaser<T, release>>;
using Context = Owned<ingot_context, ingot_context_release>;
using Graph = Owned<ingot_graph, ingot_graph_release>;
using Executable = Owned<ingot_executable, ingot_executable_release>;
using Call = Owned<ingot_call, ingot_call_release>;
using Event = Owned<ingot_event, ingot_event_release>;

struct Outcome {
  ingot_code code;
  std::string message;
};
inline Outcome outcome(ingot_status* status) {
  const char* text = "";
  size_t length = 0;
  if (status) ingot_status_message(status, &text, &length);
  Outcome out{ingot_status_code(status), std::string(text, length)};
  ingot_status_release(status);
  return out;
}
inline void ok(ingot_status* status) {
  const Outcome o = outcome(status);
  INFO(o.message);
  REQUIRE(o.code == INGOT_OK);
}
// The code, where the message has `word` in it.
inline ingot_code refused(ingot_status* status, const char* word) {
  const Outcome o = outcome(status);
  INFO(o.message);
  CHECK(o.message.find(word) != std::string::npos);
  return o.code;
}

inline Context context(ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT) {
  o.no_disk_cache = 1;
  o.ignore_environment = 1;
  ingot_context* c = nullptr;
  ok(ingot_context_create(&o, &c));
  return Context(c);
}
inline Graph parse(const Context& c, const std::string& text) {
  ingot_graph* g = nullptr;
  ok(ingot_graph_parse(c.get(), text.data(), text.size(), &g));
  return Graph(g);
}
inline Executable compile(const Context& c, const Graph& g, ingot_backend backend = INGOT_BACKEND_AUTO) {
  ingot_compile_options o = INGOT_COMPILE_OPTIONS_INIT;
  o.backend = backend;
  ingot_executable* e = nullptr;
  ok(ingot_compile(c.get(), g.get(), &o, &e));
  return Executable(e);
}
inline ingot_value value(const Graph& g, const char* name) {
  ingot_value v = 0;
  ok(ingot_graph_find_value(g.get(), name, INGOT_NUL, &v));
  return v;
}
inline ingot_stats stats(const Context& c) {
  ingot_stats s = INGOT_STATS_INIT;
  ok(ingot_context_stats(c.get(), &s));
  return s;
}

// f32 data with a shape.
struct Floats {
  std::vector<float> data;
  std::vector<int64_t> shape;
  ingot_tensor tensor;
  Floats(std::vector<int64_t> s, std::vector<float> d) : data(std::move(d)), shape(std::move(s)) {
    tensor = {data.data(), {1, 0}, static_cast<int32_t>(shape.size()), {2, 32, 1}, shape.data(), nullptr, 0};
  }
  Floats(const Floats&) = delete;
};

inline ingot_status* run(const Executable& e, const std::vector<const ingot_tensor*>& ins,
                         const std::vector<const ingot_tensor*>& outs, const ingot_run_options* o = nullptr) {
  return ingot_run(e.get(), ins.data(), ins.size(), outs.data(), outs.size(), o);
}

}  // namespace host
