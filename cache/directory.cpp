#include "cache/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/uio.h>
#include <time.h>

#include <array>
#include <charconv>
#include <memory>

#include "base/error.h"

namespace ingot::cache {

namespace {

constexpr mode_t writable_by_others = S_IWGRP | S_IWOTH;
constexpr time_t temp_age_limit = 3600;  // no write takes an hour: past that a pid that lives is another process

// Empty if the effective user alone can change it.
std::string distrust(const struct stat& info) {
  if (info.st_uid != geteuid()) return cat("belongs to user ", info.st_uid, ", not to ", geteuid());
  if (info.st_mode & writable_by_others) return "is writable by group or others";
  return {};
}

// mkdir -p. 0, or the errno of the first directory that neither exists nor can be made.
int make_directories(const std::string& path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      // Read-only file systems and parents without write permission may answer so for a directory that is there.
      const int error = errno;
      struct stat info;
      if (stat(part.c_str(), &info) != 0) return error;
    }
    if (end == std::string::npos) return 0;
  }
}

}  // namespace

OpenedDirectory open_directory(const std::string& path, bool create) {
  OpenedDirectory out;
  int failure = 0;
  const auto open_it = [&] {
    const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    failure = fd < 0 ? errno : 0;
    return Fd(fd);
  };
  out.fd = open_it();
  if (!out.fd && failure == ENOENT && create) {
    if (const int error = make_directories(path)) {
      out.error = error;
      out.reason = cat("cannot be made: ", errno_text(error));
      return out;
    }
    out.fd = open_it();
  }
  if (!out.fd) {
    out.error = failure;
    struct stat info;
    if (lstat(path.c_str(), &info) == 0 && !S_ISDIR(info.st_mode)) {
      out.reason = S_ISLNK(info.st_mode) ? "is a symbolic link" : "is not a directory";
    } else {
      out.reason = cat("cannot be opened: ", errno_text(out.error));  // ENOTDIR too, of a parent
    }
    return out;
  }
  struct stat info;
  if (fstat(out.fd.get(), &info) != 0) {
    out.error = errno;
    out.reason = cat("cannot be examined: ", errno_text(out.error));
  } else if (out.reason = distrust(info); !out.reason.empty()) {
    out.error = EPERM;
  }
  if (out.error) out.fd.close();
  return out;
}

Fd open_file(int directory, const std::string& name, struct stat& info, int& error, std::string& reason) {
  // O_NONBLOCK: a pipe planted under the name must not block.
  Fd fd(openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  error = 0;
  if (!fd) {
    error = errno;
    reason = error == ELOOP ? "is a symbolic link" : cat("cannot be opened: ", errno_text(error));
  } else if (fstat(fd.get(), &info) != 0) {
    error = errno;
    reason = cat("cannot be examined: ", errno_text(error));
  } else if (!S_ISREG(info.st_mode)) {
    error = EPERM;
    reason = "is not a regular file";
  } else if (reason = distrust(info); !reason.empty()) {
    error = EPERM;
  }
  if (error) fd.close();
  return fd;
}

std::optional<std::vector<std::string>> list_names(int directory, int& error) {
  // A descriptor of its own: reading moves an offset that duplicates would share.
  Fd fd(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(fd ? fdopendir(fd.get()) : nullptr, closedir);
  if (!stream) {
    error = errno;
    return std::nullopt;
  }
  fd.release();
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = readdir(stream.get());
    if (!entry) {
      error = errno;
      if (error) return std::nullopt;
      return names;
    }
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
}

int read_exactly(int fd, std::span<uint8_t> out, uint64_t offset) {
  while (!out.empty()) {
    const ssize_t n = pread(fd, out.data(), out.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) return ENODATA;
    out = out.subspan(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return 0;
}

int write_all(int fd, std::span<const std::span<const uint8_t>> parts) {
  for (auto part : parts) {
    while (!part.empty()) {
      const ssize_t n = write(fd, part.data(), part.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno;
      if (n == 0) return EIO;
      part = part.subspan(static_cast<size_t>(n));
    }
  }
  return 0;
}

std::string entry_name(const Hash128& hash) { return hash.hex() + ".ing"; }

bool is_entry_name(std::string_view name) {
  return name.size() == 36 && name.ends_with(".ing") &&
         name.substr(0, 32).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string temp_name(long pid, uint64_t counter) { return cat(".tmp-", pid, "-", counter); }

std::optional<long> temp_pid(std::string_view name) {
  if (!name.starts_with(".tmp-")) return std::nullopt;
  name.remove_prefix(5);
  const char *const begin = name.data(), *const end = begin + name.size();
  long pid = 0;
  const auto number = std::from_chars(begin, end, pid);
  if (number.ec != std::errc() || pid <= 0 || number.ptr == end || *number.ptr != '-') return std::nullopt;
  uint64_t counter = 0;
  const auto rest = std::from_chars(number.ptr + 1, end, counter);
  if (rest.ec != std::errc() || rest.ptr != end) return std::nullopt;
  return pid;
}

bool remove_stale_temp(int directory, const std::string& name, long pid) {
  struct stat info;
  if (fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return false;
  const bool dead = kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
  if (!dead && time(nullptr) - info.st_mtime < temp_age_limit) return false;
  const Fd fd(openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (fd && flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  return unlinkat(directory, name.c_str(), 0) == 0;
}

}  // namespace ingot::cache
