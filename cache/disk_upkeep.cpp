// What works on the whole directory: list, verify, clear, sweep.
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>

#include <algorithm>
#include <tuple>

#include "cache/directory.h"
#include "cache/disk.h"

namespace ingot::cache {

namespace {

constexpr time_t clock_slack = 60;  // seconds a time may lie ahead (other machines' clocks) before it is put right

// One sweeper at a time over all processes. Unlocked by hand: a process forked meanwhile holds a copy of the
// descriptor, which would keep the lock for as long as it lives.
class SweepLock {
 public:
  explicit SweepLock(int directory)
      : fd_(openat(directory, ".lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600)) {
    if (!fd_ || flock(fd_.get(), LOCK_EX | LOCK_NB) == 0) return;
    busy_ = errno == EWOULDBLOCK;
    fd_.close();
  }
  ~SweepLock() {
    if (fd_) flock(fd_.get(), LOCK_UN);
  }
  SweepLock(const SweepLock&) = delete;
  SweepLock& operator=(const SweepLock&) = delete;
  explicit operator bool() const { return static_cast<bool>(fd_); }
  bool busy() const { return busy_; }

 private:
  Fd fd_;
  bool busy_ = false;
};

std::vector<std::string> names_or_none(const OpenedDirectory& directory) {
  int error = 0;
  if (!directory.fd) return {};
  return list_names(directory.fd.get(), error).value_or(std::vector<std::string>{});
}

void read_parts(int directory, DiskEntry& entry, bool with_key) {
  struct stat info;
  int error = 0;
  const Fd fd = open_file(directory, entry.name, info, error, entry.fault);
  if (error) return;
  std::array<uint8_t, entry_header_size> header;
  const auto size = static_cast<uint64_t>(info.st_size);
  const auto head = std::span(header).first(std::min<uint64_t>(size, header.size()));
  const char* fault = "cannot be read";
  std::optional<EntrySizes> sizes;
  if (read_exactly(fd.get(), head, 0) == 0) sizes = check_header(head, size, fault);
  if (sizes && with_key) {
    entry.key.resize(sizes->key);
    if (read_exactly(fd.get(), entry.key, entry_header_size) != 0) sizes.reset();
  }
  if (sizes) {
    entry.key_bytes = sizes->key;
    entry.blob_bytes = sizes->blob;
  } else {
    entry.key.clear();
    entry.fault = fault;
  }
}

}  // namespace

std::vector<DiskEntry> DiskCache::list(bool with_keys) const {
  const OpenedDirectory directory = open_directory(path_, false);
  std::vector<DiskEntry> entries;
  for (std::string& name : names_or_none(directory)) {
    struct stat info;
    if (!is_entry_name(name)) continue;
    if (fstatat(directory.fd.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;  // removed meanwhile
    DiskEntry entry;
    entry.name = std::move(name);
    entry.bytes = static_cast<uint64_t>(info.st_size);
    entry.used = info.st_mtime;
    read_parts(directory.fd.get(), entry, with_keys && entry.bytes <= limits_.entry_bytes);
    entries.push_back(std::move(entry));
  }
  std::ranges::sort(entries, {}, &DiskEntry::name);
  return entries;
}

VerifyReport DiskCache::verify() {
  VerifyReport report;
  const OpenedDirectory directory = open_directory(path_, false);
  for (const std::string& name : names_or_none(directory)) {
    if (!is_entry_name(name)) continue;
    Miss miss;
    if (const auto entry = read_entry(directory.fd.get(), name, Use::check, miss)) {
      if (entry_name(hash128(entry->parts.key)) == name) {
        ++report.good;
        continue;
      }
      // Whole, but under a name where its key is never looked for: it can only stand in another's way.
      miss = {MissReason::content, "its key belongs under another name", {}};
      if (unlinkat(directory.fd.get(), name.c_str(), 0) == 0) ++removed_;
    }
    if (miss.reason == MissReason::absent) continue;  // removed meanwhile
    (miss.reason == MissReason::content ? report.removed : report.unreadable).push_back({name, miss.detail});
  }
  return report;
}

uint64_t DiskCache::clear() {
  uint64_t cleared = 0;
  const OpenedDirectory directory = open_directory(path_, false);
  for (const std::string& name : names_or_none(directory)) {
    if (is_entry_name(name)) {
      cleared += unlinkat(directory.fd.get(), name.c_str(), 0) == 0;
    } else if (const auto pid = temp_pid(name)) {
      remove_stale_temp(directory.fd.get(), name, *pid);
    }
  }
  return cleared;
}

SweepReport DiskCache::sweep() {
  SweepReport report;
  const OpenedDirectory directory = open_directory(path_, false);
  if (!directory.fd) return report;
  const int dir = directory.fd.get();
  const SweepLock lock(dir);
  report.busy = lock.busy();
  if (!lock) return report;
  report.ran = true;
  unswept_entries_ = 0;
  unswept_bytes_ = 0;

  struct Candidate {
    timespec used;
    uint64_t bytes;
    std::string name;
  };
  std::vector<Candidate> found;
  const time_t now = time(nullptr);
  for (std::string& name : names_or_none(directory)) {
    struct stat info;
    if (const auto pid = temp_pid(name)) {
      report.temps_removed += remove_stale_temp(dir, name, *pid);
    } else if (is_entry_name(name) && fstatat(dir, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
      if (info.st_mtime > now + clock_slack) {  // the clock was set back: let it age from now on, like the others
        const timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
        utimensat(dir, name.c_str(), times, AT_SYMLINK_NOFOLLOW);
        info.st_mtim = {now, 0};
      }
      report.bytes += static_cast<uint64_t>(info.st_size);
      found.push_back({info.st_mtim, static_cast<uint64_t>(info.st_size), std::move(name)});
    }
  }
  report.entries = found.size();
  swept_bytes_ = report.bytes;
  if (report.entries <= limits_.entries && report.bytes <= limits_.bytes) return report;

  std::ranges::sort(found, [](const Candidate& a, const Candidate& b) {
    return std::tie(a.used.tv_sec, a.used.tv_nsec, a.name) < std::tie(b.used.tv_sec, b.used.tv_nsec, b.name);
  });
  for (const Candidate& c : found) {
    if (report.entries <= limits_.entries && report.bytes <= limits_.bytes) break;
    if (unlinkat(dir, c.name.c_str(), 0) != 0 && errno != ENOENT) continue;
    --report.entries;
    report.bytes -= c.bytes;
    ++report.evicted;
  }
  swept_bytes_ = report.bytes;
  evictions_ += report.evicted;
  return report;
}

}  // namespace ingot::cache
