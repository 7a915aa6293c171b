#include "guarded.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <utility>

namespace ingot::test {

Guarded::Guarded(size_t size, bool at_end, size_t slack) : size_(size) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t inner = (size + slack + page - 1) / page * page + (size + slack == 0 ? page : 0);
  mapped_ = inner + 2 * page;
  void* const map = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) throw std::bad_alloc();
  map_ = static_cast<char*>(map);
  if (mprotect(map_ + page, inner, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  data_ = at_end ? map_ + page + inner - slack - size : map_ + page + slack;
}

Guarded::Guarded(Guarded&& other) noexcept { *this = std::move(other); }

Guarded& Guarded::operator=(Guarded&& other) noexcept {
  std::swap(map_, other.map_);
  std::swap(mapped_, other.mapped_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Guarded::~Guarded() {
  if (map_) munmap(map_, mapped_);
}

}  // namespace ingot::test
