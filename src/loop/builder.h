// Makes a kernel node by node. Every node is made once (hash-consing), so equal primitives of different expansions are
// shared, and the order of the nodes is the order in which they are first needed.
#pragma once

#include <bit>
#include <unordered_map>

#include "loop/kernel.h"

namespace ingot::loop {

class Builder {
 public:
  Builder(uint8_t rows, uint8_t cols);

  // Views. Slots returned by size_slot() start after the axes' own.
  // Always a new view, its boxes in any order: what a view points to is not part of it, so only the caller knows which
  // of them are one.
  uint16_t add_view(View view);
  const View& view(uint16_t id) const { return kernel_.views[id]; }
  uint16_t add_size_slot() { return kernel_.sizes++; }
  uint16_t add_tensor() { return kernel_.tensors++; }

  // Nodes. Types and axes are derived; a wrong type is a bug of the caller (Error internal).
  NodeId literal(DType type, uint64_t bits);
  NodeId size(uint16_t slot);
  NodeId load(uint16_t view);
  // Every primitive with arguments but convert, bitcast and number_bits, whose result type cannot be derived, and
  // scans.
  NodeId op(Prim prim, NodeId a, NodeId b = no_node, NodeId c = no_node);
  NodeId scan(Prim prim, NodeId a, uint64_t imm);  // imm: scan_exclusive, scan_reverse
  NodeId convert(DType to, NodeId a);
  NodeId bitcast(DType to, NodeId a);
  NodeId number_bits(NodeId a);  // f32 to i32, f64 to i64
  // Prim::check, with a number to be told apart by, and Prim::fetch.
  NodeId check(uint64_t number, NodeId when, NodeId index, NodeId extent);
  NodeId fetch(uint16_t view, NodeId ok, NodeId offset);

  void store(uint16_t view, NodeId value);

  const Node& node(NodeId id) const { return kernel_.nodes[id]; }
  DType type(NodeId id) const { return kernel_.nodes[id].type; }
  size_t node_count() const { return kernel_.nodes.size(); }

  // Inserts `canon` by backward demand, drops what no store reaches, orders the nodes, verifies.
  Kernel finish();

 private:
  NodeId intern(const Node& node);

  struct NodeHash {
    size_t operator()(const Node& n) const noexcept;
  };
  Kernel kernel_;
  std::unordered_map<Node, NodeId, NodeHash> known_;
};

}  // namespace ingot::loop
