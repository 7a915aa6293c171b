// Every exported function, from the entry list itself, with every combination of NULL and plausible pointers, garbage
// counts, numbers and struct sizes: a status with a code and a message, out-parameters as they were, never a crash. A
// pointer that is not NULL has as much behind it as its count says; that much the library has to believe.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ingot/ingot.h"

namespace {

constexpr char text[] = "ingot 1.0\ngraph @g(%x: f32[N]) -> (f32[N]) {\n  %0 = exp %x\n  return %0\n}\n";

struct World {
  ingot_context* context = nullptr;
  ingot_graph* graph = nullptr;  // a new one for each call: calls may add to it or finish it
  ingot_executable* executable = nullptr;
  ingot_status* status = nullptr;  // a new one for each call as well
  ingot_buffer* buffer = nullptr;
  ingot_call* call = nullptr;  // and so
  ingot_event* event = nullptr;
};
World live;

void renew() {
  if (!live.graph) REQUIRE(!ingot_graph_create(live.context, "g", 1, &live.graph));
  if (!live.status) live.status = ingot_context_trim(nullptr, 0);
  if (!live.buffer) REQUIRE(!ingot_ops_json(&live.buffer));
  if (!live.call) REQUIRE(!ingot_call_create(live.executable, &live.call));
  if (!live.event) REQUIRE(!ingot_executable_prepare(live.executable, nullptr, 0, nullptr, &live.event));
}

// What lies behind pointers out: large enough for all of them.
struct Slot {
  alignas(64) unsigned char bytes[4096];
};
Slot slots[8];

template <class T>
T* in_slot(size_t index) {
  std::memset(slots[index].bytes, 0x5a, sizeof slots[index].bytes);
  return reinterpret_cast<T*>(slots[index].bytes);
}

template <class T>
constexpr bool is_options =
    std::is_same_v<T, const ingot_context_options> || std::is_same_v<T, const ingot_compile_options> ||
    std::is_same_v<T, const ingot_prepare_options> || std::is_same_v<T, const ingot_run_options>;
template <class T>
constexpr bool is_out_struct = std::is_same_v<T, ingot_stats> || std::is_same_v<T, ingot_io_info>;

// An option struct of zeros with a size that lies.
template <class T>
T* sized(size_t index, size_t size) {
  std::memset(slots[index].bytes, 0, sizeof slots[index].bytes);
  std::memcpy(slots[index].bytes, &size, sizeof size);
  return reinterpret_cast<T*>(slots[index].bytes);
}

int destroyed;
void INGOT_CALL on_destroy(void*) { ++destroyed; }
void INGOT_CALL on_done(void*, ingot_code) {}

ingot_tensor nothing{}, crooked{nullptr, {1, 0}, -5, {2, 32, 1}, nullptr, nullptr, 3},
    bare{nullptr, {1, 0}, 2, {2, 32, 1}, nullptr, nullptr, 0},
    lanes{nullptr, {1, 0}, 0, {2, 32, 4}, nullptr, nullptr, 0};
const ingot_tensor* tensor_list[] = {nullptr};
const char* const text_list[] = {"x"};
ingot_executable* executable_list[] = {nullptr};
const ingot_value some_value[] = {0xffffffff};
const ingot_attr some_attr[] = {{nullptr, 3, 99, 1, {-1}, 7, 1}};

// The values tried for parameter `index`, of type A; `filled`: the pointer before it is not NULL, so that a count may
// only say what is there.
template <class A>
std::vector<A> candidates(size_t index, bool filled) {
  using T = std::remove_pointer_t<A>;
  if constexpr (std::is_same_v<A, ingot_destroy>) return {nullptr, on_destroy};
  else if constexpr (std::is_same_v<A, ingot_done>) return {nullptr, on_done};
  else if constexpr (std::is_same_v<A, void*>) return {nullptr};
  else if constexpr (std::is_same_v<std::remove_const_t<T>, ingot_context>) return {nullptr, live.context};
  else if constexpr (std::is_same_v<std::remove_const_t<T>, ingot_graph>) return {nullptr, live.graph};
  else if constexpr (std::is_same_v<std::remove_const_t<T>, ingot_executable>) return {nullptr, live.executable};
  else if constexpr (std::is_same_v<std::remove_const_t<T>, ingot_status>) return {nullptr, live.status};
  else if constexpr (std::is_same_v<std::remove_const_t<T>, ingot_buffer>) return {nullptr, live.buffer};
  else if constexpr (std::is_same_v<std::remove_const_t<T>, ingot_call>) return {nullptr, live.call};
  else if constexpr (std::is_same_v<std::remove_const_t<T>, ingot_event>) return {nullptr, live.event};
  else if constexpr (std::is_same_v<A, const char*>) return {nullptr, "x", "\xff\xfe"};
  else if constexpr (std::is_same_v<A, const ingot_tensor*>) return {nullptr, &nothing, &crooked, &bare, &lanes};
  else if constexpr (std::is_same_v<A, const ingot_tensor* const*>) return {nullptr, tensor_list};
  else if constexpr (std::is_same_v<A, const char* const*>) return {nullptr, text_list};
  else if constexpr (std::is_same_v<A, ingot_executable* const*>) return {nullptr, executable_list};
  else if constexpr (std::is_same_v<A, const uint32_t*>) return {nullptr, some_value};
  else if constexpr (std::is_same_v<A, const ingot_attr*>) return {nullptr, some_attr};
  else if constexpr (std::is_pointer_v<A>) return {nullptr, in_slot<T>(index)};
  else if constexpr (std::is_same_v<A, size_t>)
    return filled ? std::vector<A>{0, 1} : std::vector<A>{0, 1, 17, SIZE_MAX / 2, SIZE_MAX};
  else if constexpr (std::is_signed_v<A>)
    return {0, 1, 2, -1, std::numeric_limits<A>::min(), std::numeric_limits<A>::max()};
  else return {0, 1, 28, std::numeric_limits<A>::max()};
}

template <class A>
constexpr bool sizes_matter = is_options<std::remove_pointer_t<A>> || is_out_struct<std::remove_pointer_t<A>>;
constexpr size_t sizes[] = {0, 1, 7, 8, 15, 16, 17, 24, 48, 100, 4096, 4097, SIZE_MAX / 2, SIZE_MAX};

std::string name;
size_t calls;

template <class A>
bool filled(A a) {
  if constexpr (std::is_pointer_v<A>) return a != nullptr;
  else return false;
}

template <class T>
constexpr bool is_out = !std::is_function_v<T> && !std::is_const_v<T> && !is_out_struct<T> &&
                        (std::is_pointer_v<T> || std::is_integral_v<T>);

// What an earlier call may have written.
template <class A>
void reset(A a) {
  if constexpr (std::is_pointer_v<A>) {
    if constexpr (is_out<std::remove_pointer_t<A>>)
      if (a) std::memset(a, 0x5a, sizeof *a);
  }
}

// After a failure a pointer out shows what it did before.
template <class A>
void expect_untouched(A a) {
  using T = std::remove_pointer_t<A>;
  if constexpr (std::is_pointer_v<A> && is_out<T>) {
    if (!a) return;
    T before;
    std::memset(&before, 0x5a, sizeof before);
    CHECK(*a == before);
  }
}

// What a success gave is given back.
template <class A>
void dispose(A a) {
  if constexpr (std::is_same_v<A, ingot_context**>) ingot_context_release(*a);
  else if constexpr (std::is_same_v<A, ingot_graph**>) ingot_graph_release(*a);
  else if constexpr (std::is_same_v<A, ingot_executable**>) ingot_executable_release(*a);
  else if constexpr (std::is_same_v<A, ingot_buffer**>) ingot_buffer_release(*a);
  else if constexpr (std::is_same_v<A, ingot_call**>) ingot_call_release(*a);
  else if constexpr (std::is_same_v<A, ingot_event**>) ingot_event_release(a ? *a : nullptr);
}

// Handles that earlier calls with the same outer arguments have used up are replaced by the new ones.
template <class A>
A fresh(A a) {
  using T = std::remove_const_t<std::remove_pointer_t<A>>;
  if constexpr (std::is_same_v<T, ingot_graph>) return a ? live.graph : a;
  else if constexpr (std::is_same_v<T, ingot_status>) return a ? live.status : a;
  else if constexpr (std::is_same_v<T, ingot_buffer>) return a ? live.buffer : a;
  else if constexpr (std::is_same_v<T, ingot_call>) return a ? live.call : a;
  else return a;
}

template <class R, class... A, size_t... I>
void call(R(INGOT_CALL* f)(A...), const std::tuple<A...>& given, std::index_sequence<I...>) {
  ++calls;
  const std::tuple<A...> args{fresh(std::get<I>(given))...};
  // A release takes what it is given, a retain has to be paired.
  if constexpr (sizeof...(A) == 1 && std::is_void_v<R>) {
    const auto handle = std::get<0>(args);
    using H = decltype(handle);
    const bool release = name.ends_with("_release");
    if constexpr (std::is_same_v<H, ingot_context* const>) release ? ingot_context_retain(handle) : void();
    if constexpr (std::is_same_v<H, ingot_graph* const>) release ? ingot_graph_retain(handle) : void();
    if constexpr (std::is_same_v<H, ingot_executable* const>) release ? ingot_executable_retain(handle) : void();
    if constexpr (std::is_same_v<H, ingot_event* const>) release ? ingot_event_retain(handle) : void();
    f(handle);
    if constexpr (std::is_same_v<H, ingot_event* const>) release ? void() : ingot_event_release(handle);
    if constexpr (std::is_same_v<H, ingot_call* const>) live.call = handle ? nullptr : live.call;
    if constexpr (std::is_same_v<H, ingot_context* const>) release ? void() : ingot_context_release(handle);
    if constexpr (std::is_same_v<H, ingot_graph* const>) release ? void() : ingot_graph_release(handle);
    if constexpr (std::is_same_v<H, ingot_executable* const>) release ? void() : ingot_executable_release(handle);
    if constexpr (std::is_same_v<H, ingot_status* const>) live.status = handle ? nullptr : live.status;
    if constexpr (std::is_same_v<H, ingot_buffer* const>) live.buffer = handle ? nullptr : live.buffer;
    renew();
  } else if constexpr (std::is_same_v<R, ingot_status*>) {
    (reset(std::get<I>(args)), ...);
    ingot_status* status = f(std::get<I>(args)...);
    if (status) {
      const char* message = nullptr;
      size_t length = 0;
      ingot_status_message(status, &message, &length);
      const ingot_code code = ingot_status_code(status);
      CHECK(code > INGOT_OK);
      CHECK(code < INGOT_INTERNAL);
      CHECK(length > 0);
      CHECK(std::strlen(message) == length);
      CHECK(std::string(message).find('\xff') == std::string::npos);
      // ingot_executable_output_shape tells the rank it has no room for.
      if (name != "ingot_executable_output_shape") (expect_untouched(std::get<I>(args)), ...);
      ingot_status_release(status);
    } else {
      (dispose(std::get<I>(args)), ...);
    }
    ingot_graph_release(live.graph);
    live.graph = nullptr;
    renew();
  } else {
    static_cast<void>(f(std::get<I>(args)...));
  }
}

// Fills the arguments one after the other with each candidate.
template <size_t At, class R, class... A>
void expand(R(INGOT_CALL* f)(A...), std::tuple<A...>& args, bool after_filled) {
  if constexpr (At == sizeof...(A)) {
    call(f, args, std::index_sequence_for<A...>{});
  } else {
    using T = std::tuple_element_t<At, std::tuple<A...>>;
    const size_t count = candidates<T>(At, after_filled).size();
    for (size_t i = 0; i < count; ++i) {
      // Asked for again each time: handles are renewed by calls, and slots are written to.
      const T value = candidates<T>(At, after_filled)[i];
      if constexpr (sizes_matter<T>) {
        for (const size_t size : sizes) {
          std::get<At>(args) = value ? sized<std::remove_pointer_t<T>>(At, size) : value;
          expand<At + 1>(f, args, false);
          if (!value) break;
        }
      } else {
        std::get<At>(args) = value;
        expand<At + 1>(f, args, filled(value));
      }
    }
  }
}

template <class R, class... A>
void try_all(const char* entry, R(INGOT_CALL* f)(A...)) {
  name = entry;
  const size_t before = calls;
  INFO(name);
  std::tuple<A...> args;
  expand<0>(f, args, false);
  CHECK(calls > before);
}

}  // namespace

TEST_CASE("every entry with NULLs, garbage sizes and numbers") {
  // Contexts made here may look for a default cache.
  std::string home = (std::filesystem::temp_directory_path() / "ingot-entries-XXXXXX").string();
  REQUIRE(mkdtemp(home.data()));
  setenv("XDG_CACHE_HOME", home.c_str(), 1);
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  o.no_disk_cache = 1;
  REQUIRE(!ingot_context_create(&o, &live.context));
  REQUIRE(!ingot_graph_parse(live.context, text, INGOT_NUL, &live.graph));
  ingot_compile_options c = INGOT_COMPILE_OPTIONS_INIT;
  c.backend = INGOT_BACKEND_INTERPRETER;
  REQUIRE(!ingot_compile(live.context, live.graph, &c, &live.executable));
  ingot_graph_release(live.graph);
  live.graph = nullptr;
  renew();
#define INGOT_ENTRY(minor, ret, name, params) try_all(#name, &name);
#include "ingot/entries.def"
#undef INGOT_ENTRY
  MESSAGE(calls, " calls");
  // What all of that left behind still works.
  const float in[3] = {0, 0, 0};
  float out[3] = {9, 9, 9};
  int64_t shape[] = {3};
  ingot_tensor x{const_cast<float*>(in), {1, 0}, 1, {2, 32, 1}, shape, nullptr, 0}, y = x;
  y.data = out;
  const ingot_tensor *ins[] = {&x}, *outs[] = {&y};
  CHECK(!ingot_run(live.executable, ins, 1, outs, 1, nullptr));
  CHECK(out[2] == 1.0f);
  ingot_status_release(live.status);
  ingot_buffer_release(live.buffer);
  ingot_call_release(live.call);
  ingot_event_release(live.event);
  ingot_executable_release(live.executable);
  ingot_graph_release(live.graph);
  ingot_context_release(live.context);
  std::filesystem::remove_all(home);
}
