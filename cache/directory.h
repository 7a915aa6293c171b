// The directory under the disk cache: opened so that no one else can have put anything into it.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/hash.h"

namespace ingot::cache {

struct OpenedDirectory {
  Fd fd;               // invalid on failure
  int error = 0;       // then an errno; EPERM when it exists but must not be trusted
  std::string reason;  // and what is wrong, to follow the path in a message
};

// Opens `path` if it is a real directory (no symlink) of the effective user that neither group nor others may write to,
// all checked on the descriptor. With `create` it and its missing parents are made first, mode 0700.
OpenedDirectory open_directory(const std::string& path, bool create);

// Opens a file of the directory for reading: a regular file (no symlink, device or pipe) of the effective user that
// neither group nor others may write to. On failure the descriptor is invalid, `error` an errno (EPERM as above, ENOENT
// if there is nothing) and `reason` what is wrong. `info` is fstat's answer.
Fd open_file(int directory, const std::string& name, struct stat& info, int& error, std::string& reason);

// The names in the directory, in no order, without "." and "..". Nothing on failure, with errno in `error`.
std::optional<std::vector<std::string>> list_names(int directory, int& error);

// Reads exactly out.size() bytes at an offset; or an errno, ENODATA if the file ends before.
int read_exactly(int fd, std::span<uint8_t> out, uint64_t offset);
// Appends the parts in order; or an errno.
int write_all(int fd, std::span<const std::span<const uint8_t>> parts);

// "<32 hex digits>.ing".
std::string entry_name(const Hash128& hash);
bool is_entry_name(std::string_view name);
// ".tmp-<pid>-<counter>".
std::string temp_name(long pid, uint64_t counter);
std::optional<long> temp_pid(std::string_view name);  // nothing if it is no such name

// Removes a temporary file if its writer is gone. The writer holds a flock on it, which ends with the process and is
// seen from other pid namespaces too; between its open and its flock only the pid speaks for it.
bool remove_stale_temp(int directory, const std::string& name, long pid);

}  // namespace ingot::cache
