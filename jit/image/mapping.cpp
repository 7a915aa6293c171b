#include "jit/image/mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace ingot::jit {

namespace {

uint8_t* with_mprotect(std::span<const uint8_t> code) {
  void* at = mmap(nullptr, code.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) fail(Code::out_of_memory, "no memory for ", code.size(), " bytes of code");
  std::memcpy(at, code.data(), code.size());
  auto* begin = static_cast<char*>(at);
  __builtin___clear_cache(begin, begin + code.size());
  if (mprotect(at, code.size(), PROT_READ | PROT_EXEC) == 0) return static_cast<uint8_t*>(at);
  munmap(at, code.size());
  return nullptr;
}

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

bool write_all(int fd, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return true;
}

uint8_t* with_memfd(std::span<const uint8_t> code) {
  const File file(memfd_create("ingot-code", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.fd() < 0 || !write_all(file.fd(), code)) return nullptr;
  if (fcntl(file.fd(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return nullptr;
  void* at = mmap(nullptr, code.size(), PROT_READ | PROT_EXEC, MAP_PRIVATE, file.fd(), 0);
  if (at == MAP_FAILED) return nullptr;
  auto* begin = static_cast<char*>(at);
  __builtin___clear_cache(begin, begin + code.size());
  return static_cast<uint8_t*>(at);
}

}  // namespace

CodeMapping::CodeMapping(std::span<const uint8_t> code, How how) : size_(code.size()) {
  if (how != How::memfd) data_ = with_mprotect(code);
  if (!data_ && how != How::mprotect) data_ = with_memfd(code);
  if (!data_) fail(Code::unavailable, "the system allows no executable memory (mprotect and memfd refused)");
}

CodeMapping::~CodeMapping() { munmap(data_, size_); }

}  // namespace ingot::jit
