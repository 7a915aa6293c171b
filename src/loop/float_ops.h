// How much a kernel computes: what a roofline sets against the bytes that it moves.
#pragma once

#include <vector>

#include "loop/kernel.h"

namespace ingot::loop {

// So many operations for each element of the axes.
struct FloatOps {
  DType type;
  AxisSet axes;
  uint32_t count;
  friend bool operator==(const FloatOps&, const FloatOps&) = default;
};

// Operations on f32 and on f64, each with one result: additions, subtractions, multiplications, divisions, minima,
// maxima, roots, roundings, scalings and fused multiply-adds, one for each item that a fold or scan takes. Not counted
// are what moves bits (abs, neg, select, conversions), comparisons, and the slow arms of `rare`. A node counts once,
// though the schedule may compute it in several sweeps. By type, then axes.
std::vector<FloatOps> float_ops(const Kernel& kernel);

}  // namespace ingot::loop
