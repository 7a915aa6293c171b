// The canonical bytes. What the rest of a kernel determines (axes of nodes, absent arguments, fields of the other view
// kinds) is not written, so that it cannot disagree.
//
//   u16 format; u8 rows, cols; u16 tensors, sizes; u8 row_lanes
//   u16 views:  u8 kind, storage; u16 tensor; u32 axes; u16 boxes: {u8 axis; u16 lo, hi}; u64 fill
//   u32 nodes:  u8 op, type; u64 imm unless the class has none; u32 per argument
//   u16 stores: u16 view; u32 value
#include "base/bytes.h"
#include "loop/kernel.h"

namespace ingot::loop {

namespace {

// Counts are read before what they count. An element takes at least `least` bytes, so a count that the input cannot
// hold is refused before anything is allocated for it.
template <class Count>
size_t read_count(ByteReader& in, size_t least, size_t most, const char* what) {
  const size_t n = in.get<Count>();
  if (n > most) fail(Code::invalid_argument, "kernel: ", n, " ", what, ", at most ", most);
  if (n > in.left() / least) fail(Code::invalid_argument, "kernel: the bytes end before its ", n, " ", what);
  return n;
}

View read_view(ByteReader& in) {
  View v;
  v.kind = static_cast<ViewKind>(in.get<uint8_t>());
  v.storage = static_cast<DType>(in.get<uint8_t>());
  v.tensor = in.get<uint16_t>();
  v.axes = in.get<uint32_t>();
  v.boxes.resize(read_count<uint16_t>(in, 5, max_boxes, "boxes"));
  for (Box& b : v.boxes) {
    b.axis = in.get<uint8_t>();
    b.lo = in.get<uint16_t>();
    b.hi = in.get<uint16_t>();
  }
  v.fill = in.get<uint64_t>();
  return v;
}

Node read_node(ByteReader& in, const Kernel& k) {
  const auto op = static_cast<Prim>(in.get<uint8_t>());
  const PrimInfo* info = prim_info(op);
  if (!info) fail(Code::invalid_argument, "kernel: node ", k.nodes.size(), " is no primitive");
  Node n{.op = op, .type = static_cast<DType>(in.get<uint8_t>())};
  if (has_imm(info->cls)) n.imm = in.get<uint64_t>();
  if (op == Prim::load && n.imm < k.views.size()) n.axes = k.views[n.imm].axes;
  for (size_t a = 0; a < info->arity; ++a) {
    n.arg[a] = in.get<uint32_t>();
    if (n.arg[a] < k.nodes.size()) n.axes |= k.nodes[n.arg[a]].axes;  // else verify() refuses it
  }
  if (is_fold(op)) n.axes &= k.row_set();
  if (is_scan(op)) n.axes |= k.col_set();
  return n;
}

}  // namespace

std::vector<uint8_t> encode(const Kernel& kernel) {
  ByteWriter out;
  out.put(kernel_format);
  out.put(kernel.rows);
  out.put(kernel.cols);
  out.put(kernel.tensors);
  out.put(kernel.sizes);
  out.put(static_cast<uint8_t>(kernel.row_lanes));
  out.put(static_cast<uint16_t>(kernel.views.size()));
  for (const View& v : kernel.views) {
    out.put(static_cast<uint8_t>(v.kind));
    out.put(static_cast<uint8_t>(v.storage));
    out.put(v.tensor);
    out.put(v.axes);
    out.put(static_cast<uint16_t>(v.boxes.size()));
    for (const Box& b : v.boxes) {
      out.put(b.axis);
      out.put(b.lo);
      out.put(b.hi);
    }
    out.put(v.fill);
  }
  out.put(static_cast<uint32_t>(kernel.nodes.size()));
  for (const Node& n : kernel.nodes) {
    const PrimInfo* info = prim_info(n.op);
    if (!info) bug("encode of a kernel that was not verified");
    out.put(static_cast<uint8_t>(n.op));
    out.put(static_cast<uint8_t>(n.type));
    if (has_imm(info->cls)) out.put(n.imm);
    for (size_t a = 0; a < info->arity; ++a) out.put(n.arg[a]);
  }
  out.put(static_cast<uint16_t>(kernel.stores.size()));
  for (const Store& s : kernel.stores) {
    out.put(s.view);
    out.put(s.value);
  }
  return std::move(out.bytes());
}

Kernel decode(const uint8_t* bytes, size_t size) {
  ByteReader in({bytes, size});
  if (const auto format = in.get<uint16_t>(); format != kernel_format)
    fail(Code::invalid_argument, "kernel: format ", unsigned{format}, ", this library reads ", unsigned{kernel_format});
  Kernel k;
  k.rows = in.get<uint8_t>();
  k.cols = in.get<uint8_t>();
  // row_set() shifts by the counts.
  if (k.axis_count() > max_axes) fail(Code::invalid_argument, "kernel: ", k.axis_count(), " axes, at most ", max_axes);
  k.tensors = in.get<uint16_t>();
  k.sizes = in.get<uint16_t>();
  const auto row_lanes = in.get<uint8_t>();
  if (row_lanes > 1) fail(Code::invalid_argument, "kernel: row_lanes is ", unsigned{row_lanes}, ", 0 or 1 expected");
  k.row_lanes = row_lanes != 0;
  const size_t views = read_count<uint16_t>(in, 18, max_views, "views");
  k.views.reserve(views);
  for (size_t i = 0; i < views; ++i) k.views.push_back(read_view(in));
  const size_t nodes = read_count<uint32_t>(in, 6, max_nodes, "nodes");
  k.nodes.reserve(nodes);
  for (size_t i = 0; i < nodes; ++i) k.nodes.push_back(read_node(in, k));
  k.stores.resize(read_count<uint16_t>(in, 6, max_views, "stores"));
  for (Store& s : k.stores) {
    s.view = in.get<uint16_t>();
    s.value = in.get<uint32_t>();
  }
  if (in.left() != 0) fail(Code::invalid_argument, "kernel: ", in.left(), " bytes behind its end");
  verify(k);
  return k;
}

}  // namespace ingot::loop
