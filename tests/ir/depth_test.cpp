// Large graphs: 100,000 ops built, printed, parsed and freed on a thread with a 256 KiB stack, in near-linear work.
#include <pthread.h>

#include <functional>

#include "support.h"

using namespace ingot;
using namespace ingot::ir;

namespace {

constexpr uint32_t large = 100'000;

// Runs on a stack of 256 KiB, the least that hosts' worker threads have.
void on_small_stack(std::function<void()> run) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, 256 * 1024) == 0);
  pthread_t thread;
  const auto entry = [](void* f) -> void* {
    (*static_cast<std::function<void()>*>(f))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, entry, &run) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

Graph chain(uint32_t ops) {
  Graph g("chain");
  ValueId v = g.input("x", DType::f32, {g.dims().symbol("N"), g.dims().constant(4)});
  for (uint32_t i = 0; i < ops; ++i) {
    switch (i % 4) {
      case 0: v = apply(g, "add", {v, g.scalar(DType::f32, double(i))}); break;
      case 1: v = apply(g, "reshape", {v}, {ints("shape", {-1, 2})}); break;
      case 2: v = apply(g, "reshape", {v}, {ints("shape", {-1, 4})}); break;
      default:
        v = apply(g, "exp", {v});
        g.set_name(v, cat("v", i));
        break;
    }
  }
  g.output("y", v);
  g.seal();
  return g;
}

}  // namespace

TEST_CASE("100,000 chained ops are built, printed, parsed and freed on a 256 KiB stack") {
  on_small_stack([] {
    const Graph g = chain(large);
    CHECK(g.op_count() == large);
    CHECK(g.dims().size() < 100);
    const std::string text = print(g);
    const Graph back = parse(text);
    CHECK(back.op_count() == large);
    CHECK(print(back) == text);
    const Graph empty = back.skeleton();
    CHECK(empty.inputs().size() == 1);
  });
}

TEST_CASE("hostile nesting is refused on a 256 KiB stack too") {
  on_small_stack([] {
    const std::string head = "ingot 1.0\ngraph @g(%x: f32[B]) -> (f32[B]) {\n%0 = iota {shape = [";
    for (const char* open : {"(", "-(", "min(1, ", "1+(", "2*("}) {
      std::string text = head;
      for (int i = 0; i < 10'000; ++i) text += open;
      CHECK(fault([&] { parse(text); }) != "");
    }
    // As deep as dims may be: printing and reading them back recurses no further than that.
    std::string deep = "B";
    for (int i = 0; i < 98; ++i) deep = cat("min(", deep, "+1, C*3)");
    const std::string text = cat("ingot 1.0\ngraph @g(%b: dim B, %c: dim C) -> (i64[", deep,
                                 "]) {\n%0 = iota {shape = [", deep, "]}\nreturn %0\n}\n");
    const std::string printed = print(parse(text));
    CHECK(print(parse(printed)) == printed);
  });
}

TEST_CASE("100,000 ops over many symbols, with shapes that differ and facts among them") {
  on_small_stack([] {
    Graph g("wide");
    DimTable& t = g.dims();
    std::vector<ValueId> inputs;
    for (int i = 0; i < 300; ++i)
      inputs.push_back(g.input(cat("x", i), DType::f32, {t.symbol(cat("N", i)), t.constant(6)}));
    ValueId last = inputs[0];
    for (uint32_t i = 0; i < large / 5; ++i) {
      const ValueId x = inputs[i % inputs.size()], y = inputs[(i / 300 * 7 + i) % inputs.size()];
      const ValueId joined = apply(g, "concat", {x, y});
      const ValueId flat = apply(g, "reshape", {joined}, {ints("shape", {-1, 3})});
      const ValueId part = apply(g, "slice", {flat}, {ints("starts", {1, 0}), ints("limits", {-1, 2})});
      const ValueId sum = apply(g, "reduce_sum", {part}, {ints("axes", {0})});
      last = apply(g, "mul", {sum, g.scalar(DType::f32, 0.5)});
    }
    g.output("", last);
    g.seal();
    const std::string text = print(g);
    CHECK(print(parse(text)) == text);
  });
}

TEST_CASE("work per op does not grow with the graph: rows and text of dims stay in proportion") {
  const size_t small = chain(1000).dims().size(), more = chain(10'000).dims().size();
  CHECK(small == more);
}
