#include "base/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/error.h"

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

}  // namespace

// O_NONBLOCK: opening a pipe that nobody reads must not block.
AppendFile::AppendFile(const std::string& path, bool own)
    : fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (own ? O_NOFOLLOW : 0),
               0600)) {
  if (fd_ < 0) fail(Code::io_error, path, " cannot be opened: ", std::strerror(errno));
  struct stat s{};
  fstat(fd_, &s);
  const auto refuse = [&](const char* why) {
    close(fd_);
    fail(Code::io_error, path, why);
  };
  // A pipe would block the host when its reader is slow, and raise SIGPIPE when it goes.
  if (S_ISFIFO(s.st_mode) || S_ISSOCK(s.st_mode)) refuse(" is a pipe");
  if (own && (!S_ISREG(s.st_mode) || s.st_uid != geteuid() || s.st_nlink != 1)) refuse(" is not this user's own file");
  was_empty_ = s.st_size == 0;
}

AppendFile::~AppendFile() { close(fd_); }

void AppendFile::write(std::string_view text) const noexcept {
  FileLimit limit;
  while (::write(fd_, text.data(), text.size()) < 0) {
    if (errno == EFBIG) limit.exceeded();
    if (errno != EINTR) return;
  }
}

}  // namespace ingot
