// Every access of a kernel comes here first: does it lie in one object, and has another thread been there?
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "cells.h"
#include "exec.h"

namespace standin {

namespace {

enum class Access { read, write, atomic };

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

// An access under way. Cells are for four bytes each, until something smaller than that comes: then the four bytes have
// theirs, and the one says so.
struct Touch {
  Access access;
  uint64_t address;
  size_t bytes;
  const SharedObject* shared;  // null: an allocation
  uint64_t me, floor;
};

constexpr uint64_t split = ~uint64_t{0};

std::string object_text(const Touch& t) {
  if (t.shared) return "shared " + t.shared->name;
  const Allocation& a = *exec.memory->find(t.address);
  return "the allocation of " + std::to_string(a.bytes) + " bytes at " + hex(a.base);
}

[[noreturn]] void race(const Touch& t, uint64_t cell, bool was_write) {
  const bool blocks = spread_of(cell) == many_blocks || era_of(cell) < exec.block_era;
  stop(CUDA_ERROR_ILLEGAL_ADDRESS, std::string("race ") + (blocks ? "between blocks: " : "between threads: ") +
                                       where() + ": " + word(t.access) + " of " + std::to_string(t.bytes) +
                                       " bytes at " + hex(t.address) + " in " + object_text(t) + ", where " +
                                       other(cell) + " did " +
                                       (atomic_in(cell) ? "an atomic"
                                        : was_write     ? "a write"
                                                        : "a read") +
                                       " without a barrier between");
}

[[noreturn]] void uninitialised(const Touch& t) {
  const uint64_t start = reinterpret_cast<uint64_t>(exec.shared) + t.shared->at;
  stop(CUDA_ERROR_ILLEGAL_ADDRESS, "uninitialised read: " + where() + ": " + std::to_string(t.bytes) + " bytes at " +
                                       hex(t.address) + ", " + std::to_string(t.address - start) + " bytes into " +
                                       object_text(t));
}

inline void touch_cell(const Touch& t, Cell& c) {
  const bool is_atomic = t.access == Access::atomic;
  if (t.access != Access::write && t.shared && era_of(c.write) < t.floor) uninitialised(t);
  if (t.access == Access::read) {
    if (unordered(c.write, t.me, t.floor)) race(t, c.write, true);
    c.read = with(c.read, t.me, t.floor);
    return;
  }
  if (unordered(c.read, t.me, t.floor)) race(t, c.read, false);
  if (!(is_atomic && atomic_in(c.write)) && unordered(c.write, t.me, t.floor)) race(t, c.write, true);
  // A write of its own that nobody was to see before the next barrier counts for more than the atomic after it.
  if (is_atomic && !atomic_in(c.write) && era_of(c.write) == exec.era) return;
  c.write = !is_atomic ? t.me : (atomic_in(c.write) ? with(c.write, t.me, t.floor) : t.me) | 1;
}

// The cells of [at, at + bytes); `words` and `single` begin with the memory that `at` counts from.
inline void touch(const Touch& t, uint64_t at, Cell* words, Cell* single) {
  const uint64_t end = at + t.bytes;
  for (uint64_t word = at / 4; word * 4 < end; ++word) {
    Cell& c = words[word];
    if (c.read == split && c.write < t.floor) c = {0, 0};
    if (c.read != split) {
      if (word * 4 >= at && word * 4 + 4 <= end) {
        touch_cell(t, c);
        continue;
      }
      std::fill_n(single + word * 4, 4, c);
      c = {exec.era, split};
    }
    for (uint64_t i = std::max(at, word * 4); i < std::min(end, word * 4 + 4); ++i) touch_cell(t, single[i]);
  }
}

inline uint64_t me() { return exec.era << tag_bits | exec.self->tag; }

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
  touch({a, address, bytes, &exec.objects[object], me(), exec.block_era}, offset, exec.shared_words.data(),
        exec.shared_single.data());
}

inline void check(Access a, const void* p, size_t bytes, bool aligned) {
  const auto address = reinterpret_cast<uint64_t>(p);
  if (bytes == 0) return;
  if (aligned && address % bytes)
    stop(CUDA_ERROR_MISALIGNED_ADDRESS,
         "misaligned: " + where() + ": " + word(a) + " of " + std::to_string(bytes) + " bytes at " + hex(address));
  Arena& memory = *exec.memory;
  if (Allocation* const m = memory.find(address)) {
    if (!m->live || m->device != exec.device || address < m->base || address + bytes > m->base + m->bytes)
      stray(a, address, bytes, of_allocation(*m, address));
    touch({a, address, bytes, nullptr, me(), exec.launch_era}, address - memory.base(), memory.words(),
          memory.single());
    return;
  }
  if (address >= exec.self->stack_low && address + bytes <= exec.self->stack_high) return;
  const uint64_t offset = address - reinterpret_cast<uint64_t>(exec.shared);
  if (offset < exec.shared_bytes) return check_shared(a, address, bytes, offset);
  if (offset + 1024 < 1024) wrong_shared(a, address, bytes, offset);
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
