// Opening, reading and writing; disk_upkeep.cpp has the rest.
#include "cache/disk.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>

#include "cache/directory.h"

namespace ingot::cache {

namespace {

constexpr time_t touch_period = 60;  // seconds; a hit costs a write to the inode at most this often
constexpr int temp_attempts = 1000;  // names taken by stale files of an earlier process with this pid

// For good, as far as this process is concerned; EMFILE, ENOMEM, EIO and the like may pass.
bool stops_writing(int error) {
  constexpr int final_errors[] = {ENOSPC, EDQUOT, EROFS, EACCES, EPERM, ENOTDIR, ELOOP};
  return std::ranges::find(final_errors, error) != std::end(final_errors);
}

// Marks a hit for the sweep. A time in the future means that the clock was set back since: left alone, such an entry
// would be the newest for as long as it took the clock to catch up.
void touch(int fd, const struct stat& info) {
  const time_t age = time(nullptr) - info.st_mtime;
  if (age >= 0 && age < touch_period) return;
  const timespec now[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
  futimens(fd, now);  // on a read-only file system it fails, and nothing is swept there anyway
}

// Writing past RLIMIT_FSIZE raises SIGXFSZ, which would kill the host.
bool exceeds_file_limit(uint64_t size) {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur;
}

// A temporary file that is gone again unless it was renamed.
class TempFile {
 public:
  // On failure invalid, with errno.
  TempFile(int directory, std::string name) : directory_(directory), name_(std::move(name)) {
    fd_ = Fd(openat(directory_, name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    exists_ = static_cast<bool>(fd_);
    if (fd_) flock(fd_.get(), LOCK_EX | LOCK_NB);  // see remove_stale_temp()
  }
  ~TempFile() {
    if (exists_) unlinkat(directory_, name_.c_str(), 0);
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  explicit operator bool() const { return static_cast<bool>(fd_); }
  int write(std::span<const std::span<const uint8_t>> parts) {
    const int error = write_all(fd_.get(), parts);
    const int late = fd_.close();
    return error ? error : late;
  }
  int rename_to(const std::string& name) {
    if (renameat(directory_, name_.c_str(), directory_, name.c_str()) != 0) return errno;
    exists_ = false;
    return 0;
  }

 private:
  int directory_;
  std::string name_;
  Fd fd_;
  bool exists_ = false;
};

}  // namespace

DiskCache::DiskCache(std::string path, DiskLimits limits, Log log)
    : path_(std::move(path)), limits_(limits), log_(std::move(log)) {}

std::shared_ptr<DiskCache> DiskCache::open(std::string path, DiskLimits limits, Log log) {
  if (!path.starts_with('/')) fail(Code::failed_precondition, "cache directory '", path, "' is not an absolute path");
  if (path.find('\0') != std::string::npos) fail(Code::failed_precondition, "cache directory name holds a NUL");
  // With a slash after it, O_NOFOLLOW would follow.
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const OpenedDirectory directory = open_directory(path, true);
  if (!directory.fd) {
    const bool unsafe = directory.error == EPERM || directory.error == ENOTDIR || directory.error == ELOOP;
    fail(unsafe ? Code::failed_precondition : Code::io_error, "cache directory '", path, "' ", directory.reason);
  }
  return std::shared_ptr<DiskCache>(new DiskCache(std::move(path), limits, std::move(log)));
}

std::optional<Blob> DiskCache::get(const Key& key, Miss* why) {
  Miss miss;
  const OpenedDirectory directory = open_directory(path_, false);
  std::optional<Blob> blob;
  if (!directory.fd) {
    if (directory.error != ENOENT) miss = {MissReason::io, cat(path_, " ", directory.reason), {}};
  } else if (auto entry = read_entry(directory.fd.get(), entry_name(key.hash), Use::hit, miss)) {
    blob = blob_under(key, std::move(*entry), miss);
  } else if (miss.reason != MissReason::absent && !warned_of_entry_.exchange(true)) {
    log_.write(LogLevel::warning, "disk cache '", path_, "': entry ", entry_name(key.hash), " cannot be used (",
               miss.detail, "); it and others like it are made anew");
  }
  if (blob) {
    ++hits_;
    return blob;
  }
  ++misses_[static_cast<size_t>(miss.reason)];
  if (!miss.detail.empty()) {
    log_.write(LogLevel::debug, "disk cache miss, ", entry_name(key.hash), ": ", miss.detail);
  }
  if (why) *why = std::move(miss);
  return std::nullopt;
}

// A whole entry. A damaged one is removed.
std::optional<Entry> DiskCache::read_entry(int directory, const std::string& name, Use use, Miss& miss) {
  struct stat info;
  int error = 0;
  std::string reason;
  const Fd fd = open_file(directory, name, info, error, reason);
  if (error == ENOENT) return std::nullopt;
  if (error) {
    miss = {MissReason::io, std::move(reason), {}};
    return std::nullopt;
  }
  const char* fault = nullptr;
  std::optional<Entry> entry;
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size > limits_.entry_bytes) {
    fault = "larger than an entry may be";
  } else {
    Blob bytes(size);  // bounded, and as large as the file really is, whatever its header says
    error = read_exactly(fd.get(), bytes, 0);
    if (!error) entry = decode_entry(std::move(bytes), fault);
    if (error == ENODATA) fault = "shorter than it was a moment ago";
  }
  if (entry) {
    bytes_read_ += size;
    if (use == Use::hit) touch(fd.get(), info);
    return entry;
  }
  if (!fault) {
    miss = {MissReason::io, cat("cannot be read: ", errno_text(error)), {}};
    return std::nullopt;
  }
  miss = {MissReason::content, fault, {}};
  // Only the file just read: another process may have put a good one there since. (One put between this look and the
  // removal is lost, which costs a compile.)
  struct stat now;
  if (fstatat(directory, name.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_ino == info.st_ino &&
      now.st_dev == info.st_dev && unlinkat(directory, name.c_str(), 0) == 0) {
    ++removed_;
  }
  return std::nullopt;
}

void DiskCache::put(const Key& key, std::span<const uint8_t> blob) {
  if (read_only_) return;
  const uint64_t size = entry_header_size + key.bytes.size() + blob.size();
  if (overdue() && sweep().busy) return;
  const int error = size > limits_.entry_bytes || exceeds_file_limit(size) ? EFBIG : write_entry(key, blob);
  if (error) return put_failed(error);
  ++puts_;
  bytes_written_ += size;
  ++unswept_entries_;
  unswept_bytes_ += size;
  // By the key's hash, so that short-lived processes take part.
  if (key.hash.low % 64 == 0 || overdue()) sweep();
}

// 0 or an errno. The file is there whole or not at all.
int DiskCache::write_entry(const Key& key, std::span<const uint8_t> blob) {
  const auto header = entry_header({key.bytes, blob});
  const std::span<const uint8_t> parts[] = {header, key.bytes, blob};
  const std::string name = entry_name(key.hash);
  int error = 0;
  // Twice, since the directory, or the temporary file in it, may have been removed under the first attempt.
  for (int round = 0; round < 2; ++round) {
    const OpenedDirectory directory = open_directory(path_, true);
    if (!directory.fd) return directory.error;
    for (int attempt = 0; attempt < temp_attempts; ++attempt) {
      TempFile temp(directory.fd.get(), temp_name(getpid(), temp_counter_++));
      error = temp ? temp.write(parts) : errno;
      if (error == EEXIST) continue;
      if (!error) error = temp.rename_to(name);
      // An empty directory planted under the name gives way; any other file is replaced by the rename itself.
      if (error == EISDIR && unlinkat(directory.fd.get(), name.c_str(), AT_REMOVEDIR) == 0) {
        error = temp.rename_to(name);
      }
      break;
    }
    if (error != ENOENT) break;
  }
  return error;
}

void DiskCache::put_failed(int error) {
  ++put_failures_;
  if (!stops_writing(error)) {
    log_.write(LogLevel::debug, "disk cache '", path_, "': put failed: ", errno_text(error));
  } else if (!read_only_.exchange(true)) {
    log_.write(LogLevel::warning, "disk cache '", path_, "' cannot be written (", errno_text(error),
               "); new artifacts stay in memory");
  }
}

// No process knows what the others wrote, and counting it takes a scan. Limits are kept by scanning after every
// sixteenth of them.
bool DiskCache::overdue() const {
  return unswept_entries_ > limits_.entries / 16 || unswept_bytes_ > limits_.bytes / 16;
}

DiskStats DiskCache::stats() const {
  DiskStats s;
  s.hits = hits_;
  for (size_t i = 0; i < miss_reason_count; ++i) s.misses[i] = misses_[i];
  s.puts = puts_;
  s.put_failures = put_failures_;
  s.removed = removed_;
  s.evictions = evictions_;
  s.bytes = swept_bytes_ + unswept_bytes_;
  s.bytes_read = bytes_read_;
  s.bytes_written = bytes_written_;
  s.read_only = read_only_;
  return s;
}

}  // namespace ingot::cache
