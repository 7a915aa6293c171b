// What the cache tests share: scratch directories, child processes, whole files.
#pragma once

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <string>
#include <vector>

#include "base/log.h"
#include "cache/key.h"
#include "cache/store.h"

namespace ingot::cache::test {

// A directory that others may enter (children that drop their rights need to), removed at the end.
class TempDir {
 public:
  TempDir() {
    const char* base = getenv("TMPDIR");
    path_ = std::string(base && base[0] == '/' ? base : "/tmp") + "/ingot-cache-XXXXXX";
    if (!mkdtemp(path_.data())) abort();
    chmod(path_.c_str(), 0755);
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline Key key_of(const std::string& text) { return Key::of({text.begin(), text.end()}); }

// `size` bytes that only this key's blob has.
inline Blob blob_of(const Key& key, size_t size) {
  Blob out(size);
  uint64_t x = key.hash.low | 1;
  for (uint8_t& b : out) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    b = static_cast<uint8_t>(x >> 56);
  }
  return out;
}

inline Blob read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return Blob(std::istreambuf_iterator<char>(in), {});
}
// A new file, the owner's alone. Not the old one cut and rewritten, which ext4 puts on the disk at each close.
inline void write_file(const std::string& path, const Blob& bytes) {
  unlink(path.c_str());
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 || write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) abort();
  close(fd);
}
inline bool exists(const std::string& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0;
}
// Names in a directory that begin with `prefix`.
inline std::vector<std::string> names_with(const std::string& directory, const std::string& prefix) {
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().filename().string().starts_with(prefix)) out.push_back(entry.path().filename());
  }
  return out;
}

// In a child: ends it with the line as a message.
#define EXPECT(condition)                                                                 \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      fprintf(stderr, "%s:%d: in a child process: %s\n", __FILE__, __LINE__, #condition); \
      _exit(1);                                                                           \
    }                                                                                     \
  } while (0)
inline constexpr int skipped = 77;

inline pid_t start_child(const std::function<void()>& body) {
  fflush(nullptr);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  try {
    body();
  } catch (const std::exception& e) {
    fprintf(stderr, "in a child process: %s\n", e.what());
    _exit(1);
  }
  _exit(0);
}
// The exit status; -1 if it did not exit by itself.
inline int wait_child(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}
inline int run_child(const std::function<void()>& body) { return wait_child(start_child(body)); }

constexpr uid_t nobody = 65534;
// For children of root, which permissions do not bind.
inline void drop_rights() {
  if (geteuid() != 0) return;
  EXPECT(setgroups(0, nullptr) == 0);
  EXPECT(setgid(nobody) == 0);
  EXPECT(setuid(nobody) == 0);
}
// Makes `path` the cache directory of whoever drop_rights() leaves.
inline void make_directory_for_dropped(const std::string& path) {
  mkdir(path.c_str(), 0700);
  if (geteuid() == 0 && chown(path.c_str(), nobody, nobody) != 0) abort();
}

// Counted by the test runner; on a line of its own.
inline void skip(const char* name, const char* reason) { printf("SKIP: %s: %s\n", name, reason); }

// Collects the warnings.
struct Warnings {
  std::mutex mutex;
  std::vector<std::string> lines;
  Log log() {
    return Log(
        [this](LogLevel, std::string_view text) {
          const std::lock_guard lock(mutex);
          lines.emplace_back(text);
        },
        LogLevel::warning);
  }
};

}  // namespace ingot::cache::test
