// A small kernel from canonical bytes to a call, by a frame filled by hand.
#include <doctest/doctest.h>

#include "loop/expr.h"
#include "support.h"

namespace ingot::jit {

TEST_CASE("2a + 3b - c*c runs on every native target with the bits of plain C++") {
  Builder builder(1, 0);
  loop::Val x[3];
  for (loop::Val& v : x) v = {builder, builder.load(builder.add_view(load_view(DType::f32, builder.add_tensor(), 1)))};
  const loop::Val value = x[0] * 2 + x[1] * 3 - x[2] * x[2];
  builder.store(builder.add_view(store_view(DType::f32, builder.add_tensor(), 1)), value.id());
  const loop::Kernel kernel = builder.finish();

  constexpr size_t n = 1024;
  alignas(64) static float in[3][n], out[n];
  for (size_t i = 0; i < n; ++i)
    for (size_t t = 0; t < 3; ++t) in[t][i] = static_cast<float>(static_cast<double>(i * (t + 3)) * 0.37 - 100);
  char* pointers[] = {reinterpret_cast<char*>(in[0]), reinterpret_cast<char*>(in[1]), reinterpret_cast<char*>(in[2]),
                      reinterpret_cast<char*>(out)};
  const int64_t sizes[] = {n};
  Frame frame{};
  frame.ptr = pointers;
  frame.size = sizes;
  frame.n = frame.valid = n;
  for (const std::string& target : native_targets()) {
    const auto body = load(compile(kernel, target));
    CHECK(body->sweeps() == 1);
    CHECK(body->compiled());
    for (const uint32_t flags : {0u, frame_stream}) {
      CAPTURE(target);
      CAPTURE(flags);
      std::memset(out, 0, sizeof out);
      frame.flags = flags;
      body->sweep(0, frame);
      size_t wrong = 0;
      for (size_t i = 0; i < n; ++i) {
        const float a = in[0][i] * 2, b = in[1][i] * 3, c = in[2][i] * in[2][i], ab = a + b;
        wrong += out[i] != ab - c;
      }
      CHECK(wrong == 0);
    }
  }
}

}  // namespace ingot::jit
