// The same for what is made of an executable: parts of it, bound calls, outputs the library makes, preparations with
// their events, packs, and trimmed caches.
#include <atomic>
#include <cstdio>
#include <optional>

#include "sweep.h"

using namespace ingot::oom;

// DLPack 1.0, as its standard lays it out.
struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  ingot_tensor dl_tensor;
};

namespace {

// A context, the softmax graph, and options for the interpreter: what no sweep of this file is about.
struct Fixture : Handles {
  ingot_compile_options options = INGOT_COMPILE_OPTIONS_INIT;
  explicit Fixture(ingot_context_options o = quiet(), ingot_backend backend = INGOT_BACKEND_INTERPRETER) {
    options.backend = backend;
    REQUIRE(!ingot_context_create(&o, &context));
    REQUIRE(!ingot_graph_parse(context, softmax_text, INGOT_NUL, &graph));
    REQUIRE(!ingot_compile(context, graph, &options, &executable));
  }
  ingot_value value(const char* name) const {
    ingot_value v = 0;
    REQUIRE(!ingot_graph_find_value(graph, name, INGOT_NUL, &v));
    return v;
  }
};

struct Tensors {
  Tensor x{{1, 2, 4, 8, 2, 4, 8, 16}, {2, 4}}, s{{8, 4, 2, 1}, {4}}, y{std::vector<float>(8), {2, 4}},
      t{std::vector<float>(2), {2}};
  const ingot_tensor *ins[2] = {&x.t, &s.t}, *outs[2] = {&y.t, &t.t};
  void check() const {
    for (const float v : y.values) CHECK(v == 0.25f);
    CHECK(t.values == std::vector<float>{32, 64});
  }
};

// Counted like the library's own, so that the host's allocator runs out in its turn.
void* INGOT_CALL allocate(void*, size_t bytes, size_t alignment) {
  return ::operator new(bytes, std::align_val_t(alignment), std::nothrow);
}
void INGOT_CALL deallocate(void*, void* memory, size_t, size_t alignment) {
  ::operator delete(memory, std::align_val_t(alignment));
}

}  // namespace

TEST_CASE("a part of an executable, and the same one again") {
  const Fixture f;
  const ingot_value feeds[] = {f.value("a")}, fetches[] = {f.value("t"), f.value("a")};
  MESSAGE(sweep([&] {
            Handles h, part, same;
            REQUIRE(!ingot_compile(f.context, f.graph, &f.options, &h.executable));
            STEP(ingot_executable_subset(h.executable, feeds, 1, fetches, 2, &part.executable));
            STEP(ingot_executable_subset(h.executable, feeds, 1, fetches, 2, &same.executable));
            Tensors m;
            const ingot_tensor *in[] = {&m.x.t}, *out[] = {&m.t.t, &m.y.t};
            STEP(ingot_run(part.executable, in, 1, out, 2, nullptr));
            CHECK(m.t.values == std::vector<float>{15, 30});
            CHECK(m.y.values == m.x.values);
            // A refusal is that, or for want of memory; never half a part.
            ingot_executable* none = nullptr;
            ingot_status* status =
                in_library([&] { return ingot_executable_subset(h.executable, feeds, 1, feeds, 0, &none); });
            const ingot_code code = ingot_status_code(status);
            CHECK((code == INGOT_INVALID_ARGUMENT || (failed() && code == INGOT_OUT_OF_MEMORY)));
            ingot_status_release(status);
            CHECK(none == nullptr);
          }),
          " allocations");
}

TEST_CASE("a call is created, bound, cloned and run") {
  const Fixture f;
  MESSAGE(sweep([&] {
            Tensors m, other;
            ingot_call *call = nullptr, *clone = nullptr;
            STEP(ingot_call_create(f.executable, &call));
            STEP(ingot_call_bind(call, m.ins, 2, m.outs, 2));
            STEP(ingot_call_run(call, nullptr));
            m.check();
            STEP(ingot_call_clone(call, &clone));
            // Bound anew, its outputs left to the library's description.
            STEP(ingot_call_bind(clone, other.ins, 2, nullptr, 0));
            ingot_tensor out{};
            STEP(ingot_call_output(clone, 0, &out));
            CHECK(out.shape[1] == 4);
            STEP(ingot_call_set_data(clone, 1, 0, other.y.values.data()));
            STEP(ingot_call_set_data(clone, 1, 1, other.t.values.data()));
            STEP(ingot_call_run(clone, nullptr));
            other.check();
            // The first is as it was.
            m.y.values.assign(8, 0);
            STEP(ingot_call_run(call, nullptr));
            m.check();
            const uint64_t before = counted();
            in_library([&] {
              ingot_call_release(call);
              ingot_call_release(clone);
            });
            CHECK(counted() == before);
          }),
          " allocations");
}

TEST_CASE("outputs that the library makes, of its own memory and of the host's") {
  ingot_context_options with = quiet();
  with.allocate = allocate;
  with.deallocate = deallocate;
  const Fixture own, hosts(with);
  for (const Fixture* f : {&own, &hosts}) {
    MESSAGE(sweep([&] {
              Tensors m;
              DLManagedTensorVersioned* made[2] = {};
              ingot_run_options o = INGOT_RUN_OPTIONS_INIT;
              o.serial = 1;
              STEP(ingot_run_allocating(f->executable, m.ins, 2, made, 2, &o));
              for (int i = 0; i < 8; ++i) CHECK(static_cast<const float*>(made[0]->dl_tensor.data)[i] == 0.25f);
              CHECK(static_cast<const float*>(made[1]->dl_tensor.data)[1] == 64);
              const uint64_t before = counted();
              in_library([&] {
                for (auto* tensor : made) tensor->deleter(tensor);
              });
              CHECK(counted() == before);
            }),
            " allocations");
  }
}

namespace {

// Prepares with an event until that went well: what the work itself could not get is told by the event.
void prepare_with_event(ingot_executable* e) {
  std::atomic<int> done{0};
  const int before = destroyed;
  int registered = 0;
  for (bool ready = false; !ready;) {
    ingot_event* event = nullptr;
    STEP(ingot_executable_prepare(e, nullptr, 0, nullptr, &event));
    step("on_done", [&] {
      ++registered;
      return ingot_event_on_done(
          event, [](void* user, ingot_code) { ++*static_cast<std::atomic<int>*>(user); }, &done, count_destroy);
    });
    ingot_status* status = in_library([&] { return ingot_event_wait(event, -1); });
    const ingot_code code = ingot_status_code(status), polled = ingot_event_poll(event);
    ingot_status_release(status);
    // With a context without threads all of this is the caller's own; static statuses need no memory.
    CHECK((code == polled || (failed() && code == INGOT_OUT_OF_MEMORY)));
    ready = code == INGOT_OK;
    if (!ready) {
      REQUIRE(code == INGOT_OUT_OF_MEMORY);
      REQUIRE(failed());
      disarm();
    }
    STEP(ingot_event_cancel(event));
    const uint64_t counts = counted();
    in_library([&] { ingot_event_release(event); });
    CHECK(counted() == counts);
  }
  CHECK(done >= 1);
  CHECK(destroyed == before + registered);
}

}  // namespace

TEST_CASE("a preparation with an event") {
  const Fixture f;
  MESSAGE(sweep([&] {
            Handles h;
            REQUIRE(!ingot_compile(f.context, f.graph, &f.options, &h.executable));
            prepare_with_event(h.executable);
            run_softmax(h.executable);
          }),
          " allocations, interpreted");
  const Fixture cpu(quiet(), INGOT_BACKEND_CPU);
  if (!compiles(cpu.executable)) return;
  MESSAGE(sweep(
              [&] {
                Handles h;
                REQUIRE(!ingot_compile(cpu.context, cpu.graph, &cpu.options, &h.executable));
                prepare_with_event(h.executable);
                run_softmax(h.executable);
              },
              3),
          " allocations, from the memory cache");
}

namespace {

// Makes allocations fail on the library's own thread, from when it asks the host's cache until the event is over.
struct Elsewhere {
  uint64_t n = 0;
  Mode mode = Mode::once;
  std::atomic<bool> watched{false}, reached{false}, over{false};
  static thread_local std::optional<Inside> inside;

  static int32_t INGOT_CALL get(void* user, const char*, size_t, void (*)(void*, const void*, size_t), void*) {
    const auto& e = *static_cast<Elsewhere*>(user);
    // Done before it is watched, the event would be over on the watcher's thread, which knows nothing of this one.
    for (int i = 0; i < 10000 && !e.watched; ++i) usleep(1000);
    arm(e.n, e.mode);
    inside.emplace();
    return 0;
  }
  static void INGOT_CALL done(void* user, ingot_code) {
    auto& e = *static_cast<Elsewhere*>(user);
    inside.reset();
    e.reached = failed();
    disarm();
    e.over = true;
  }
};
thread_local std::optional<Inside> Elsewhere::inside;

}  // namespace

TEST_CASE("a preparation in the background, whose thread runs out of memory") {
  {
    const Fixture probe(quiet(), INGOT_BACKEND_CPU);
    if (!compiles(probe.executable)) return;
  }
  const Directory empty;
  // One that ends well, and one that has to tell why it does not.
  for (const bool well : {true, false}) {
    uint64_t most = 0;
    for (const Mode mode : {Mode::once, Mode::from_then_on}) {
      for (uint64_t n = 1;; n += !well ? 1 : mode == Mode::once ? 5 : 25) {
        Elsewhere elsewhere;
        elsewhere.n = n;
        elsewhere.mode = mode;
        ingot_context_options o = quiet();
        o.no_threads = 0;
        o.num_threads = 1;
        o.trust_host_cache = 1;
        o.cache_get = Elsewhere::get;
        o.cache_put = [](void*, const char*, size_t, const void*, size_t) { return 1; };
        o.cache_user = &elsewhere;
        if (!well) o.module_dir = empty.path.c_str();
        const Fixture f(o, INGOT_BACKEND_CPU);
        ingot_event* event = nullptr;
        REQUIRE(!ingot_executable_prepare(f.executable, nullptr, 0, nullptr, &event));
        REQUIRE(!ingot_event_on_done(event, Elsewhere::done, &elsewhere, nullptr));
        elsewhere.watched = true;
        ingot_status* status = ingot_event_wait(event, -1);
        for (int i = 0; i < 10000 && !elsewhere.over; ++i) usleep(1000);
        INFO("allocation ", n);
        REQUIRE(elsewhere.over);
        const ingot_code code = ingot_status_code(status);
        // To ask for the code needs no memory.
        arm(1, Mode::from_then_on);
        CHECK(in_library([&] { return ingot_event_poll(event); }) == code);
        CHECK(counted() == 0);
        disarm();
        CHECK((code == (well ? INGOT_OK : INGOT_UNAVAILABLE) || (elsewhere.reached && code == INGOT_OUT_OF_MEMORY)));
        ingot_status_release(status);
        ingot_event_release(event);
        elsewhere.n = 0;  // the next thread to ask is served
        if (well) run_softmax(f.executable);
        disarm();
        Elsewhere::inside.reset();
        most = std::max(most, n);
        if (!elsewhere.reached) break;
      }
    }
    MESSAGE(most, " allocations");
  }
}

TEST_CASE("a pack is made, used, and its kernels trimmed from the memory cache") {
  const Fixture f(quiet(), INGOT_BACKEND_CPU);
  if (!compiles(f.executable)) return;
  const Directory folder;
  const std::string path = folder.path + "/app.pack";
  ingot_executable* const list[] = {f.executable};
  MESSAGE(sweep([&] {
            ingot_buffer* pack = nullptr;
            STEP(ingot_executable_pack(list, 1, nullptr, 0, &pack));
            const char* bytes = nullptr;
            size_t size = 0;
            ingot_buffer_data(pack, &bytes, &size);
            // As good as one that met no failure.
            static const std::string whole(bytes, size);
            CHECK(whole == std::string(bytes, size));
            if (!std::filesystem::exists(path)) {
              std::FILE* file = std::fopen(path.c_str(), "wbe");
              REQUIRE(file);
              REQUIRE(std::fwrite(bytes, 1, size, file) == size);
              REQUIRE(std::fclose(file) == 0);
            }
            in_library([&] { ingot_buffer_release(pack); });
          }),
          " allocations, made");
  const char* const packs[] = {path.c_str()};
  MESSAGE(sweep(
              [&] {
                Handles h;
                ingot_context_options o = quiet();
                o.trust_host_cache = 1;
                o.packs = packs;
                o.n_packs = 1;
                STEP(ingot_context_create(&o, &h.context));
                STEP(ingot_compile(h.context, f.graph, &f.options, &h.executable));
                STEP(ingot_executable_prepare(h.executable, nullptr, 0, nullptr, nullptr));
                STEP(ingot_context_trim(h.context, 0));
                ingot_stats stats = INGOT_STATS_INIT;
                STEP(ingot_context_stats(h.context, &stats));
                CHECK(stats.memory_cache_entries == 0);
                run_softmax(h.executable);
              },
              3),
          " allocations, used");
}
