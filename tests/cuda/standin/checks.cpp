// Every access of a kernel comes here first: does it lie in one object, and has another thread been there?
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "exec.h"

namespace standin {

namespace {

enum class Access { read, write, atomic };

// What a cell says: era, syncs of the warp, thread, whether more than one was there, whether it was an atomic.
enum Spread : unsigned { one_thread, one_warp, many_warps, many_blocks };

uint64_t era_of(uint64_t cell) { return cell >> tag_bits; }
unsigned thread_of(uint64_t cell) { return cell >> thread_shift & thread_mask; }
unsigned spread_of(uint64_t cell) { return cell >> 1 & 3; }
bool atomic_in(uint64_t cell) { return cell & 1; }

// Whether the warp has exchanged or synchronised since: the cell's count is below this thread's.
bool before_sync(uint64_t cell, uint64_t me) {
  const uint64_t a = cell >> stamp_shift & stamp_mask, b = me >> stamp_shift & stamp_mask;
  return ((a - b) & stamp_mask) > stamp_mask / 2;
}

// Whether what the cell tells of has no order with the running thread.
bool unordered(uint64_t cell, uint64_t me) {
  const uint64_t era = era_of(cell);
  if (era < exec.launch_era) return false;
  if (spread_of(cell) == many_blocks || era < exec.block_era) return true;
  if (era < exec.era) return false;
  if (spread_of(cell) == many_warps || thread_of(cell) / 32 != thread_of(me) / 32) {
    return spread_of(cell) == many_warps || true;
  }
  if (spread_of(cell) == one_thread && thread_of(cell) == thread_of(me)) return false;
  return !before_sync(cell, me);
}

// The cell after this thread joined those that it tells of.
uint64_t with(uint64_t cell, uint64_t me) {
  const uint64_t era = era_of(cell);
  if (era < exec.launch_era) return me;
  if (spread_of(cell) == many_blocks || era < exec.block_era) return me | many_blocks << 1;
  if (!unordered(cell, me)) return me;
  return me | (spread_of(cell) == many_warps || thread_of(cell) / 32 != thread_of(me) / 32 ? many_warps : one_warp)
                  << 1;
}

std::string hex(uint64_t v) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(v));
  return text;
}

std::string other(uint64_t cell) {
  if (spread_of(cell) == many_blocks) return "threads of several blocks";
  const auto at = std::upper_bound(exec.block_eras.begin(), exec.block_eras.end(), era_of(cell));
  const auto number = static_cast<uint64_t>(at - exec.block_eras.begin()) - 1;
  const Dim& g = exec.launch->grid;
  const std::string thread = "thread " + thread_text(thread_of(cell));
  if (era_of(cell) >= exec.block_era)
    return thread + (spread_of(cell) == one_thread ? " of the same block" : " and others of the same block");
  return thread + " of block (" + std::to_string(number % g.x) + "," + std::to_string(number / g.x % g.y) + "," +
         std::to_string(number / g.x / g.y) + ")";
}

const char* word(Access a) { return a == Access::read ? "read" : a == Access::write ? "write" : "atomic"; }

[[noreturn]] void race(Access a, uint64_t address, size_t bytes, const std::string& object, uint64_t cell,
                       bool was_write) {
  const bool blocks = spread_of(cell) == many_blocks || era_of(cell) < exec.block_era;
  stop(CUDA_ERROR_ILLEGAL_ADDRESS, std::string("race ") + (blocks ? "between blocks: " : "between threads: ") +
                                       where() + ": " + word(a) + " of " + std::to_string(bytes) + " bytes at " +
                                       hex(address) + " in " + object + ", where " + other(cell) + " did " +
                                       (atomic_in(cell) ? "an atomic"
                                        : was_write     ? "a write"
                                                        : "a read") +
                                       " without a barrier between");
}

template <class Name>
inline void touch(Access a, uint64_t address, size_t bytes, Cell* cells, const Name& name) {
  const uint64_t me = exec.era << tag_bits | exec.self->tag;
  for (size_t i = 0; i < bytes; ++i) {
    Cell& c = cells[i];
    if (a == Access::read) {
      if (unordered(c.write, me)) race(a, address, bytes, name(), c.write, true);
      c.read = with(c.read, me);
    } else {
      if (unordered(c.read, me)) race(a, address, bytes, name(), c.read, false);
      if (!(a == Access::atomic && atomic_in(c.write)) && unordered(c.write, me))
        race(a, address, bytes, name(), c.write, true);
      c.write = a == Access::write ? me : (atomic_in(c.write) ? with(c.write, me) : me) | 1;
    }
  }
}

[[noreturn]] void stray(Access a, uint64_t address, size_t bytes, const std::string& what) {
  stop(CUDA_ERROR_ILLEGAL_ADDRESS, "stray access: " + where() + ": " + word(a) + " of " + std::to_string(bytes) +
                                       " bytes at " + hex(address) + ", " + what);
}

std::string of_allocation(const Allocation& a, uint64_t address) {
  const std::string whole = "an allocation of " + std::to_string(a.bytes) + " bytes";
  if (!a.live) return "in freed memory: " + whole + " that is gone";
  if (a.device != exec.device) return "in memory of device " + std::to_string(a.device);
  if (address < a.base) return std::to_string(a.base - address) + " bytes before the start of " + whole;
  if (address >= a.base + a.bytes)
    return std::to_string(address - a.base - a.bytes) + " bytes past the end of " + whole;
  return "across the end of " + whole;
}

[[noreturn]] void unknown(Access a, uint64_t address, size_t bytes) {
  if (arena().has(address)) stray(a, address, bytes, "device memory that was never allocated");
  if (address < 65536) stray(a, address, bytes, "a null pointer");
  stray(a, address, bytes, "host memory");
}

[[noreturn]] void wrong_shared(Access a, uint64_t address, size_t bytes, uint64_t offset) {
  const SharedObject* nearest = nullptr;
  for (const SharedObject& o : exec.objects)
    if (o.bytes && (!nearest || (o.at <= offset && o.at > nearest->at))) nearest = &o;
  stray(a, address, bytes,
        !nearest               ? "shared memory without an object"
        : offset < nearest->at ? "shared memory before " + nearest->name
                               : std::to_string(offset - nearest->at) + " bytes into shared " + nearest->name +
                                     ", which has " + std::to_string(nearest->bytes));
}

inline void check_shared(Access a, uint64_t address, size_t bytes, uint64_t offset) {
  const uint16_t object = exec.object_of[offset];
  if (object == 0 || offset + bytes > exec.shared_bytes || exec.object_of[offset + bytes - 1] != object)
    wrong_shared(a, address, bytes, offset);
  Cell* const cells = &exec.shared_cells[offset];
  if (a != Access::write)
    for (size_t i = 0; i < bytes; ++i)
      if (era_of(cells[i].write) < exec.block_era)
        stop(CUDA_ERROR_ILLEGAL_ADDRESS,
             "uninitialised read: " + where() + ": " + std::to_string(bytes) + " bytes at " + hex(address) + ", " +
                 std::to_string(offset - exec.objects[object].at) + " bytes into shared " + exec.objects[object].name);
  touch(a, address, bytes, cells, [&] { return "shared " + exec.objects[object].name; });
}

inline void check(Access a, const void* p, size_t bytes, bool aligned) {
  const auto address = reinterpret_cast<uint64_t>(p);
  if (bytes == 0) return;
  if (aligned && address % bytes)
    stop(CUDA_ERROR_MISALIGNED_ADDRESS,
         "misaligned: " + where() + ": " + word(a) + " of " + std::to_string(bytes) + " bytes at " + hex(address));
  if (Allocation* const m = arena().find(address)) {
    if (!m->live || m->device != exec.device || address < m->base || address + bytes > m->base + m->bytes)
      stray(a, address, bytes, of_allocation(*m, address));
    touch(a, address, bytes, arena().cells(address),
          [&] { return "the allocation of " + std::to_string(m->bytes) + " bytes at " + hex(m->base); });
    return;
  }
  if (address >= exec.self->stack_low && address + bytes <= exec.self->stack_high) return;
  const uint64_t offset = address - reinterpret_cast<uint64_t>(exec.shared);
  if (offset < exec.shared_bytes) return check_shared(a, address, bytes, offset);
  if (address - reinterpret_cast<uint64_t>(exec.image) < exec.image_bytes) return;
  for (const auto& [start, size] : arena().pinned)
    if (address >= reinterpret_cast<uint64_t>(start) && address + bytes <= reinterpret_cast<uint64_t>(start) + size)
      return;
  unknown(a, address, bytes);
}

// The old value, and the new one by way of `change`.
template <class T>
uint64_t change(void* p, AtomicOp op, uint64_t value, uint64_t compare) {
  T old;
  std::memcpy(&old, p, sizeof old);
  const T v = static_cast<T>(value);
  using S = std::make_signed_t<T>;
  const bool less = static_cast<S>(v) < static_cast<S>(old), below = v < old;
  T now = v;
  switch (op) {
    case AtomicOp::add: now = static_cast<T>(old + v); break;
    case AtomicOp::exchange: break;
    case AtomicOp::compare: now = old == static_cast<T>(compare) ? v : old; break;
    case AtomicOp::min_signed: now = less ? v : old; break;
    case AtomicOp::max_signed: now = less ? old : v; break;
    case AtomicOp::min_unsigned: now = below ? v : old; break;
    case AtomicOp::max_unsigned: now = below ? old : v; break;
    case AtomicOp::and_: now = old & v; break;
    case AtomicOp::or_: now = old | v; break;
    case AtomicOp::xor_: now = old ^ v; break;
  }
  std::memcpy(p, &now, sizeof now);
  return old;
}

}  // namespace

}  // namespace standin

using standin::Access;
using standin::AtomicOp;
using standin::check;

void standin_read1(void* p) { check(Access::read, p, 1, true); }
void standin_read2(void* p) { check(Access::read, p, 2, true); }
void standin_read4(void* p) { check(Access::read, p, 4, true); }
void standin_read8(void* p) { check(Access::read, p, 8, true); }
void standin_read16(void* p) { check(Access::read, p, 16, true); }
void standin_write1(void* p) { check(Access::write, p, 1, true); }
void standin_write2(void* p) { check(Access::write, p, 2, true); }
void standin_write4(void* p) { check(Access::write, p, 4, true); }
void standin_write8(void* p) { check(Access::write, p, 8, true); }
void standin_write16(void* p) { check(Access::write, p, 16, true); }
void standin_read_range(void* p, size_t bytes) { check(Access::read, p, bytes, false); }
void standin_write_range(void* p, size_t bytes) { check(Access::write, p, bytes, false); }

void* standin_memcpy(void* to, const void* from, size_t bytes) {
  check(Access::read, from, bytes, false);
  check(Access::write, to, bytes, false);
  return std::memcpy(to, from, bytes);
}

void* standin_memmove(void* to, const void* from, size_t bytes) {
  check(Access::read, from, bytes, false);
  check(Access::write, to, bytes, false);
  return std::memmove(to, from, bytes);
}

void* standin_memset(void* to, int value, size_t bytes) {
  check(Access::write, to, bytes, false);
  return std::memset(to, value, bytes);
}

unsigned long long standin_atomic_done(void* p, unsigned bytes, int op, unsigned long long value,
                                       unsigned long long compare) {
  check(Access::atomic, p, bytes, true);
  return bytes == 4 ? standin::change<uint32_t>(p, AtomicOp{op}, value, compare)
                    : standin::change<uint64_t>(p, AtomicOp{op}, value, compare);
}

void standin_trapped(const char* what) { standin::stop(CUDA_ERROR_ASSERT, "trap: " + standin::where() + ": " + what); }

float standin_host_fmaf(float a, float b, float c) { return std::fma(a, b, c); }
double standin_host_fma(double a, double b, double c) { return std::fma(a, b, c); }
