// A file that several threads and processes append lines to, whole lines each time, for the eyes of people and tools.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

// Free-threaded; takes no lock, so that a fork leaves none. Writing neither blocks nor raises a signal.
class AppendFile {
 public:
  // `own`: no symlink, and nobody else's file: for names that others can guess. Throws io_error, for a pipe too.
  explicit AppendFile(const std::string& path, bool own = false);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  bool was_empty() const noexcept { return was_empty_; }  // when it was opened
  // One write, so that lines of several writers do not mix. What cannot be written is dropped.
  void write(std::string_view text) const noexcept;

 private:
  int fd_;
  bool was_empty_ = false;
};

}  // namespace ingot
