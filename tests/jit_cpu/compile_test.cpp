// Properties of the compile itself.
#include <doctest/doctest.h>

#include <thread>

#include "base/error.h"
#include "loop/expr.h"
#include "support.h"

namespace ingot::jit {
namespace {

// softmax-shaped: three sweeps, a held value, a rare arm.
loop::Kernel sample(double salt) {
  Builder b(1, 1);
  loop::Val x{b, b.load(b.add_view(load_view(DType::f32, b.add_tensor(), 3)))};
  loop::Val e = x - x.un(Prim::fold_max);
  for (int i = 0; i < 8; ++i) e = fma(e, e, salt + i);
  loop::Val slow = e;
  for (int i = 0; i < 8; ++i) slow = sqrt(abs(slow)) / 3.0;
  e = rare(gt(e, 1e30), e, slow);
  b.store(b.add_view(store_view(DType::f32, b.add_tensor(), 3)), (e / e.un(Prim::fold_sum)).id());
  return b.finish();
}

std::string text_of(const loop::Kernel& kernel, const std::string& target, uint32_t emit) {
  const auto bytes = test_module().compile(loop::encode(kernel), target, emit);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("compiles are deterministic, in order, repeated, and at once") {
  std::vector<std::vector<uint8_t>> first;
  for (int i = 0; i < 4; ++i) first.push_back(compile(sample(i), "x86-64-v3"));
  CHECK(first[0] != first[1]);
  std::vector<std::thread> threads;
  std::vector<int> equal(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 8; ++i) {
        const auto at = static_cast<size_t>(t + i) % 4;
        equal[static_cast<size_t>(t)] += compile(sample(static_cast<double>(at)), "x86-64-v3") == first[at];
      }
    });
  for (std::thread& t : threads) t.join();
  for (const int e : equal) CHECK(e == 8);
}

TEST_CASE("a rare arm is a branch, and what it alone needs lies in it") {
  const std::string text = text_of(sample(0.5), "x86-64-v3", 1);
  const size_t slow = text.find("\nslow");
  REQUIRE(slow != std::string::npos);
  CHECK(text.find("llvm.sqrt", slow) < text.find("\njoin", slow));
}

TEST_CASE("code of each target uses its own instructions and no wider ones") {
  const loop::Kernel kernel = sample(0.5);
  const std::string v2 = text_of(kernel, "x86-64-v2", 2), v3 = text_of(kernel, "x86-64-v3", 2),
                    v4 = text_of(kernel, "x86-64-v4", 2), arm = text_of(kernel, "aarch64", 2);
  CHECK(v2.find("%ymm") == std::string::npos);
  CHECK(v2.find("vfmadd") == std::string::npos);
  CHECK(v3.find("%ymm") != std::string::npos);
  CHECK(v3.find("vfmadd") != std::string::npos);
  CHECK(v3.find("%zmm") == std::string::npos);
  CHECK(v3.find("vzeroupper") != std::string::npos);
  CHECK(v4.find("%zmm") != std::string::npos);
  CHECK(arm.find("fmla") != std::string::npos);
  CHECK(arm.find("adrp") == std::string::npos);  // page arithmetic would fix the image's place
}

TEST_CASE("sums that wait for memory do not use registers of a whole cache line, what stores does") {
  for (const bool sum : {true, false}) {
    Builder b(1, sum ? 1 : 0);
    const loop::Val x{b, b.load(b.add_view(load_view(DType::f32, b.add_tensor(), sum ? 3 : 1)))};
    const loop::Val y = x * 3.0;
    b.store(b.add_view(store_view(DType::f32, b.add_tensor(), 1)), (sum ? y.un(Prim::fold_sum) : y).id());
    const std::string text = text_of(b.finish(), "x86-64-v4", 2);
    CHECK((text.find("%ymm") != std::string::npos) == sum);
    CHECK((text.find("%zmm") == std::string::npos) == sum);
  }
}

TEST_CASE("f16 converts by F16C where there is one, and by no call anywhere") {
  Builder b(1, 0);
  const loop::Val x{b, b.load(b.add_view(load_view(DType::f16, b.add_tensor(), 1)))};
  b.store(b.add_view(store_view(DType::f16, b.add_tensor(), 1)), (x.to(DType::f32) * 3.0).to(DType::f16).id());
  const loop::Kernel kernel = b.finish();
  for (const char* target : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"}) {
    const std::string text = text_of(kernel, target, 2);
    CAPTURE(std::string(target));
    const bool f16c = std::string(target) == "x86-64-v3" || std::string(target) == "x86-64-v4";
    CHECK((text.find("vcvtph2ps") != std::string::npos) == f16c);
    CHECK((text.find("vcvtps2ph") != std::string::npos) == f16c);
    CHECK(text.find("call") == std::string::npos);
  }
}

}  // namespace ingot::jit
