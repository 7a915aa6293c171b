#include "arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "driver.h"

namespace standin {

namespace {

void* reserve(uint64_t bytes, int protection, int flags, int file) {
  void* p = mmap(nullptr, bytes, protection, flags | MAP_NORESERVE, file, 0);
  return p == MAP_FAILED ? nullptr : p;
}

}  // namespace

// Two views of one file: the device's addresses, closed, and the host's way to them for copies. Behind them two tables
// of the same reach, empty until touched.
Arena::Arena() : all_(1) {
  file_ = memfd_create("standin device memory", MFD_CLOEXEC);
  constexpr int anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
  for (uint64_t size = uint64_t{256} << 30; size >= uint64_t{1} << 30; size /= 4) {
    if (ftruncate(file_, static_cast<off_t>(size)) != 0) continue;
    void* closed = reserve(size, PROT_NONE, MAP_SHARED, file_);
    void* open = reserve(size, PROT_READ | PROT_WRITE, MAP_SHARED, file_);
    void* words = reserve(size / 4 * sizeof(Cell), PROT_READ | PROT_WRITE, anonymous, -1);
    void* single = reserve(size * sizeof(Cell), PROT_READ | PROT_WRITE, anonymous, -1);
    void* owner = reserve(size / page * sizeof(uint32_t), PROT_READ | PROT_WRITE, anonymous, -1);
    if (closed && open && words && single && owner) {
      base_ = reinterpret_cast<uint64_t>(closed);
      alias_ = static_cast<char*>(open);
      words_ = static_cast<Cell*>(words);
      single_ = static_cast<Cell*>(single);
      madvise(words, size / 4 * sizeof(Cell), MADV_HUGEPAGE);
      owner_ = static_cast<uint32_t*>(owner);
      size_ = size;
      top_ = page;
      return;
    }
    if (closed) munmap(closed, size);
    if (open) munmap(open, size);
    if (words) munmap(words, size / 4 * sizeof(Cell));
    if (single) munmap(single, size * sizeof(Cell));
    if (owner) munmap(owner, size / page * sizeof(uint32_t));
  }
  std::fprintf(stderr, "stand-in for the CUDA driver: no address space for device memory\n");
  std::abort();
}

// At least 256 bytes that nobody owns on both sides, and no better alignment than the driver's 256 promises. Addresses
// are not used twice: what is freed stays so.
uint64_t Arena::allocate(size_t bytes, int device, StandinContext* context, bool live, bool pooled) {
  const auto limit = static_cast<uint64_t>(setting("STANDIN_MEMORY", int64_t{8} << 30));
  if (bytes > limit || in_use(device) + bytes > limit) return 0;
  const uint64_t start = 256 * (1 + all_.size() % 14);
  const uint64_t pages = (start + bytes + 256 + page - 1) / page;
  if (top_ + pages * page + page > size_) return 0;
  const uint64_t at = top_;
  top_ += pages * page + page;
  std::fill_n(owner_ + at / page, pages, static_cast<uint32_t>(all_.size()));
  in_use_[device] += bytes;
  all_.push_back({base_ + at + start, bytes, device, context, live, true, pooled});
  // Not zeros: a device gives what was there before.
  std::memset(alias_ + at + start, 0xcb, std::min<size_t>(bytes, size_t{64} << 20));
  return base_ + at + start;
}

void Arena::release(Allocation& a) {
  a.live = a.reserved = false;
  in_use_[a.device] -= a.bytes;
  const uint64_t first = (a.base - base_) / page * page;
  const uint64_t bytes = (a.base - base_ + a.bytes - first + page - 1) / page * page;
  fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(first), static_cast<off_t>(bytes));
  madvise(words_ + first / 4, bytes / 4 * sizeof(Cell), MADV_DONTNEED);
  madvise(single_ + first, bytes * sizeof(Cell), MADV_DONTNEED);
}

size_t Arena::in_use(int device) const {
  const auto at = in_use_.find(device);
  return at == in_use_.end() ? 0 : at->second;
}

size_t Arena::held() const {
  return static_cast<size_t>(std::count_if(all_.begin(), all_.end(), [](const Allocation& a) { return a.reserved; })) +
         pinned.size();
}

Allocation* Arena::range(uint64_t address, size_t bytes) {
  Allocation* a = find(address);
  return a && a->live && address >= a->base && bytes <= a->bytes && address - a->base <= a->bytes - bytes ? a : nullptr;
}

void Arena::open() {
  if (!open_) mprotect(reinterpret_cast<void*>(base_), top_, PROT_READ | PROT_WRITE);
  open_ = true;
}

void Arena::close() {
  if (open_) mprotect(reinterpret_cast<void*>(base_), top_, PROT_NONE);
  open_ = false;
}

void Arena::release_all_of(const StandinContext* context) {
  for (Allocation& a : all_)
    if (a.reserved && a.context == context) release(a);
}

void Arena::forget_all() {
  for (Allocation& a : all_)
    if (a.reserved) release(a);
  for (const auto& [p, bytes] : pinned) munmap(const_cast<void*>(p), bytes);
  pinned.clear();
}

Arena& arena() {
  static Arena& one = *std::make_unique<Arena>().release();
  return one;
}

}  // namespace standin
