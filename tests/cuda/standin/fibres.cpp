#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "exec.h"

namespace standin {

ExecRoom exec_room;

namespace {

constexpr size_t stack_bytes = 64 * 1024, guard_bytes = 4096;

// Stacks of 1,024 threads, each with a page that faults below it; made once.
char* stacks() {
  static char* const base = [] {
    const size_t each = stack_bytes + guard_bytes;
    void* p = mmap(nullptr, 1024 * each, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (size_t i = 0; i < 1024; ++i) mprotect(static_cast<char*>(p) + i * each, guard_bytes, PROT_NONE);
    return static_cast<char*>(p);
  }();
  return base;
}

// Saves what a call keeps, changes the stack, restores.
__attribute__((naked, noinline)) void switch_stack(void**, void*) {
  asm(R"(
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
  )");
}

void go_to(Fibre* next) {
  Fibre* const from = exec.self;
  void** const save = from ? &from->stack_pointer : &exec.main_stack;
  exec.self = next;
  if (next) *exec.thread_slot = next;
  switch_stack(save, next ? next->stack_pointer : exec.main_stack);
}

void begin_thread() {
  Launch& launch = *exec.launch;
  char* values[64];
  size_t at = 0;
  const KernelInfo& info = *launch.function->info;
  for (unsigned i = 0; i < info.parameters; ++i) {
    at = (at + info.align[i] - 1) / info.align[i] * info.align[i];
    values[i] = launch.parameters.data() + at;
    at += info.size[i];
  }
  info.call(values);
  Fibre& f = *exec.self;
  f.state = State::over;
  exec.warps[f.index / 32].over |= 1u << f.index % 32;
  --exec.alive;
  yield();
  __builtin_unreachable();
}

// All that are alive stand at a barrier.
bool release_barrier() {
  const Fibre* first = nullptr;
  for (const Fibre& f : exec.fibres) {
    if (f.state != State::at_barrier) continue;
    if (!first) first = &f;
    if (f.site == first->site && f.op == first->op) continue;
    report("divergence: " + where() + ": thread " + thread_text(first->index) + " is at one barrier, thread " +
           thread_text(f.index) + " at another");
    exec.failed = CUDA_ERROR_LAUNCH_FAILED;
    return false;
  }
  uint64_t count = 0, alive = 0;
  for (const Fibre& f : exec.fibres) {
    if (f.state != State::at_barrier) continue;
    ++alive;
    count += f.value;
  }
  const uint64_t results[] = {0, count, count == alive, count > 0};
  ++exec.era;
  for (Fibre& f : exec.fibres) {
    if (f.state != State::at_barrier) continue;
    f.state = State::ready;
    f.result = results[f.op];
    exec.warps[f.index / 32].ready |= 1u << f.index % 32;
    exec.ready_warps |= 1u << f.index / 32;
  }
  exec.at_barrier = 0;
  return true;
}

// Nobody can go on: some wait at the barrier, some for lanes of their warp.
void stuck() {
  for (const Fibre& f : exec.fibres) {
    if (f.state != State::at_warp) continue;
    const Warp& w = exec.warps[f.index / 32];
    const unsigned missing = f.mask & ~w.arrived;
    const unsigned lane = missing ? static_cast<unsigned>(__builtin_ctz(missing)) : 0;
    report("divergence: " + where() + ": thread " + thread_text(f.index) + " waits for lane " + std::to_string(lane) +
           " of its warp, which " +
           (w.over >> lane & 1     ? "is over"
            : w.exists >> lane & 1 ? "is at a barrier or at another exchange"
                                   : "is not there"));
    break;
  }
  exec.failed = CUDA_ERROR_LAUNCH_FAILED;
}

// Null: back to the launch.
Fibre* next_fibre() {
  for (;;) {
    if (exec.ready_warps) {
      const auto w = static_cast<unsigned>(__builtin_ctz(exec.ready_warps));
      Warp& warp = exec.warps[w];
      const auto lane = static_cast<unsigned>(__builtin_ctz(warp.ready));
      warp.ready &= warp.ready - 1;
      if (!warp.ready) exec.ready_warps &= exec.ready_warps - 1;
      return &exec.fibres[w * 32 + lane];
    }
    if (exec.alive == 0) return nullptr;
    if (exec.at_barrier == exec.alive) {
      if (!release_barrier()) return nullptr;
      continue;
    }
    stuck();
    return nullptr;
  }
}

void prepare_block(unsigned x, unsigned y, unsigned z) {
  const Dim& d = exec.launch->block;
  exec.position = {{x, y, z}, {d.x, d.y, d.z}, {exec.launch->grid.x, exec.launch->grid.y, exec.launch->grid.z}};
  exec.block_era = ++exec.era;
  exec.block_eras.push_back(exec.era);
  exec.alive = exec.threads;
  exec.at_barrier = 0;
  exec.ready_warps = 0;
  for (unsigned w = 0; w * 32 < exec.threads; ++w) {
    const unsigned lanes = std::min(exec.threads - w * 32, 32u);
    const uint32_t all = lanes == 32 ? ~0u : (1u << lanes) - 1;
    exec.warps[w] = {all, 0, 0, all, 0};
    exec.ready_warps |= 1u << w;
  }
  for (Fibre& f : exec.fibres) {
    f.state = State::ready;
    f.tag = make_tag(f.index, 0);
    auto* top = reinterpret_cast<void**>(f.stack_high);
    *--top = nullptr;  // where a caller's address would be
    *--top = reinterpret_cast<void*>(&begin_thread);
    top -= 6;
    std::fill_n(top, 6, nullptr);
    f.stack_pointer = top;
  }
}

void prepare_threads() {
  const Dim& d = exec.launch->block;
  exec.threads = static_cast<unsigned>(d.count());
  exec.fibres.assign(exec.threads, Fibre{});
  for (unsigned i = 0; i < exec.threads; ++i) {
    Fibre& f = exec.fibres[i];
    f.index = i;
    f.thread[0] = i % d.x;
    f.thread[1] = i / d.x % d.y;
    f.thread[2] = i / d.x / d.y;
    f.stack_low = reinterpret_cast<uint64_t>(stacks()) + i * (stack_bytes + guard_bytes) + guard_bytes;
    f.stack_high = f.stack_low + stack_bytes;
  }
}

// Where the cubin keeps what it calls and reads, and what it has of shared memory on this host thread.
void prepare_module(Module& module, unsigned dynamic_shared) {
  const auto at = [&](const char* name) { return module.base + module.cubin.find(name)->value; };
  exec.thread_slot = reinterpret_cast<void**>(at("standin_thread"));
  *reinterpret_cast<void**>(at("standin_block")) = &exec.position;
  const auto base = reinterpret_cast<char* (*)()>(at("standin_shared_base"));
  exec.shared = base() - module.cubin.find("standin_shared_begin")->value;
  exec.shared_bytes = module.cubin.shared_bytes;
  exec.objects.assign(1, {});
  exec.object_of.assign(exec.shared_bytes, 0);
  if (exec.shared_single.size() < exec.shared_bytes) {
    exec.shared_single.resize(exec.shared_bytes + 4);
    exec.shared_words.resize(exec.shared_bytes / 4 + 1);
  }
  for (const Symbol& s : module.cubin.symbols) {
    if (!s.shared || s.name.starts_with("standin_")) continue;
    const uint64_t bytes = s.size == dynamic_shared_bytes ? dynamic_shared : s.size;
    if (s.value + bytes > exec.shared_bytes) continue;
    std::fill_n(exec.object_of.begin() + static_cast<std::ptrdiff_t>(s.value), bytes,
                static_cast<uint16_t>(exec.objects.size()));
    exec.objects.push_back({s.name, s.value, bytes});
  }
  exec.image = module.base;
  exec.image_bytes = 0;
  for (const Symbol& s : module.cubin.symbols)
    if (!s.shared) exec.image_bytes = std::max(exec.image_bytes, s.value + s.size);
}

std::string text_of(const uint32_t (&p)[3]) {
  return "(" + std::to_string(p[0]) + "," + std::to_string(p[1]) + "," + std::to_string(p[2]) + ")";
}

}  // namespace

std::string thread_text(unsigned index) { return text_of(exec.fibres[index].thread); }

std::string where() {
  std::string out = "kernel " + exec.launch->function->name + ", block " + text_of(exec.position.block);
  if (exec.self) out += ", thread " + thread_text(exec.self->index);
  return out;
}

void stop(CUresult code, const std::string& what) {
  report(what);
  exec.failed = code;
  go_to(nullptr);
  __builtin_unreachable();
}

void yield() {
  Fibre* const next = next_fibre();
  if (next != exec.self) go_to(next);
}

CUresult execute(Launch& launch, StandinContext& context) {
  exec.launch = &launch;
  exec.memory = &arena();
  exec.device = context.device;
  exec.failed = CUDA_SUCCESS;
  exec.self = nullptr;
  exec.launch_era = exec.era + 1;
  exec.block_eras.clear();
  prepare_threads();
  prepare_module(*launch.function->module, launch.dynamic_shared);
  arena().open();
  for (unsigned z = 0; z < launch.grid.z && !exec.failed; ++z)
    for (unsigned y = 0; y < launch.grid.y && !exec.failed; ++y)
      for (unsigned x = 0; x < launch.grid.x && !exec.failed; ++x) {
        prepare_block(x, y, z);
        go_to(next_fibre());
      }
  exec.self = nullptr;
  ++exec.era;
  exec.launch = nullptr;
  return exec.failed;
}

}  // namespace standin
