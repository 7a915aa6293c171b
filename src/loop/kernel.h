// The kernel IR: one DAG of scalar nodes over named axes. A node is a pure function of its axes; a fold removes axes.
// Index arithmetic lives in launch-time views, loops and buffers in the schedule, so a kernel is the same for every
// size, stride, alignment and target (docs/kernel-ir.md).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "ir/dtype.h"

namespace ingot::loop {

using ir::DType;

enum class Prim : uint8_t {
#define PRIM(name, number, arity, cls) name = number,
#include "loop/prims.def"
#undef PRIM
};

enum class PrimClass : uint8_t { leaf, arith, compare, other, index, fold, scan };

struct PrimInfo {
  const char* name;  // as in the text form: "add", "and", "fold.sum"
  uint8_t arity;
  PrimClass cls;
};
// nullptr if the number is not that of a primitive.
const PrimInfo* prim_info(Prim p) noexcept;
// Whether nodes of this class have a meaning in `imm`.
inline bool has_imm(PrimClass cls) noexcept {
  return cls == PrimClass::leaf || cls == PrimClass::index || cls == PrimClass::scan;
}
inline bool is_fold(Prim p) noexcept { return static_cast<uint8_t>(p) >= 100 && static_cast<uint8_t>(p) < 110; }
inline bool is_scan(Prim p) noexcept { return static_cast<uint8_t>(p) >= 110; }
// Whether its value needs a whole sweep of what it takes, so that it begins a level.
inline bool ends_sweep(Prim p) noexcept { return is_fold(p) || is_scan(p); }

// Node::imm of a scan.
inline constexpr uint64_t scan_exclusive = 1, scan_reverse = 2;

using NodeId = uint32_t;
inline constexpr NodeId no_node = std::numeric_limits<NodeId>::max();

// Bit a stands for axis a.
using AxisSet = uint32_t;
inline constexpr size_t max_axes = 16;
inline constexpr size_t max_views = 64;
// Hard limits for hostile bytes; the planner stops far earlier.
inline constexpr size_t max_nodes = 4096;
inline constexpr size_t max_sizes = 1024;
inline constexpr size_t max_boxes = 64;  // of one view
inline constexpr size_t max_levels = 32;
inline constexpr size_t max_checks = 64;

// A view yields its elements only where lo <= index(axis) < hi; lo and hi are size slots (run-time values).
struct Box {
  uint8_t axis;
  uint16_t lo, hi;
  friend bool operator==(const Box&, const Box&) = default;
};

enum class ViewKind : uint8_t {
  load = 1,    // reads a tensor; outside its boxes yields `fill` and reads nothing
  store = 2,   // writes a tensor; boxes are not allowed
  iota = 3,    // no memory: the value is base + sum(stride[a] * index(a)), type i64; base and strides come at launch;
               // no boxes
  inside = 4,  // no memory: boolean, true inside all boxes; varies along the axes of its boxes and no other
};

// A view's base and its stride per axis are filled in at launch: transpose, slice, step, reverse and broadcast are
// only strides. `axes` are those it may vary along; the stride along any other axis does not exist.
struct View {
  ViewKind kind = ViewKind::load;
  DType storage = DType::invalid;  // of memory; i64 for iota, boolean for inside
  uint16_t tensor = 0;             // which tensor argument (load, store); 0 for the memoryless kinds
  AxisSet axes = 0;
  std::vector<Box> boxes;  // on axes of the view, ascending by (axis, lo, hi); several boxes of one axis intersect
  uint64_t fill = 0;       // bits of the storage type, zero-extended; 0 without boxes
  friend bool operator==(const View&, const View&) = default;
};

struct Node {
  Prim op;
  DType type;        // boolean, i8..u64, f32, f64; f16, bf16, fp8: only moved, converted from and to f32
  AxisSet axes = 0;  // union of the arguments' axes; less the cols after a fold, with them after a scan; the view's for
                     // a load
  std::array<NodeId, 3> arg{no_node, no_node, no_node};
  uint64_t imm = 0;
  friend bool operator==(const Node&, const Node&) = default;
};

// Writes a node's value through a store view. The view's axes are all rows and all cols, or, for a value without cols,
// possibly all rows alone. A value that varies along fewer axes is repeated.
struct Store {
  uint16_t view;
  NodeId value;
  friend bool operator==(const Store&, const Store&) = default;
};

// Axes are numbered rows first (outermost first), then cols; the row-major order over the cols is k. Size slot a is the
// extent of axis a for a < rows + cols; the slots after those serve boxes and `size` nodes.
struct Kernel {
  uint8_t rows = 0;
  uint8_t cols = 0;
  uint16_t tensors = 0;
  uint16_t sizes = 0;
  // Neighbours in memory lie along the last row axis: better lanes than the cols (schedule.h). Changes no result; only
  // where may_have_row_lanes() says so (rules.h).
  bool row_lanes = false;
  std::vector<View> views;
  std::vector<Node> nodes;  // operands precede uses
  std::vector<Store> stores;

  AxisSet row_set() const { return (AxisSet{1} << rows) - 1; }
  AxisSet col_set() const { return ((AxisSet{1} << (rows + cols)) - 1) & ~row_set(); }
  size_t axis_count() const { return size_t{rows} + cols; }
  friend bool operator==(const Kernel&, const Kernel&) = default;
};

// level(node): the largest of its operands' levels, plus one for a fold or scan. A level is a sweep over the cols.
std::vector<uint8_t> levels(const Kernel& kernel);

// Throws invalid_argument naming the node or view that breaks a rule of docs/kernel-ir.md. Everything downstream relies
// on it: bytes from a cache or a fuzzer pass here first.
void verify(const Kernel& kernel);

// The canonical bytes: equal kernels have equal bytes, and `decode(encode(k)) == k`. decode() verifies; whatever the
// bytes, it throws invalid_argument or returns a kernel that encodes to them.
inline constexpr uint16_t kernel_format = 2;
std::vector<uint8_t> encode(const Kernel& kernel);
Kernel decode(const uint8_t* bytes, size_t size);

// The text form, for dumps and goldens; literals are exact, NaN payloads included.
std::string to_text(const Kernel& kernel);

}  // namespace ingot::loop
