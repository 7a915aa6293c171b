// Feeds and fetches: executables over a part of a graph.
#include "host.h"

using namespace host;

namespace {

const char* const chain =
    "ingot 1.0\n"
    "graph @chain(%x: f32[B, 2], %y: f32[B, 2], %unused: f32[K]) -> (last: f32[B, 2], f32[K]) where B >= 1 {\n"
    "  %sum = add %x, %y\n"
    "  %half = mul %sum, 0.5\n"
    "  %flat = reshape %half {shape = [2*B]}\n"
    "  %double = mul %flat, 2.0\n"
    "  %back = reshape %double {shape = [B, 2]}\n"
    "  %other = neg %unused\n"
    "  return %back, %other\n"
    "}\n";

struct Part {
  Executable executable;
  Outcome result;
};
Part part(const Executable& e, const std::vector<ingot_value>& feeds, const std::vector<ingot_value>& fetches) {
  ingot_executable* out = nullptr;
  Outcome o =
      outcome(ingot_executable_subset(e.get(), feeds.data(), feeds.size(), fetches.data(), fetches.size(), &out));
  return {Executable(out), std::move(o)};
}

}  // namespace

TEST_CASE("a subset computes its fetches from its feeds, and only what leads from one to the other") {
  const Context c = context();
  const Graph g = parse(c, chain);
  const Executable e = compile(c, g);
  const auto v = [&](const char* name) { return value(g, name); };

  // Inputs to one output: %unused is not asked for.
  const Part all = part(e, {v("x"), v("y")}, {v("back")});
  REQUIRE(all.result.code == INGOT_OK);
  Floats x({2, 2}, {1, 2, 3, 4}), y({2, 2}, {10, 20, 30, 40}), out({2, 2}, {0, 0, 0, 0});
  ok(run(all.executable, {&x.tensor, &y.tensor}, {&out.tensor}));
  CHECK(out.data == std::vector<float>{11, 22, 33, 44});

  // An intermediate value is fed: what makes it is not there, and its name is the input's.
  const Part later = part(e, {v("half")}, {v("back"), v("half")});
  REQUIRE(later.result.code == INGOT_OK);
  ingot_io_info info = INGOT_IO_INFO_INIT;
  ok(ingot_executable_io_info(later.executable.get(), 0, 0, &info));
  CHECK(std::string(info.name) == "half");
  ok(ingot_executable_io_info(later.executable.get(), 1, 0, &info));
  CHECK(std::string(info.name) == "last");
  Floats half({2, 2}, {5, 6, 7, 8}), pass({2, 2}, {0, 0, 0, 0});
  ok(run(later.executable, {&half.tensor}, {&out.tensor, &pass.tensor}));
  CHECK(out.data == std::vector<float>{10, 12, 14, 16});
  CHECK(pass.data == half.data);

  // A value that is an input, an intermediate and an output at once; in the order that was asked for.
  const Part middle = part(e, {v("y"), v("x"), v("double")}, {v("sum"), v("double"), v("sum")});
  REQUIRE(middle.result.code == INGOT_OK);
  Floats doubled({4}, {1, 1, 2, 2}), passed({4}, {0, 0, 0, 0}), twice({2, 2}, {0, 0, 0, 0});
  ok(run(middle.executable, {&y.tensor, &x.tensor, &doubled.tensor}, {&out.tensor, &passed.tensor, &twice.tensor}));
  CHECK(out.data == std::vector<float>{11, 22, 33, 44});
  CHECK(passed.data == doubled.data);
  CHECK(twice.data == out.data);
}

TEST_CASE("of an op with several results one may be fed and another fetched") {
  const Context c = context();
  const Graph g = parse(c,
                        "ingot 1.0\n"
                        "graph @halves(%x: f32[2*N], %n: dim N) -> (f32[N]) {\n"
                        "  %low, %high = split %x {parts = 2}\n"
                        "  %sum = add %low, %high\n"
                        "  return %sum\n"
                        "}\n");
  const Executable e = compile(c, g);
  const auto v = [&](const char* name) { return value(g, name); };
  Floats x({4}, {1, 2, 3, 4}), low({2}, {10, 20}), out({2}, {0, 0}), more({2}, {0, 0});
  int64_t extent = 2;
  ingot_tensor n = x.tensor;
  n.data = &extent, n.ndim = 0, n.dtype = {0, 64, 1};
  const Part one = part(e, {v("x"), v("n")}, {v("high")});
  REQUIRE(one.result.code == INGOT_OK);
  ok(run(one.executable, {&x.tensor, &n}, {&out.tensor}));
  CHECK(out.data == std::vector<float>{3, 4});
  const Part fed = part(e, {v("x"), v("n"), v("low")}, {v("sum"), v("high")});
  REQUIRE(fed.result.code == INGOT_OK);
  ok(run(fed.executable, {&x.tensor, &n, &low.tensor}, {&out.tensor, &more.tensor}));
  CHECK(out.data == std::vector<float>{13, 24});
  CHECK(more.data == std::vector<float>{3, 4});
  const Part both = part(e, {v("low"), v("high")}, {v("sum")});
  REQUIRE(both.result.code == INGOT_OK);
  ok(run(both.executable, {&low.tensor, &low.tensor}, {&out.tensor}));
  CHECK(out.data == std::vector<float>{20, 40});
}

TEST_CASE("an extent that is an expression of unbound symbols stands for itself") {
  const Context c = context();
  const Graph g = parse(c, chain);
  const Executable e = compile(c, g);
  // %flat is f32[2*B] and B is bound by nothing else.
  const Part p = part(e, {value(g, "flat")}, {value(g, "double")});
  INFO(p.result.message);
  REQUIRE(p.result.code == INGOT_OK);
  Floats in({6}, {1, 2, 3, 4, 5, 6}), out({6}, std::vector<float>(6));
  ok(run(p.executable, {&in.tensor}, {&out.tensor}));
  CHECK(out.data == std::vector<float>{2, 4, 6, 8, 10, 12});
  // But B itself does not follow from it here.
  const Part back = part(e, {value(g, "flat")}, {value(g, "back")});
  CHECK(back.result.code == INGOT_INVALID_ARGUMENT);
  CHECK(back.result.message.find("determined by no feed") != std::string::npos);
}

TEST_CASE("feeds and fetches that make no sense are refused by name") {
  const Context c = context();
  const Graph g = parse(c, chain);
  const Executable e = compile(c, g);
  const auto v = [&](const char* name) { return value(g, name); };
  const auto refuse = [&](const std::vector<ingot_value>& feeds, const std::vector<ingot_value>& fetches,
                          const char* word) {
    const Part p = part(e, feeds, fetches);
    INFO(p.result.message);
    CHECK(p.result.code == INGOT_INVALID_ARGUMENT);
    CHECK(p.result.message.find(word) != std::string::npos);
    CHECK(!p.executable);
  };
  refuse({v("x")}, {v("sum")}, "%y");
  refuse({v("x"), v("y"), v("x")}, {v("sum")}, "twice");
  refuse({v("x"), v("y"), v("unused")}, {v("sum")}, "%unused");
  refuse({v("x"), v("y"), v("back")}, {v("sum")}, "%back");  // downstream of what is fetched
  refuse({v("x"), v("y"), v("half")}, {v("back")}, "%x");    // overridden by a later feed
  refuse({v("x"), v("y")}, {}, "no value is fetched");
  refuse({12345}, {v("sum")}, "12345");
  refuse({v("x"), v("y")}, {12345}, "12345");
  ingot_executable* out = nullptr;
  const ingot_value sum = v("sum");
  CHECK(refused(ingot_executable_subset(nullptr, nullptr, 0, &sum, 1, &out), "executable") == INGOT_INVALID_ARGUMENT);
  CHECK(refused(ingot_executable_subset(e.get(), nullptr, 1, &sum, 1, &out), "feeds") == INGOT_INVALID_ARGUMENT);
  CHECK(refused(ingot_executable_subset(e.get(), nullptr, 0, nullptr, 1, &out), "fetches") == INGOT_INVALID_ARGUMENT);
  CHECK(refused(ingot_executable_subset(e.get(), nullptr, 0, &sum, 1, nullptr), "subset") == INGOT_INVALID_ARGUMENT);
  CHECK(out == nullptr);
}

TEST_CASE("a combination is planned once, and outlives the executable it came from") {
  const Context c = context();
  const Graph g = parse(c, chain);
  Executable e = compile(c, g);
  const uint64_t graphs = stats(c).graphs;
  const std::vector<ingot_value> feeds = {value(g, "x"), value(g, "y")}, fetches = {value(g, "half")};
  const Part first = part(e, feeds, fetches), second = part(e, feeds, fetches);
  CHECK(stats(c).graphs == graphs + 1);
  const Part other = part(e, {feeds[1], feeds[0]}, fetches);
  CHECK(stats(c).graphs == graphs + 2);
  Floats x({1, 2}, {1, 2}), y({1, 2}, {3, 4}), out({1, 2}, {0, 0});
  const uint64_t launches = stats(c).launches;
  ok(run(first.executable, {&x.tensor, &y.tensor}, {&out.tensor}));
  CHECK(stats(c).launches == launches + 1);
  e.reset();
  const uint64_t compiles = stats(c).compiles;
  ok(run(second.executable, {&x.tensor, &y.tensor}, {&out.tensor}));
  CHECK(out.data == std::vector<float>{2, 3});
  CHECK(stats(c).compiles == compiles);
}

TEST_CASE("a feed replaces its value only: constants, other results and dim inputs stay") {
  const Context c = context();
  const Graph g = parse(c,
                        "ingot 1.0\n"
                        "graph @g(%x: f32[N], %k: dim K) -> (f32[N], f32[K]) {\n"
                        "  %c = constant [1.0, 2.0] : f32[2]\n"
                        "  %three = constant 3.0 : f32\n"
                        "  %wide = broadcast %three {shape = [K]}\n"
                        "  %y = add %x, 1.0\n"
                        "  %z = mul %y, %y\n"
                        "  return %z, %wide\n"
                        "}\n");
  const Executable e = compile(c, g);
  const Part p = part(e, {value(g, "k"), value(g, "y")}, {value(g, "z"), value(g, "wide")});
  INFO(p.result.message);
  REQUIRE(p.result.code == INGOT_OK);
  int64_t three = 3;
  const ingot_tensor k{&three, {1, 0}, 0, {0, 64, 1}, nullptr, nullptr, 0};
  Floats y({2}, {5, 6}), z({2}, {0, 0}), wide({3}, {0, 0, 0});
  ok(run(p.executable, {&k, &y.tensor}, {&z.tensor, &wide.tensor}));
  CHECK(z.data == std::vector<float>{25, 36});
  CHECK(wide.data == std::vector<float>{3, 3, 3});
  // %k is needed where K is.
  const Part without = part(e, {value(g, "y")}, {value(g, "wide")});
  CHECK(without.result.code == INGOT_INVALID_ARGUMENT);
}
