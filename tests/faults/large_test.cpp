// Offsets and counts past 2^31 and 2^32.
#include <doctest/doctest.h>
#include <sys/mman.h>

#include "check.h"

using namespace ingot;
using namespace ingot::oracle;
using ir::Attr;
using ir::DType;
using ir::OpCode;
using ir::ValueId;

namespace {

// Address space of which only the pages that are touched exist.
class Sparse {
 public:
  explicit Sparse(size_t bytes)
      : bytes_(bytes),
        data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Sparse() {
    if (data_ != MAP_FAILED) munmap(data_, bytes_);
  }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;
  int8_t* data() const { return data_ == MAP_FAILED ? nullptr : static_cast<int8_t*>(data_); }

 private:
  size_t bytes_;
  void* data_;
};

}  // namespace

TEST_CASE("strides of 2^31 and more, forwards and backwards") {
  constexpr int64_t step = (int64_t{1} << 31) + 11;
  const Sparse memory(3 * step + 4096);
  if (!memory.data()) {
    MESSAGE("SKIP: no address space of 6 GiB");
    return;
  }
  Net net;
  const ValueId x = net.in("", DType::i8, {net.sym("A"), net.sym("B")});
  net.out(net.op(OpCode::op_add, {x, net.op(OpCode::op_reverse, {x}, {{"axes", Attr::of_ints({0})}})}));
  net.out(net.op(OpCode::op_reduce_sum, {x}, {{"axes", Attr::of_ints({0})}}));
  const auto g = net.done();
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 5; ++j) memory.data()[i * step + j] = static_cast<int8_t>(10 * i + j);
  for (const Way& way : all_ways())
    for (const bool backwards : {false, true}) {
      int64_t shape[] = {3, 5}, strides[] = {backwards ? -step : step, 1}, columns[] = {5};
      const runtime::Tensor in{
          memory.data(), {1, 0}, 2, {0, 8, 1}, shape, strides, backwards ? static_cast<uint64_t>(2 * step) : 0};
      int8_t twice[15], sums[5];
      const runtime::Tensor out0{twice, {1, 0}, 2, {0, 8, 1}, shape, nullptr, 0},
          out1{sums, {1, 0}, 1, {0, 8, 1}, columns, nullptr, 0};
      const runtime::Tensor *ins[] = {&in}, *outs[] = {&out0, &out1};
      compile(g, way)->run(ins, outs, {.serial = !way.threads});
      INFO(way.name);
      for (int i = 0; i < 15; ++i) CHECK(twice[i] == 20 + 2 * (i % 5));
      for (int j = 0; j < 5; ++j) CHECK(sums[j] == 30 + 3 * j);
    }
}

TEST_CASE("a fold over more elements than 63 bits count is refused, fused or not, an extent of 0 counted as 1") {
  Net net;
  const ValueId x = net.in("x", DType::i8, {net.sym("A"), net.num(1), net.sym("C")});
  const ValueId y = net.in("y", DType::i8, {net.sym("B"), net.sym("C")});
  const ValueId all = net.op(OpCode::op_add, {x, y});
  net.out(net.op(OpCode::op_reduce_sum, {all}));
  net.out(net.op(OpCode::op_reduce_max, {all}, {{"axes", Attr::of_ints({0, 1})}}));
  const auto g = net.done();
  int8_t one = 1, sum = 7, most[1] = {7};
  for (const Way& way : all_ways())
    for (const int64_t c : {1, 0}) {
      INFO(way.name);
      // Of zero strides: no more memory than one byte.
      int64_t far = int64_t{1} << 40, left[] = {far, 1, c}, right[] = {far, c}, columns[] = {c}, none[3] = {};
      const runtime::Tensor a{&one, {1, 0}, 3, {0, 8, 1}, left, none, 0}, b{&one, {1, 0}, 2, {0, 8, 1}, right, none, 0};
      const runtime::Tensor out0{&sum, {1, 0}, 0, {0, 8, 1}, nullptr, nullptr, 0},
          out1{most, {1, 0}, 1, {0, 8, 1}, columns, nullptr, 0};
      const runtime::Tensor *ins[] = {&a, &b}, *outs[] = {&out0, &out1};
      std::string said;
      try {
        compile(g, way)->run(ins, outs, {.serial = !way.threads});
      } catch (const Error& error) {
        CHECK(error.code() == Code::invalid_argument);
        said = error.message();
      }
      CHECK(said.find("more than 2^") != std::string::npos);
      CHECK(said.find("1099511627776") != std::string::npos);
      CHECK((sum == 7 && most[0] == 7));
    }
}

// Minutes on a small machine: run with --no-skip.
TEST_CASE("sums past 2^32 elements of one byte" * doctest::skip()) {
  Net net;
  const ValueId x = net.in("", DType::i8, {net.sym("A"), net.sym("B")});
  net.out(net.op(OpCode::op_reduce_sum, {net.op(OpCode::op_cast, {x}, {{"to", Attr::of_dtype(DType::i64)}})}));
  net.out(net.op(OpCode::op_reduce_mean, {net.op(OpCode::op_cast, {x}, {{"to", Attr::of_dtype(DType::f64)}})}));
  const auto g = net.done();
  int8_t one = 1;
  int64_t shape[] = {50000, 100000}, strides[] = {0, 0}, sum = 0;
  double mean = 0;
  const runtime::Tensor in{&one, {1, 0}, 2, {0, 8, 1}, shape, strides, 0};
  const runtime::Tensor out0{&sum, {1, 0}, 0, {0, 64, 1}, nullptr, nullptr, 0},
      out1{&mean, {1, 0}, 0, {2, 64, 1}, nullptr, nullptr, 0};
  const runtime::Tensor *ins[] = {&in}, *outs[] = {&out0, &out1};
  compile(g, main_ways().back())->run(ins, outs, {});
  CHECK(sum == 5000000000);
  CHECK(mean == 1.0);
}
