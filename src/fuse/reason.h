// Why a value is stored by one kernel and read by another: what the planner decided by, with the facts it had.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace ingot::fuse {

enum class Why : uint8_t {
  // Memory that kernels do not own.
  unfused,            // PlanOptions::fuse
  reshape_no_map,     // a reshape that is no index map shares its operand's memory
  reshape_in_memory,  // so does one that is an output, or is read in memory
  routine_reads,      // a step without a kernel takes its operands in memory
  routine_makes,      // and makes its result there
  fetched_from,       // an op fetches from it at computed indices
  // What one kernel may hold: number > limit.
  full_work,
  full_views,
  full_sizes,
  full_folds,
  // An op whose value its reader needs otherwise than the kernel could make it.
  many_maps,       // number: index maps of one kernel
  dear,            // computed as often as its reader needs it, it would cost more than in memory: operations, bytes
  no_index_map,    // the op's operands under the reader's indices
  dot_operand,     // an operand of a matrix product, computed for each element of the other one's free dim
  moved,           // its reader moves or broadcasts it along more than whole axes
  other_space,     // own: its extents, theirs: those that its reader goes over
  cycle,           // two kernels would wait for each other
  far,             // whether they would takes looking at more than `limit` kernels
  fold_maps,       // a fold or scan under several index maps
  dot_alone,       // a matrix product beside another fold or scan
  other_rows,      // own: what the fold keeps, theirs: the rows of its reader
  other_cols,      // own: what it removes, theirs: what its reader sweeps
  dot_transposed,  // a matrix product whose reader transposes it
  scan_unit,       // its reader has no axis for the one that a scan goes along, whose extent is 1
  other_scan,      // own: along what it goes, theirs: what its reader sweeps
  // Two kernels that read one value and stay two.
  apart_maps,   // under other index maps
  apart_dot,    // one of them is a matrix product
  apart_space,  // own and theirs: the extents that they go over
  apart_sweep,  // own and theirs: the extents that they sweep
  apart_many,   // number: kernels that read it, more than are looked at
};
inline constexpr size_t why_count = static_cast<size_t>(Why::apart_many) + 1;

struct Reason {
  Why why = Why::unfused;
  uint32_t op = ir::no_op;             // the op that stays out or that needs the memory, or none
  std::vector<ir::DimId> own, theirs;  // extents, if it is by extents
  uint64_t number = 0, limit = 0;      // counted and allowed, if it is by counting
  // For each element, were it computed again and not stored: `why` has told why it is not computed just once.
  uint64_t operations = 0, bytes = 0;
};

// The stable name in JSON: that of the enumerator.
std::string_view name(Why why);
// What follows "x is stored:" or "two kernels read x:", with the names that the graph is printed with.
std::string to_text(const Reason& reason, const ir::Graph& graph, const ir::DimTable& dims,
                    std::span<const std::string> names);

}  // namespace ingot::fuse
