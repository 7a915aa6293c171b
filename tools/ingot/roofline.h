// What the launches of a plan move and compute for given sizes, and how fast a device could at best.
#pragma once

#include <optional>

#include "plan.h"

namespace ingot::tool {

// What a float operation is, in words.
inline constexpr const char* float_operation =
    "an addition, subtraction, multiplication, division, minimum, maximum, root, rounding, scaling by a power of two "
    "or "
    "fused multiply-add of f32 or f64";

struct Work {
  Traffic traffic;
  double f32_ops = 0, f64_ops = 0;
  double ops() const { return f32_ops + f64_ops; }
  // Operations a byte moved; 0 where nothing is.
  double intensity() const;
};
Work step_work(const nlohmann::json& step, const Symbols& symbols);

// The least time that a device takes, whose memory and arithmetic work at once. `device` is one of describe "device".
struct Bound {
  double seconds = 0;
  bool by_memory = false;
};
// Nothing where the driver does not tell the device's speed.
std::optional<Bound> bound(const Work& work, const nlohmann::json& device);

// The device of the report that its code would run on; null where there is none.
const nlohmann::json* device_of(const nlohmann::json& report);

}  // namespace ingot::tool
