// longjmp to another stack is what this is about.
#undef _FORTIFY_SOURCE
#include "threads.h"

#include <setjmp.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace cuda_text {

Index threadIdx, blockIdx, gridDim;

namespace {

constexpr unsigned warp_size = 32;
constexpr size_t stack_bytes = 128 * 1024;

// Waits until all that have not ended are there.
struct Barrier {
  unsigned expected = 0, arrived = 0;
  unsigned long long turn = 0;

  void release() {
    if (arrived < expected || expected == 0) return;
    arrived = 0;
    ++turn;
  }
};

struct Thread {
  std::unique_ptr<char[]> stack;
  jmp_buf at;
  bool begun = false, done = false;
  bool odd = false;  // which of two words its next exchange uses: no lane is two exchanges ahead of another
};

std::vector<Thread> threads;
std::vector<Barrier> warps;
std::vector<unsigned long long> words[2];
Barrier block;
jmp_buf scheduler;
ucontext_t start;
const std::function<void()>* body;

void yield() {
  Thread& own = threads[threadIdx.x];
  if (_setjmp(own.at) == 0) _longjmp(scheduler, 1);
}

void wait(Barrier& barrier) {
  const unsigned long long turn = barrier.turn;
  ++barrier.arrived;
  barrier.release();
  while (barrier.turn == turn) yield();
}

void enter() {
  (*body)();
  threads[threadIdx.x].done = true;
  for (Barrier* b : {&block, &warps[threadIdx.x / warp_size]}) {
    --b->expected;
    b->release();
  }
  _longjmp(scheduler, 1);
}

void resume(Thread& t) {
  if (_setjmp(scheduler) != 0) return;
  if (t.begun) _longjmp(t.at, 1);
  t.begun = true;
  getcontext(&start);
  start.uc_stack.ss_sp = t.stack.get();
  start.uc_stack.ss_size = stack_bytes;
  start.uc_link = nullptr;
  makecontext(&start, enter, 0);
  setcontext(&start);
}

void run_block(unsigned count) {
  block = {count};
  warps.assign((count + warp_size - 1) / warp_size, {warp_size});
  for (Thread& t : threads) t.begun = t.done = t.odd = false;
  for (bool again = true; again;) {
    again = false;
    for (unsigned i = 0; i < count; ++i) {
      if (threads[i].done) continue;
      threadIdx.x = i;
      resume(threads[i]);
      again = again || !threads[i].done;
    }
  }
}

}  // namespace

void run_stage(const ingot::jit::cuda::Stage& stage, const std::function<void()>& kernel) {
  threads.resize(stage.threads);
  for (Thread& t : threads)
    if (!t.stack) t.stack = std::make_unique<char[]>(stack_bytes);
  for (auto& w : words) w.resize(stage.threads);
  body = &kernel;
  gridDim.x = stage.blocks;
  for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) run_block(stage.threads);
}

void block_barrier() { wait(block); }
void warp_barrier() { wait(warps[threadIdx.x / warp_size]); }

unsigned long long exchange(unsigned long long word, unsigned lane) {
  const unsigned own = threadIdx.x;
  auto& row = words[threads[own].odd];
  threads[own].odd = !threads[own].odd;
  if (warps[own / warp_size].expected != warp_size) {
    std::fputs("an exchange of a warp of which threads have ended\n", stderr);
    std::abort();
  }
  row[own] = word;
  warp_barrier();
  return row[own / warp_size * warp_size + lane % warp_size];
}

}  // namespace cuda_text
