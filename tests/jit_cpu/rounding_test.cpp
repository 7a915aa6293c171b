// The primitives that are made of several roundings, on values chosen so that a second one would show: results about
// the denormals, ties, cancellation, operands far apart. The C library's fma and ldexp are the witnesses.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "base/error.h"
#include "support.h"

namespace ingot::jit {
namespace {

constexpr size_t batch = 1024, batches = 200;

template <class T>
struct Format;
template <>
struct Format<float> {
  using Bits = uint32_t;
  static constexpr DType type = DType::f32;
  static constexpr int precision = 24, least = -126;
};
template <>
struct Format<double> {
  using Bits = uint64_t;
  static constexpr DType type = DType::f64;
  static constexpr int precision = 53, least = -1022;
};

template <class T>
bool same(T a, T b) {
  return std::bit_cast<typename Format<T>::Bits>(a) == std::bit_cast<typename Format<T>::Bits>(b) ||
         (std::isnan(a) && std::isnan(b));
}

class Draw {
 public:
  explicit Draw(uint32_t seed) : random_(seed) {}
  uint64_t below(uint64_t n) { return random_() % n; }

  // A mantissa with few bits set, many, or all kinds, so that products have ties; exponent given.
  template <class T>
  T value(int exponent) {
    constexpr int p = Format<T>::precision;
    uint64_t m = random_() >> (64 - p);
    switch (below(4)) {
      case 0: m &= ~uint64_t{0} << below(static_cast<uint64_t>(p)); break;
      case 1: m = (uint64_t{1} << (p - 1)) | uint64_t{1} << below(static_cast<uint64_t>(p)); break;
      case 2: m = (uint64_t{1} << p) - 1 - below(4); break;
      default: break;
    }
    m |= uint64_t{1} << (p - 1);
    const T v = std::ldexp(static_cast<T>(m), exponent - p + 1);
    return below(2) ? -v : v;
  }

 private:
  std::mt19937_64 random_;
};

template <class T>
std::shared_ptr<const CompiledBody> body_of(Prim op, DType second, const std::string& target) {
  Builder b(1, 0);
  const auto in = [&](DType t) { return b.load(b.add_view(load_view(t, b.add_tensor(), 1))); };
  const NodeId x = in(Format<T>::type), y = in(second);
  const NodeId v = op == Prim::fma ? b.op(op, x, y, in(Format<T>::type)) : b.op(op, x, y);
  b.store(b.add_view(store_view(Format<T>::type, b.add_tensor(), 1)), v);
  return load(compile(b.finish(), target));
}

void call(const Body& body, std::vector<void*> tensors) {
  std::vector<char*> pointers;
  for (void* t : tensors) pointers.push_back(static_cast<char*>(t));
  const int64_t sizes[] = {batch};
  Frame frame{};
  frame.ptr = pointers.data();
  frame.size = sizes;
  frame.n = frame.valid = batch;
  body.sweep(0, frame);
}

template <class T>
void check_fma() {
  constexpr int p = Format<T>::precision, least = Format<T>::least;
  for (const std::string& target : native_targets()) {
    const auto body = body_of<T>(Prim::fma, Format<T>::type, target);
    Draw draw(5);
    size_t wrong = 0;
    for (size_t r = 0; r < batches; ++r) {
      std::vector<T> x(batch), y(batch), z(batch), out(batch);
      for (size_t i = 0; i < batch; ++i) {
        // The product's exponent: anywhere about the denormals, about the overflow, or in the middle.
        const int middle = draw.below(3) == 0 ? -least : draw.below(2) ? least - p : 0;
        const int product = middle + static_cast<int>(draw.below(static_cast<uint64_t>(3 * p))) - 3 * p / 2;
        const int ex = product / 2 + static_cast<int>(draw.below(9)) - 4;
        x[i] = draw.value<T>(ex);
        y[i] = draw.value<T>(product - ex);
        switch (draw.below(6)) {
          case 0: z[i] = -(x[i] * y[i]); break;  // what is left is low
          case 1: z[i] = std::nextafter(-(x[i] * y[i]), T(draw.below(2) ? 1 : -1)); break;
          case 2: z[i] = draw.below(2) ? T(0) : T(-0.0); break;
          case 3:
            z[i] = std::ldexp(draw.below(2) ? T(1) : T(-1),
                              std::max(least - p + 1, product + static_cast<int>(draw.below(200)) - 100));
            break;
          default: z[i] = draw.value<T>(product + static_cast<int>(draw.below(static_cast<uint64_t>(4 * p))) - 2 * p);
        }
      }
      call(*body, {x.data(), y.data(), z.data(), out.data()});
      for (size_t i = 0; i < batch; ++i) {
        const T want = std::fma(x[i], y[i], z[i]);
        if (same(out[i], want)) continue;
        if (++wrong <= 3)
          FAIL_CHECK(target, " fma of ", ir::name(Format<T>::type), " ", std::hexfloat, x[i], " ", y[i], " ", z[i],
                     ": ", out[i], ", not ", want);
      }
    }
    CHECK(wrong == 0);
  }
}

template <class T>
void check_scale2() {
  constexpr int p = Format<T>::precision, least = Format<T>::least;
  for (const std::string& target : native_targets()) {
    const auto body = body_of<T>(Prim::scale2, DType::i32, target);
    Draw draw(6);
    size_t wrong = 0;
    for (size_t r = 0; r < batches; ++r) {
      std::vector<T> x(batch), out(batch);
      std::vector<int32_t> n(batch);
      for (size_t i = 0; i < batch; ++i) {
        const int exponent = static_cast<int>(draw.below(static_cast<uint64_t>(-2 * least + p))) + least - p + 1;
        x[i] = draw.value<T>(exponent);
        // The result about the least denormal, a normal one, or whatever an i32 says.
        const int64_t to = draw.below(2)
                               ? least - p + static_cast<int>(draw.below(static_cast<uint64_t>(p + 8))) - 2
                               : static_cast<int>(draw.below(static_cast<uint64_t>(-3 * least))) + 3 * least / 2;
        n[i] = static_cast<int32_t>(draw.below(16) ? to - exponent : static_cast<int64_t>(draw.below(1ULL << 32)));
      }
      call(*body, {x.data(), n.data(), out.data()});
      for (size_t i = 0; i < batch; ++i) {
        const T want = std::ldexp(x[i], n[i]);
        if (same(out[i], want)) continue;
        if (++wrong <= 3)
          FAIL_CHECK(target, " scale2 of ", ir::name(Format<T>::type), " ", std::hexfloat, x[i], " ", n[i], ": ",
                     out[i], ", not ", want);
      }
    }
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("fma rounds once, with and without the instruction") {
  check_fma<float>();
  check_fma<double>();
}
TEST_CASE("scale2 rounds once for every exponent") {
  check_scale2<float>();
  check_scale2<double>();
}

}  // namespace ingot::jit
