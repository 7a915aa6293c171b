// The module's one entry, and the walls around LLVM: compiles run on threads of their own with a large stack and all
// signals blocked, and an LLVM that gives up takes its thread with it and nothing else (ABI.md, "Status"). Where no
// thread may be made, or none can be had, a compile has such a stack on the caller's thread.
#include <pthread.h>
#include <unistd.h>
#include <csignal>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include <llvm/Support/ErrorHandling.h>

#include "base/error.h"
#include "base/own_stack.h"
#include "jit/backend.h"
#include "jit/cpu/codegen.h"
#include "jit/cpu/compiler.h"

namespace ingot::jit {

namespace {

constexpr size_t stack_bytes = size_t{8} << 20;

// A request and its answer. Owned by the waiter and the compiling thread alike, since the latter may never end.
struct Job {
  std::vector<uint8_t> kernel;
  std::string target;
  Emit emit;

  std::mutex mutex;
  std::condition_variable answered;
  bool done = false;
  Code code = Code::ok;
  std::string message;
  std::vector<uint8_t> bytes;

  void answer(Code c, std::string why, std::vector<uint8_t> made = {}) {
    const std::lock_guard lock(mutex);
    code = c;
    message = std::move(why);
    bytes = std::move(made);
    done = true;
    answered.notify_all();
  }
};

std::atomic<bool> disabled{false};
thread_local Job* current = nullptr;

constexpr char disabled_message[] = "the CPU compiler is disabled: LLVM has failed in this process";

// LLVM calls this where it would abort. Its state is unknown from here on, so the module never enters it again. A
// thread of the module, which may hold LLVM's locks, stays for good; the host's goes back and leaves its stack behind.
void give_up(void*, const char* reason, bool) {
  disabled = true;
  if (current) current->answer(Code::unavailable, cat("LLVM failed: ", reason ? reason : "no reason given"));
  if (on_own_stack()) leave_own_stack();
  for (;;) pause();
}

void run(Job& job) {
  static const bool ready = [] {
    llvm::install_fatal_error_handler(give_up);
    llvm::install_bad_alloc_error_handler(give_up);
    init_codegen();
    return true;
  }();
  static_cast<void>(ready);
  current = &job;
  try {
    job.answer(Code::ok, {}, compile_kernel(job.kernel, job.target, job.emit));
  } catch (const Error& e) {
    job.answer(e.code(), e.message());
  } catch (const std::bad_alloc&) {
    // Thrown through LLVM's frames, which do not unwind.
    disabled = true;
    job.answer(Code::unavailable, "LLVM ran out of memory");
  } catch (const std::exception& e) {
    job.answer(Code::internal, e.what());
  } catch (...) {
    job.answer(Code::internal, "unknown exception in the CPU compiler");
  }
  current = nullptr;
}

void* thread_main(void* argument) {
  const std::unique_ptr<std::shared_ptr<Job>> job(static_cast<std::shared_ptr<Job>*>(argument));
  run(**job);
  return nullptr;
}

bool start(const std::shared_ptr<Job>& job) {
  auto argument = std::make_unique<std::shared_ptr<Job>>(job);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  // A thread starts with its maker's mask: block here so that the host's handlers never run on it.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int failed = pthread_create(&thread, &attributes, thread_main, argument.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (failed) return false;
  static_cast<void>(argument.release());
  return true;
}

// False if there is neither a thread nor memory for a stack.
bool compile_and_wait(const std::shared_ptr<Job>& job, bool may_make_thread) {
  if (may_make_thread && start(job)) {
    std::unique_lock lock(job->mutex);
    job->answered.wait(lock, [&] { return job->done; });
    return true;
  }
  const bool called = call_on_own_stack(stack_bytes, [](void* j) { run(*static_cast<Job*>(j)); }, job.get());
  current = nullptr;  // what left the stack by give_up() did not get there
  return called;
}

void compile(const ModuleRequest* request, const ModuleSink* sink) {
  const auto refuse = [&](Code code, std::string_view why) {
    sink->error(sink->user, static_cast<int32_t>(code), why.data(), why.size());
  };
  try {
    if (disabled) return refuse(Code::unavailable, disabled_message);
    const auto job = std::make_shared<Job>();
    job->kernel.assign(request->kernel, request->kernel + request->kernel_size);
    job->target = request->target;
    job->emit = static_cast<Emit>(request->emit);
    if ((request->flags & ~module_no_thread) != 0) return refuse(Code::unimplemented, "unknown flags of a compile");
    if (!compile_and_wait(job, (request->flags & module_no_thread) == 0))
      return refuse(Code::unavailable, "no stack for the compiler");
    if (job->code != Code::ok) return refuse(job->code, job->message);
    sink->artifact(sink->user, job->bytes.data(), job->bytes.size());
  } catch (...) {
    refuse(Code::out_of_memory, "out of memory in the CPU compiler module");
  }
}

constexpr ModuleApi api = {module_stamp, compile};

}  // namespace

}  // namespace ingot::jit

extern "C" {

__attribute__((visibility("default"))) const ingot::jit::ModuleApi* ingot_cpu_module() { return &ingot::jit::api; }

// Everything in this module that registers a destructor to run at exit gets this one, which forgets it: a host may
// exit in the middle of a compile, and LLVM's globals must outlive the thread that uses them.
__attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }
}
