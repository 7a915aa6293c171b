// Random kernels as CUDA text, compiled by the host's compiler and run by a stand-in for a GPU's threads. The bits must
// be the oracle's, however many multiprocessors the plan of the launch is for.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>

#include "base/error.h"
#include "ir/scalar.h"
#include "oracle.h"
#include "run_test.h"
#include "threads.h"

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)
#define __shared__ static

namespace cuda_text {
namespace {

using ingot::jit::ViewArg;
using ingot::jit::cuda::LaunchPlan;

void __syncthreads() { block_barrier(); }
void __syncwarp() { warp_barrier(); }
template <class T>
T __shfl_xor_sync(unsigned, T v, int distance) {
  unsigned long long word = 0;
  std::memcpy(&word, &v, sizeof v);
  word = exchange(word, threadIdx.x % 32 ^ static_cast<unsigned>(distance));
  std::memcpy(&v, &word, sizeof v);
  return v;
}

// The stages of a plan, by the entries of a kernel's text. `fault` may be null where there are no checks.
template <class Args, size_t count>
void launch(void (*const (&entries)[count])(Args), const ingot::jit::cuda::LaunchPlan& plan, const int64_t* sizes,
            const ViewArg* views, void* fault) {
  Args a{};
  for (size_t i = 0; i < std::size(a.size); ++i) a.size[i] = sizes[i];
  for (size_t v = 0; v < std::size(a.view); ++v) {
    a.view[v].base = views[v].base;
    a.view[v].value = views[v].value;
    for (size_t i = 0; i < std::size(a.view[v].stride); ++i) a.view[v].stride[i] = views[v].stride[i];
  }
  if constexpr (requires { a.fault; }) a.fault = static_cast<decltype(a.fault)>(fault);
  const ingot::test::Guarded scratch(plan.scratch_bytes, true, 0);
  std::memset(scratch.data(), 0xc9, scratch.size());
  a.scratch = scratch.data();
  for (size_t s = 0; s < plan.count; ++s) {
    REQUIRE(plan.stages[s].entry < count);
    run_stage(plan.stages[s], [&] { entries[plan.stages[s].entry](a); });
  }
}

// Of CUDA's own functions, those that the text names.
inline int __clzll(long long v) { return std::countl_zero(static_cast<unsigned long long>(v)); }
inline int __ffsll(long long v) { return v ? std::countr_zero(static_cast<unsigned long long>(v)) + 1 : 0; }
inline int __popcll(unsigned long long v) { return std::popcount(v); }
inline unsigned long long atomicCAS(unsigned long long* at, unsigned long long expected, unsigned long long wanted) {
  const unsigned long long before = *at;  // threads take turns
  if (before == expected) *at = wanted;
  return before;
}
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline float __fsqrt_rn(float v) { return std::sqrt(v); }
inline double __dsqrt_rn(double v) { return std::sqrt(v); }

#include "kernels.inc"

}  // namespace
}  // namespace cuda_text

using namespace ingot;

namespace {

constexpr uint32_t multiprocessors[] = {1, 3, 132};

jit::cuda::LaunchPlan plan_for(const loop::Kernel& kernel, const int64_t* sizes, const jit::ViewArg* views,
                               uint32_t count = 3) {
  return jit::cuda::plan_launch(kernel, sizes, views, {.multiprocessors = count});
}

}  // namespace

TEST_CASE("random kernels as CUDA text give the oracle's bits") {
  size_t of_shape[5] = {};
  for (const cuda_text::Entry& entry : cuda_text::entries) {
    test::Bound bound = cuda_launch(entry.seed, entry.shape);
    const loop::Kernel& kernel = bound.program.kernel;
    int64_t rows = 1;
    for (size_t a = 0; a < kernel.rows; ++a) rows *= bound.sizes[a];
    if (kernel.cols > 0 && rows > 300 && entry.shape != test::Shape::dot) continue;  // takes long here
    test::oracle(kernel, bound.sizes.data(), bound.expected.data());
    const uint32_t count = multiprocessors[entry.seed % std::size(multiprocessors)];
    const jit::cuda::LaunchPlan plan = plan_for(kernel, bound.sizes.data(), bound.args.data(), count);
    bound.sizes.push_back(0);  // the text has one where the kernel has none
    entry.run(plan, bound.sizes.data(), bound.args.data(), nullptr);
    ++of_shape[static_cast<size_t>(entry.shape)];
    for (size_t v = 0; v < kernel.views.size(); ++v) {
      if (kernel.views[v].kind != loop::ViewKind::store) continue;
      const test::Guarded &got = bound.memory[bound.in_place[v]], &want = bound.copies[v];
      INFO("shape ", static_cast<int>(entry.shape), ", seed ", entry.seed, ", view ", v, "\n", loop::to_text(kernel));
      CHECK((want.size() == 0 || std::memcmp(got.data(), want.data(), want.size()) == 0));
    }
  }
  for (const size_t shape : {0, 1, 2, 3, 4}) CHECK(of_shape[shape] > (shape == 4 ? 3 : 20));
}

namespace {

// A compact view of rows of `cols` items.
template <class T>
jit::ViewArg view(std::vector<T>& items, int64_t cols) {
  jit::ViewArg arg;
  arg.base = reinterpret_cast<char*>(items.data());
  arg.stride[0] = cols * static_cast<int64_t>(sizeof(T));
  arg.stride[1] = sizeof(T);
  return arg;
}

}  // namespace

TEST_CASE("every form of thread mapping gives the oracle's bits, at the edges between them") {
  const std::vector<Shaped> all = shaped_kernels();
  for (size_t i = 0; i < all.size(); ++i) {
    const loop::Kernel& kernel = all[i].kernel;
    const std::vector<const char*> entries = jit::cuda::entry_names(kernel);
    std::vector<bool> launched(entries.size());
    std::vector<std::vector<int64_t>> launches = all[i].sizes;
    // Once more where no pack is aligned.
    if (kernel.cols == 0) launches.insert(launches.end(), all[i].sizes.begin(), all[i].sizes.end());
    for (size_t launch = 0; launch < launches.size(); ++launch) {
      const std::vector<int64_t>& sizes = launches[launch];
      const bool shifted = launch >= all[i].sizes.size();
      // Compact tensors, of which the lanes' axis is the last in memory.
      std::vector<size_t> order(kernel.axis_count());
      for (size_t a = 0; a < order.size(); ++a) order[a] = kernel.row_lanes ? (a + 1) % order.size() : a;
      std::vector<jit::ViewArg> views(kernel.views.size());
      std::vector<std::vector<uint64_t>> memory(views.size());
      for (size_t v = 0; v < views.size(); ++v) {
        int64_t items = 1;
        const size_t item = ir::item_size(kernel.views[v].storage);
        for (size_t o = order.size(); o-- > 0;) {
          if (!(kernel.views[v].axes >> order[o] & 1)) continue;
          views[v].stride[order[o]] = items * static_cast<int64_t>(item);
          items *= sizes[order[o]];
        }
        memory[v].resize((static_cast<size_t>(items) * item + 7) / 8 + 1, 0xc9c9c9c9c9c9c9c9);
        views[v].base = reinterpret_cast<char*>(memory[v].data()) + (shifted ? item : 0);
        if (kernel.views[v].kind != loop::ViewKind::load) continue;
        for (int64_t e = 0; e < items; ++e) {
          const uint32_t h = static_cast<uint32_t>(e + 77 * static_cast<int64_t>(v)) * 2654435761u;
          const double x = (static_cast<double>(h >> 12) - 500000) / 65536;
          const uint64_t bits = ir::is_float(kernel.views[v].storage) ? ir::float_bits(kernel.views[v].storage, x) : h;
          std::memcpy(views[v].base + static_cast<size_t>(e) * item, &bits, item);
        }
      }
      std::vector<std::vector<uint64_t>> want = memory;
      std::vector<jit::ViewArg> wanted = views;
      for (size_t v = 0; v < views.size(); ++v)
        wanted[v].base += reinterpret_cast<char*>(want[v].data()) - reinterpret_cast<char*>(memory[v].data());
      test::oracle(kernel, sizes.data(), wanted.data());
      for (const uint32_t count : multiprocessors) {
        const jit::cuda::LaunchPlan plan = plan_for(kernel, sizes.data(), views.data(), count);
        for (size_t s = 0; s < plan.count; ++s) launched[plan.stages[s].entry] = true;
        cuda_text::shaped[i](plan, sizes.data(), views.data(), nullptr);
        std::string extents;
        for (const int64_t e : sizes) extents += cat(" ", e);
        INFO(std::string(all[i].name), ", extents", extents, ", ", count, " multiprocessors");
        CHECK(memory == want);
      }
    }
    for (size_t e = 0; e < entries.size(); ++e) {
      INFO(std::string(all[i].name), ": ", std::string(entries[e]), " is launched over none of the extents");
      CHECK(launched[e]);
    }
  }
}

namespace {

// As tests/data/sums.py describes it.
template <class T>
std::vector<T> elements(const std::string& kind, int64_t n) {
  std::vector<T> out;
  for (uint64_t k = 0; k < static_cast<uint64_t>(n); ++k) {
    const uint64_t h = (k * 2654435761u + static_cast<uint64_t>(n) * 40503u) % (uint64_t{1} << 32);
    const double sum = static_cast<double>(h >> 24) - 127.5 + static_cast<double>(h % 65536) / 4096;
    const double product = 1 + (static_cast<double>((h >> 16) % 4096) - 2048) / 1048576;
    out.push_back(static_cast<T>(kind == "sum" ? sum : product));
  }
  return out;
}

template <class T>
T folded(cuda_text::Run run, loop::Prim fold, uint32_t multiprocessors, std::vector<T> x) {
  std::vector<T> out(1);
  jit::ViewArg views[] = {view(x, 1), view(out, 1)};
  views[0].stride[0] = sizeof(T);
  const auto n = static_cast<int64_t>(x.size());
  const ir::DType type = sizeof(T) == 4 ? ir::DType::f32 : ir::DType::f64;
  run(plan_for(whole_fold(fold, type), &n, views, multiprocessors), &n, views, nullptr);
  return out[0];
}

}  // namespace

TEST_CASE("sums and products as CUDA text are numpy's in the one order") {
  std::ifstream file(INGOT_TEST_DATA_DIR "/sums.txt");
  int seen = 0;
  std::string type, kind, bits;
  for (int64_t n = 0; file >> type >> kind >> n >> bits;) {
    if (kind == "tenths") continue;
    INFO(type, " ", kind, " ", n);
    const uint64_t want = std::stoull(bits, nullptr, 16);
    const bool sum = kind == "sum";
    const loop::Prim fold = sum ? loop::Prim::fold_sum : loop::Prim::fold_prod;
    for (const uint32_t count : {1u, 132u}) {
      if (type == "f32") {
        const auto run = sum ? cuda_text::ksum_f32::run : cuda_text::kprod_f32::run;
        CHECK(std::bit_cast<uint32_t>(folded(run, fold, count, elements<float>(kind, n))) == want);
      } else {
        const auto run = sum ? cuda_text::ksum_f64::run : cuda_text::kprod_f64::run;
        CHECK(std::bit_cast<uint64_t>(folded(run, fold, count, elements<double>(kind, n))) == want);
      }
    }
    ++seen;
  }
  CHECK(seen == 76);
}

TEST_CASE("the form for compact views gives the oracle's bits") {
  for (size_t t = 0; t < std::size(cuda_pointwise); ++t) {
    const ir::DType type = cuda_pointwise[t];
    const loop::Kernel kernel = pointwise(type);
    const size_t item = ir::item_size(type);
    for (const int64_t n : {0, 1, 3, 15, 16, 17, 1027, 10000}) {
      const size_t bytes = static_cast<size_t>(n) * item;
      alignas(16) static uint8_t x[80000], got[80000 + 16], want[80000];
      for (size_t i = 0; i < bytes; ++i) x[i] = static_cast<uint8_t>(i * 2654435761u >> 11);
      std::memset(got, 0xc9, sizeof got);
      jit::ViewArg views[2];
      for (auto& v : views) v.stride[0] = static_cast<int64_t>(item);
      views[0].base = reinterpret_cast<char*>(x);
      views[1].base = reinterpret_cast<char*>(want);
      test::oracle(kernel, &n, views);
      views[1].base = reinterpret_cast<char*>(got);
      cuda_text::linear[t](plan_for(kernel, &n, views), &n, views, nullptr);
      INFO(ir::name(type), " ", n);
      CHECK(std::memcmp(got, want, bytes) == 0);
      CHECK(got[bytes] == 0xc9);
    }
  }
}

TEST_CASE("a gather as CUDA text fetches what is in range and tells what is not") {
  constexpr int64_t rows = 300, cols = 7, extent = 11;
  std::vector<uint16_t> table(extent * cols), out(rows * cols);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<uint16_t>(0x3c00 + i);
  std::vector<int64_t> index(rows);
  for (int64_t i = 0; i < rows; ++i) index[static_cast<size_t>(i)] = i * 5 % (2 * extent) - extent;
  // Indices, the offset along a row, the table, its stride, the result: as loop::samples::gather() adds them.
  jit::ViewArg along, stride;
  along.stride[1] = 1;
  stride.value = cols;
  const auto run = [&] {
    const loop::Kernel kernel = loop::samples::gather();
    std::vector<jit::ViewArg> views;
    for (const loop::View& v : kernel.views) {
      if (v.kind == loop::ViewKind::store) views.push_back(view(out, cols));
      else if (v.kind == loop::ViewKind::iota) views.push_back(v.axes ? along : stride);
      else if (v.storage == ir::DType::i64) views.push_back(view(index, 1));
      else views.push_back(view(table, cols));
    }
    const int64_t sizes[] = {rows, cols, extent};
    cuda_text::Fault fault{};
    cuda_text::kgather::run(plan_for(kernel, sizes, views.data()), sizes, views.data(), &fault);
    uint64_t words[3];
    static_assert(sizeof words == sizeof fault);
    std::memcpy(words, &fault, sizeof words);
    return std::vector<int64_t>(std::begin(words), std::end(words));
  };
  CHECK(run() == std::vector<int64_t>{0, 0, 0});
  size_t wrong = 0;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t at = (index[static_cast<size_t>(r)] + extent) % extent;
    for (int64_t c = 0; c < cols; ++c)
      wrong += out[static_cast<size_t>(r * cols + c)] != table[static_cast<size_t>(at * cols + c)];
  }
  CHECK(wrong == 0);
  for (const int64_t bad : {extent, -extent - 1}) {
    index[123] = bad;
    CHECK(run() == std::vector<int64_t>{1, bad < 0 ? bad + extent : bad, extent});
  }
}

TEST_CASE("Philox as CUDA text gives the known answers of Random123") {
  std::vector<uint32_t> words[10];
  const std::vector<uint32_t> known[3] = {
      {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
      {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
      {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420,
       0x24126ea1}};
  std::vector<jit::ViewArg> views;
  for (size_t i = 0; i < 10; ++i) {
    for (const auto& answer : known) words[i].push_back(i < 6 ? answer[i] : 0);
    views.push_back(view(words[i], 1));
  }
  const int64_t sizes[] = {3};
  cuda_text::kphilox::run(plan_for(philox_block(), sizes, views.data()), sizes, views.data(), nullptr);
  for (size_t i = 6; i < 10; ++i)
    for (size_t answer = 0; answer < 3; ++answer) CHECK(words[i][answer] == known[answer][i]);
}
