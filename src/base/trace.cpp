#include "base/trace.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace ingot {

namespace {

// SIGXFSZ, which a write past RLIMIT_FSIZE raises and which would kill the host, kept from this thread: where one
// comes, it is taken back.
class FileLimit {
 public:
  FileLimit() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
    sigset_t pending;
    was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
  }
  ~FileLimit() {
    const timespec at_once{};
    if (exceeded_ && !was_pending_) sigtimedwait(&signal_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;
  void exceeded() { exceeded_ = true; }

 private:
  sigset_t signal_, before_;
  bool was_pending_, exceeded_ = false;
};

// One write each, so that lines of several threads and processes do not mix (O_APPEND).
void write_whole(int fd, std::string_view text) noexcept {
  FileLimit limit;
  while (::write(fd, text.data(), text.size()) < 0) {
    if (errno == EFBIG) limit.exceeded();
    if (errno != EINTR) return;
  }
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += code;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

// O_NONBLOCK: opening a pipe that nobody reads must not block.
Trace::Trace(const std::string& path)
    : fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600)) {
  if (fd_ < 0) fail(Code::io_error, "the trace file ", path, " cannot be opened: ", std::strerror(errno));
  struct stat s{};
  fstat(fd_, &s);
  // A pipe would block the host's runs when its reader is slow, and raise SIGPIPE when it goes.
  if (S_ISFIFO(s.st_mode) || S_ISSOCK(s.st_mode)) {
    close(fd_);
    fail(Code::io_error, "the trace file ", path, " is a pipe");
  }
  // The array is never closed: the format allows that, since a process may end at any time.
  if (s.st_size == 0) write_whole(fd_, "[\n");
}

Trace::~Trace() { close(fd_); }

int64_t Trace::now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Trace::span(std::string_view name, std::string_view detail, int64_t from) const noexcept {
  const int64_t took = now() - from;
  try {
    char times[120];
    std::snprintf(times, sizeof times, R"(,"ph":"X","pid":%ld,"tid":%ld,"ts":%.3f,"dur":%.3f)",
                  static_cast<long>(getpid()), static_cast<long>(syscall(SYS_gettid)), static_cast<double>(from) * 1e-3,
                  static_cast<double>(took) * 1e-3);
    write_whole(fd_, cat("{\"cat\":\"ingot\",\"name\":\"", escaped(name), "\"", times, ",\"args\":{\"detail\":\"",
                         escaped(detail), "\"}},\n"));
  } catch (const std::exception&) {
    // No memory for a line: it is missing.
  }
}

}  // namespace ingot
