// The disk cache: one directory, one file per entry, shared by any number of processes.
//
// Whatever has happened to the directory, a get() gives exactly the blob that was put under that key, or misses. Files
// are written under a temporary name and renamed into place, so a reader sees a whole entry or none; they are read,
// never mapped, so a truncation cannot become a SIGBUS. The directory is opened anew by each call: it may be removed,
// made again or replaced meanwhile, a fork shares nothing, and a host that closes all descriptors cannot make the cache
// write into one of its own.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "base/log.h"
#include "cache/format.h"

namespace ingot::cache {

struct DiskLimits {
  // Kept by sweep(), which put() calls now and then: overrun by at most a sixteenth for each object that puts, and what
  // its threads are just writing.
  uint64_t bytes = uint64_t{1} << 30;
  uint64_t entries = 32768;                    // likewise
  uint64_t entry_bytes = uint64_t{256} << 20;  // a larger file is no entry; a larger put does nothing
};

struct DiskStats {
  uint64_t hits = 0;
  std::array<uint64_t, miss_reason_count> misses{};  // by MissReason
  uint64_t puts = 0;
  uint64_t put_failures = 0;
  uint64_t removed = 0;    // damaged entries
  uint64_t evictions = 0;  // by sweep()
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t bytes = 0;      // in the directory: when this object last swept it, and what it put since
  bool read_only = false;  // latched after a write failed for good
};

struct DiskEntry {
  std::string name;    // of the file, in the directory
  uint64_t bytes = 0;  // of the file
  int64_t used = 0;    // seconds since 1970 when it was last written or, to a minute or so, hit
  // From the header, and `key` only if asked for; all zero if there is a fault.
  uint64_t key_bytes = 0;
  uint64_t blob_bytes = 0;
  std::vector<uint8_t> key;
  std::string fault;  // why the header or key could not be read; empty if they could
};

struct VerifyReport {
  struct Item {
    std::string name, reason;
  };
  uint64_t good = 0;
  std::vector<Item> removed;     // damaged
  std::vector<Item> unreadable;  // left as they are
};

struct SweepReport {
  bool ran = false;                 // false if another sweep holds the lock, or the directory is missing or read-only
  bool busy = false;                // another sweep holds the lock
  uint64_t entries = 0, bytes = 0;  // left
  uint64_t evicted = 0;
  uint64_t temps_removed = 0;  // what killed writers left
};

class DiskCache final : public Store {
 public:
  // Opens (and makes, 0700, with its parents) the directory. Throws Error naming path and reason if the path is not
  // absolute, not a directory, a symbolic link, foreign, or writable by others (failed_precondition), or cannot be made
  // or opened (io_error). The log gets at most two warnings: at the first entry that is there but cannot be used, and
  // when writing stops.
  static std::shared_ptr<DiskCache> open(std::string path, DiskLimits limits = {}, Log log = {});

  std::optional<Blob> get(const Key& key, Miss* why = nullptr) override;
  // Replaces what is there. Does nothing where a sweep is due that another process keeps it from, so that many writers
  // cannot outrun the one that sweeps. ENOSPC, EDQUOT, EROFS, EACCES or EPERM end all writing by this object, with one
  // warning; other failures count and are logged at debug level.
  void put(const Key& key, std::span<const uint8_t> blob) override;
  bool writable() const noexcept override { return !read_only_; }
  std::string_view name() const noexcept override { return "directory"; }

  // These work beside readers and writers in any process. A missing or unreadable directory has no entries.
  std::vector<DiskEntry> list(bool with_keys = false) const;
  VerifyReport verify();  // reads every entry whole and removes the damaged ones
  uint64_t clear();       // removes every entry and stale temporary; how many entries
  SweepReport sweep();    // removes the least recently used entries over the limits, and stale temporaries

  const std::string& path() const noexcept { return path_; }
  const DiskLimits& limits() const noexcept { return limits_; }
  DiskStats stats() const;

 private:
  DiskCache(std::string path, DiskLimits limits, Log log);
  enum class Use { hit, check };
  std::optional<Entry> read_entry(int directory, const std::string& name, Use use, Miss& miss);
  int write_entry(const Key& key, std::span<const uint8_t> blob);
  void put_failed(int error);
  bool overdue() const;

  const std::string path_;
  const DiskLimits limits_;
  const Log log_;
  std::atomic<bool> read_only_{false};
  std::atomic<bool> warned_of_entry_{false};
  std::atomic<uint64_t> temp_counter_{0};
  std::atomic<uint64_t> unswept_entries_{0}, unswept_bytes_{0};  // put since this object last swept
  std::atomic<uint64_t> swept_bytes_{0};                         // what it left then
  std::atomic<uint64_t> hits_{0}, puts_{0}, put_failures_{0}, removed_{0}, evictions_{0}, bytes_read_{0},
      bytes_written_{0};
  std::array<std::atomic<uint64_t>, miss_reason_count> misses_{};
};

}  // namespace ingot::cache
