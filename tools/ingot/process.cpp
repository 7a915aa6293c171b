#include "process.h"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "error.h"

namespace ingot::tool {

std::string run_self(const std::vector<std::string>& arguments) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail(exit_failed, "pipe: ", std::strerror(errno));
  std::vector<std::string> owned{"ingot"};
  owned.insert(owned.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& a : owned) argv.push_back(a.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t child = 0;
  const int error = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string out;
  char block[4096];
  while (error == 0) {
    const ssize_t n = read(ends[0], block, sizeof block);
    if (n > 0) out.append(block, static_cast<size_t>(n));
    else if (n == 0 || errno != EINTR) break;
  }
  close(ends[0]);
  if (error != 0) fail(exit_failed, "cannot start a child: ", std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail(exit_failed, "the child that measures a fresh process failed");
  return out;
}

TemporaryDirectory::TemporaryDirectory() {
  const char* root = std::getenv("TMPDIR");
  path_ = std::string(root && *root ? root : "/tmp") + "/ingot-XXXXXX";
  if (!mkdtemp(path_.data())) fail(exit_failed, path_, ": ", std::strerror(errno));
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void pin_to_one_cpu() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(std::max(sched_getcpu(), 0)), &one);
  // Refused, the figures are only less steady.
  sched_setaffinity(0, sizeof one, &one);
}

}  // namespace ingot::tool
