// What computing a value again costs against storing it once and reading it: operations against bytes, both for each
// element of the value. Estimates are of the graph alone, so that a plan is the same for every size and number of
// threads.
#pragma once

#include <functional>

#include "fuse/reason.h"
#include "ir/graph.h"

namespace ingot::fuse {

// Additions that a vector takes as long for as for moving a byte of each of its items. With the pairs of graphs that
// docs/architecture.md names ("Stored or computed again"): 4 operations are cheaper than 4 bytes and 8 are dearer, 8
// are as dear as 8 bytes and 14 are dearer, in the second-level cache. It is what Schedule's holds have (6 to an item
// of 4).
inline constexpr double operations_a_byte = 1.5;

// The extent that a symbol is taken to have where its bounds do not say that it is less, or more.
inline constexpr int64_t assumed_extent = 1024;
double estimate(const ir::DimTable& dims, ir::DimId extent);
double estimate(const ir::DimTable& dims, std::span<const ir::DimId> shape);

// The operations of an op for an element, in additions; of movement none.
uint32_t operations(const ir::Graph& graph, const ir::Op& op);

// What has to be done again for a value: the op that makes it and those that this reads from, up to values that lie in
// memory and to scalars.
struct Cone {
  uint32_t operations = 0;  // for each element, as if all had the value's shape
  double bytes = 0;         // read from memory for each element
  bool folds = false;       // some of that is a fold or scan, which is not part of it
};
Cone cone_of(const ir::Graph& graph, const ir::DimTable& dims, ir::ValueId value,
             const std::function<bool(ir::ValueId)>& in_memory);

// How a value would be computed again.
struct Repeats {
  double times = 1;    // for each of its elements
  double passes = 1;   // over what the cone reads from memory
  bool joins = false;  // stored, it is so by a kernel that needs it, and not read by that one
};
// The reason to store it, if repeating is dearer.
std::optional<Reason> dearer(const Cone& cone, double item_size, const Repeats& repeats, uint32_t op);

}  // namespace ingot::fuse
