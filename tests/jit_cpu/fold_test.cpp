// Folds in strips as the driver calls them, against the order of NUMERICS.md written out plainly for a whole row.
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "loop/eval.h"
#include "loop/expr.h"
#include "support.h"

namespace ingot::jit {
namespace {

// The reference, from the text alone: groups of 64, blocks of 16 groups, a tree over blocks, the last eight.
template <class T>
T ordered_fold(const std::vector<T>& x, bool product) {
  const T absent = product ? T(1) : T(-0.0);
  if (x.empty()) return product ? T(1) : T(0);
  const auto op = [&](T a, T b) { return product ? a * b : a + b; };
  const auto at = [&](size_t k) { return k < x.size() ? x[k] : absent; };
  T result[8];
  for (size_t j = 0; j < 8; ++j) {
    std::vector<T> stack;
    const size_t blocks = (x.size() + 1023) / 1024;
    for (size_t block = 0; block < blocks; ++block) {
      T a = absent;
      for (size_t g = block * 1024; g < std::min(block * 1024 + 1024, (x.size() + 63) / 64 * 64); g += 64) {
        const auto e = [&](size_t d) { return at(g + j + d); };
        a = op(a, op(op(op(e(0), e(32)), op(e(16), e(48))), op(op(e(8), e(40)), op(e(24), e(56)))));
      }
      for (size_t b = block; b & 1; b >>= 1) {
        a = op(stack.back(), a);
        stack.pop_back();
      }
      stack.push_back(a);
    }
    while (stack.size() > 1) {
      const T a = stack.back();
      stack.pop_back();
      stack.back() = op(stack.back(), a);
    }
    result[j] = stack[0];
  }
  return op(op(op(result[0], result[4]), op(result[2], result[6])),
            op(op(result[1], result[5]), op(result[3], result[7])));
}

template <class T>
constexpr DType dtype = std::is_same_v<T, float> ? DType::f32 : DType::f64;

// The eight items of each block by calling the sweep as the driver does, the tree and the end by hand.
template <class T>
T run_fold(const Body& body, const std::vector<T>& x, bool product, size_t strip) {
  const T absent = product ? T(1) : T(-0.0);
  // Lanes beyond the row hold what must never count.
  std::vector<T> padded(x);
  padded.resize((x.size() + 1023) / 1024 * 1024, std::numeric_limits<T>::quiet_NaN());
  std::vector<std::array<T, 8>> stack;
  const auto op = [&](T a, T b) { return product ? a * b : a + b; };
  for (size_t block = 0; block * 1024 < x.size(); ++block) {
    alignas(64) std::array<T, 8> acc;
    acc.fill(absent);
    for (size_t at = block * 1024; at < std::min(block * 1024 + 1024, x.size()); at += strip) {
      char* pointers[] = {reinterpret_cast<char*>(&padded[at]), nullptr};
      const int64_t sizes[] = {1, static_cast<int64_t>(x.size())};
      Frame frame{};
      frame.ptr = pointers;
      frame.size = sizes;
      frame.acc = reinterpret_cast<char*>(&acc);
      frame.valid = static_cast<int64_t>(std::min(strip, x.size() - at));
      frame.n = (frame.valid + 63) / 64 * 64;
      body.sweep(0, frame);
    }
    for (size_t b = block; b & 1; b >>= 1) {
      for (size_t j = 0; j < 8; ++j) acc[j] = op(stack.back()[j], acc[j]);
      stack.pop_back();
    }
    stack.push_back(acc);
  }
  if (stack.empty()) return product ? T(1) : T(0);
  while (stack.size() > 1) {
    const auto top = stack.back();
    stack.pop_back();
    for (size_t j = 0; j < 8; ++j) stack.back()[j] = op(stack.back()[j], top[j]);
  }
  const auto& r = stack[0];
  return op(op(op(r[0], r[4]), op(r[2], r[6])), op(op(r[1], r[5]), op(r[3], r[7])));
}

// fold(chain of `ops` operations on x), of which `ops` decides whether the steps of a group are written out or looped.
template <class T>
loop::Kernel fold_kernel(Prim fold, int ops) {
  Builder b(1, 1);
  loop::Val v{b, b.load(b.add_view(load_view(dtype<T>, b.add_tensor(), 2)))};
  const loop::Val x = v;
  for (int i = 0; i < ops; ++i) v = i % 2 ? v - x * 0.5 : v * v;
  b.store(b.add_view(store_view(dtype<T>, b.add_tensor(), 1)), v.un(fold).id());
  return b.finish();
}

template <class T>
void check_order(Prim fold) {
  std::mt19937 random(7);
  for (const int ops : {0, 1, 4, 9}) {
    const loop::Kernel kernel = fold_kernel<T>(fold, ops);
    for (const std::string& target : native_targets()) {
      const auto body = load(compile(kernel, target));
      for (const size_t n : {1, 5, 8, 63, 64, 65, 100, 127, 1000, 1023, 1024, 1025, 3000, 5000, 9999}) {
        std::vector<T> x(n), mapped(n);
        // Around 1 so that products neither vanish nor overflow, with every bit of the mantissa in use.
        for (T& v : x)
          v = static_cast<T>((random() % 2 ? 1 : -1) * std::exp2(static_cast<double>(random()) / 4294967296.0 - 0.5));
        for (size_t i = 0; i < n; ++i) {
          T v = x[i];
          for (int o = 0; o < ops; ++o) {
            const T half = x[i] * T(0.5);
            v = o % 2 ? v - half : v * v;
          }
          mapped[i] = v;
        }
        const T want = ordered_fold(mapped, fold == Prim::fold_prod);
        for (const size_t strip : {size_t{1024}, size_t{128}}) {
          CAPTURE(target);
          CAPTURE(n);
          CAPTURE(ops);
          CHECK(run_fold(*body, x, fold == Prim::fold_prod, strip) == want);
        }
      }
    }
  }
}

// One block of order-free folds over a type; the driver's end is the same merge over the eight items.
void check_order_free(Prim fold, DType type) {
  Builder b(1, 1);
  const NodeId x = b.load(b.add_view(load_view(type, b.add_tensor(), 2)));
  const NodeId f = b.op(fold, x);
  b.store(b.add_view(store_view(type, b.add_tensor(), 1)), f);
  const loop::Kernel kernel = b.finish();
  const std::vector<uint64_t> values = samples(type, 1024, 3);
  const size_t size = ir::item_size(type);

  const auto merge = [&](uint64_t p, uint64_t q) {
    const bool boolean = type == DType::boolean;
    const Prim op = fold == Prim::fold_sum    ? Prim::add
                    : fold == Prim::fold_prod ? Prim::mul
                    : fold == Prim::fold_min  ? (boolean ? Prim::and_ : Prim::min)
                                              : (boolean ? Prim::or_ : Prim::max);
    return loop::eval(op, type, type, p, q);
  };
  for (const std::string& target : native_targets()) {
    const auto body = load(compile(kernel, target));
    for (const size_t n : {1, 2, 15, 16, 17, 48, 64, 65, 700, 1024}) {
      std::vector<char> memory(1024 * size + 1), acc(acc_bytes);
      for (size_t i = 0; i < 1024; ++i) put_item(memory.data() + 1, type, i, values[i]);
      // The items start as the first value of the row: any value of it merges to the same result.
      for (size_t j = 0; j < 8; ++j)
        put_item(acc.data(), type, j, fold == Prim::fold_sum ? 0 : fold == Prim::fold_prod ? 1 : values[0]);
      char* pointers[] = {memory.data() + 1, nullptr};
      const int64_t sizes[] = {1, static_cast<int64_t>(n)};
      Frame frame{};
      frame.ptr = pointers;
      frame.size = sizes;
      frame.acc = acc.data();
      frame.valid = static_cast<int64_t>(n);
      frame.n = (frame.valid + 63) / 64 * 64;
      body->sweep(0, frame);
      uint64_t want = values[0], got = get_item(acc.data(), type, 0);
      for (size_t i = 1; i < n; ++i) want = merge(want, values[i]);
      for (size_t j = 1; j < 8; ++j) got = merge(got, get_item(acc.data(), type, j));
      const auto nan = [&](uint64_t v) {
        return type == DType::f32 ? std::isnan(std::bit_cast<float>(static_cast<uint32_t>(v)))
                                  : type == DType::f64 && std::isnan(std::bit_cast<double>(v));
      };
      CAPTURE(target);
      CAPTURE(n);
      CAPTURE(static_cast<int>(fold));
      CAPTURE(ir::name(type));
      CHECK((got == want || (nan(got) && nan(want))));
    }
  }
}

}  // namespace

TEST_CASE("float sums and products follow the one order of NUMERICS.md, padding never counts") {
  check_order<float>(Prim::fold_sum);
  check_order<double>(Prim::fold_sum);
  check_order<float>(Prim::fold_prod);
  check_order<double>(Prim::fold_prod);
}

TEST_CASE("order-free folds of every type") {
  for (const Prim fold : {Prim::fold_sum, Prim::fold_prod, Prim::fold_min, Prim::fold_max})
    for (const DType t : {DType::boolean, DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u16,
                          DType::u32, DType::u64, DType::f32, DType::f64}) {
      const bool sum = fold == Prim::fold_sum || fold == Prim::fold_prod;
      if (sum && (ir::is_float(t) || t == DType::boolean)) continue;
      check_order_free(fold, t);
    }
}

}  // namespace ingot::jit
