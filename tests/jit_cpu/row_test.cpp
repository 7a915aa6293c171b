// Kernels with fold.dot, a tile at a time: 256-fma chains added left to right.
#include <doctest/doctest.h>

#include <cmath>

#include "base/error.h"
#include "loop/expr.h"
#include "support.h"

namespace ingot::jit {
namespace {

template <class T>
constexpr DType dtype = std::is_same_v<T, float> ? DType::f32 : DType::f64;

// (x * 2) . y + bias over m n k, x transposed by its steps when `swap`.
template <class T>
loop::Kernel dot_kernel(bool scaled) {
  Builder b(2, 1);
  loop::Val x{b, b.load(b.add_view(load_view(dtype<T>, b.add_tensor(), 0b101)))};
  loop::Val y{b, b.load(b.add_view(load_view(dtype<T>, b.add_tensor(), 0b110)))};
  const loop::Val bias{b, b.load(b.add_view(load_view(dtype<T>, b.add_tensor(), 0b010)))};
  if (scaled) {
    x = x * 2;
    y = y * bias - 1.0;
  }
  const loop::Val dot{b, b.op(Prim::fold_dot, x.id(), y.id())};
  b.store(b.add_view(store_view(dtype<T>, b.add_tensor(), 0b011)), (dot + bias).id());
  return b.finish();
}

template <class T>
void check_dot(bool scaled) {
  constexpr size_t lanes = 192;
  std::mt19937 random(11);
  const auto draw = [&] { return static_cast<T>(static_cast<double>(random()) / 2147483648.0 - 1); };
  const loop::Kernel kernel = dot_kernel<T>(scaled);
  for (const std::string& target : native_targets()) {
    const auto body = load(compile(kernel, target));
    REQUIRE(body->sweeps() == 2);
    for (const size_t k : {1, 2, 255, 256, 257, 700}) {
      // Row m of x, a K by lanes y, both as they lie in memory.
      std::vector<T> x(k), y(k * lanes), bias(lanes), out(lanes);
      for (auto* v : {&x, &y, &bias})
        for (T& e : *v) e = draw();
      std::vector<T> acc(lanes, T(-0.0));
      const int64_t step[] = {sizeof(T), static_cast<int64_t>(lanes * sizeof(T)), 0, 0};
      const int64_t sizes[] = {1, static_cast<int64_t>(lanes), static_cast<int64_t>(k)};
      for (size_t at = 0; at < k; at += 256) {
        char* pointers[] = {reinterpret_cast<char*>(&x[at]), reinterpret_cast<char*>(&y[at * lanes]),
                            reinterpret_cast<char*>(bias.data()), nullptr};
        Frame frame{};
        frame.ptr = pointers;
        frame.step = step;
        frame.size = sizes;
        frame.acc = reinterpret_cast<char*>(acc.data());
        frame.acc_stride = static_cast<int64_t>(lanes * sizeof(T));
        frame.n = frame.valid = lanes;
        frame.k = static_cast<int64_t>(std::min<size_t>(256, k - at));
        body->sweep(0, frame);
      }
      char* pointers[] = {nullptr, nullptr, reinterpret_cast<char*>(bias.data()), reinterpret_cast<char*>(out.data())};
      Frame frame{};
      frame.ptr = pointers;
      frame.step = step;
      frame.size = sizes;
      frame.value = reinterpret_cast<const char*>(acc.data());
      frame.acc_stride = static_cast<int64_t>(lanes * sizeof(T));
      frame.n = frame.valid = lanes;
      body->sweep(1, frame);

      size_t wrong = 0;
      for (size_t l = 0; l < lanes; ++l) {
        T sum = T(-0.0);
        for (size_t at = 0; at < k; at += 256) {
          T p = T(-0.0);
          for (size_t i = at; i < std::min(at + 256, k); ++i) {
            const T product = y[i * lanes + l] * bias[l];
            const T left = scaled ? x[i] * 2 : x[i], right = scaled ? product - T(1) : y[i * lanes + l];
            p = std::fma(left, right, p);
          }
          sum = sum + p;
        }
        wrong += out[l] != sum + bias[l];
      }
      CAPTURE(target);
      CAPTURE(k);
      CHECK(wrong == 0);
    }
  }
}

}  // namespace

TEST_CASE("dot products are chains of 256 fma, whatever the lanes in flight") {
  for (const bool scaled : {false, true}) {
    check_dot<float>(scaled);
    check_dot<double>(scaled);
  }
}

TEST_CASE("a dot product of two vectors has one lane") {
  Builder b(0, 1);
  const NodeId x = b.load(b.add_view(load_view(DType::i32, b.add_tensor(), 1)));
  const NodeId y = b.load(b.add_view(load_view(DType::i32, b.add_tensor(), 1)));
  b.store(b.add_view(store_view(DType::i32, b.add_tensor(), 0)), b.op(Prim::fold_dot, x, y));
  const loop::Kernel kernel = b.finish();
  for (const std::string& target : native_targets()) {
    const auto body = load(compile(kernel, target));
    int32_t in[2][200], acc = 0, out = 0;
    uint32_t want = 0;
    for (int i = 0; i < 200; ++i) {
      in[0][i] = 77777 * i;
      in[1][i] = 1234567 - 99 * i;
      want += static_cast<uint32_t>(in[0][i]) * static_cast<uint32_t>(in[1][i]);
    }
    char* pointers[] = {reinterpret_cast<char*>(in[0]), reinterpret_cast<char*>(in[1]), reinterpret_cast<char*>(&out)};
    const int64_t step[] = {4, 4, 0}, sizes[] = {200};
    Frame frame{};
    frame.ptr = pointers;
    frame.step = step;
    frame.size = sizes;
    frame.acc = reinterpret_cast<char*>(&acc);
    frame.n = frame.valid = 1;
    frame.k = 200;
    body->sweep(0, frame);
    frame.value = frame.acc;
    body->sweep(1, frame);
    CHECK(static_cast<uint32_t>(out) == want);
  }
}

}  // namespace ingot::jit
