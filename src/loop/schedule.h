// When, where and how often the nodes of a kernel run: derived from the kernel alone, never stored, never part of the
// meaning. The strip driver (jit/strip), the interpreter and the CPU emitter all read this one description, so that a
// frame means the same to each of them (jit/frame.h).
//
// Two lane modes:
//   cols  lanes run over the linear, row-major k of all cols (folds but dot), or, in a kernel without cols, over the
//         linear order of the rows themselves (pointwise). One call covers one strip of at most strip_lanes lanes that
//         starts at a multiple of strip_lanes, so that a strip is one block of the sum order (NUMERICS.md).
//   row   kernels with fold_dot or Kernel::row_lanes: lanes run over the last row axis (one lane if there is none). For
//         dots a call loops over a run of k, at most dot_block long, starting at a multiple of it. For the other folds
//         it takes the k of one item of a group of the sum order: j, j + 8, ... j + 56, or as many as there are.
#pragma once

#include "loop/kernel.h"

namespace ingot::loop {

inline constexpr int64_t strip_lanes = 1024;
inline constexpr int64_t dot_block = 256;
inline constexpr int64_t fold_granule = 64;   // lanes come in whole multiples of this in mode cols with ordered folds
inline constexpr int64_t plain_granule = 16;  // and of this elsewhere

// The sum order: a group of 64 k adds one t to each of eight items. Eight values become one, there and at the end, by
// these joins: [to] takes in [from], and the result is [0].
inline constexpr int64_t group_items = 8;
struct Join {
  uint8_t to, from;
};
inline constexpr Join group_joins[] = {{0, 4}, {2, 6}, {1, 5}, {3, 7}, {0, 2}, {1, 3}, {0, 1}};

enum class LaneMode : uint8_t { cols, row };

// A node's value kept per lane from the sweep that computes it to later sweeps, in a row buffer of one item per lane of
// the whole row. That of a scan is filled with its argument; the strip driver turns it into the scan's values.
struct Hold {
  NodeId node;
  uint8_t level;        // the sweep that fills it
  NodeId source;        // what that sweep writes: the node, or the argument of a scan
  bool window = false;  // read only by sweeps that are walked together with `level`: a buffer of one strip will do

  bool scanned() const { return source != node; }
};

// One sweep over the lanes. Lists are in node order. "Uniform" nodes have neither a lane axis nor a col axis: they
// are computed once per call, as scalars. A node may stand in several sweeps: cheap ones are recomputed, held ones are
// filled in one and read in the others.
struct Sweep {
  std::vector<NodeId> uniform;  // literals, sizes, loads and arithmetic without lanes, folds of earlier sweeps excluded
  std::vector<NodeId>
      per_lane_invariant;        // lane mode row only: have the lane axis but no col: once per lane, before the k loop
  std::vector<NodeId> varying;   // per lane (mode cols), per lane and k or per k (mode row)
  std::vector<NodeId> folds;     // finished at the end of this sweep
  std::vector<uint16_t> fills;   // indices into Schedule::holds written by this sweep
  std::vector<uint16_t> reads;   // indices into Schedule::holds read by this sweep
  std::vector<uint16_t> stores;  // indices into Kernel::stores with a lane axis, written by this sweep
  std::vector<uint16_t> views;   // the load views that this sweep reads per lane (their strips must be presented)
  // Whether the next sweep follows strip by strip, not only when this one has gone through the row: all that it needs
  // of this one are scans in the direction of the walk. Sweeps so linked walk up the lanes, or down if all of their
  // scans are in reverse.
  bool linked = false;
  int64_t granule = plain_granule;
  uint32_t weight = 0;  // summed cost of `varying`, in additions
};

struct Schedule {
  LaneMode mode = LaneMode::cols;
  bool dots = false;  // mode row: its folds are those of dots
  // Sweep l computes what needs the folds of sweeps before l. There is one more sweep than levels with folds, unless
  // nothing is left to do per lane after the last fold; a pointwise kernel has exactly one.
  std::vector<Sweep> sweeps;
  std::vector<Hold> holds;
  std::vector<NodeId> folds;       // every fold node in node order: index = fold slot of Frame::acc and Frame::value
  std::vector<int32_t> fold_slot;  // per node: its index in `folds`, or -1
  std::vector<int32_t> hold_slot;  // per node: its index in `holds`, or -1
  // After the sweeps, once per row, for stores without a lane axis (results of full folds and arithmetic on them). A
  // kernel without any axis is only this, beside one empty sweep. In mode row there is none of it: what has no lane
  // axis there (no row axis at all) is stored by the last sweep, as its single lane.
  std::vector<NodeId> row_nodes;
  std::vector<uint16_t> row_stores;
};

// Float sums and products: they add up in the sum order, and their blocks join by a tree. The other folds give the same
// for any order.
bool is_ordered(const Node& fold);

Schedule schedule(const Kernel& kernel);

std::string to_text(const Kernel& kernel, const Schedule& schedule);

}  // namespace ingot::loop
