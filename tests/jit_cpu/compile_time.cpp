// Not a test: prints what a compile costs and what its code yields. compile_time [target] [asm|llvm|NAME], where NAME
// is a kernel to be compiled again and again, for a profiler.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/error.h"
#include "jit/backend.h"
#include "loop/expr.h"
#include "support.h"

namespace ingot::jit {
namespace {

// Processor time of the process: other work on the machine does not count, and the compile is a thread that is waited
// for.
double now_ms() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}

template <class F>
double best_ms(int times, F f) {
  double best = 1e9;
  for (int i = 0; i < times; ++i) {
    const double start = now_ms();
    f();
    best = std::min(best, now_ms() - start);
  }
  return best;
}

loop::Val input(Builder& b, DType t = DType::f32, loop::AxisSet axes = 1) {
  return {b, b.load(b.add_view(load_view(t, b.add_tensor(), axes)))};
}
void output(Builder& b, loop::Val v, loop::AxisSet axes = 1) {
  b.store(b.add_view(store_view(v.type(), b.add_tensor(), axes)), v.id());
}

loop::Kernel axpy() {
  Builder b(1, 0);
  const loop::Val x = input(b), y = input(b), z = input(b);
  output(b, x * 2 + y * 3 - z * z);
  return b.finish();
}

// About thirty operations of the kinds that a pointwise graph has.
loop::Kernel thirty(double salt) {
  Builder b(1, 0);
  loop::Val x = input(b), y = input(b);
  loop::Val v = x * salt + y;
  for (int i = 0; i < 4; ++i) {
    v = fma(v, x, 0.25 + i) - vmax(v * y, x);
    v = select(lt(v, x), sqrt(abs(v)), v / (abs(y) + 1.0));
  }
  output(b, v);
  return b.finish();
}

// As many operations as asked for, in a few chains that stay alive.
loop::Kernel many(int ops, DType t) {
  Builder b(1, 0);
  std::vector<loop::Val> live;
  for (int i = 0; i < 6; ++i) live.push_back(input(b, t));
  for (int i = 0; i < ops; ++i) {
    loop::Val& v = live[static_cast<size_t>(i) % 6];
    const loop::Val w = live[static_cast<size_t>(i + 1) % 6];
    v = i % 7 == 0 ? v / w : i % 5 == 0 ? select(lt(v, w), v, w + 0.5) : fma(v, w, v);
  }
  for (const loop::Val& v : live) output(b, v);
  return b.finish();
}

// A range reduction, a polynomial, a scaling: the shape of exp.
loop::Val exp_like(loop::Val x) {
  const loop::Val n = round(x * 1.4426950408889634);
  const loop::Val r = fma(n, -0.693359375, x);
  loop::Val p = x.lit(1.0 / 720);
  for (const double c : {1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0}) p = fma(p, r, c);
  return scale2(p, n.to(DType::i32));
}

loop::Kernel exponential() {
  Builder b(1, 0);
  output(b, exp_like(input(b)));
  return b.finish();
}

loop::Kernel softmax() {
  Builder b(1, 1);
  const loop::Val x = input(b, DType::f32, 3);
  const loop::Val e = exp_like(x - x.un(Prim::fold_max));
  output(b, e / e.un(Prim::fold_sum), 3);
  return b.finish();
}

loop::Kernel matmul() {
  Builder b(2, 1);
  const loop::Val x = input(b, DType::f32, 5), y = input(b, DType::f32, 6);
  output(b, {b, b.op(Prim::fold_dot, x.id(), y.id())}, 3);
  return b.finish();
}

void throughput(const char* name, const loop::Kernel& kernel, const std::string& target) {
  if (!can_run(host_target(), target)) return;
  const auto body = load(compile(kernel, target));
  constexpr int64_t n = 1024;
  constexpr int rounds = 50000;
  std::vector<std::vector<float>> tensors(kernel.views.size(), std::vector<float>(n + 16, 0.5f));
  std::vector<char*> pointers;
  for (auto& t : tensors) pointers.push_back(reinterpret_cast<char*>(t.data()));
  const int64_t sizes[8] = {n, n, n, n, n, n, n, n};
  alignas(64) char acc[64 * 8] = {};
  const uint64_t values[8] = {};
  std::vector<std::vector<float>> held(4, std::vector<float>(n));
  std::vector<char*> holds;
  for (auto& h : held) holds.push_back(reinterpret_cast<char*>(h.data()));
  Frame frame{};
  frame.ptr = pointers.data();
  frame.hold = holds.data();
  frame.size = sizes;
  frame.acc = acc;
  frame.value = reinterpret_cast<const char*>(values);
  frame.n = frame.valid = n;
  for (unsigned s = 0; s < body->sweeps(); ++s) {
    const double ms = best_ms(3, [&] {
      for (int i = 0; i < rounds; ++i) body->sweep(s, frame);
    });
    std::printf("%-12s %-10s sweep %u in L1: %.3f ns a lane, code %zu bytes\n", target.c_str(), name, s,
                ms * 1e6 / rounds / n, body->code_size());
  }
}

void run(const std::string& target, const std::string& emit) {
  const struct {
    const char* name;
    loop::Kernel kernel;
  } kernels[] = {{"axpy", axpy()},
                 {"thirty", thirty(0.5)},
                 {"exp", exponential()},
                 {"softmax", softmax()},
                 {"matmul", matmul()},
                 {"256 f32", many(256, DType::f32)},
                 {"256 f64", many(256, DType::f64)},
                 {"1024 f32", many(1024, DType::f32)}};
  for (const auto& k : kernels)
    if (emit == k.name) {
      const auto bytes = loop::encode(k.kernel);
      for (int i = 0; i < 200; ++i) test_module().compile(bytes, target);
      return;
    }
  if (!emit.empty()) {
    for (const auto& k : kernels) {
      const auto text = test_module().compile(loop::encode(k.kernel), target, emit == "asm" ? 2 : 1);
      std::printf("======== %s\n%.*s\n", k.name, static_cast<int>(text.size()),
                  reinterpret_cast<const char*>(text.data()));
    }
    return;
  }
  double start = now_ms();
  test_module();
  std::printf("open the module: %.2f ms\n", now_ms() - start);
  start = now_ms();
  load(compile(axpy(), std::string(host_target())));
  std::printf("first kernel: %.2f ms\n", now_ms() - start);
  for (const auto& k : kernels) {
    const auto bytes = loop::encode(k.kernel);
    // The processor clock may tick in milliseconds, so many at once.
    const int times = k.kernel.nodes.size() > 200 ? 2 : 20;
    const double ms = best_ms(3,
                              [&] {
                                for (int i = 0; i < times; ++i) test_module().compile(bytes, target);
                              }) /
                      times;
    std::printf("%-12s %-10s later: %.2f ms\n", target.c_str(), k.name, ms);
  }
  for (const auto& k : kernels)
    if (k.kernel.axis_count() < 3 && k.kernel.nodes.size() < 200) throughput(k.name, k.kernel, target);
}

}  // namespace
}  // namespace ingot::jit

int main(int argc, char** argv) {
  try {
    ingot::jit::run(argc > 1 ? argv[1] : std::string(ingot::jit::host_target()), argc > 2 ? argv[2] : "");
  } catch (const ingot::Error& e) {
    std::fprintf(stderr, "compile_time: %s\n", e.what());
    return 1;
  }
}
