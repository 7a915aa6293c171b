#include "fuse/lower.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>

#include "base/error.h"
#include "loop/expand.h"
#include "loop/philox.h"
#include "loop/rules.h"

namespace ingot::fuse {

namespace {

using ir::OpClass;
using ir::OpCode;
using ir::ValueId;
using loop::NodeId;
using loop::Prim;
using loop::Val;

class Lowering {
 public:
  Lowering(const ir::Graph& graph, Maps& maps, const Clustering& clustering, uint32_t cluster, const Places& places)
      : g_(graph),
        maps_(maps),
        all_(clustering),
        number_(cluster),
        c_(clustering.clusters[cluster]),
        places_(places),
        builder_(static_cast<uint8_t>(std::popcount(c_.rows())), static_cast<uint8_t>(std::popcount(c_.cols))) {
    // Kernel axes: rows first, then cols, each in the cluster's order.
    order_ = axes_in(c_.rows());
    cols_ = axes_in(c_.cols);
    order_.insert(order_.end(), cols_.begin(), cols_.end());
    kernel_axis_.resize(c_.axes.size());
    for (uint32_t i = 0; i < order_.size(); ++i) kernel_axis_[order_[i]] = i;
    for (const uint32_t a : order_) {
      slot_.emplace(c_.axes[a], static_cast<uint16_t>(step_.sizes.size()));
      step_.sizes.push_back(c_.axes[a]);
    }
  }

  Step run() {
    if (c_.routine != no_op) return routine();
    std::vector<Cluster::Root> roots = c_.roots;
    std::stable_sort(roots.begin(), roots.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
    for (const Cluster::Root& r : roots) {
      const NodeId node = lower(r.value, r.map);
      const auto& outputs = places_.outputs_of[r.value];
      for (size_t o = size_t{r.part} * outputs_per_root;
           o < std::min<size_t>(outputs.size(), (size_t{r.part} + 1) * outputs_per_root); ++o)
        store(r, node, {RefKind::output, outputs[o]});
      if (r.part == 0 && places_.buffer_of[r.value] != no_buffer)
        store(r, node, {RefKind::buffer, places_.buffer_of[r.value]});
    }
    step_.kernel = builder_.finish();
    step_.kernel.row_lanes = loop::may_have_row_lanes(step_.kernel) && neighbours_on_rows();
    std::sort(step_.ops.begin(), step_.ops.end());
    step_.ops.erase(std::unique(step_.ops.begin(), step_.ops.end()), step_.ops.end());
    return std::move(step_);
  }

 private:
  struct ReadHash {
    size_t operator()(const Read& k) const noexcept {
      return (uint64_t{k.value} << 32 | k.map) * 0x9e3779b97f4a7c15u >> 7;
    }
  };

  // Whether in tensors as they usually lie, the last dim innermost, neighbours are on the last row axis and not on a
  // col. Layouts are known at launch only; where they differ, the lanes are copied together.
  bool neighbours_on_rows() const {
    constexpr int64_t few = 16;  // a vector
    const uint32_t last = static_cast<uint32_t>(std::popcount(c_.rows())) - 1;
    if (const auto extent = maps_.dims().as_constant(step_.sizes[last]); extent && *extent < few) return false;
    bool found = false;
    for (size_t v = 0; v < step_.views.size(); ++v) {
      const loop::View& view = step_.kernel.views[v];
      if (view.kind != loop::ViewKind::load || !(view.axes & step_.kernel.col_set()) || !(view.axes >> last & 1))
        continue;
      const auto& dims = step_.views[v].dims;
      const auto inner = std::find_if(dims.rbegin(), dims.rend(), [](const Affine& d) { return !d.terms.empty(); });
      if (inner == dims.rend()) continue;
      if (axes_of({&*inner, 1}) & step_.kernel.col_set()) return false;
      found |= inner->terms.back().axis == last;
    }
    return found;
  }

  uint16_t size_slot(DimId d) {
    const auto [at, fresh] = slot_.try_emplace(d, static_cast<uint16_t>(0));
    if (fresh) {
      at->second = builder_.add_size_slot();
      step_.sizes.push_back(d);
    }
    return at->second;
  }

  // A step without a kernel, whose views are bound to whole tensors.
  Step routine() {
    const ir::Op& op = g_.op(c_.routine);
    const ValueId result = op.results[0];
    step_.routine.op = op.code;
    if (op.code == OpCode::op_searchsorted) {
      step_.routine.right = attr(op, "side").s == "right";
    } else {
      step_.routine.axis = static_cast<uint32_t>(attr(op, "axis").i);
      add_check(op, step_.routine.axis);
    }
    const auto bind = [&](ViewBinding binding, ir::DType type) {
      step_.views.push_back(std::move(binding));
      step_.routine.types.push_back(type);
    };
    for (const ValueId v : op.operands) bind(memory_of(v), g_.value(v).dtype);
    for (const uint32_t o : places_.outputs_of[result]) bind({.ref = {RefKind::output, o}}, g_.value(result).dtype);
    if (const uint32_t b = places_.buffer_of[result]; b != no_buffer)
      bind({.ref = {RefKind::buffer, b}}, g_.value(result).dtype);
    step_.ops.push_back(c_.routine);
    return std::move(step_);
  }

  // --- views

  // The view with this shape and binding, made once.
  uint16_t view_of(loop::View view, ViewBinding binding) {
    for (size_t i = 0; i < step_.views.size(); ++i)
      if (same_binding(step_.views[i], binding) && builder_.view(static_cast<uint16_t>(i)) == view)
        return static_cast<uint16_t>(i);
    step_.views.push_back(std::move(binding));
    return builder_.add_view(std::move(view));
  }

  std::vector<Affine> to_kernel_axes(std::span<const Affine> dims) const {
    std::vector<Affine> out(dims.begin(), dims.end());
    for (Affine& d : out) {
      for (Term& t : d.terms) t.axis = kernel_axis_[t.axis];
      std::sort(d.terms.begin(), d.terms.end(), [](const Term& a, const Term& b) { return a.axis < b.axis; });
    }
    return out;
  }

  static loop::AxisSet axes_of(std::span<const Affine> dims) {
    loop::AxisSet set = 0;
    for (const Affine& d : dims)
      for (const Term& t : d.terms) set |= loop::AxisSet{1} << t.axis;
    return set;
  }

  // Boxes of a map that constrain the given kernel axes.
  std::vector<loop::Box> boxes_on(std::span<const AxisBox> boxes, loop::AxisSet axes) {
    std::vector<loop::Box> out;
    for (const AxisBox& b : boxes) {
      const uint32_t a = kernel_axis_[b.axis];
      if (axes >> a & 1) out.push_back({static_cast<uint8_t>(a), size_slot(b.lo), size_slot(b.hi)});
    }
    const auto key = [](const loop::Box& b) { return std::tuple(b.axis, b.lo, b.hi); };
    std::sort(out.begin(), out.end(), [&](const loop::Box& x, const loop::Box& y) { return key(x) < key(y); });
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  // The value whose memory v shares.
  ValueId base_of(ValueId v) const {
    while (all_.alias_of[v] != v) v = all_.alias_of[v];
    return v;
  }

  // Where v lies, but for the element.
  ViewBinding memory_of(ValueId v) {
    const ValueId base = base_of(v);
    ViewBinding binding;
    binding.ref = ref_of(base);
    if (base != v) {
      binding.compact = true;
      binding.shape = g_.value(v).shape;
    }
    return binding;
  }

  // A load view at `dims` of a value.
  uint16_t view_at(ValueId v, std::vector<Affine> dims, std::span<const AxisBox> boxes) {
    ViewBinding binding = memory_of(v);
    binding.dims = std::move(dims);
    loop::View view{.kind = loop::ViewKind::load, .storage = g_.value(v).dtype};
    view.axes = axes_of(binding.dims);
    view.boxes = boxes_on(boxes, view.axes);
    const auto tensor =
        std::find_if(tensors_.begin(), tensors_.end(), [&](const auto& t) { return t == std::pair{binding.ref, v}; });
    if (tensor == tensors_.end()) {
      view.tensor = builder_.add_tensor();
      tensors_.emplace_back(binding.ref, v);
    } else {
      view.tensor = static_cast<uint16_t>(tensor - tensors_.begin());
    }
    return view_of(std::move(view), std::move(binding));
  }

  NodeId load(ValueId v, MapId map) {
    return builder_.load(view_at(v, to_kernel_axes(maps_[map].dims), maps_[map].boxes));
  }

  // How many items behind the first one of v its element at `dims` lies.
  Val offset_in(ValueId v, std::vector<Affine> dims) {
    ViewBinding binding = memory_of(v);
    binding.dims = std::move(dims);
    loop::View view{.kind = loop::ViewKind::iota, .storage = ir::DType::i64};
    view.axes = axes_of(binding.dims);
    return {builder_, builder_.load(view_of(std::move(view), std::move(binding)))};
  }

  // --- fetches

  uint64_t add_check(const ir::Op& op, uint32_t dim) {
    step_.checks.push_back(
        {cat(ir::op_info(op.origin)->name, ": an index along axis ", dim, " of ", g_.describe(op.operands[0])),
         ir::is_signed(g_.value(op.operands[1]).dtype)});
    return step_.checks.size() - 1;
  }

  // The element of operand 0 at the indices `args`.
  NodeId fetch(const ir::Op& op, MapId map, const std::vector<NodeId>& args) {
    const ValueId data = op.operands[0];
    const auto& shape = g_.value(data).shape;
    const Affine here{maps_.zero(), {}};
    const std::vector<Affine> first(shape.size(), here);
    // Outside the boxes of pads and concats nothing is asked for.
    Val ok{builder_, maps_[map].boxes.empty() ? builder_.literal(ir::DType::boolean, 1)
                                              : inside(maps_.intern({maps_[map].dims, {}}), map)};
    Val offset = offset_in(data, to_kernel_axes(fetched_dims(g_, maps_, op, map)));
    const std::vector<uint32_t> picked = picked_dims(g_, op);
    for (size_t i = 0; i < picked.size(); ++i) {
      const Val extent{builder_, builder_.size(size_slot(shape[picked[i]]))};
      const Val index = counted_from_end({builder_, args[i]}, extent);
      ok = {builder_, builder_.check(add_check(op, picked[i]), ok.id(), index.id(), extent.id())};
      std::vector<Affine> next = first;
      next[picked[i]].offset = maps_.one();
      offset = offset + index * offset_in(data, std::move(next));
    }
    return builder_.fetch(view_at(data, first, {}), ok.id(), offset.id());
  }

  // An index of any integer type as i64. Of u64, what no i64 is stays out of range.
  static Val counted_from_end(Val index, Val extent) {
    if (index.type() == ir::DType::u64) index = vmin(index, INT64_MAX);
    const bool from_end = ir::is_signed(index.type());
    index = index.to(ir::DType::i64);
    return from_end ? select(lt(index, 0), index + extent, index) : index;
  }

  static bool same_binding(const ViewBinding& a, const ViewBinding& b) {
    return a.ref == b.ref && a.compact == b.compact && a.shape == b.shape && a.dims == b.dims;
  }

  TensorRef ref_of(ValueId v) {
    const ir::Value& value = g_.value(v);
    if (value.kind == ir::ValueKind::input) return {RefKind::input, value.source};
    if (value.kind == ir::ValueKind::constant) return {RefKind::constant, v};
    if (places_.buffer_of[v] != no_buffer) return {RefKind::buffer, places_.buffer_of[v]};
    return {RefKind::output, places_.outputs_of[v].front()};
  }

  void store(const Cluster::Root& root, NodeId node, TensorRef ref) {
    ViewBinding binding{.ref = ref, .dims = to_kernel_axes(maps_[root.map].dims)};
    loop::View view{.kind = loop::ViewKind::store, .storage = g_.value(root.value).dtype};
    view.tensor = builder_.add_tensor();
    tensors_.emplace_back(ref, root.value);
    view.axes = axes_of(binding.dims);
    step_.views.push_back(std::move(binding));
    builder_.store(builder_.add_view(std::move(view)), node);
  }

  NodeId iota(const ir::Op& op, MapId map) { return count(maps_[map].dims[static_cast<size_t>(attr(op, "axis").i)]); }

  // The stream is a size slot, so that kernels of several streams are one.
  loop::RandomPlace random_place(const ir::Op& op, MapId map, NodeId seed) {
    const auto& shape = g_.value(op.results[0]).shape;
    Affine index{maps_.zero(), {}};
    DimId stride = maps_.one();
    for (size_t d = shape.size(); d-- > 0;) {
      index = maps_.sum(index, maps_.scale(maps_[map].dims[d], stride));
      stride = maps_.dims().mul(stride, shape[d]);
    }
    const NodeId stream = builder_.size(size_slot(maps_.dims().constant(attr(op, "stream").i)));
    return {{builder_, seed}, {builder_, stream}, {builder_, count(index)}};
  }

  // The value of an affine function of the axes, as i64.
  NodeId count(const Affine& index) {
    ViewBinding binding;
    binding.dims = to_kernel_axes(std::span(&index, 1));
    loop::View view{.kind = loop::ViewKind::iota, .storage = ir::DType::i64};
    view.axes = axes_of(binding.dims);
    return builder_.load(view_of(std::move(view), std::move(binding)));
  }

  // True inside the boxes that `inner` has and `outer` has not.
  NodeId inside(MapId outer, MapId inner) {
    std::vector<AxisBox> fresh;
    for (const AxisBox& b : maps_[inner].boxes)
      if (std::find(maps_[outer].boxes.begin(), maps_[outer].boxes.end(), b) == maps_[outer].boxes.end())
        fresh.push_back(b);
    loop::View view{.kind = loop::ViewKind::inside, .storage = ir::DType::boolean};
    view.boxes = boxes_on(fresh, ~loop::AxisSet{0});
    for (const loop::Box& b : view.boxes) view.axes |= loop::AxisSet{1} << b.axis;
    return builder_.load(view_of(std::move(view), {}));
  }

  // --- nodes

  bool computed_here(ValueId v) const {
    const ir::Value& value = g_.value(v);
    if (value.kind != ir::ValueKind::result || all_.alias_of[v] != v) return false;
    const auto& in = all_.computed_in[value.source];
    return std::find(in.begin(), in.end(), number_) != in.end();
  }

  NodeId leaf(ValueId v, MapId map) {
    const ValueId base = base_of(v);
    const ir::Value& value = g_.value(base);
    if (value.kind == ir::ValueKind::dim_input) return builder_.size(size_slot(value.dim));
    if (value.kind == ir::ValueKind::constant && g_.constant_data(base).size == ir::item_size(value.dtype)) {
      uint64_t bits = 0;
      std::memcpy(&bits, g_.constant_data(base).data, ir::item_size(value.dtype));
      if (value.dtype == ir::DType::boolean) bits = bits != 0;
      return builder_.literal(value.dtype, bits);
    }
    return load(v, map);
  }

  // Operands before their op, on an explicit stack: a kernel may be one long chain.
  NodeId lower(ValueId root, MapId root_map) {
    std::vector<Read> stack{{root, root_map}};
    while (!stack.empty()) {
      const Read key = stack.back();
      if (known_.contains(key)) {
        stack.pop_back();
        continue;
      }
      if (!computed_here(key.value)) {
        const NodeId node = leaf(key.value, key.map);
        known_.emplace(key, node);
        stack.pop_back();
        continue;
      }
      const uint32_t index = g_.value(key.value).source;
      const ir::Op& op = g_.op(index);
      const auto reads = operand_reads(g_, maps_, op, key.map, cols_);
      if (!reads) bug("an operand of ", ir::op_info(op.code)->name, " is not affine in its kernel");
      const size_t depth = stack.size();
      for (size_t i = reads->size(); i-- > 0;)
        if (!known_.contains((*reads)[i])) stack.push_back((*reads)[i]);
      if (stack.size() != depth) continue;
      std::vector<NodeId> args;
      for (const Read& r : *reads) args.push_back(known_.at(r));
      const NodeId node = make(op, key.map, *reads, args);
      known_.emplace(key, node);
      step_.ops.push_back(index);
      stack.pop_back();
    }
    return known_.at({root, root_map});
  }

  NodeId make(const ir::Op& op, MapId map, const std::vector<Read>& reads, const std::vector<NodeId>& args) {
    const ir::OpInfo& info = *ir::op_info(op.code);
    const ir::DType type = g_.value(op.results[0]).dtype;
    switch (op.code) {
      case OpCode::op_iota: return rounded({builder_, iota(op, map)}, type);
      case OpCode::op_random_bits: return loop::random_bits(random_place(op, map, args[0]), type).id();
      case OpCode::op_random_uniform: return loop::random_uniform(random_place(op, map, args[0]), type).id();
      case OpCode::op_random_normal: return loop::random_normal(random_place(op, map, args[0]), type).id();
      case OpCode::op_dim: return builder_.size(size_slot(static_cast<ir::DimId>(attr(op, "size").i)));
      case OpCode::op_pad: return guarded(map, reads[0].map, args[0], args[1]);
      case OpCode::op_concat: {
        NodeId out = args.back();
        for (size_t i = args.size() - 1; i-- > 0;) out = guarded(map, reads[i].map, args[i], out);
        return out;
      }
      case OpCode::op_matmul:
      case OpCode::op_dot_general: return rounded(wide(args[0]).bin(Prim::fold_dot, wide(args[1])), type);
      case OpCode::op_reduce_sum: return rounded(wide(args[0]).un(Prim::fold_sum), type);
      case OpCode::op_reduce_prod: return rounded(wide(args[0]).un(Prim::fold_prod), type);
      case OpCode::op_reduce_max:
      case OpCode::op_reduce_any: return rounded(wide(args[0]).un(Prim::fold_max), type);
      case OpCode::op_reduce_min:
      case OpCode::op_reduce_all: return rounded(wide(args[0]).un(Prim::fold_min), type);
      case OpCode::op_reduce_mean: {
        const Val sum = wide(args[0]).un(Prim::fold_sum);
        return rounded(sum / Val(builder_, builder_.size(size_slot(col_extent()))).to(sum.type()), type);
      }
      default: break;
    }
    if (fetches(op)) return fetch(op, map, args);
    if (info.cls == OpClass::movement) return args[0];
    if (info.cls == OpClass::scan) return rounded(scan(op, wide(args[0])), type);
    std::vector<Val> vals;
    for (const NodeId a : args) vals.emplace_back(builder_, a);
    return loop::expand(op.code, op.attrs, vals, rounding()).id();
  }

  Val scan(const ir::Op& op, Val x) {
    const Prim prim = op.code == OpCode::op_cumsum    ? Prim::scan_sum
                      : op.code == OpCode::op_cumprod ? Prim::scan_prod
                      : op.code == OpCode::op_cummax  ? Prim::scan_max
                                                      : Prim::scan_min;
    const uint64_t imm =
        (attr(op, "exclusive").i ? loop::scan_exclusive : 0) | (attr(op, "reverse").i ? loop::scan_reverse : 0);
    return {builder_, builder_.scan(prim, x.id(), imm)};
  }

  loop::Rounding rounding() const {
    return g_.flags() & ir::relaxed_precision ? loop::Rounding::at_stores : loop::Rounding::every_op;
  }
  // An operand as what arithmetic takes, and what comes out of it as a value of the op's type.
  Val wide(NodeId id) {
    const Val v{builder_, id};
    return loop::is_narrow(v.type()) ? loop::widen(v, rounding()) : v;
  }
  static NodeId rounded(Val v, ir::DType type) {
    return (loop::is_narrow(type) ? loop::narrow(v, type) : v.to(type)).id();
  }

  // `value` inside the boxes between the two maps, else `other`.
  NodeId guarded(MapId outer, MapId inner, NodeId value, NodeId other) {
    if (maps_[outer].boxes == maps_[inner].boxes) return value;
    return builder_.op(Prim::select, inside(outer, inner), value, other);
  }

  DimId col_extent() {
    std::vector<DimId> extents;
    for (const uint32_t a : cols_) extents.push_back(c_.axes[a]);
    return maps_.dims().product(extents);
  }

  const ir::Graph& g_;
  Maps& maps_;
  const Clustering& all_;
  const uint32_t number_;
  const Cluster& c_;
  const Places& places_;
  std::vector<uint32_t> order_, cols_, kernel_axis_;
  loop::Builder builder_;
  Step step_;
  std::unordered_map<DimId, uint16_t> slot_;
  std::vector<std::pair<TensorRef, ValueId>> tensors_;
  std::unordered_map<Read, NodeId, ReadHash> known_;
};

}  // namespace

Step lower(const ir::Graph& graph, Maps& maps, const Clustering& clustering, uint32_t cluster, const Places& places) {
  return Lowering(graph, maps, clustering, cluster, places).run();
}

}  // namespace ingot::fuse
