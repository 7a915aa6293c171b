// Runs that follow one another on one executable: what is remembered of a run must never show in the next one.
#include <doctest/doctest.h>

#include <random>
#include <thread>

#include "check.h"
#include "evaluate.h"
#include "random_graph.h"

using namespace ingot;
using namespace ingot::oracle;
using ir::Attr;
using ir::DType;
using ir::OpCode;
using ir::ValueId;
using runtime::Tensor;

namespace {

// Pointwise, a reduction with its row consumers, and a reshape that wants compact memory: several kernels and a buffer.
std::shared_ptr<const ir::Graph> several_kernels() {
  Net n;
  const ir::DimId b = n.sym("B"), c = n.sym("C");
  const ValueId x = n.in("x", DType::f32, {b, c}), y = n.in("y", DType::f32, {c});
  const ValueId sum = n.op(OpCode::op_add, {x, y});
  n.out(sum);
  n.out(n.op(OpCode::op_softmax,
             {n.op(OpCode::op_sub, {sum, n.op(OpCode::op_reduce_sum, {x}, {{"axes", Attr::of_ints({0})}})})}));
  n.out(n.op(OpCode::op_reshape, {n.op(OpCode::op_neg, {x})}, {{"shape", Attr::of_ints({-1})}}));
  return n.done();
}

constexpr Layout in_layouts[] = {Layout::compact,  Layout::unaligned,  Layout::strided,
                                 Layout::negative, Layout::transposed, Layout::broadcast};
constexpr Layout out_layouts[] = {Layout::compact, Layout::unaligned, Layout::strided, Layout::negative,
                                  Layout::transposed};

struct Case {
  std::unique_ptr<HostTensor> x, y;
  std::vector<Array> want;
  std::vector<std::vector<int64_t>> shapes;
};

}  // namespace

TEST_CASE("runs of any shapes and layouts in any order, each often enough to be remembered") {
  const auto g = several_kernels();
  std::mt19937 random(7);
  const auto pick = [&](const auto& from) { return from[random() % std::size(from)]; };
  std::vector<Case> cases;
  constexpr std::pair<int64_t, int64_t> sizes[] = {{3, 5}, {1, 5},   {3, 1},    {1, 1},  {0, 5},
                                                   {5, 3}, {16, 64}, {7, 1100}, {64, 16}};
  for (const auto& [b, c] : sizes)
    for (int i = 0; i < 3; ++i) {
      auto held_x = std::make_unique<HostTensor>(random_array(random(), DType::f32, {b, c}), pick(in_layouts));
      auto held_y = std::make_unique<HostTensor>(random_array(random(), DType::f32, {c}), pick(in_layouts));
      std::vector<Array> want = evaluate(*g, std::vector{held_x->read(), held_y->read()});
      std::vector<std::vector<int64_t>> shapes;
      for (const Array& a : want) shapes.push_back(a.shape);
      cases.push_back({std::move(held_x), std::move(held_y), std::move(want), std::move(shapes)});
    }
  for (const Way& way : main_ways()) {
    INFO(way.name);
    const auto e = compile(g, way);
    for (int round = 0; round < 150; ++round) {
      const Case& now = cases[random() % cases.size()];
      const Layout layout = pick(out_layouts);
      const Tensor* ins[] = {now.x->tensor(), now.y->tensor()};
      // Questions between runs must not disturb what is remembered.
      if (random() % 4 == 0) {
        const Case& other = cases[random() % cases.size()];
        const Tensor* of_other[] = {other.x->tensor(), other.y->tensor()};
        REQUIRE(e->executor().output_shape(of_other, 0) == other.shapes[0]);
        (void)e->executor().scratch_size(of_other, 1);
      }
      const int times = 1 + static_cast<int>(random() % 3);
      for (int again = 0; again < times; ++again) {
        HostTensor a(DType::f32, now.shapes[0], layout), b(DType::f32, now.shapes[1], layout),
            c(DType::f32, now.shapes[2], layout);
        const Tensor* outs[] = {a.tensor(), b.tensor(), c.tensor()};
        e->run(ins, outs, {.serial = true});
        size_t i = 0;
        for (HostTensor* out : {&a, &b, &c}) {
          REQUIRE(difference(now.want[i++], out->read_raw()).empty());
          REQUIRE_FALSE(out->strayed());
        }
      }
    }
  }
}

TEST_CASE("a remembered run sees aliasing, dim inputs and missing data that are new") {
  Net n;
  const ir::DimId b = n.sym("N"), k = n.sym("K");
  const ValueId x = n.in("x", DType::f32, {b});
  const ValueId count = n.g->dim_input("k", k);
  (void)count;
  const ValueId tail = n.op(OpCode::op_broadcast, {n.g->scalar(DType::f32, 2.0)}, {{"shape", Attr::of_dims({k})}});
  n.out(n.op(OpCode::op_add,
             {n.op(OpCode::op_reverse, {x}, {{"axes", Attr::of_ints({0})}}), n.g->scalar(DType::f32, 1.0)}));
  n.out(tail);
  const auto g = n.done();
  for (const Way& way : main_ways()) {
    INFO(way.name);
    const auto e = compile(g, way);
    float data[8] = {0, 1, 2, 3, 4, 5, 6, 7}, out[8] = {}, twos[8] = {};
    int64_t four = 4, extent = 3;
    const auto vector = [&](float* p, int64_t* size) { return Tensor{p, {1, 0}, 1, {2, 32, 1}, size, nullptr, 0}; };
    const Tensor number{&extent, {1, 0}, 0, {0, 64, 1}, nullptr, nullptr, 0};
    const auto go = [&](Tensor from, Tensor to, Tensor rest) {
      const Tensor *ins[] = {&from, &number}, *outs[] = {&to, &rest};
      try {
        e->run(ins, outs, {.serial = true});
        return Code::ok;
      } catch (const Error& error) {
        return error.code();
      }
    };
    int64_t k3 = 3, k5 = 5;
    CHECK(go(vector(data, &four), vector(out, &four), vector(twos, &k3)) == Code::ok);
    CHECK(go(vector(data + 1, &four), vector(out, &four), vector(twos, &k3)) == Code::ok);
    CHECK(std::vector(out, out + 5) == std::vector<float>{5, 4, 3, 2, 0});
    // The dim input alone changes.
    extent = 5;
    CHECK(go(vector(data, &four), vector(out, &four), vector(twos, &k3)) == Code::invalid_argument);
    CHECK(go(vector(data, &four), vector(out, &four), vector(twos, &k5)) == Code::ok);
    CHECK(std::vector(twos, twos + 6) == std::vector<float>{2, 2, 2, 2, 2, 0});
    CHECK(go(vector(data, &four), vector(out, &four), vector(twos, &k5)) == Code::ok);
    // Data goes missing.
    CHECK(go(vector(nullptr, &four), vector(out, &four), vector(twos, &k5)) == Code::invalid_argument);
    CHECK(go(vector(data, &four), vector(out, &four), vector(nullptr, &k5)) == Code::invalid_argument);
    CHECK(go(vector(data, &four), vector(out, &four), vector(twos, &k5)) == Code::ok);
    // The output moves onto the input, which reads it backwards: only a temporary gives the right result.
    CHECK(go(vector(data, &four), vector(data, &four), vector(twos, &k5)) == Code::ok);
    CHECK(std::vector(data, data + 5) == std::vector<float>{4, 3, 2, 1, 4});
    CHECK(go(vector(data, &four), vector(data + 1, &four), vector(twos, &k5)) == Code::ok);
    CHECK(std::vector(data, data + 6) == std::vector<float>{4, 2, 3, 4, 5, 5});
    CHECK(go(vector(data, &four), vector(out, &four), vector(twos, &k5)) == Code::ok);
    // Outputs move onto each other.
    CHECK(go(vector(data, &four), vector(out, &four), vector(out + 3, &k5)) == Code::invalid_argument);
    CHECK(go(vector(data, &four), vector(out, &four), vector(twos, &k5)) == Code::ok);
  }
}

TEST_CASE("in place and not, one after the other") {
  Net n;
  const ir::DimId b = n.sym("N");
  const ValueId x = n.in("x", DType::f32, {b}), y = n.in("y", DType::f32, {b});
  n.out(n.op(OpCode::op_sub, {x, y}));
  for (const Way& way : main_ways()) {
    INFO(way.name);
    const auto e = compile(n.g->sealed() ? n.g : n.done(), way);
    float u[40], v[40], w[40];
    int64_t size = 40;
    const auto vector = [&](float* p) { return Tensor{p, {1, 0}, 1, {2, 32, 1}, &size, nullptr, 0}; };
    float* const places[] = {u, v, w};
    std::mt19937 random(3);
    for (int round = 0; round < 60; ++round) {
      for (int i = 0; i < 40; ++i) {
        u[i] = static_cast<float>(i + round);
        v[i] = static_cast<float>(i * 3);
        w[i] = -1;
      }
      float* const a = places[random() % 2];
      float* const c = places[random() % 2];
      float* const to = places[random() % 3];
      std::vector<float> want(40);
      for (int i = 0; i < 40; ++i) want[static_cast<size_t>(i)] = a[i] - c[i];
      const Tensor p = vector(a), q = vector(c), r = vector(to);
      const Tensor *ins[] = {&p, &q}, *outs[] = {&r};
      e->run(ins, outs, {.serial = true});
      REQUIRE(std::equal(want.begin(), want.end(), to));
    }
  }
}

TEST_CASE("runs are counted, whoever makes them") {
  Net n;
  const ir::DimId b = n.sym("N");
  n.out(n.op(OpCode::op_neg, {n.in("x", DType::f32, {b})}));
  const auto g = n.done();
  const auto context = make_context(1);
  const auto e = compile(g, main_ways()[0], context);
  const auto use = [&] {
    float in[4] = {}, out[4];
    int64_t size = 4;
    const Tensor x{in, {1, 0}, 1, {2, 32, 1}, &size, nullptr, 0}, y{out, {1, 0}, 1, {2, 32, 1}, &size, nullptr, 0};
    const Tensor *ins[] = {&x}, *outs[] = {&y};
    for (int i = 0; i < 1000; ++i) e->run(ins, outs, {});
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 20; ++i) threads.emplace_back(use);  // more than workspaces are kept
  for (std::thread& t : threads) t.join();
  const runtime::RunCounts counts = context->tallies()->sum();
  CHECK(counts.runs == 20000);
  CHECK(counts.launches == 20000);
  CHECK(counts.bytes_read == 20000 * 16);
  CHECK(counts.bytes_written == 20000 * 16);
}

TEST_CASE("a question about other sizes is no run of them") {
  Net n;
  const ValueId x = n.in("x", DType::f32, {n.sym("N")});
  n.out(n.op(OpCode::op_reduce_sum, {x}));
  const auto g = n.done();
  for (const Way& way : main_ways()) {
    INFO(way.name);
    const auto e = compile(g, way);
    float data[8] = {1, 2, 4, 8, 16, 32, 64, 128}, sum = 0;
    int64_t four = 4, eight = 8;
    const Tensor some{data, {1, 0}, 1, {2, 32, 1}, &four, nullptr, 0},
        all{data, {1, 0}, 1, {2, 32, 1}, &eight, nullptr, 0}, out{&sum, {1, 0}, 0, {2, 32, 1}, nullptr, nullptr, 0};
    const Tensor *first[] = {&some}, *second[] = {&all}, *to[] = {&out};
    e->run(first, to, {.serial = true});
    CHECK(sum == 15);
    CHECK(e->executor().output_shape(second, 0).empty());
    e->run(second, to, {.serial = true});
    CHECK(sum == 255);
    (void)e->executor().scratch_size(first, 1);
    e->run(first, to, {.serial = true});
    CHECK(sum == 15);
  }
}
