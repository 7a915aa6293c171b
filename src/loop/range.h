// What is known of a float node's values before any of them is computed.
#pragma once

#include "loop/kernel.h"

namespace ingot::loop {

// Every value but NaN lies in [lo, hi].
struct Range {
  double lo, hi;
  bool nan;  // may be one
};

// Of a node of type f32 or f64, from the literals and comparisons a few steps around it; all values where nothing is
// known.
Range range_of(const Kernel& kernel, NodeId node) noexcept;

// The same for a conversion of such a node to an integer type: whether it needs neither saturation nor a look at NaN.
bool converts_as_is(const Kernel& kernel, const Node& conversion) noexcept;

}  // namespace ingot::loop
