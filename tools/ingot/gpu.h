// The first CUDA device as a host has it: memory, copies and a stream, through the driver itself. The library launches
// on memory that is given to it, and makes no inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "feed.h"

namespace ingot::tool {

class Gpu {
 public:
  // Opens the driver where the library looks for it. Throws unsupported where there is none, or no device.
  Gpu();
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const std::string& name() const { return name_; }
  void* stream() const { return stream_; }
  uint64_t allocate(size_t bytes) const;
  void release(uint64_t at) const;
  void upload(uint64_t to, const void* from, size_t bytes) const;
  void download(void* to, uint64_t from, size_t bytes) const;
  void copy(uint64_t to, uint64_t from, size_t bytes) const;  // enqueued
  void wait() const;                                          // for all that is enqueued

 private:
  struct Entries;
  void must(int result, const char* what) const;

  std::unique_ptr<const Entries> cuda_;
  std::string name_;
  int device_ = 0;
  void* stream_ = nullptr;
};

// So many bytes of its memory, filled with ones.
class GpuMemory {
 public:
  GpuMemory(const Gpu& gpu, size_t bytes);
  ~GpuMemory();
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;
  uint64_t at() const { return at_; }

 private:
  const Gpu& gpu_;
  uint64_t at_ = 0;
};

// The arrays of a feed on the device; what binds a symbol stays with the host.
class GpuFeed {
 public:
  GpuFeed(const Gpu& gpu, Feed& feed);

  // Enqueues one run.
  void run(ingot_executable* executable, const ingot_run_options* options) const;
  // The outputs into the feed's results.
  void fetch() const;

 private:
  ingot_tensor moved(const ingot_tensor& tensor, size_t bytes);

  const Gpu& gpu_;
  Feed& feed_;
  std::vector<std::unique_ptr<GpuMemory>> memory_;
  std::vector<ingot_tensor> tensors_;
  std::vector<const ingot_tensor*> in_, out_;
};

}  // namespace ingot::tool
