// Random kernels as CUDA text, compiled by the host's compiler and run by a stand-in for a GPU: the 256 threads of a
// block are contexts that take turns, from barrier to barrier. The bits must be the oracle's.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <ucontext.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>

#include "oracle.h"
#include "run_test.h"

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(threads)
#define __align__(bytes) alignas(bytes)
#define __shared__ static

namespace cuda_text {
namespace {

using ingot::jit::ViewArg;

struct Index {
  unsigned x;
};
Index threadIdx, blockIdx, gridDim;

// One thread of the block in progress.
struct Thread {
  ucontext_t at;
  std::unique_ptr<char[]> stack;
  bool done;
};
constexpr size_t block_threads = 256, stack_bytes = 64 * 1024;
std::vector<Thread> threads(block_threads);
ucontext_t scheduler;
std::function<void()> body;

void __syncthreads() { swapcontext(&threads[threadIdx.x].at, &scheduler); }

void enter() {
  body();
  threads[threadIdx.x].done = true;
}

void run_block() {
  for (Thread& t : threads) {
    if (!t.stack) t.stack = std::make_unique<char[]>(stack_bytes);
    t.done = false;
    getcontext(&t.at);
    t.at.uc_stack.ss_sp = t.stack.get();
    t.at.uc_stack.ss_size = stack_bytes;
    t.at.uc_link = &scheduler;
    makecontext(&t.at, enter, 0);
  }
  for (bool again = true; again;) {
    again = false;
    for (unsigned i = 0; i < block_threads; ++i) {
      if (threads[i].done) continue;
      threadIdx.x = i;
      swapcontext(&scheduler, &threads[i].at);
      again = again || !threads[i].done;
    }
  }
}

template <class Args, class F>
void launch(const int64_t* sizes, const ViewArg* views, [[maybe_unused]] auto* fault, F kernel) {
  Args a{};
  for (size_t i = 0; i < std::size(a.size); ++i) a.size[i] = sizes[i];
  for (size_t v = 0; v < std::size(a.view); ++v) {
    a.view[v].base = views[v].base;
    a.view[v].value = views[v].value;
    for (size_t i = 0; i < std::size(a.view[v].stride); ++i) a.view[v].stride[i] = views[v].stride[i];
  }
  if constexpr (requires { a.fault; }) a.fault = fault;
  body = [&] { kernel(a); };
  gridDim.x = 2;
  for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) run_block();
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

TEST_CASE("random kernels as CUDA text give the oracle's bits") {
  size_t of_shape[3] = {};
  for (const cuda_text::Entry& entry : cuda_text::entries) {
    test::Bound bound = cuda_launch(entry.seed, entry.shape);
    const loop::Kernel& kernel = bound.program.kernel;
    int64_t rows = 1;
    for (size_t a = 0; a < kernel.rows; ++a) rows *= bound.sizes[a];
    if (kernel.cols > 0 && rows > 40) continue;  // a block a row, which takes long here
    test::oracle(kernel, bound.sizes.data(), bound.expected.data());
    bound.sizes.push_back(0);  // the text has one where the kernel has none
    entry.run(bound.sizes.data(), bound.args.data(), nullptr);
    ++of_shape[static_cast<size_t>(entry.shape)];
    for (size_t v = 0; v < kernel.views.size(); ++v) {
      if (kernel.views[v].kind != loop::ViewKind::store) continue;
      const test::Guarded &got = bound.memory[bound.in_place[v]], &want = bound.copies[v];
      INFO("shape ", static_cast<int>(entry.shape), ", seed ", entry.seed, ", view ", v, "\n", loop::to_text(kernel));
      CHECK((want.size() == 0 || std::memcmp(got.data(), want.data(), want.size()) == 0));
    }
  }
  for (const size_t count : of_shape) CHECK(count > 20);
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
T folded(void (*run)(const int64_t*, const jit::ViewArg*, cuda_text::Fault*), std::vector<T> x) {
  std::vector<T> out(1);
  jit::ViewArg views[] = {view(x, 1), view(out, 1)};
  views[0].stride[0] = sizeof(T);
  const auto n = static_cast<int64_t>(x.size());
  run(&n, views, nullptr);
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
    if (type == "f32") {
      const auto run = kind == "sum" ? cuda_text::ksum_f32::run : cuda_text::kprod_f32::run;
      CHECK(std::bit_cast<uint32_t>(folded(run, elements<float>(kind, n))) == want);
    } else {
      const auto run = kind == "sum" ? cuda_text::ksum_f64::run : cuda_text::kprod_f64::run;
      CHECK(std::bit_cast<uint64_t>(folded(run, elements<double>(kind, n))) == want);
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
      cuda_text::linear[t](&n, views, nullptr);
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
    cuda_text::kgather::run(sizes, views.data(), &fault);
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
  cuda_text::kphilox::run(sizes, views.data(), nullptr);
  for (size_t i = 6; i < 10; ++i)
    for (size_t answer = 0; answer < 3; ++answer) CHECK(words[i][answer] == known[answer][i]);
}
