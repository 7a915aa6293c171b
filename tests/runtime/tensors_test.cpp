// What a run refuses, what it accepts, and that refusing changes nothing.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "check.h"
#include "random_graph.h"

using namespace ingot;
using namespace ingot::oracle;
using ir::Attr;
using ir::DimId;
using ir::DType;
using ir::OpCode;
using ir::ValueId;
using runtime::Tensor;

namespace {

// A float tensor over memory of the test's own.
struct F32 {
  std::vector<int64_t> shape, strides;
  Tensor t;
  F32(float* data, std::vector<int64_t> s, std::vector<int64_t> st = {}, uint64_t offset = 0)
      : shape(std::move(s)), strides(std::move(st)) {
    t = {data,       {1, 0},       static_cast<int32_t>(shape.size()),
         {2, 32, 1}, shape.data(), strides.empty() ? nullptr : strides.data(),
         offset};
  }
  F32(const F32&) = delete;
};

// x: f32[B, 4], y: f32[B] -> x + 1: f32[B, 4], 2 y: f32[B]
std::shared_ptr<const ir::Graph> two_by_two() {
  Net n;
  const DimId b = n.sym("B");
  const ValueId x = n.in("x", DType::f32, {b, n.num(4)}), y = n.in("y", DType::f32, {b});
  n.out(n.op(OpCode::op_add, {x, n.g->scalar(DType::f32, 1.0)}));
  n.out(n.op(OpCode::op_mul, {y, n.g->scalar(DType::f32, 2.0)}));
  return n.done();
}

template <class F>
void each_way(const std::shared_ptr<const ir::Graph>& g, F f) {
  for (const Way& way : main_ways()) {
    INFO(way.name);
    f(*compile(g, way));
  }
}

// The code and whether the message names what is expected; ok if nothing is thrown.
Code code_of(engine::Executable& e, std::vector<const Tensor*> ins, std::vector<const Tensor*> outs,
             std::string* message = nullptr, const engine::RunOptions& options = {}) {
  try {
    e.run(ins, outs, options);
    return Code::ok;
  } catch (const Error& error) {
    if (message) *message = error.message();
    return error.code();
  }
}

}  // namespace

TEST_CASE("tensors that do not fit are refused by name, and nothing is written") {
  each_way(two_by_two(), [](engine::Executable& e) {
    std::vector<float> x(12, 1), y(3, 1), out0(12, -7), out1(3, -7);
    F32 good_x(x.data(), {3, 4}), good_y(y.data(), {3}), good_0(out0.data(), {3, 4}), good_1(out1.data(), {3});
    const auto refused = [&](std::vector<const Tensor*> ins, std::vector<const Tensor*> outs, const char* word) {
      std::string message;
      CHECK(code_of(e, std::move(ins), std::move(outs), &message) == Code::invalid_argument);
      INFO(message);
      CHECK(message.find(word) != std::string::npos);
      CHECK(std::all_of(out0.begin(), out0.end(), [](float v) { return v == -7; }));
      CHECK(std::all_of(out1.begin(), out1.end(), [](float v) { return v == -7; }));
    };
    const std::vector<const Tensor*> ins = {&good_x.t, &good_y.t}, outs = {&good_0.t, &good_1.t};

    refused({&good_x.t}, outs, "1 inputs");
    refused(ins, {&good_0.t}, "1 outputs");
    refused({nullptr, &good_y.t}, outs, "NULL");
    refused(ins, {&good_0.t, nullptr}, "NULL");
    F32 rank(x.data(), {12});
    refused({&rank.t, &good_y.t}, outs, "rank 1");
    F32 wide(x.data(), {3, 5});
    refused({&wide.t, &good_y.t}, outs, "dim 1");
    F32 other_b(y.data(), {2});
    refused({&good_x.t, &other_b.t}, outs, "B");
    F32 negative(x.data(), {-3, 4});
    refused({&negative.t, &good_y.t}, outs, "negative");
    F32 no_data(nullptr, {3, 4});
    refused({&no_data.t, &good_y.t}, outs, "NULL");
    F32 no_room(nullptr, {3});
    refused(ins, {&good_0.t, &no_room.t}, "NULL");
    F32 small(out0.data(), {2, 4});
    refused(ins, {&small.t, &good_1.t}, "dim 0");
    F32 huge(x.data(), {std::numeric_limits<int64_t>::max(), 4});
    refused({&huge.t, &good_y.t}, outs, "overflow");
    F32 far(x.data(), {3, 4}, {std::numeric_limits<int64_t>::max() / 2, 1});
    refused({&far.t, &good_y.t}, outs, "overflow");
    F32 type(x.data(), {3, 4});
    type.t.dtype = {2, 64, 1};
    refused({&type.t, &good_y.t}, outs, "dtype");
    type.t.dtype = {2, 32, 4};
    refused({&type.t, &good_y.t}, outs, "dtype");
    F32 device(x.data(), {3, 4});
    device.t.device.type = 2;
    refused({&device.t, &good_y.t}, outs, "device");
    F32 no_shape(x.data(), {3, 4});
    no_shape.t.shape = nullptr;
    refused({&no_shape.t, &good_y.t}, outs, "shape");
    no_shape.t.ndim = -1;
    refused({&no_shape.t, &good_y.t}, outs, "rank");

    // And the executable goes on as before.
    CHECK(code_of(e, ins, outs) == Code::ok);
    CHECK(std::all_of(out0.begin(), out0.end(), [](float v) { return v == 2; }));
    CHECK(std::all_of(out1.begin(), out1.end(), [](float v) { return v == 2; }));
  });
}

TEST_CASE("empty tensors need no data") {
  each_way(two_by_two(), [](engine::Executable& e) {
    F32 x(nullptr, {0, 4}), y(nullptr, {0}), out0(nullptr, {0, 4}), out1(nullptr, {0});
    CHECK(code_of(e, {&x.t, &y.t}, {&out0.t, &out1.t}) == Code::ok);
  });
}

TEST_CASE("facts and dim inputs are checked in every run") {
  Net n;
  const DimId b = n.sym("B"), c = n.sym("C");
  const ValueId x = n.in("x", DType::f32, {b, n.num(2)}), y = n.in("y", DType::f32, {c});
  n.g->dim_input("n", b);
  n.out(n.op(OpCode::op_add, {n.op(OpCode::op_reshape, {x}, {{"shape", Attr::of_dims({c})}}), y}));
  each_way(n.done(), [](engine::Executable& e) {
    std::vector<float> memory(16, 1), out(16);
    int64_t extent = 3;
    const Tensor number{&extent, {1, 0}, 0, {0, 64, 1}, nullptr, nullptr, 0};
    F32 good_x(memory.data(), {3, 2}), good_y(memory.data(), {6}), bad_y(memory.data(), {5}), to(out.data(), {6}),
        to5(out.data(), {5});
    CHECK(code_of(e, {&good_x.t, &good_y.t, &number}, {&to.t}) == Code::ok);
    CHECK(code_of(e, {&good_x.t, &bad_y.t, &number}, {&to5.t}) == Code::invalid_argument);
    extent = 4;
    CHECK(code_of(e, {&good_x.t, &good_y.t, &number}, {&to.t}) == Code::invalid_argument);
    extent = std::numeric_limits<int64_t>::min();
    CHECK(code_of(e, {&good_x.t, &good_y.t, &number}, {&to.t}) == Code::invalid_argument);
  });
}

TEST_CASE("an extent that a run makes negative is refused") {
  Net n;
  const DimId b = n.sym("B");
  const ValueId x = n.in("x", DType::f32, {b});
  n.out(n.op(OpCode::op_pad, {x, n.g->scalar(DType::f32, 0.0)},
             {{"low", Attr::of_ints({-2})}, {"high", Attr::of_ints({-1})}}));
  each_way(n.done(), [](engine::Executable& e) {
    float memory[8] = {0, 1, 2, 3, 4, 5, 6, 7}, out[8] = {};
    F32 five(memory, {5}), two(memory, {2}), to2(out, {2}), to0(out, {0});
    CHECK(code_of(e, {&five.t}, {&to2.t}) == Code::ok);
    CHECK(out[0] == 2);
    CHECK(out[1] == 3);
    CHECK(code_of(e, {&two.t}, {&to0.t}) == Code::invalid_argument);
  });
}

TEST_CASE("outputs side by side in one array are accepted, overlapping ones refused") {
  Net n;
  const DimId b = n.sym("B"), c = n.sym("C");
  const ValueId x = n.in("x", DType::f32, {b, c});
  n.out(n.op(OpCode::op_add, {x, n.g->scalar(DType::f32, 1.0)}));
  n.out(n.op(OpCode::op_neg, {x}));
  each_way(n.done(), [](engine::Executable& e) {
    std::vector<float> x(6), out(64, -1);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    F32 in(x.data(), {3, 2});
    {  // columns 0..1 and 2..3 of one 3 x 4 array
      F32 left(out.data(), {3, 2}, {4, 1}), right(out.data(), {3, 2}, {4, 1}, 2 * sizeof(float));
      CHECK(code_of(e, {&in.t}, {&left.t, &right.t}) == Code::ok);
      CHECK(out[0] == 1);
      CHECK(out[2] == 0);
      CHECK(out[11] == -5);
    }
    {  // even and odd columns
      F32 even(out.data(), {3, 2}, {4, 2}), odd(out.data(), {3, 2}, {4, 2}, sizeof(float));
      CHECK(code_of(e, {&in.t}, {&even.t, &odd.t}) == Code::ok);
      CHECK(out[10] == 6);
      CHECK(out[11] == -5);
    }
    std::fill(out.begin(), out.end(), -1.0f);
    const auto refused = [&](F32& a, F32& b) {
      CHECK(code_of(e, {&in.t}, {&a.t, &b.t}) == Code::invalid_argument);
      CHECK(std::all_of(out.begin(), out.end(), [](float v) { return v == -1; }));
    };
    F32 a(out.data(), {3, 2}, {4, 1}), shifted(out.data(), {3, 2}, {4, 1}, sizeof(float)),
        half(out.data(), {3, 2}, {4, 1}, 2 * sizeof(float) + 2 - 4);
    refused(a, a);
    refused(a, shifted);
    refused(a, half);
    F32 free(out.data() + 32, {3, 2}), flat(out.data(), {3, 2}, {0, 1}), overlapping(out.data(), {3, 2}, {1, 1}),
        folded(out.data(), {3, 2}, {1, -1}, 8);
    refused(flat, free);
    refused(free, overlapping);
    refused(free, folded);
  });
}

TEST_CASE("exact in-place outputs, and inputs that alias each other") {
  Net n;
  const DimId b = n.sym("B"), c = n.sym("C");
  const ValueId x = n.in("x", DType::f32, {b, c}), y = n.in("y", DType::f32, {b, c});
  n.out(n.op(OpCode::op_softmax, {n.op(OpCode::op_add, {x, y})}));
  const auto g = n.done();
  const Array a = random_array(8, DType::f32, {37, 65}), other = random_array(9, DType::f32, {37, 65});
  each_way(g, [&](engine::Executable& e) {
    const auto to_floats = [](const Array& array) {
      std::vector<float> out;
      for (const uint64_t bits : array.bits) out.push_back(from_bits<float>(bits));
      return out;
    };
    const std::vector<float> want = to_floats(run(e, std::vector{a, other})[0]),
                             want_twice = to_floats(run(e, std::vector{a, a})[0]);
    const auto same = [](const std::vector<float>& p, const std::vector<float>& q) {
      return std::equal(p.begin(), p.end(), q.begin(), q.end(),
                        [](float u, float v) { return to_bits(u) == to_bits(v); });
    };
    std::vector<float> u = to_floats(a), v = to_floats(other);
    F32 x_t(u.data(), {37, 65}), y_t(v.data(), {37, 65});
    CHECK(code_of(e, {&x_t.t, &y_t.t}, {&y_t.t}) == Code::ok);
    CHECK(same(v, want));
    u = to_floats(a);
    std::copy(u.begin(), u.end(), v.begin());
    CHECK(code_of(e, {&y_t.t, &y_t.t}, {&y_t.t}) == Code::ok);
    CHECK(same(v, want_twice));
  });
}

TEST_CASE("outputs that partly overlap an input, or lie in it in another order") {
  Net n;
  const DimId b = n.sym("N");
  const ValueId x = n.in("x", DType::f32, {b}), y = n.in("y", DType::f32, {b});
  n.out(n.op(OpCode::op_add, {n.op(OpCode::op_reverse, {x}, {{"axes", Attr::of_ints({0})}}), y}));
  n.out(n.op(OpCode::op_reduce_sum, {x}));
  each_way(n.done(), [](engine::Executable& e) {
    for (const int64_t size : {5, 1027, 70000})
      for (const int64_t shift : {0, 1, -1, 3}) {
        const auto count = static_cast<size_t>(size);
        std::vector<float> memory(count + 8), y(count);
        for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i % 31);
        for (size_t i = 0; i < count; ++i) y[i] = static_cast<float>(i % 7);
        float* const x = memory.data() + 4;
        std::vector<float> want(count);
        float total = 0;  // of small integers: exact in any order
        for (size_t i = 0; i < count; ++i) {
          want[i] = x[count - 1 - i] + y[i];
          total += x[i];
        }
        // The second output is the last element of x itself.
        F32 x_t(x, {size}), y_t(y.data(), {size}), out(x + shift, {size}), sum(x + shift + size, {});
        CHECK(code_of(e, {&x_t.t, &y_t.t}, {&out.t, &sum.t}) == Code::ok);
        INFO("size ", size, " shift ", shift);
        CHECK(std::equal(want.begin(), want.end(), x + shift));
        CHECK(x[shift + size] == total);
      }
  });
}

TEST_CASE("a square transposed in place, a result broadcast over its input") {
  Net n;
  const DimId b = n.sym("N");
  const ValueId x = n.in("x", DType::f32, {b, b});
  const ValueId sums = n.op(OpCode::op_reduce_sum, {x}, {{"axes", Attr::of_ints({0})}});
  n.out(n.op(OpCode::op_sub, {n.op(OpCode::op_transpose, {x}, {{"perm", Attr::of_ints({1, 0})}}), sums}));
  each_way(n.done(), [](engine::Executable& e) {
    std::vector<float> memory(50 * 50), want(50 * 50);
    for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i % 13);
    for (size_t i = 0; i < 50; ++i)
      for (size_t j = 0; j < 50; ++j) {
        float sum = 0;
        for (size_t k = 0; k < 50; ++k) sum += memory[k * 50 + j];
        want[i * 50 + j] = memory[j * 50 + i] - sum;
      }
    F32 t(memory.data(), {50, 50});
    CHECK(code_of(e, {&t.t}, {&t.t}) == Code::ok);
    CHECK(memory == want);
  });
}

TEST_CASE("reshapes of strided inputs and into strided outputs") {
  Net n;
  const DimId b = n.sym("B"), c = n.sym("C");
  const ValueId x = n.in("x", DType::f32, {b, c});
  const ValueId turned = n.op(OpCode::op_reshape, {x}, {{"shape", Attr::of_dims({c, b})}});
  n.out(turned);
  n.out(n.op(OpCode::op_reduce_max, {turned}, {{"axes", Attr::of_ints({1})}}));
  const auto g = n.done();
  for (const Layout in : {Layout::compact, Layout::strided, Layout::negative, Layout::transposed, Layout::unaligned})
    for (const Way& way : main_ways()) {
      const Array a = random_array(5, DType::f32, {6, 35});
      const std::vector<Array> got = run(*compile(g, way), std::span(&a, 1), in, Layout::transposed);
      INFO(way.name, " ", name(in));
      CHECK(got[0] == Array{DType::f32, {35, 6}, a.bits});
    }
}
