// Compiling in the background, and runs that must not wait for it.
#include <atomic>
#include <chrono>
#include <thread>

#include "host.h"

using namespace host;

namespace {

// A kernel that no other test compiles.
std::string graph_text(int which) {
  return "ingot 1.0\ngraph @g(%x: f32[N]) -> (f32[N]) {\n  %0 = exp %x\n  %1 = mul %0, " + std::to_string(which) +
         ".0\n  %2 = tanh %1\n  return %2\n}\n";
}

bool have_compiler() {
  const Context c = context();
  const Executable e = compile(c, parse(c, graph_text(1)), INGOT_BACKEND_CPU);
  return outcome(ingot_executable_prepare(e.get(), nullptr, 0, nullptr, nullptr)).code == INGOT_OK;
}

Event prepare(const Executable& e) {
  ingot_event* event = nullptr;
  ok(ingot_executable_prepare(e.get(), nullptr, 0, nullptr, &event));
  return Event(event);
}

struct Note {
  std::atomic<int> calls{0}, destroyed{0};
  std::atomic<ingot_code> code{-1};
  static void done(void* user, ingot_code code) {
    auto& n = *static_cast<Note*>(user);
    n.code = code;
    ++n.calls;
  }
  static void destroy(void* user) { ++static_cast<Note*>(user)->destroyed; }
};

}  // namespace

TEST_CASE("an event tells when the code is there: by wait, poll and callback") {
  const Context c = context();
  const Executable e = compile(c, parse(c, graph_text(2)));
  const Event event = prepare(e);
  Note early;
  ok(ingot_event_on_done(event.get(), Note::done, &early, Note::destroy));
  ok(ingot_event_wait(event.get(), -1));
  CHECK(ingot_event_poll(event.get()) == INGOT_OK);
  Note late;
  ok(ingot_event_on_done(event.get(), Note::done, &late, Note::destroy));
  CHECK(late.calls == 1);
  CHECK(late.code == INGOT_OK);
  CHECK(late.destroyed == 1);
  // The callback may come a moment after wait() has returned; it has when the executable is gone.
  for (int i = 0; i < 10000 && early.destroyed == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(early.calls == 1);
  CHECK(early.code == INGOT_OK);
  CHECK(early.destroyed == 1);
  // Nothing is compiled by the run.
  const uint64_t compiles = stats(c).compiles;
  Floats x({2}, {0, 1}), y({2}, {0, 0});
  ok(run(e, {&x.tensor}, {&y.tensor}));
  CHECK(stats(c).compiles == compiles);
  // What is ready is ready at once.
  CHECK(ingot_event_poll(prepare(e).get()) == INGOT_OK);
}

TEST_CASE("events and prepare refuse nonsense, and call destroy all the same") {
  const Context c = context();
  const Executable e = compile(c, parse(c, graph_text(3)));
  Note n;
  CHECK(refused(ingot_event_on_done(nullptr, Note::done, &n, Note::destroy), "event") == INGOT_INVALID_ARGUMENT);
  CHECK(n.destroyed == 1);
  const Event event = prepare(e);
  CHECK(refused(ingot_event_on_done(event.get(), nullptr, &n, Note::destroy), "done") == INGOT_INVALID_ARGUMENT);
  CHECK(n.destroyed == 2);
  CHECK(n.calls == 0);
  CHECK(ingot_event_poll(nullptr) == INGOT_INVALID_ARGUMENT);
  CHECK(refused(ingot_event_wait(nullptr, 0), "event") == INGOT_INVALID_ARGUMENT);
  CHECK(refused(ingot_event_cancel(nullptr), "event") == INGOT_INVALID_ARGUMENT);
  ingot_event_retain(nullptr);
  ingot_event_release(nullptr);
  ok(ingot_event_wait(event.get(), INT64_MAX));
  // Example tensors are checked.
  Floats wrong({2, 2}, {0, 0, 0, 0});
  const ingot_tensor* ins[] = {&wrong.tensor};
  CHECK(refused(ingot_executable_prepare(e.get(), ins, 1, nullptr, nullptr), "rank 2") == INGOT_INVALID_ARGUMENT);
  Floats no_data({2}, {});
  no_data.tensor.data = nullptr;
  const ingot_tensor* fine[] = {&no_data.tensor};
  ok(ingot_executable_prepare(e.get(), fine, 1, nullptr, nullptr));
}

TEST_CASE("releasing the executable ends its work in the background") {
  for (int i = 0; i < 8; ++i) {
    Context c = context();
    std::vector<Event> events;
    std::vector<Note> notes(4);
    {
      std::vector<Executable> executables;
      for (size_t k = 0; k < notes.size(); ++k) {
        executables.push_back(compile(c, parse(c, graph_text(10 + i * 4 + static_cast<int>(k)))));
        events.push_back(prepare(executables.back()));
        ok(ingot_event_on_done(events.back().get(), Note::done, &notes[k], Note::destroy));
      }
    }
    // All are over: done, or dropped before they began. The last may only just be telling.
    for (size_t k = 0; k < notes.size(); ++k) {
      const ingot_code code = outcome(ingot_event_wait(events[k].get(), -1)).code;
      CHECK((code == INGOT_OK || code == INGOT_CANCELLED));
      for (int t = 0; t < 10000 && notes[k].destroyed == 0; ++t)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      CHECK(notes[k].code == code);
    }
    c.reset();
  }
}

TEST_CASE("a cancelled compile ends as CANCELLED or done, and the next prepare is right") {
  const Context c = context();
  for (int i = 0; i < 10; ++i) {
    const Executable e = compile(c, parse(c, graph_text(100 + i)));
    const Event event = prepare(e);
    ok(ingot_event_cancel(event.get()));
    const ingot_code code = outcome(ingot_event_wait(event.get(), -1)).code;
    CHECK((code == INGOT_OK || code == INGOT_CANCELLED));
    ok(ingot_executable_prepare(e.get(), nullptr, 0, nullptr, nullptr));
  }
}

TEST_CASE("a run that must not stall is the interpreter's until the code is there, with the same bits") {
  const bool compiler = have_compiler();
  const Context c = context();
  const Graph g = parse(c, graph_text(4));
  const Executable e = compile(c, g), reference = compile(c, g, INGOT_BACKEND_INTERPRETER);
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i) values.push_back(static_cast<float>(i) * 0.01f - 5);
  Floats x({1000}, values), want({1000}, std::vector<float>(1000)), got({1000}, std::vector<float>(1000));
  ok(run(reference, {&x.tensor}, {&want.tensor}));
  ingot_run_options o = INGOT_RUN_OPTIONS_INIT;
  o.never_stall = 1;
  const auto same = [&] { return std::memcmp(got.data.data(), want.data.data(), 4000) == 0; };
  ok(run(e, {&x.tensor}, {&got.tensor}, &o));
  CHECK(same());
  // The first such run has set the compiler to work.
  for (int i = 0; i < 10000 && compiler && stats(c).compiles == 0; ++i) {
    got.data.assign(1000, 0);
    ok(run(e, {&x.tensor}, {&got.tensor}, &o));
    REQUIRE(same());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (compiler) CHECK(stats(c).compiles == 1);
  ok(ingot_executable_prepare(e.get(), nullptr, 0, nullptr, nullptr));
  got.data.assign(1000, 0);
  ok(run(e, {&x.tensor}, {&got.tensor}, &o));
  CHECK(same());
  // A backend that was named does not fall back.
  if (compiler) {
    const Executable cpu = compile(c, parse(c, graph_text(5)), INGOT_BACKEND_CPU);
    ingot_code code = outcome(run(cpu, {&x.tensor}, {&got.tensor}, &o)).code;
    CHECK(code == INGOT_NOT_READY);
    for (int i = 0; i < 10000 && code == INGOT_NOT_READY; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      code = outcome(run(cpu, {&x.tensor}, {&got.tensor}, &o)).code;
    }
    CHECK(code == INGOT_OK);
  }
}

TEST_CASE("without threads the background is the foreground, and runs that must not stall are interpreted") {
  ingot_context_options co = INGOT_CONTEXT_OPTIONS_INIT;
  co.no_threads = 1;
  const Context c = context(co);
  const Executable e = compile(c, parse(c, graph_text(6)));
  ingot_run_options o = INGOT_RUN_OPTIONS_INIT;
  o.never_stall = 1;
  Floats x({2}, {0, 1}), y({2}, {0, 0});
  ok(run(e, {&x.tensor}, {&y.tensor}, &o));
  CHECK(stats(c).compiles == 0);
  CHECK(ingot_event_poll(prepare(e).get()) == INGOT_OK);
}
