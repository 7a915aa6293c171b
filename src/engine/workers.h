// Threads for making several kernels at once.
#pragma once

#include <cstddef>
#include <functional>

namespace ingot::engine {

// Calls work(i) once for each i < tasks, on as many threads as there are CPUs to use (the caller is one of them), and
// returns when all are done. Compiles do not contend. Without `threads`, or where none can be made, the caller does all
// of it. The first exception ends the handing out and is thrown on.
void run_on_workers(size_t tasks, bool threads, const std::function<void(size_t)>& work);

}  // namespace ingot::engine
