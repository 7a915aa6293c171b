// What several threads cost and give: handing work to the library's own pool and getting it back, beside oneTBB where
// it is installed, and graphs on one thread and on two.
//
// usage: threads [--json FILE]
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <thread>

#include "measure.h"
#include "runtime/parallel.h"

#ifdef BENCH_TBB
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#endif

using namespace bench;

namespace {

using Fork = std::function<void(uint32_t tasks, const std::function<void(uint32_t)>& task)>;

void spin(double seconds) {
  const double end = now() + seconds;
  while (now() < end) {
  }
}

double least(const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); }

double cpu_seconds() {
  rusage u;
  getrusage(RUSAGE_SELF, &u);
  return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

// Work that costs the same wherever it runs: so many iterations.
[[gnu::noinline]] void burn(int64_t iterations) {
  for (int64_t i = 0; i < iterations; ++i) asm volatile("" : "+r"(i));
}

// What a fork and its join add to work that two threads share evenly in `pieces` claims, over half of what one thread
// takes, after a pause of so many seconds, slept or spun.
double added(const Fork& fork, int64_t iterations, double pause, bool sleeping, std::vector<double>& samples) {
  constexpr int64_t pieces = 64;
  const double serial = [&] {
    double best = 1;
    for (int i = 0; i < 30; ++i) {
      const double began = now();
      for (int64_t p = 0; p < pieces; ++p) burn(iterations / pieces);
      best = std::min(best, now() - began);
    }
    return best;
  }();
  for (int i = 0; i < 200; ++i) {
    if (sleeping) usleep(static_cast<useconds_t>(pause * 1e6));
    else spin(pause);
    std::atomic<int64_t> next{0};
    const double began = now();
    fork(2, [&](uint32_t) {
      while (next.fetch_add(1, std::memory_order_relaxed) < pieces) burn(iterations / pieces);
    });
    samples.push_back(now() - began - serial / 2);
  }
  std::sort(samples.begin(), samples.end());
  return serial;
}

void pool_costs(const char* name, const Fork& fork, Json& json) {
  const auto add = [&](const char* what, const std::vector<double>& s) {
    json.add((std::string(name) + "_" + what).c_str(), s);
  };
  std::vector<double> hot;
  std::atomic<int> ran{0};
  const std::function<void(uint32_t)> nothing = [&](uint32_t) { ran.fetch_add(1, std::memory_order_relaxed); };
  for (int r = 0; r < 51; ++r) {
    const double began = now();
    for (int i = 0; i < 2000; ++i) fork(2, nothing);
    hot.push_back((now() - began) / 2000);
  }
  std::printf("%-10s hot, two empty tasks:               %6.2f us median, %6.2f least\n", name, median(hot) * 1e6,
              least(hot) * 1e6);
  add("hot_s", hot);
  for (const auto& [what, pause, sleeping] :
       {std::tuple{"hot", 0.0, false}, {"after_100us", 100e-6, false}, {"idle", 5e-3, true}}) {
    std::vector<double> s;
    const double serial = added(fork, 1000000, pause, sleeping, s);
    std::printf("%-10s %-12s added to half of %4.0f us:    %6.2f us median, %6.2f least, %6.2f of 90 %%\n", name, what,
                serial * 1e6, s[s.size() / 2] * 1e6, s[0] * 1e6, s[s.size() * 9 / 10] * 1e6);
    add((std::string("added_") + what + "_s").c_str(), s);
  }
  // The processor that the second thread would have is busy.
  {
    std::atomic<bool> stop{false};
    std::thread busy([&] {
      while (!stop) {
      }
    });
    std::vector<double> s;
    const double serial = added(fork, 1000000, 100e-6, false, s);
    stop = true;
    busy.join();
    for (double& x : s) x = (x + serial / 2) / serial;
    std::printf("%-10s beside a busy thread, times serial:  %6.2f median, %6.2f of 90 %%\n", name, s[s.size() / 2],
                s[s.size() * 9 / 10]);
  }
  fork(2, nothing);
  usleep(20000);
  const double before = cpu_seconds();
  usleep(1000000);
  std::printf("%-10s CPU used in a second of idleness:    %6.3f ms\n", name, (cpu_seconds() - before) * 1e3);
}

// --- graphs

struct Graph {
  const char* name;
  std::string text;
  std::vector<int64_t> in, out;  // elements; 0: a scalar
};

std::string adamw(int tensors) {
  std::string in, out, body, results;
  for (int i = 0; i < tensors; ++i) {
    const std::string t = std::to_string(i), n = "f32[N" + t + "]";
    const auto v = [&](const char* name) { return std::string("%") + name + t; };
    for (const char* name : {"p", "g", "m", "v"}) in += (in.empty() ? "" : ", ") + v(name) + ": " + n;
    for (const char* name : {"p", "m", "v"}) {
      out += (out.empty() ? "" : ", ") + n;
      results += (results.empty() ? "" : ", ") + v(name) + "x";
    }
    body += "  " + v("a") + " = mul " + v("m") + ", 0.9\n  " + v("b") + " = mul " + v("g") + ", 0.1\n  " + v("mx") +
            " = add " + v("a") + ", " + v("b") + "\n  " + v("c") + " = mul " + v("v") + ", 0.999\n  " + v("d") +
            " = mul " + v("g") + ", " + v("g") + "\n  " + v("e") + " = mul " + v("d") + ", 0.001\n  " + v("vx") +
            " = add " + v("c") + ", " + v("e") + "\n  " + v("r") + " = sqrt " + v("vx") + "\n  " + v("s") + " = add " +
            v("r") + ", 1e-8\n  " + v("q") + " = div " + v("mx") + ", " + v("s") + "\n  " + v("h") + " = mul " +
            v("q") + ", 0.001\n  " + v("px") + " = sub " + v("p") + ", " + v("h") + "\n";
  }
  std::string names;
  for (int i = 0; i < tensors; ++i) {
    const std::string t = std::to_string(i);
    names += (names.empty() ? "%px" : ", %px") + t + ", %mx" + t + ", %vx" + t;
  }
  return "ingot 1.0\ngraph @adamw(" + in + ") -> (" + out + ") {\n" + body + "  return " + names + "\n}\n";
}

ingot_context* with_threads(uint32_t threads) {
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  o.no_disk_cache = 1;
  o.num_threads = threads;
  ingot_context* c;
  check(ingot_context_create(&o, &c));
  return c;
}

void scaling(ingot_context* const (&contexts)[2], const Graph& g, const char* goal, bool in_place, Json& json) {
  std::vector<std::unique_ptr<Array>> arrays;
  std::vector<int64_t> shapes(2 * (g.in.size() + g.out.size()));
  std::vector<ingot_tensor> tensors;
  std::vector<const ingot_tensor*> in, out;
  tensors.reserve(g.in.size() + g.out.size());
  for (const auto* list : {&g.in, &g.out})
    for (const int64_t n : *list) {
      arrays.push_back(std::make_unique<Array>(std::max<int64_t>(n, 1)));
      tensors.push_back(arrays.back()->tensor);
      if (n == 0) tensors.back().ndim = 0;
      (list == &g.in ? in : out).push_back(&tensors.back());
    }
  // Matrices of 4096 rows for what is one.
  if (g.text.find("[B, N]") != std::string::npos)
    for (size_t i = 0; i < tensors.size(); ++i) {
      shapes[2 * i] = 4096;
      shapes[2 * i + 1] = tensors[i].shape[0] / 4096;
      tensors[i].ndim = 2;
      tensors[i].shape = &shapes[2 * i];
    }
  for (auto& a : arrays)
    for (int64_t i = 0; i < a->shape[0]; ++i) a->data[i] = std::fabs(a->data[i]) + 0.1f;
  if (in_place)  // p, m and v of each tensor
    for (size_t i = 0; i < g.in.size() / 4; ++i)
      for (const auto& [o, from] : {std::pair<size_t, size_t>{0, 0}, {1, 2}, {2, 3}})
        tensors[g.in.size() + 3 * i + o].data = tensors[4 * i + from].data;
  ingot_executable* e[2];
  for (int i = 0; i < 2; ++i) e[i] = compile(contexts[i], g.text);
  const auto run = [&](int i) { check(ingot_run(e[i], in.data(), in.size(), out.data(), out.size(), nullptr)); };
  const auto s = alternate({[&] { run(0); }, [&] { run(1); }}, 41, 5);
  std::printf("%-34s %8.3f ms on one thread, %8.3f on two: %.2f times least to least, %.2f of medians (goal %s)\n",
              g.name, least(s[0]) * 1e3, least(s[1]) * 1e3, least(s[0]) / least(s[1]), median(s[0]) / median(s[1]),
              goal);
  json.add((std::string(g.name) + ", 1 thread").c_str(), s[0]);
  json.add((std::string(g.name) + ", 2 threads").c_str(), s[1]);
  for (ingot_executable* x : e) ingot_executable_release(x);
}

void graphs(Json& json) {
  ingot_context* const contexts[2] = {with_threads(1), with_threads(2)};
  constexpr int64_t n = 4 << 20;
  scaling(contexts, {"2a + 3b - c*c, 4M", poly_text, {n, n, n}, {n}}, "1.4", false, json);
  scaling(contexts,
          {"Black-Scholes, 4M",
           R"(ingot 1.0
graph @black_scholes(%spot: f32[N], %strike: f32[N], %years: f32[N]) -> (f32[N], f32[N]) {
  %ratio = div %spot, %strike
  %log = log %ratio
  %root = sqrt %years
  %spread = mul %root, 0.2
  %drift = mul %years, 0.07
  %up = add %log, %drift
  %d1 = div %up, %spread
  %d2 = sub %d1, %spread
  %e1 = mul %d1, 0.70710677
  %e2 = mul %d2, 0.70710677
  %f1 = erf %e1
  %f2 = erf %e2
  %g1 = add %f1, 1.0
  %g2 = add %f2, 1.0
  %n1 = mul %g1, 0.5
  %n2 = mul %g2, 0.5
  %grow = mul %years, -0.05
  %discount = exp %grow
  %money = mul %strike, %discount
  %stock = mul %spot, %n1
  %bond = mul %money, %n2
  %call = sub %stock, %bond
  %parity = sub %money, %spot
  %put = add %call, %parity
  return %call, %put
}
)",
           {n, n, n},
           {n, n}},
          "1.9", false, json);
  scaling(contexts,
          {"softmax, 4096 x 1024",
           "ingot 1.0\ngraph @softmax(%x: f32[B, N]) -> (f32[B, N]) {\n  %0 = softmax %x\n  return %0\n}\n",
           {n},
           {n}},
          "1.4 to 1.9", false, json);
  scaling(contexts,
          {"mean((a-b)^2), 4M",
           "ingot 1.0\ngraph @mse(%a: f32[N], %b: f32[N]) -> (f32[]) {\n  %0 = sub %a, %b\n  %1 = mul %0, %0\n  %2 = "
           "reduce_mean %1\n  return %2\n}\n",
           {n, n},
           {0}},
          "1.4", false, json);
  Graph many{"AdamW, 100 tensors, 4M in all", adamw(100), {}, {}};
  for (int64_t i = 0; i < 100; ++i) {
    const int64_t size = (n / 100) / 16 * 16 + (i % 7) * 16;
    many.in.insert(many.in.end(), 4, size);
    many.out.insert(many.out.end(), 3, size);
  }
  scaling(contexts, many, "1.4", false, json);
  many.name = "the same in place";
  scaling(contexts, many, "1.4", true, json);
  Graph small{"AdamW, 100 tensors of 2,048", adamw(100), std::vector<int64_t>(400, 2048),
              std::vector<int64_t>(300, 2048)};
  scaling(contexts, small, "1.4", false, json);
  Graph tiny{"AdamW, 100 tensors of 64", adamw(100), std::vector<int64_t>(400, 64), std::vector<int64_t>(300, 64)};
  scaling(contexts, tiny, "1", false, json);
  scaling(contexts, {"2a + 3b - c*c, 64K", poly_text, {65536, 65536, 65536}, {65536}}, "1", false, json);
  scaling(contexts, {"2a + 3b - c*c, 256K", poly_text, {262144, 262144, 262144}, {262144}}, "1", false, json);
  for (ingot_context* c : contexts) ingot_context_release(c);
}

}  // namespace

int main(int argc, char** argv) {
  Json json;
  {
    ingot::runtime::Pool pool(2);
    pool_costs(
        "Ingot",
        [&](uint32_t tasks, const std::function<void(uint32_t)>& task) {
          pool.run(
              tasks,
              [](void* context, uint32_t i) { (*static_cast<const std::function<void(uint32_t)>*>(context))(i); },
              const_cast<void*>(static_cast<const void*>(&task)));
        },
        json);
  }
#ifdef BENCH_TBB
  {
    const tbb::global_control two(tbb::global_control::max_allowed_parallelism, 2);
    tbb::task_arena arena(2);
    pool_costs(
        "oneTBB",
        [&](uint32_t tasks, const std::function<void(uint32_t)>& task) {
          arena.execute([&] {
            tbb::parallel_for(
                tbb::blocked_range<uint32_t>(0, tasks, 1),
                [&](const tbb::blocked_range<uint32_t>& r) {
                  for (uint32_t i = r.begin(); i != r.end(); ++i) task(i);
                },
                tbb::simple_partitioner());
          });
        },
        json);
  }
#endif
  graphs(json);
  json.write(json_path(argc, argv));
  return 0;
}
