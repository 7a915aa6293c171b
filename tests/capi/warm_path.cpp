// What a warm call may not do: allocate, lock, wait or make a system call through the C library. The program's own
// definitions of these functions come before the C library's for the shared library too, and count.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <pthread.h>

#include <atomic>
#include <cstdarg>
#include <cstdlib>

#include "host.h"

namespace {

// Of this thread alone: one of the compiler's may be on its way out.
thread_local bool counting = false;
std::atomic<int> allocations{0}, locks{0};
void allocated() {
  if (counting) ++allocations;
}
void locked() {
  if (counting) ++locks;
}

template <class F>
F next(F, const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

void* malloc(size_t n) {
  allocated();
  return __libc_malloc(n);
}
void* calloc(size_t n, size_t size) {
  allocated();
  return __libc_calloc(n, size);
}
void* realloc(void* p, size_t n) {
  allocated();
  return __libc_realloc(p, n);
}
void* aligned_alloc(size_t alignment, size_t n) {
  allocated();
  return __libc_memalign(alignment, n);
}
int posix_memalign(void** out, size_t alignment, size_t n) {
  allocated();
  *out = __libc_memalign(alignment, n);
  return *out ? 0 : 12;
}
void free(void* p) {
  if (p) allocated();
  __libc_free(p);
}

int pthread_mutex_lock(pthread_mutex_t* m) {
  locked();
  static const auto real = next(&pthread_mutex_lock, "pthread_mutex_lock");
  return real(m);
}
int pthread_mutex_trylock(pthread_mutex_t* m) {
  locked();
  static const auto real = next(&pthread_mutex_trylock, "pthread_mutex_trylock");
  return real(m);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* l) {
  locked();
  static const auto real = next(&pthread_rwlock_rdlock, "pthread_rwlock_rdlock");
  return real(l);
}
int pthread_cond_signal(pthread_cond_t* c) {
  locked();
  static const auto real = next(&pthread_cond_signal, "pthread_cond_signal");
  return real(c);
}
int pthread_cond_broadcast(pthread_cond_t* c) {
  locked();
  static const auto real = next(&pthread_cond_broadcast, "pthread_cond_broadcast");
  return real(c);
}
// std::atomic::wait and notify make their futex calls through this one.
long syscall(long number, ...) {
  locked();
  static const auto real = next(&syscall, "syscall");
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& v : a) v = va_arg(list, long);
  va_end(list);
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
}

using namespace host;

namespace {

const char* const pointwise =
    "ingot 1.0\ngraph @poly(%a: f32[N], %b: f32[N], %c: f32[N]) -> (f32[N]) {\n"
    "  %0 = mul %a, 2.0\n  %1 = mul %b, 3.0\n  %2 = add %0, %1\n  %3 = mul %c, %c\n  %4 = sub %2, %3\n  return %4\n}\n";
// A row reduction, a buffer between kernels, a column reduction and a transposed read.
const char* const several =
    "ingot 1.0\ngraph @several(%a: f32[B, N]) -> (f32[B, N], f32[N, B]) {\n"
    "  %0 = reduce_sum %a {axes = [0]}\n  %1 = sub %a, %0\n  %2 = softmax %1\n"
    "  %3 = transpose %a {perm = [1, 0]}\n  %4 = exp %3\n  return %2, %4\n}\n";

struct Counted {
  int allocations, locks;
};
template <class F>
Counted count(F body) {
  for (int i = 0; i < 3; ++i) body();  // the first ones may make what is kept
  allocations = locks = 0;
  counting = true;
  for (int i = 0; i < 100; ++i) body();
  counting = false;
  return {allocations, locks};
}

}  // namespace

TEST_CASE("the counters count") {
  const Counted c = count([] {
    static_cast<void>(std::make_unique<std::string>(100, 'x')->size());
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
  });
  CHECK(c.allocations > 0);
  CHECK(c.locks > 0);
}

TEST_CASE("a warm call allocates nothing, takes no lock and wakes nobody") {
  const Context c = context();
  for (const ingot_backend backend : {INGOT_BACKEND_AUTO, INGOT_BACKEND_INTERPRETER}) {
    INFO("backend ", backend);
    const Executable poly = compile(c, parse(c, pointwise), backend);
    Floats x({16}, std::vector<float>(16, 1)), y({16}, std::vector<float>(16, 2)), z({16}, std::vector<float>(16, 3)),
        out({16}, std::vector<float>(16));
    const ingot_tensor *ins[] = {&x.tensor, &y.tensor, &z.tensor}, *outs[] = {&out.tensor}, *same[] = {&x.tensor};
    bool good = true;
    Counted n = count([&] { good &= ingot_run(poly.get(), ins, 3, outs, 1, nullptr) == nullptr; });
    CHECK(n.allocations == 0);
    CHECK(n.locks == 0);
    n = count([&] { good &= ingot_run(poly.get(), ins, 3, same, 1, nullptr) == nullptr; });  // in place
    CHECK(n.allocations == 0);
    CHECK(n.locks == 0);
    ingot_run_options o = INGOT_RUN_OPTIONS_INIT;
    o.never_stall = 1;
    n = count([&] { good &= ingot_run(poly.get(), ins, 3, outs, 1, &o) == nullptr; });
    CHECK(n.allocations == 0);
    CHECK(n.locks == 0);
    ingot_call* made = nullptr;
    ok(ingot_call_create(poly.get(), &made));
    const Call call(made);
    ok(ingot_call_bind(call.get(), ins, 3, outs, 1));
    n = count([&] {
      good &= ingot_call_set_data(call.get(), 0, 1, y.data.data()) == nullptr;
      good &= ingot_call_run(call.get(), nullptr) == nullptr;
    });
    CHECK(n.allocations == 0);
    CHECK(n.locks == 0);

    // Sizes that change from call to call take the long way, and allocate nothing either once they have been seen.
    const Executable e = compile(c, parse(c, several), backend);
    Floats a({4, 8}, std::vector<float>(32, 1)), b({4, 8}, std::vector<float>(32)), t({8, 4}, std::vector<float>(32));
    Floats a2({2, 16}, std::vector<float>(32, 1)), b2({2, 16}, std::vector<float>(32)),
        t2({16, 2}, std::vector<float>(32));
    const ingot_tensor *in1[] = {&a.tensor}, *out1[] = {&b.tensor, &t.tensor};
    const ingot_tensor *in2[] = {&a2.tensor}, *out2[] = {&b2.tensor, &t2.tensor};
    n = count([&] {
      good &= ingot_run(e.get(), in1, 1, out1, 2, nullptr) == nullptr;
      good &= ingot_run(e.get(), in2, 1, out2, 2, nullptr) == nullptr;
    });
    CHECK(n.allocations == 0);
    CHECK(n.locks == 0);
    CHECK(good);
  }
}

TEST_CASE("static statuses are returned without allocating") {
  const Context c = context();
  const Executable poly = compile(c, parse(c, pointwise));
  Floats x({16}, std::vector<float>(16, 1)), out({16}, std::vector<float>(16));
  const ingot_tensor *ins[] = {&x.tensor, &x.tensor, &x.tensor}, *outs[] = {&out.tensor};
  ingot_event* made = nullptr;
  ok(ingot_executable_prepare(poly.get(), nullptr, 0, nullptr, &made));
  const Event event(made);
  ok(ingot_event_wait(event.get(), -1));
  bool over = true;
  const Counted n = count([&] { over &= ingot_event_poll(event.get()) == INGOT_OK; });
  CHECK(n.allocations == 0);
  CHECK(over);
  ok(ingot_run(poly.get(), ins, 3, outs, 1, nullptr));
}
