// What a compiled text calls, by name, and what answers it in the driver's stand-in. NVRTC's stand-in writes one jump
// per line into each cubin, in this order; the driver fills in the addresses when it loads it. So a cubin has no
// undefined symbol that another library of the process could take.
#pragma once

#define STANDIN_CALLS(CALL)                      \
  CALL(__tsan_read1, standin_read1)              \
  CALL(__tsan_read2, standin_read2)              \
  CALL(__tsan_read4, standin_read4)              \
  CALL(__tsan_read8, standin_read8)              \
  CALL(__tsan_read16, standin_read16)            \
  CALL(__tsan_write1, standin_write1)            \
  CALL(__tsan_write2, standin_write2)            \
  CALL(__tsan_write4, standin_write4)            \
  CALL(__tsan_write8, standin_write8)            \
  CALL(__tsan_write16, standin_write16)          \
  CALL(__tsan_read_range, standin_read_range)    \
  CALL(__tsan_write_range, standin_write_range)  \
  CALL(memcpy, standin_memcpy)                   \
  CALL(memmove, standin_memmove)                 \
  CALL(memset, standin_memset)                   \
  CALL(standin_barrier, standin_barrier_reached) \
  CALL(standin_warp, standin_warp_reached)       \
  CALL(standin_atomic, standin_atomic_done)      \
  CALL(standin_trap, standin_trapped)            \
  CALL(standin_fmaf, standin_host_fmaf)          \
  CALL(standin_fma, standin_host_fma)

namespace standin {

// The machine a cubin's ELF header names: CUDA. Its flags hold the number of the target.
constexpr unsigned cuda_machine = 190;
constexpr unsigned host_machine = 62;

// The size given to dynamic shared memory in a cubin; a launch sets the part that counts.
constexpr unsigned dynamic_shared_bytes = 232448;

// Room between two shared objects of a cubin, so that the end of one is not the start of the next.
constexpr unsigned shared_gap = 64;

enum class AtomicOp { add, exchange, compare, min_signed, max_signed, min_unsigned, max_unsigned, and_, or_, xor_ };

enum class WarpOp { sync, index, up, down, xor_, ballot, any, all, match, add, min, max, and_, or_, active };

enum class BarrierOp { plain, count, and_, or_ };

// What a cubin says of each kernel; written by the prelude, read by the driver.
struct KernelInfo {
  void (*call)(char** parameters);
  unsigned bounds;
  unsigned parameters;
  unsigned size[64];
  unsigned align[64];
};

}  // namespace standin
