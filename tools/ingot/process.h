// This program again, as a child.
#pragma once

#include <string>
#include <vector>

namespace ingot::tool {

// Runs /proc/self/exe with these arguments and gives back its stdout; its stderr is this process's. Throws if it ends with anything but 0.
std::string run_self(const std::vector<std::string>& arguments);

// A new directory of the caller's own; removed with all that is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Keeps this thread, and the threads and children it starts, on the CPU it runs on.
void pin_to_one_cpu();

}  // namespace ingot::tool
