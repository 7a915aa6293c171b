// Thresholds with a callback, and callbacks owed to callers of older headers.
#include <cstddef>
#include <mutex>

#include "host.h"

using namespace host;

namespace {

struct Alarm {
  std::mutex lock;
  std::vector<std::pair<ingot_alarm_kind, uint64_t>> calls;
  int destroyed = 0;
  static void call(void* user, ingot_alarm_kind kind, uint64_t value, uint64_t limit) {
    auto& a = *static_cast<Alarm*>(user);
    const std::lock_guard hold(a.lock);
    CHECK(limit > 0);
    a.calls.emplace_back(kind, value);
  }
  static void destroy(void* user) { ++static_cast<Alarm*>(user)->destroyed; }
  size_t count(ingot_alarm_kind kind) {
    const std::lock_guard hold(lock);
    size_t n = 0;
    for (const auto& c : calls) n += c.first == kind;
    return n;
  }
};

// `kernels` of them that differ by a constant, none of which fuses with another.
std::string graph_text(int kernels, int base) {
  std::string text = "ingot 1.0\ngraph @g(";
  std::string body, types, results;
  for (int i = 0; i < kernels; ++i) {
    const std::string k = std::to_string(i);
    text += (i ? ", " : "") + ("%x" + k) + ": f32[N" + k + "]";
    body += "  %y" + k + " = mul %x" + k + ", " + std::to_string(base + i) + ".5\n";
    types += (i ? ", f32[N" : "f32[N") + k + "]";
    results += (i ? ", %y" : "%y") + k;
  }
  return text + ") -> (" + types + ") {\n" + body + "  return " + results + "\n}\n";
}

}  // namespace

TEST_CASE("the memory cache and the compile queue raise an alarm once each time they cross their threshold") {
  Alarm alarm;
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  o.alarm = Alarm::call;
  o.alarm_user = &alarm;
  o.alarm_destroy = Alarm::destroy;
  o.memory_cache_bytes = 1 << 13;
  o.alarm_cache_percent = 25;
  o.alarm_queue = 3;
  {
    const Context c = context(o);
    const Executable two = compile(c, parse(c, graph_text(2, 100)));
    ok(ingot_executable_prepare(two.get(), nullptr, 0, nullptr, nullptr));
    CHECK(alarm.count(INGOT_ALARM_COMPILE_QUEUE) == 0);
    const bool compiles = stats(c).compiles > 0;
    const Executable many = compile(c, parse(c, graph_text(20, 200)));
    ok(ingot_executable_prepare(many.get(), nullptr, 0, nullptr, nullptr));
    CHECK(alarm.count(INGOT_ALARM_COMPILE_QUEUE) == 1);
    if (compiles) CHECK(alarm.count(INGOT_ALARM_MEMORY_CACHE) >= 1);
    // The queue is empty again, so that it can be crossed again.
    const Executable more = compile(c, parse(c, graph_text(20, 300)));
    ok(ingot_executable_prepare(more.get(), nullptr, 0, nullptr, nullptr));
    CHECK(alarm.count(INGOT_ALARM_COMPILE_QUEUE) == 2);
    CHECK(alarm.destroyed == 0);
  }
  CHECK(alarm.destroyed == 1);
  o.alarm_cache_percent = 101;
  ingot_context* none = nullptr;
  CHECK(refused(ingot_context_create(&o, &none), "101") == INGOT_INVALID_ARGUMENT);
  CHECK(alarm.destroyed == 2);
}

TEST_CASE("a destroy callback is owed as soon as the caller's struct has it, however short the struct is") {
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  Alarm user;
  o.no_disk_cache = 1;
  o.allocator_user = &user;
  o.allocator_destroy = Alarm::destroy;
  o.struct_size = offsetof(ingot_context_options, packs);
  ingot_context* c = nullptr;
  ok(ingot_context_create(&o, &c));
  ingot_context_release(c);
  CHECK(user.destroyed == 1);
  o.struct_size = offsetof(ingot_context_options, allocator_destroy);
  ok(ingot_context_create(&o, &c));
  ingot_context_release(c);
  CHECK(user.destroyed == 1);
}
