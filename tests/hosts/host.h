// What the tests of hard hosts share: a host that uses the public header alone.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "ingot/ingot.h"

namespace ingot::hosts {

// "" or the message.
inline std::string text_of(ingot_status* status) {
  if (!status) return {};
  const char* text = nullptr;
  ingot_status_message(status, &text, nullptr);
  std::string out = text;
  ingot_status_release(status);
  return out;
}
#define OK(call)                                          \
  do {                                                    \
    const std::string why_ = ingot::hosts::text_of(call); \
    INFO(#call, ": ", why_);                              \
    REQUIRE(why_.empty());                                \
  } while (0)

// Options that depend on nothing outside of the test.
inline ingot_context_options alone() {
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  o.no_disk_cache = 1;
  o.ignore_environment = 1;
  return o;
}

// x * factor + 1: a kernel of its own for each factor. Exact for the inputs used here.
inline std::string affine_text(int factor) {
  return "ingot 1.0\ngraph @g(%x: f32[N]) -> (f32[N]) {\n  %0 = mul %x, " + std::to_string(factor) +
         ".0\n  %1 = add %0, 1.0\n  return %1\n}\n";
}

// One graph on one context, without doctest: it also runs in forked children and on small stacks.
class Affine {
 public:
  // False where something failed.
  bool compile(ingot_context* context, int factor, ingot_backend backend = INGOT_BACKEND_AUTO) {
    factor_ = factor;
    const std::string text = affine_text(factor);
    ingot_graph* graph = nullptr;
    ingot_compile_options o = INGOT_COMPILE_OPTIONS_INIT;
    o.backend = backend;
    ingot_status* status = ingot_graph_parse(context, text.data(), text.size(), &graph);
    if (!status) status = ingot_compile(context, graph, &o, &executable_);
    ingot_graph_release(graph);
    return done(status);
  }
  bool prepare() { return done(ingot_executable_prepare(executable_, nullptr, 0, nullptr, nullptr)); }
  // Runs on `n` items, 3 at least, and looks at the numbers.
  bool run(int64_t n = 1000, uint32_t serial = 0, uint32_t never_stall = 0) {
    std::vector<float> in(static_cast<size_t>(n), 3.0f), out(static_cast<size_t>(n));
    in[1] = -2;
    ingot_tensor x{in.data(), {1, 0}, 1, {2, 32, 1}, &n, nullptr, 0}, y = x;
    y.data = out.data();
    const ingot_tensor *ins[] = {&x}, *outs[] = {&y};
    ingot_run_options o = INGOT_RUN_OPTIONS_INIT;
    o.serial = serial;
    o.never_stall = never_stall;
    if (!done(ingot_run(executable_, ins, 1, outs, 1, &o))) return false;
    const auto f = static_cast<float>(factor_);
    for (size_t i = 0; i < out.size(); ++i)
      if (out[i] != (i == 1 ? -2 : 3) * f + 1) return false;
    return true;
  }
  Affine() = default;
  Affine(const Affine&) = delete;
  Affine& operator=(const Affine&) = delete;
  ~Affine() { ingot_executable_release(executable_); }
  ingot_code last = INGOT_OK;  // of the last call

 private:
  bool done(ingot_status* status) {
    last = ingot_status_code(status);
    ingot_status_release(status);
    return last == INGOT_OK;
  }
  int factor_ = 1;
  ingot_executable* executable_ = nullptr;
};

// A log sink's: how many warnings and errors came.
inline std::atomic<int> warnings{0};
inline void INGOT_CALL count_warnings(void*, ingot_log_level level, const char*, size_t) {
  warnings += level >= INGOT_LOG_WARNING;
}

// Runs `body` in a forked child, which a signal ends after half a minute. Its exit status, or 1000 + the signal that
// ended it.
inline int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(30);  // a waiter that is forgotten would hang
    _exit(body());
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

// Whether kernels can be compiled here at all.
inline bool can_compile() {
  ingot_context* context = nullptr;
  const ingot_context_options o = alone();
  OK(ingot_context_create(&o, &context));
  Affine probe;
  REQUIRE(probe.compile(context, 2, INGOT_BACKEND_CPU));
  const bool can = probe.prepare();
  if (!can) MESSAGE("SKIP: no compiler module");
  ingot_context_release(context);
  return can;
}

class Directory {
 public:
  Directory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ingot-hosts-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()));
    path = pattern;
  }
  ~Directory() { std::filesystem::remove_all(path); }
  std::string path;
};

}  // namespace ingot::hosts
