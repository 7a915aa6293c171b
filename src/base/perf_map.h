// Names for generated code in profiles: the file /tmp/perf-PID.map that `perf report` reads (its format is described in
// tools/perf/Documentation/jit-interface.txt of the Linux kernel).
#pragma once

#include <cstddef>
#include <string_view>

#include "base/append_file.h"

namespace ingot {

// Free-threaded. Names of code that is gone stay in the file, as the format has it; the newest of an address counts.
// Of this process: a forked child has a map of its own, which begins empty.
class PerfMap {
 public:
  PerfMap();  // throws io_error
  // Control characters in `name` become spaces.
  void add(const void* code, size_t bytes, std::string_view name) const noexcept;

 private:
  AppendFile file_;
};

}  // namespace ingot
