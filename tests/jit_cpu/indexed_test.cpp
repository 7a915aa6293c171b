// Fetches at computed places, what a failed check leaves behind, and random words, compiled, under the strip driver.
// The names begin with "random", as run_aarch64.py tells kernels that may differ between two builds of the tests.
#include <doctest/doctest.h>

#include <cstring>

#include "base/error.h"
#include "guarded.h"
#include "jit/strip/launch.h"
#include "loop/expr.h"
#include "loop/philox.h"
#include "oracle.h"
#include "support.h"

namespace ingot::jit {
namespace {

using loop::Val;

constexpr int64_t extents[] = {1, 15, 16, 17, 100, 1027, 3000};

Val loaded(Builder& b, DType storage, loop::AxisSet axes) {
  return {b, b.load(b.add_view(load_view(storage, b.add_tensor(), axes)))};
}
void stored(Builder& b, DType storage, Val value) {
  b.store(b.add_view(store_view(storage, b.add_tensor(), 1)), value.id());
}

// Memory of one item a lane, or of one item, at the end of a page that is followed by none.
struct Items {
  Items(DType t, size_t count) : type(t), memory(count * ir::item_size(t), true, 0) {}
  void set(size_t i, uint64_t bits) { put_item(memory.data(), type, i, bits); }
  uint64_t get(size_t i) const { return get_item(memory.data(), type, i); }
  ViewArg view(bool along) const {
    ViewArg arg;
    arg.base = memory.data();
    if (along) arg.stride[0] = static_cast<int64_t>(ir::item_size(type));
    return arg;
  }
  DType type;
  test::Guarded memory;
};

// Runs all chunks in order; what the checks said.
Fault launch(const Program& program, const Body& body, const std::vector<int64_t>& sizes,
             const std::vector<ViewArg>& args) {
  Launch launch;
  launch.prepare(program, sizes.data(), args.data());
  const test::Guarded scratch((launch.scratch_bytes(body) + 63) / 64 * 64, true, 0);
  Fault fault;
  for (int64_t c = 0; c < launch.chunks(); ++c) launch.run_chunk(body, c, scratch.data(), fault);
  return fault;
}

Program planned(Builder& b) {
  Program p{b.finish(), {}};
  p.schedule = loop::schedule(p.kernel);
  return p;
}

// Null while the tests' AArch64 build only lists what it needs.
std::shared_ptr<const CompiledBody> body_of(const Program& program, const std::string& target) {
  try {
    return load(compile(program.kernel, target));
  } catch (const NotRecorded&) {
    return nullptr;
  }
}

// out[i] = table[index[i]] where wanted[i], and zero bits elsewhere.
Program gather(DType table, DType index) {
  Builder b(1, 0);
  const Val when = loaded(b, DType::boolean, 1), at = loaded(b, index, 1).to(DType::i64);
  const NodeId extent = b.size(b.add_size_slot());
  const NodeId ok = b.check(5, when.id(), at.id(), extent);
  const uint16_t view = b.add_view(load_view(table, b.add_tensor(), 0));
  stored(b, table, {b, b.fetch(view, ok, at.id())});
  return planned(b);
}

void check_gather(DType type, DType index_type, const std::string& target) {
  const Program program = gather(type, index_type);
  const auto body = body_of(program, target);
  if (!body) return;
  constexpr size_t rows = 37;
  const std::vector<uint64_t> contents = samples(type, rows, 3);
  Items table(type, rows);
  for (size_t i = 0; i < rows; ++i) table.set(i, contents[i]);
  for (const int64_t n : extents) {
    const auto lanes = static_cast<size_t>(n);
    Items when(DType::boolean, lanes), index(index_type, lanes), out(type, lanes);
    for (size_t i = 0; i < lanes; ++i) {
      when.set(i, i % 5 != 3);
      index.set(i, i % 5 == 3 ? 77 : i * 11 % rows);  // where nothing is wanted any index will do
    }
    const std::vector<ViewArg> args{when.view(true), index.view(true), table.view(false), out.view(true)};
    const auto run = [&] { return launch(program, *body, {n, rows}, args); };
    CHECK(run().check == 0);
    size_t wrong = 0;
    for (size_t i = 0; i < lanes; ++i) wrong += out.get(i) != (i % 5 == 3 ? 0 : contents[i * 11 % rows]);
    CHECK(wrong == 0);
    // The first of two that are out of range, at the end and in the middle of a vector.
    for (const size_t bad : {lanes - 1, lanes / 2, size_t{0}}) {
      for (const int64_t value : {int64_t{rows}, int64_t{-1}}) {
        when.set(bad, 1);
        index.set(bad, static_cast<uint64_t>(value));
        if (bad + 1 < lanes) index.set(bad + 1, 99);
        const Fault fault = run();
        CHECK(fault.check == 6);
        CHECK(fault.index == value);
        CHECK(fault.extent == rows);
        index.set(bad, 0);
        if (bad + 1 < lanes) index.set(bad + 1, 0);
      }
    }
  }
}

// The four words of a block, from four of a counter and two of a key.
Program philox() {
  Builder b(1, 0);
  std::vector<Val> in;
  for (int i = 0; i < 6; ++i) in.push_back(loaded(b, DType::u32, 1));
  const auto words = loop::philox4x32({in[0], in[1], in[2], in[3]}, in[4], in[5]);
  for (const Val word : words) stored(b, DType::u32, word);
  return planned(b);
}

// A random value for each index.
Program numbers(Val (*of)(const loop::RandomPlace&, DType), DType type) {
  Builder b(1, 0);
  const Val seed = loaded(b, DType::u64, 0);
  const Val index{b, b.load(b.add_view({.kind = loop::ViewKind::iota, .storage = DType::i64, .axes = 1, .boxes = {}}))};
  const Val stream{b, b.size(b.add_size_slot())};
  Val value = of({seed, stream, index}, type);
  if (value.type() != type) value = value.to(type);
  stored(b, type, value);
  return planned(b);
}

}  // namespace

TEST_CASE("random places are fetched from where they are in range, and the first that is not is told") {
  for (const std::string& target : native_targets()) {
    for (const DType index : {DType::i64, DType::i32, DType::i8}) {
      CAPTURE(target);
      CAPTURE(ir::name(index));
      check_gather(DType::f32, index, target);
    }
    for (const DType type : {DType::f64, DType::f16, DType::bf16, DType::f8e4m3, DType::u8, DType::i64}) {
      CAPTURE(target);
      CAPTURE(ir::name(type));
      check_gather(type, DType::i64, target);
    }
  }
}

TEST_CASE("random words are Philox's, by the known answers of Random123") {
  constexpr uint32_t known[3][10] = {{0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                     {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
                                     {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0,
                                      0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
  const Program program = philox();
  for (const std::string& target : native_targets()) {
    const auto body = body_of(program, target);
    if (!body) continue;
    CAPTURE(target);
    constexpr size_t lanes = 100;
    std::vector<Items> items;
    std::vector<ViewArg> args;
    for (size_t i = 0; i < 10; ++i) {
      items.emplace_back(DType::u32, lanes);
      for (size_t l = 0; i < 6 && l < lanes; ++l) items[i].set(l, known[l % 3][i]);
      args.push_back(items[i].view(true));
    }
    launch(program, *body, {lanes}, args);
    size_t wrong = 0;
    for (size_t i = 6; i < 10; ++i)
      for (size_t l = 0; l < lanes; ++l) wrong += items[i].get(l) != known[l % 3][i];
    CHECK(wrong == 0);
  }
}

TEST_CASE("random numbers of every dtype are those of the oracle") {
  const auto check = [](const Program& program, DType type) {
    for (const std::string& target : native_targets()) {
      const auto body = body_of(program, target);
      if (!body) continue;
      CAPTURE(target);
      CAPTURE(ir::name(type));
      for (const int64_t n : {int64_t{1}, int64_t{17}, int64_t{1027}}) {
        Items seed(DType::u64, 1), got(type, static_cast<size_t>(n)), want(type, static_cast<size_t>(n));
        seed.set(0, 0x123456789abcdef0);
        ViewArg index;
        index.value = (int64_t{1} << 34) - 7;  // across a change of the counter's high word
        index.stride[0] = 1;
        const std::vector<int64_t> sizes{n, int64_t{1} << 40};
        const std::vector<ViewArg> args{seed.view(false), index, got.view(true)};
        const ViewArg expected[] = {args[0], args[1], want.view(true)};
        test::oracle(program.kernel, sizes.data(), expected);
        launch(program, *body, sizes, args);
        CHECK(std::memcmp(got.memory.data(), want.memory.data(), got.memory.size()) == 0);
      }
    }
  };
  for (const DType type : {DType::u8, DType::u32, DType::u64}) check(numbers(loop::random_bits, type), type);
  for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16})
    check(numbers(loop::random_uniform, type), type);
  for (const DType type : {DType::f32, DType::f64}) check(numbers(loop::random_normal, type), type);
}

}  // namespace ingot::jit
