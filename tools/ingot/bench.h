// The figures of `ingot bench`: raw samples in nanoseconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "verbs.h"

namespace ingot::tool {

using Samples = std::vector<double>;
struct Spread {
  double min = 0, p10 = 0, median = 0, p90 = 0;
};
// Percentiles are interpolated between neighbours. All 0 without samples.
Spread spread(Samples samples);

// What a fresh process does before its first result: all four steps in order.
struct FirstCall {
  double context = 0, plan = 0, prepare = 0, run = 0;  // parse belongs to plan
  uint64_t compiles = 0, compiler_loaded = 0;
};
FirstCall first_call(const BenchArgs& args, const std::string& cache_dir);

struct Figures {
  // Fresh processes.
  Samples cold;       // empty cache: plan and prepare, the compiler's loading included
  Samples warm_disk;  // everything on disk: context, plan, prepare and the first run
  // This process.
  Samples later_compile;           // plan and prepare of the same kernels in a new context, compiler loaded
  Samples fused, unfused, memory;  // a call on the given sizes; a copy of the bytes the fused call moves
  Samples dispatch;                // a call on tiny sizes
  uint64_t fused_calls = 0;        // that one sample of `fused` averages
  uint64_t kernels = 0, launches = 0, unfused_launches = 0, bytes_read = 0, bytes_written = 0;
  std::string backend, device, tiny, sizes;  // device: that of CUDA
};
// The part that needs no other process. Throws if fused and unfused results differ.
void measure_calls(const BenchArgs& args, const std::string& source, Figures& figures);

}  // namespace ingot::tool
