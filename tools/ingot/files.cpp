#include "files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "error.h"

namespace ingot::tool {

namespace {

struct Close {
  void operator()(FILE* f) const {
    if (f != stdin && f != stdout) std::fclose(f);
  }
};
using File = std::unique_ptr<FILE, Close>;

}  // namespace

bool is_stdout(const std::string& path) {
  struct stat named{}, out{};
  return path == "-" || (stat(path.c_str(), &named) == 0 && fstat(STDOUT_FILENO, &out) == 0 &&
                         named.st_dev == out.st_dev && named.st_ino == out.st_ino);
}

std::string shown(const std::string& path, bool input) {
  return input ? path == "-" ? "<stdin>" : path : is_stdout(path) ? "<stdout>" : path;
}

std::string read_file(const std::string& path) {
  const File file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"));
  if (!file) fail(exit_bad_input, path, ": ", std::strerror(errno));
  std::string out;
  char block[1 << 16];
  for (size_t n; (n = std::fread(block, 1, sizeof block, file.get())) > 0;) out.append(block, n);
  if (std::ferror(file.get())) fail(exit_bad_input, shown(path, true), ": ", std::strerror(errno));
  return out;
}

void write_file(const std::string& path, std::initializer_list<std::string_view> pieces) {
  File file(is_stdout(path) ? stdout : std::fopen(path.c_str(), "wb"));
  if (!file) fail(exit_failed, path, ": ", std::strerror(errno));
  bool good = true;
  for (const std::string_view piece : pieces)
    good = good && std::fwrite(piece.data(), 1, piece.size(), file.get()) == piece.size();
  // A full disk may only show when the last bytes leave the buffer.
  good = std::fflush(file.get()) == 0 && good;
  if (!good) fail(exit_failed, shown(path, false), ": ", std::strerror(errno));
}

}  // namespace ingot::tool
