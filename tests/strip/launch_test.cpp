#include "jit/strip/launch.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "jit/interp/interp.h"
#include "loop/expr.h"
#include "loop/rules.h"
#include "oracle.h"
#include "random_launch.h"

using namespace ingot;

namespace {

void check_random(test::Shape shape, uint32_t first, uint32_t count, int64_t elements) {
  for (uint32_t seed = first; seed < first + count; ++seed) {
    test::Bound bound = test::random_launch(seed, shape, elements);
    const auto body = jit::interpreter(bound.program);
    const std::string text = test::difference(bound, *body, seed);
    INFO("seed ", seed);
    INFO(text);
    CHECK(text.empty());
    if (!text.empty()) return;
  }
}

}  // namespace

TEST_CASE("random pointwise kernels give the oracle's bits and touch nothing else") {
  check_random(test::Shape::pointwise, 1, 3000, 3000);
}
TEST_CASE("random kernels with folds give the oracle's bits and touch nothing else") {
  check_random(test::Shape::folds, 1, 1500, 3000);
}
TEST_CASE("random dot kernels give the oracle's bits and touch nothing else") {
  check_random(test::Shape::dot, 1, 1000, 3000);
}
TEST_CASE("random kernels with lanes along the rows of a fold give the oracle's bits and touch nothing else") {
  check_random(test::Shape::row_lanes, 1, 1500, 3000);
}
TEST_CASE("random kernels over rows that are split give the oracle's bits, whatever pieces run first and where") {
  unsigned split = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    test::Bound bound = test::random_launch(seed, test::Shape::long_rows, 300000);
    const auto body = jit::interpreter(bound.program);
    jit::Launch launch;
    const std::string text = test::difference(bound, *body, seed, launch);
    INFO("seed ", seed, text);
    REQUIRE(text.empty());
    split += launch.phases() > 1 && launch.chunks() > 1;
  }
  CHECK(split >= 20);
}
TEST_CASE("larger random kernels give the oracle's bits") {
  check_random(test::Shape::pointwise, 100001, 40, 200000);
  check_random(test::Shape::folds, 100001, 40, 100000);
  check_random(test::Shape::dot, 100001, 40, 100000);
  check_random(test::Shape::row_lanes, 100001, 40, 100000);
}

namespace {

using loop::AxisSet;
using loop::Builder;
using loop::DType;
using loop::Prim;
using loop::Val;
using loop::ViewKind;

uint16_t view(Builder& b, ViewKind kind, DType type, AxisSet axes) {
  return b.add_view({.kind = kind, .storage = type, .tensor = b.add_tensor(), .axes = axes, .boxes = {}, .fill = 0});
}
Val load(Builder& b, DType type, AxisSet axes) { return {b, b.load(view(b, ViewKind::load, type, axes))}; }
void store(Builder& b, Val v, AxisSet axes) { b.store(view(b, ViewKind::store, v.type(), axes), v.id()); }

jit::Program program(Builder& b) {
  jit::Program p;
  p.kernel = b.finish();
  p.schedule = loop::schedule(p.kernel);
  return p;
}

template <class T>
jit::ViewArg bind(const T* p, std::vector<int64_t> strides) {
  jit::ViewArg a;
  a.base = reinterpret_cast<char*>(const_cast<T*>(p));
  for (size_t i = 0; i < strides.size(); ++i) a.stride[i] = strides[i] * static_cast<int64_t>(sizeof(T));
  return a;
}

// A body that says it is compiled, checks what frames promise and passes them on to the interpreter.
class Checked final : public jit::Body {
 public:
  explicit Checked(const jit::Program& p) : program_(p), body_(jit::interpreter(p)) {}
  void sweep(unsigned index, const jit::Frame& f) const noexcept override {
    const loop::Sweep& s = program_.schedule.sweeps[index];
    right &= f.n > 0 && f.n <= loop::strip_lanes && f.n % s.granule == 0 && f.valid <= f.n && f.n - f.valid < s.granule;
    if (f.flags & jit::frame_stream) {
      streamed += f.n * (f.more_rows + 1);
      for (const uint16_t st : s.stores) {
        const uint16_t v = program_.kernel.stores[st].view;
        right &= reinterpret_cast<uintptr_t>(f.ptr[v]) % 64 == 0 && (f.more_rows == 0 || f.row_step[v] % 64 == 0);
      }
    }
    for (int64_t r = 0; r <= f.more_rows; ++r) row_of(index, f, r);
  }
  void row(const jit::Frame& f) const noexcept override { body_->row(f); }
  bool compiled() const noexcept override { return true; }
  size_t scratch_bytes() const noexcept override { return body_->scratch_bytes(); }

  mutable bool right = true;
  mutable int64_t streamed = 0;
  mutable int64_t stood = 0;  // views that stood still, over all rows

 private:
  // One row of a call in mode cols. The interpreter knows no view that stands still: it gets a strip of copies, made
  // from any of those that lie there.
  void row_of(unsigned index, const jit::Frame& call, int64_t r) const noexcept {
    if (call.step) return body_->sweep(index, call);
    const loop::Kernel& kernel = program_.kernel;
    jit::Frame f = call;
    std::vector<char*> ptr(call.ptr, call.ptr + kernel.views.size());
    std::vector<char*> hold(program_.schedule.holds.size());
    std::vector<std::vector<char>> strips;
    if (!hold.empty()) hold.assign(call.hold, call.hold + hold.size());
    if (r > 0) {
      for (size_t v = 0; v < ptr.size(); ++v) ptr[v] += r * call.row_step[v];
      for (size_t h = 0; h < hold.size(); ++h) hold[h] += r * call.hold_step[h];
    }
    for (const uint16_t v : program_.schedule.sweeps[index].views) {
      if (!loop::may_stand_still(kernel, kernel.views[v]) || call.along[v] != 0) continue;
      ++stood;
      const size_t size = ir::item_size(kernel.views[v].storage);
      std::vector<char>& strip = strips.emplace_back(static_cast<size_t>(f.n) * size);
      for (size_t i = 0; i < static_cast<size_t>(f.n); ++i)
        std::memcpy(&strip[i * size], ptr[v] + i * 7 % jit::still_items * size, size);
      ptr[v] = strip.data();
    }
    const auto folds = static_cast<int64_t>(program_.schedule.folds.size());
    f.ptr = ptr.data();
    f.hold = hold.data();
    f.more_rows = 0;
    f.acc += r * folds * int64_t{jit::acc_bytes};
    f.value += r * folds * int64_t{sizeof(uint64_t)};
    body_->sweep(index, f);
  }

  const jit::Program& program_;
  std::shared_ptr<const jit::Body> body_;
};

void run(const jit::Launch& launch, const jit::Body& body) {
  const test::Guarded scratch((launch.scratch_bytes(body) + 63) / 64 * 64, true, 0),
      shared(launch.shared_bytes(), true, 0);
  jit::Fault fault;
  launch.begin(shared.data());
  for (unsigned phase = 0; phase < launch.phases(); ++phase)
    for (int64_t c = 0; c < launch.chunks(); ++c)
      launch.run_chunk(body, phase, c, scratch.data(), shared.data(), fault);
}

}  // namespace

TEST_CASE("streamed stores are aligned whatever the outputs' addresses") {
  Builder b(2, 0);
  const Val x = load(b, DType::f32, 3);
  store(b, x + 1.0, 3);
  store(b, x * 2.0, 3);
  const jit::Program p = program(b);
  const int64_t rows = 3, cols = 70001, pitch = 70400;
  std::vector<float> in(rows * pitch, 0.5f), one(rows * pitch + 64), two(rows * pitch + 64);
  for (const bool dense : {true, false})
    for (size_t first = 0; first < 20; ++first)
      for (const size_t second : {first, first + 16, first + 3}) {
        std::ranges::fill(one, 0.0f);
        std::ranges::fill(two, 0.0f);
        const int64_t sizes[] = {rows, cols}, step = dense ? cols : pitch;
        const jit::ViewArg args[] = {bind(in.data(), {step, 1}), bind(one.data() + first, {step, 1}),
                                     bind(two.data() + second, {step, 1})};
        jit::Launch launch;
        launch.prepare(p, sizes, args);
        launch.allow_stream(true);
        const Checked body(p);
        run(launch, body);
        CHECK(body.right);
        // Almost all lanes where the two can be aligned together, none where they cannot.
        const bool can =
            (reinterpret_cast<uintptr_t>(args[1].base) - reinterpret_cast<uintptr_t>(args[2].base)) % 64 == 0;
        CHECK((can ? body.streamed > rows * cols * 9 / 10 : body.streamed == 0));
        bool right = true;
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t c = 0; c < step; ++c) {
            const bool there = c < cols;
            right &= one[first + static_cast<size_t>(r * step + c)] == (there ? 1.5f : 0.0f);
            right &= two[second + static_cast<size_t>(r * step + c)] == (there ? 1.0f : 0.0f);
          }
        CHECK(right);
      }
}

TEST_CASE("a sum of a million elements follows the tree over its blocks, however the array lies in memory") {
  Builder b(1, 2);
  const Val x = load(b, DType::f32, 7);
  store(b, x.un(Prim::fold_sum), 1);
  store(b, x.un(Prim::fold_prod), 1);
  const jit::Program p = program(b);
  test::Random random(7);
  for (const size_t n : {size_t{1000000}, size_t{65536}, size_t{66560}, size_t{1024}, size_t{999}}) {
    std::vector<float> x0(n), spread(3 * n), result(2);
    for (size_t i = 0; i < n; ++i) x0[i] = 1.0f + static_cast<float>(random() % 1001) * 1e-7f - 5e-5f;
    const float sum = test::ordered_fold(x0, false), product = test::ordered_fold(x0, true);
    for (const int64_t inner : {int64_t{1}, int64_t{100}, int64_t{8}, static_cast<int64_t>(n)}) {
      if (static_cast<int64_t>(n) % inner != 0) continue;
      const int64_t outer = static_cast<int64_t>(n) / inner;
      for (const int64_t step : {1, 3}) {
        // Column-major with a gap, or row-major.
        for (const bool columns : {false, true}) {
          const int64_t so = columns ? step : inner * step, si = columns ? outer * step : step;
          for (int64_t i = 0; i < outer; ++i)
            for (int64_t j = 0; j < inner; ++j)
              spread[static_cast<size_t>(i * so + j * si)] = x0[static_cast<size_t>(i * inner + j)];
          const int64_t sizes[] = {1, outer, inner};
          const jit::ViewArg args[] = {bind(spread.data(), {0, so, si}), bind(&result[0], {1}), bind(&result[1], {1})};
          jit::Launch launch;
          launch.prepare(p, sizes, args);
          run(launch, *jit::interpreter(p));
          CHECK(result[0] == sum);
          CHECK(result[1] == product);
        }
      }
    }
  }
}

TEST_CASE("sums down the columns follow the tree over their blocks, lanes on the rows") {
  Builder b(1, 1);
  const Val x = load(b, DType::f32, 3);
  store(b, x.un(Prim::fold_sum), 1);
  store(b, x.un(Prim::fold_prod), 1);
  jit::Program p = program(b);
  p.kernel.row_lanes = true;
  p.schedule = loop::schedule(p.kernel);
  test::Random random(11);
  // Up to 15 blocks: four levels of the tree at once, and closed.
  for (const size_t k : {0, 1, 7, 64, 65, 1023, 1024, 1025, 2048, 3072, 4097, 7168, 15360, 15361}) {
    const size_t n = 37;
    std::vector<float> matrix(k * n), sums(n), products(n);
    for (float& v : matrix) v = 1.0f + static_cast<float>(random() % 1001) * 1e-6f - 5e-4f;
    const int64_t sizes[] = {static_cast<int64_t>(n), static_cast<int64_t>(k)};
    const jit::ViewArg args[] = {bind(matrix.data(), {1, static_cast<int64_t>(n)}), bind(sums.data(), {1}),
                                 bind(products.data(), {1})};
    jit::Launch launch;
    launch.prepare(p, sizes, args);
    run(launch, *jit::interpreter(p));
    for (size_t j = 0; j < n; ++j) {
      std::vector<float> column(k);
      for (size_t i = 0; i < k; ++i) column[i] = matrix[i * n + j];
      CAPTURE(k);
      CAPTURE(j);
      CHECK(sums[j] == test::ordered_fold(column, false));
      CHECK(products[j] == test::ordered_fold(column, true));
    }
  }
}

TEST_CASE("the oracle's sums are those of the reference script") {
  // Computed by the reference for the sum order in Python: x_k = 1 / (k + 1) in f32, negative where k % 3 == 1.
  struct {
    size_t n;
    uint32_t f32;
    uint64_t f64;
  } const known[] = {{5, 0x3f622222, 0x3fec444448000000},      {64, 0x3fea3f38, 0x3ffd47e6fd000000},
                     {1000, 0x402efd72, 0x4005dfae47800000},   {1024, 0x402f7ea6, 0x4005efd4cf140000},
                     {1025, 0x402f6eaa, 0x4005edd54ef40000},   {65537, 0x4084152a, 0x401082a5374c4000},
                     {100003, 0x4088973b, 0x401112e778068c00}, {1000000, 0x40a126ae, 0x401424d5d6451580}};
  for (const auto& k : known) {
    std::vector<float> x(k.n);
    for (size_t i = 0; i < k.n; ++i) x[i] = (i % 3 == 1 ? -1.0f : 1.0f) / static_cast<float>(i + 1);
    const std::vector<double> wide(x.begin(), x.end());
    CHECK(std::bit_cast<uint32_t>(test::ordered_fold(x, false)) == k.f32);
    CHECK(std::bit_cast<uint64_t>(test::ordered_fold(wide, false)) == k.f64);
  }
}

TEST_CASE("folds over nothing give their identities, and rows without elements are still stored") {
  Builder b(1, 1);
  const Val x = load(b, DType::f32, 3), n = load(b, DType::i32, 3);
  const Val t = loop::lt(x, 1.0);
  store(b, x.un(Prim::fold_sum), 1);
  store(b, x.un(Prim::fold_prod), 1);
  store(b, x.un(Prim::fold_min), 1);
  store(b, x.un(Prim::fold_max), 1);
  store(b, n.un(Prim::fold_min), 1);
  store(b, n.un(Prim::fold_max), 1);
  store(b, t.un(Prim::fold_min), 1);
  store(b, t.un(Prim::fold_max), 1);
  const jit::Program p = program(b);
  const int64_t sizes[] = {5, 0};
  std::vector<float> f(4 * 5, 9.0f);
  std::vector<int32_t> i(2 * 5, 9);
  std::vector<uint8_t> u(2 * 5, 9);
  std::vector<jit::ViewArg> args(2);
  for (int64_t k = 0; k < 4; ++k) args.push_back(bind(&f[static_cast<size_t>(5 * k)], {1}));
  for (int64_t k = 0; k < 2; ++k) args.push_back(bind(&i[static_cast<size_t>(5 * k)], {1}));
  for (int64_t k = 0; k < 2; ++k) args.push_back(bind(&u[static_cast<size_t>(5 * k)], {1}));
  jit::Launch launch;
  launch.prepare(p, sizes, args.data());
  run(launch, *jit::interpreter(p));
  const float inf = std::numeric_limits<float>::infinity();
  for (size_t r = 0; r < 5; ++r) {
    CHECK((f[r] == 0 && !std::signbit(f[r])));
    CHECK(f[5 + r] == 1);
    CHECK(f[10 + r] == inf);
    CHECK(f[15 + r] == -inf);
    CHECK(i[r] == INT32_MAX);
    CHECK(i[5 + r] == INT32_MIN);
    CHECK(u[r] == 1);
    CHECK(u[5 + r] == 0);
  }
}

TEST_CASE("frames keep their promises on random kernels") {
  for (uint32_t seed = 1; seed <= 300; ++seed)
    for (const auto shape : {test::Shape::pointwise, test::Shape::folds, test::Shape::dot, test::Shape::row_lanes}) {
      test::Bound bound = test::random_launch(seed, shape, 2000);
      const Checked body(bound.program);
      const std::string text = test::difference(bound, body, seed);
      INFO("seed ", seed, text);
      CHECK(text.empty());
      CHECK(body.right);
    }
}

TEST_CASE("operands that are one value a row stand still, rows of them share calls, and ends are computed twice") {
  Builder b(2, 0);
  const Val x = load(b, DType::f32, 3), scale = load(b, DType::f32, 1), small = load(b, DType::i8, 1);
  store(b, x * scale + small.to(DType::f32), 3);
  const jit::Program p = program(b);
  for (const bool twice : {false, true})
    for (const int64_t cols : {1024, 1025, 1039, 3072, 5001})
      for (const int64_t rows : {1, 2, 37})
        for (const int64_t first : {0, 3, 4}) {
          CAPTURE(twice);
          CAPTURE(cols);
          CAPTURE(rows);
          const auto n = static_cast<size_t>(rows * cols);
          std::vector<float> in(n + 16), out(n + 32, -1.0f), scales(static_cast<size_t>(rows));
          std::vector<int8_t> adds(static_cast<size_t>(rows));
          for (size_t i = 0; i < n; ++i) in[i] = static_cast<float>(i % 1999) - 7.0f;
          for (size_t r = 0; r < scales.size(); ++r) {
            scales[r] = 0.5f + static_cast<float>(r);
            adds[r] = static_cast<int8_t>(r - 5);
          }
          float* const to = out.data() + 16 + first;
          const int64_t sizes[] = {rows, cols};
          const jit::ViewArg args[] = {bind(in.data() + first, {cols, 1}), bind(scales.data(), {1, 0}),
                                       bind(adds.data(), {1, 0}), bind(to, {cols, 1})};
          jit::Launch launch;
          launch.prepare(p, sizes, args);
          launch.allow_stream(true);
          launch.allow_twice(twice);
          const Checked body(p);
          run(launch, body);
          CHECK(body.right);
          CHECK(body.stood > 0);
          bool right = true;
          for (size_t i = 0; i < out.size(); ++i) {
            const auto at = static_cast<int64_t>(i) - 16 - first;
            const bool there = at >= 0 && at < static_cast<int64_t>(n);
            const auto r = static_cast<size_t>(there ? at / cols : 0);
            const float want = there ? in[static_cast<size_t>(first + at)] * scales[r] + adds[r] : -1.0f;
            right &= out[i] == want;
          }
          CHECK(right);
        }
}

TEST_CASE("preparing again with other sizes leaves nothing of the last launch") {
  jit::Launch launch;
  for (uint32_t seed = 1; seed <= 200; ++seed)
    for (const auto shape : {test::Shape::folds, test::Shape::pointwise, test::Shape::dot, test::Shape::row_lanes}) {
      test::Bound bound = test::random_launch(seed, shape, 500);
      const auto body = jit::interpreter(bound.program);
      const std::string text = test::difference(bound, *body, seed, launch);
      INFO("seed ", seed, text);
      CHECK(text.empty());
    }
}
