// How many blocks of a kernel a multiprocessor holds at once, by the rules and tables that NVIDIA publishes (CUDA C++
// Programming Guide, "Compute Capabilities"; cuda_occupancy.h).
#pragma once

#include <cstdint>
#include <string>

namespace ingot::jit {

// One multiprocessor of a compute capability.
struct Multiprocessor {
  int sm;                    // 90 for 9.0
  uint32_t warps, blocks;    // resident at most
  uint32_t shared_kib;       // shared memory at most
  uint32_t shared_unit;      // bytes: shared memory is given in multiples of this
  uint32_t shared_reserved;  // bytes that the driver keeps of each block's
  uint32_t f32_rate;         // additions or multiplications of f32 that end in a clock cycle
};

// Null for a version that is not in the tables.
const Multiprocessor* multiprocessor(int sm) noexcept;
// "sm_75, sm_80, ...": the versions in the tables.
std::string known_sms();
// The number of "sm_90", "sm_90a" or "sm_100f"; 0 where it is none of that form.
int sm_of(const std::string& target) noexcept;

enum class OccupancyLimit : uint8_t { warps, blocks, registers, shared_memory };
const char* name(OccupancyLimit limit);

struct Occupancy {
  uint32_t blocks = 0;  // resident; 0 where not even one fits
  uint32_t warps = 0;
  OccupancyLimit limit = OccupancyLimit::warps;  // what keeps it from being more; the first of equals
};
// `shared_bytes` with what the driver reserves.
Occupancy occupancy(const Multiprocessor& mp, uint32_t threads, uint32_t registers, uint32_t shared_bytes) noexcept;

}  // namespace ingot::jit
