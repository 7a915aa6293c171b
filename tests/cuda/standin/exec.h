// One launch as it runs: threads of a block as fibres, blocks one after another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arena.h"
#include "driver.h"

namespace standin {

struct Dim {
  unsigned x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
};

struct Launch {
  StandinFunction* function = nullptr;
  Dim grid, block;
  unsigned dynamic_shared = 0;
  std::vector<char> parameters;  // behind one another, each at its alignment
};

// Runs it to its end, or to the first error in it.
CUresult execute(Launch& launch, StandinContext& context);

enum class State : uint8_t { ready, at_barrier, at_warp, over };

// The prelude reads `thread` at offset 8.
struct Fibre {
  void* stack_pointer;
  uint32_t thread[3];
  uint32_t index;
  uint64_t tag;  // what a cell says of an access by this thread, without the era
  uint64_t stack_low, stack_high;
  State state;
  // What the thread brought to the barrier or to the warp.
  int site;
  unsigned mask;
  int op, arg, width;
  uint64_t value, result;
};
static_assert(offsetof(Fibre, thread) == 8);

// The prelude reads it word by word.
struct BlockPosition {
  uint32_t block[3], block_dim[3], grid_dim[3];
};

struct Warp {
  uint32_t ready = 0, arrived = 0, over = 0, exists = 0;
  uint64_t syncs = 0;
};

struct SharedObject {
  std::string name;
  uint64_t at, bytes;
};

// All that callbacks need of the launch in progress.
struct Exec {
  Arena* memory = nullptr;
  Launch* launch = nullptr;
  int device = 0;
  BlockPosition position{};
  Fibre* self = nullptr;
  void** thread_slot = nullptr;  // the cubin's own pointer to self
  void* main_stack = nullptr;
  std::vector<Fibre> fibres;
  unsigned threads = 0, alive = 0, at_barrier = 0;
  uint32_t ready_warps = 0;
  Warp warps[32];
  CUresult failed = CUDA_SUCCESS;

  // A number that grows with each barrier and each block, never repeated: cells need no clearing.
  uint64_t era = 1, block_era = 1, launch_era = 1;
  std::vector<uint64_t> block_eras;

  char* shared = nullptr;  // the shared memory of this host thread
  uint64_t shared_bytes = 0;
  std::vector<SharedObject> objects;  // [0] is none
  std::vector<uint16_t> object_of;
  std::vector<Cell> shared_words, shared_single;  // as in the arena
  char* image = nullptr;
  uint64_t image_bytes = 0;
};

// Not destroyed at the process's end.
union ExecRoom {
  ExecRoom() : value() {}
  ~ExecRoom() {}
  Exec value;
};
extern ExecRoom exec_room;
static constexpr Exec& exec = exec_room.value;

constexpr int tag_bits = 28;
constexpr unsigned stamp_shift = 13, stamp_mask = 0x7fff, thread_shift = 3, thread_mask = 0x3ff;

inline uint64_t make_tag(unsigned thread, uint64_t syncs) {
  return (syncs & stamp_mask) << stamp_shift | uint64_t{thread} << thread_shift;
}

// Ends the launch from inside a thread of it.
[[noreturn]] void stop(CUresult code, const std::string& what);
// "kernel k, block (0,0,0), thread (1,0,0)" of the running thread.
std::string where();
std::string thread_text(unsigned index);
// Leaves the running thread for the next one that can go on.
void yield();

}  // namespace standin

extern "C" {
unsigned standin_barrier_reached(int site, int op, unsigned value);
unsigned long long standin_warp_reached(unsigned mask, int op, unsigned long long value, int arg, int width);
unsigned long long standin_atomic_done(void* p, unsigned bytes, int op, unsigned long long value,
                                       unsigned long long compare);
[[noreturn]] void standin_trapped(const char* what);
void standin_read1(void* p);
void standin_read2(void* p);
void standin_read4(void* p);
void standin_read8(void* p);
void standin_read16(void* p);
void standin_write1(void* p);
void standin_write2(void* p);
void standin_write4(void* p);
void standin_write8(void* p);
void standin_write16(void* p);
void standin_read_range(void* p, size_t bytes);
void standin_write_range(void* p, size_t bytes);
void* standin_memcpy(void* to, const void* from, size_t bytes);
void* standin_memmove(void* to, const void* from, size_t bytes);
void* standin_memset(void* to, int value, size_t bytes);
float standin_host_fmaf(float a, float b, float c);
double standin_host_fma(double a, double b, double c);
}
