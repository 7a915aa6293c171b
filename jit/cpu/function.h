// One function of the image: a sweep or the row part, emitted as void(const Frame*).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "jit/cpu/ops.h"
#include "jit/cpu/regions.h"
#include "loop/schedule.h"

namespace ingot::jit {

class FunctionEmitter {
 public:
  FunctionEmitter(llvm::Module& module, const Target& target, const loop::Kernel& kernel,
                  const loop::Schedule& schedule, const std::string& name);

  void sweep_cols(const loop::Sweep& sweep);
  void sweep_row(const loop::Sweep& sweep);
  void row();

 private:
  using Value = llvm::Value;
  using NodeId = loop::NodeId;

  // Where the lanes at hand lie: consecutive from `index` on, or `split`: the 16 lanes of a step of the sum order,
  // eight from `index` on and eight 32 further.
  struct Lanes {
    Value* index;
    unsigned count;  // 0: one scalar
    bool split = false;
  };

  // A loop that runs at least once. `carried` are phis; their values after the last round are those given to end_loop.
  struct Loop {
    llvm::BasicBlock* header;
    llvm::PHINode* index;
    std::vector<llvm::PHINode*> carried;
  };
  Loop begin_loop(Value* start, const std::vector<Value*>& carried);
  void end_loop(const Loop& loop, Value* next, Value* again, const std::vector<Value*>& carried);
  // All lanes of the frame in rounds of so many: of the first width while it fits, then of the next. `begin` gives what
  // a width's rounds carry from one to the next, `round` gets the loop and the first lane of the next round and gives
  // the carried values for that, `end` follows the last round of a width.
  struct Rounds {
    std::function<std::vector<Value*>(unsigned)> begin;
    std::function<std::vector<Value*>(const Loop&, Value*)> round;
    std::function<void()> end;
  };
  void in_rounds(const std::vector<unsigned>& widths, const Rounds& rounds);
  // The same where nothing is carried: `emit` gets the first lane of a round and its width.
  void in_rounds(const std::vector<unsigned>& widths, const std::function<void(Value*, unsigned)>& emit);

  // Prologue and epilogue. In mode cols what is between them is a loop over the rows of the call.
  void begin(const std::vector<NodeId>& uniform);
  void guard(Value* more_than_zero);  // returns from the function if it is not; the loops follow
  void finish();
  // A pointer that moves from row to row: `first` in the first one. step(builder) is by how many bytes.
  using Step = std::function<Value*(llvm::IRBuilder<>&)>;
  Value* by_row(Value* first, Step step);

  // The frame.
  Value* field(size_t offset, llvm::Type* type);
  Value* pointer_at(size_t array, size_t index, size_t steps);  // array[index], which moves by steps[index] a row
  Value* view_pointer(size_t view);
  Value* along(size_t view);  // Frame::along
  Value* hold_pointer(size_t hold);
  Value* fold_value(NodeId fold);                             // of an earlier sweep, where there are no lanes
  Value* item(Value* base, Value* index, size_t item_bytes);  // base + index * item_bytes

  // Memory to values and back. The only place that knows what a boolean is there.
  Value* load_items(DType t, Value* base, const Lanes& at);
  void store_items(DType t, Value* base, const Lanes& at, Value* value, bool stream);

  // Nodes.
  Value* scalar_of(NodeId node);
  Value* lane_of(NodeId node, unsigned lanes);
  Value* splat(NodeId node, Value* scalar, unsigned lanes);
  void emit_scalar(NodeId node);
  void emit_lanes(const Regions& regions, uint32_t region, const Lanes& at);
  void emit_lane_node(const Regions& regions, NodeId node, const Lanes& at);
  size_t memory_operand(const loop::Node& n, unsigned lanes) const;
  Value* constant_in_memory(NodeId literal, unsigned lanes);
  Value* emit_rare(const Regions& regions, NodeId node, const Lanes& at);
  Value* apply(NodeId node, Value* x, Value* y, Value* z);

  // Checks and fetches (indexed.cpp). Without lanes a check is straight-line code, so that it may stand before the
  // loops.
  Value* emit_check(NodeId node, Value* when, Value* index, Value* extent, const Lanes& at);
  void note_fault(NodeId node, Value* bad, Value* index, Value* extent);
  Value* emit_fetch(NodeId node, Value* ok, Value* offset, const Lanes& at);
  Value* fetch_run(size_t view, Value* ok, Value* offset, const Lanes& at);
  Value* fetch_one(size_t view, Value* ok, Value* offset);
  std::vector<NodeId> roots(const loop::Sweep& sweep) const;

  // Mode cols.
  struct Acc {
    NodeId fold;
    bool tree;  // a float sum or product: eight items in the sum order; else lanes_ of them in any
    Value* value;
  };
  void emit_body(const loop::Sweep& sweep, const Regions& regions, const Lanes& at);
  void emit_stores(const loop::Sweep& sweep, const Lanes& at);
  bool fetches_ahead(const loop::Sweep& sweep) const;
  void fetch_ahead(size_t view, const Lanes& at);
  std::vector<Acc> begin_accs(const loop::Sweep& sweep);
  void finish_accs(const std::vector<Acc>& accs);
  Value* counting(const Lanes& at);  // a vector of i1: the lanes below Frame::valid
  Value* masked(const Acc& acc, Value* operand, const Lanes& at, Value* partial);
  Value* identity(NodeId fold, unsigned lanes);
  Value* merge(NodeId fold, Value* x, Value* y);
  Value* acc_pointer(NodeId fold);
  std::vector<unsigned> widths(const loop::Sweep& sweep, const Regions& regions) const;
  void plain(const loop::Sweep& sweep, const Regions& regions);
  void linear(const loop::Sweep& sweep, const Regions& regions);
  void grouped(const loop::Sweep& sweep, const Regions& regions);

  // Mode row: the nodes along k apart by whether they have the lane axis, and what does not change along k.
  struct RowLists {
    std::vector<NodeId> by_k;     // one scalar for each k
    std::vector<uint16_t> views;  // loaded along k
    size_t along = 0;             // how many nodes `varying` has
    Regions invariant, varying;
    loop::AxisSet lane_axis;
  };
  void emit_tile(const loop::Sweep& sweep, const RowLists& lists, Value* index, unsigned vectors, unsigned count);
  void emit_group(const loop::Sweep& sweep, const RowLists& lists, const Lanes& at);
  Value* lane_items(NodeId fold, size_t offset);
  void fetch_further(size_t view, const Lanes& at);
  llvm::Type* slot_type(NodeId fold, const Lanes& at);

  llvm::Module& module_;
  const Target target_;  // register_bytes of this function, which may be less than the level's
  const loop::Kernel& k_;
  const loop::Schedule& s_;
  llvm::IRBuilder<> b;
  Ops ops;
  llvm::Function* function_;
  llvm::BasicBlock* exit_;
  llvm::Instruction* entry_ = nullptr;      // the frame's fields are loaded before this
  llvm::Instruction* preheader_ = nullptr;  // what does not change along the lanes is placed before this: once a row
  llvm::BasicBlock* row_ = nullptr;         // mode cols: where a row begins
  struct Moving {
    llvm::PHINode* pointer;
    Step step;
  };
  std::vector<Moving> moving_;
  Value *acc_ = nullptr, *value_ = nullptr;  // mode cols: the row's accumulators and values
  std::map<size_t, Value*> fields_;          // of the frame, by offset
  std::vector<Value*> views_, holds_;        // pointers by view and hold, loaded on first use
  std::vector<Value*> scalar_, lane_;        // values by node
  std::vector<Value*> splats_;               // by node: one register of copies, made before the loops
  std::vector<uint32_t> uses_;               // by node: how many arguments it is
  Value* stream_ = nullptr;
  bool ahead_ = false;          // whether the sweep fetches the next rows' items into the cache
  std::vector<Value*> aheads_;  // by view: how far they are
  std::vector<Value*> alongs_;  // by view: Frame::along, loaded on first use
  Value* nothing_ = nullptr;    // the address of eight zero bytes, which lanes that fetch nothing read
  unsigned lanes_ = 0;          // of one round, in mode cols
};

}  // namespace ingot::jit
