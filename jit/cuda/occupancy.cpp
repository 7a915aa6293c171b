#include "jit/cuda/occupancy.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace ingot::jit {

namespace {

// clang-format off
constexpr Multiprocessor table[] = {
    // sm  warps blocks  KiB  unit reserved  f32
    { 75,   32,   16,    64,  256,     0,     64},
    { 80,   64,   32,   164,  128,  1024,     64},
    { 86,   48,   16,   100,  128,  1024,    128},
    { 87,   48,   16,   164,  128,  1024,    128},
    { 88,   48,   16,   100,  128,  1024,    128},  // blocks and shared memory by cuda_occupancy.h; else as 86
    { 89,   48,   24,   100,  128,  1024,    128},
    { 90,   64,   32,   228,  128,  1024,    128},
    {100,   64,   32,   228,  128,  1024,    128},
    {103,   64,   32,   228,  128,  1024,    128},
    {110,   48,   24,   228,  128,  1024,    128},
    {120,   48,   24,   100,  128,  1024,    128},
    {121,   48,   24,   100,  128,  1024,    128},
};
// clang-format on

// The same in all of them.
constexpr uint32_t warp = 32, registers_all = 65536, register_unit = 256, most_registers = 256, partitions = 4;

constexpr uint32_t rounded_up(uint32_t n, uint32_t unit) { return (n + unit - 1) / unit * unit; }

}  // namespace

const Multiprocessor* multiprocessor(int sm) noexcept {
  const auto* const found = std::find_if(std::begin(table), std::end(table), [&](const auto& m) { return m.sm == sm; });
  return found == std::end(table) ? nullptr : found;
}

std::string known_sms() {
  std::string out;
  for (const Multiprocessor& m : table) out += cat(out.empty() ? "" : ", ", "sm_", m.sm);
  return out;
}

int sm_of(const std::string& target) noexcept {
  int sm = 0;
  if (!target.starts_with("sm_")) return 0;
  const char* const end = target.data() + target.size();
  const auto [rest, error] = std::from_chars(target.data() + 3, end, sm);
  const bool letter = end - rest == 1 && (*rest == 'a' || *rest == 'f');
  return error == std::errc{} && (rest == end || letter) ? sm : 0;
}

const char* name(OccupancyLimit limit) {
  switch (limit) {
    case OccupancyLimit::warps: return "warps";
    case OccupancyLimit::blocks: return "blocks";
    case OccupancyLimit::registers: return "registers";
    case OccupancyLimit::shared_memory: return "shared memory";
  }
  bug("an unknown limit");
}

Occupancy occupancy(const Multiprocessor& mp, uint32_t threads, uint32_t registers, uint32_t shared_bytes) noexcept {
  const uint32_t warps = (threads + warp - 1) / warp;
  Occupancy out{mp.warps / warps, 0, OccupancyLimit::warps};
  const auto at_most = [&](uint32_t blocks, OccupancyLimit limit) {
    if (blocks < out.blocks) out.blocks = blocks, out.limit = limit;
  };
  at_most(mp.blocks, OccupancyLimit::blocks);
  if (registers > 0) {
    // Registers are given to warps, each partition of the multiprocessor having its own; a launch is checked as if a
    // block had as many warps in every partition.
    const uint32_t each = rounded_up(registers * warp, register_unit);
    const bool fits = registers <= most_registers && each * rounded_up(warps, partitions) <= registers_all;
    at_most(fits ? registers_all / partitions / each * partitions / warps : 0, OccupancyLimit::registers);
  }
  if (shared_bytes > 0)
    at_most(mp.shared_kib * 1024 / rounded_up(shared_bytes, mp.shared_unit), OccupancyLimit::shared_memory);
  out.warps = out.blocks * warps;
  return out;
}

}  // namespace ingot::jit
