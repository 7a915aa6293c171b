// What a cubin says of the resources that its kernels take. A cubin is an ELF file; the bytes may be anyone's.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ingot::jit {

struct CubinEntry {
  std::string name;
  uint32_t registers = 0;     // a thread
  uint32_t shared_bytes = 0;  // static, a block, as cuobjdump counts it
};

struct CubinResources {
  std::vector<CubinEntry> entries;  // in the order of the file
  // Whether shared_bytes, where it is not 0, holds the memory that the driver keeps of each block (sm_90 and later).
  bool reserved_counted = false;
};

// Throws invalid_argument where the bytes are no 64-bit ELF file of NVIDIA's, or a part lies outside of another.
CubinResources read_cubin(std::span<const uint8_t> cubin);

}  // namespace ingot::jit
