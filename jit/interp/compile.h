// A sweep as the interpreter runs it: operands with addresses to be found at each call, and steps over them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "jit/interp/ops.h"
#include "loop/schedule.h"

namespace ingot::jit::interp {

enum class Source : uint8_t {
  constant,  // Code::constants
  size,      // Frame::size
  view,      // Frame::ptr
  hold,      // Frame::hold
  value,     // Frame::value, by fold slot
  acc,       // Frame::acc, by fold slot
  single,    // eight bytes of scratch
  strip      // a strip of scratch
};

struct Operand {
  Source source;
  uint32_t index;
  uint8_t item;   // bytes
  bool per_lane;  // items side by side, one a lane; else one item
};

enum class StepKind : uint8_t {
  compute,  // by `fn`
  guard,    // jumps to step `out` if no byte of operand `a` is set
  check,    // Prim::check of a, b, c
  fetch     // Prim::fetch: ok a, offset b, memory c
};

struct Step {
  StepKind kind;
  StripFn fn;
  uint32_t out, a, b, c;
  uint8_t scalars;
  bool single;               // computes one item, not one a lane
  uint32_t number = 0;       // check: its own
  loop::DType storage = {};  // fetch: of the memory
};

struct FoldStep {
  FoldFn fn;
  uint32_t src, acc;
};

struct DotStep {
  DotFn dot;  // where both operands are loads, all of k at once; else null and
  ChainFn chain;
  StripFn accumulate;
  loop::DType type;
  uint32_t a, b, acc;
  uint32_t p;  // the strip of the chain
  uint8_t scalars;
};

// A fold in mode row that is no dot: the values of up to eight k, joined in the sum order.
struct GroupStep {
  StripFn join;
  uint32_t src, acc;
  std::array<uint32_t, loop::group_items> kept;  // a strip for each k
  uint8_t item;
};

struct Code {
  std::vector<uint64_t> constants;
  std::vector<Operand> operands;
  std::vector<Step> uniform;   // once a call
  std::vector<Step> per_lane;  // mode row: once for each run of lanes
  std::vector<Step> varying;   // for each run of lanes (mode row: and each k)
  std::vector<FoldStep> folds;
  std::vector<DotStep> dots;
  std::vector<GroupStep> groups;
  std::vector<Step> stores;  // last, since a store may be in place of any load
  uint32_t singles = 0, strips = 0;
  uint32_t strip_item = 1;  // bytes of the widest item in a strip
  int64_t lanes = 1024;     // of a run: so many that the strips stay in L1
};

Code compile_sweep(const loop::Kernel& kernel, const loop::Schedule& schedule, unsigned index, const Ops& ops);
Code compile_row(const loop::Kernel& kernel, const loop::Schedule& schedule, const Ops& ops);

}  // namespace ingot::jit::interp
