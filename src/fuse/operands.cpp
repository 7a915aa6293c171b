// How each class of op passes an index map on to its operands.
#include <algorithm>
#include <bit>
#include <numeric>

#include "base/error.h"
#include "fuse/cluster.h"

namespace ingot::fuse {

using ir::OpCode;

std::vector<uint32_t> axes_in(uint32_t mask) {
  std::vector<uint32_t> out;
  for (; mask; mask &= mask - 1) out.push_back(static_cast<uint32_t>(std::countr_zero(mask)));
  return out;
}

namespace {

std::vector<DimId> dim_list(const ir::Attr& a) { return {a.ints.begin(), a.ints.end()}; }

MapId reduce_map(Maps& maps, const ir::Value& operand, std::span<const int64_t> axes, bool keepdims, MapId map,
                 std::span<const uint32_t> cols) {
  Map out;
  size_t kept = 0, reduced = 0;
  for (size_t d = 0; d < operand.shape.size(); ++d) {
    const bool is_reduced = reduced < axes.size() && axes[reduced] == static_cast<int64_t>(d);
    if (is_reduced) {
      out.dims.push_back(maps.axis(cols[reduced++]));
      kept += keepdims;
    } else {
      out.dims.push_back(maps[map].dims[kept++]);
    }
  }
  return maps.intern(std::move(out));
}

// NumPy's rule: a 1-d operand takes part as a row (left) or a column (right) that the result lacks.
std::vector<MapId> matmul_maps(const ir::Graph& graph, Maps& maps, const ir::Op& op, MapId map, uint32_t k) {
  const auto& a = graph.value(op.operands[0]).shape;
  const auto& b = graph.value(op.operands[1]).shape;
  const auto& result = graph.value(op.results[0]).shape;
  const Map m = maps[map];
  const size_t tail = (a.size() > 1) + (b.size() > 1);
  const size_t batch = result.size() - tail;
  const std::span<const DimId> batch_shape(result.data(), batch);
  Map batch_map{{m.dims.begin(), m.dims.begin() + static_cast<ptrdiff_t>(batch)}, {}};
  const MapId batch_id = maps.intern(std::move(batch_map));
  const auto side = [&](const std::vector<DimId>& shape, size_t own) {
    const std::span<const DimId> lead(shape.data(), shape.size() > 2 ? shape.size() - 2 : 0);
    Map out = maps[maps.align(batch_id, lead, batch_shape)];
    out.boxes.clear();
    if (shape.size() == 1) {
      out.dims.push_back(maps.axis(k));
    } else if (own == 0) {
      out.dims.push_back(m.dims[batch]);
      out.dims.push_back(maps.axis(k));
    } else {
      out.dims.push_back(maps.axis(k));
      out.dims.push_back(m.dims[result.size() - 1]);
    }
    return maps.intern(std::move(out));
  };
  return {side(a, 0), side(b, 1)};
}

// The pairs of dims that a dot_general contracts in the order of k, that of its first operand's dims.
std::vector<size_t> contraction_order(const ir::Op& op) {
  const auto& contracted = attr(op, "lhs_contract").ints;
  std::vector<size_t> order(contracted.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return contracted[a] < contracted[b]; });
  return order;
}

// The result's dims are batch, left over of the first operand, left over of the second.
std::vector<MapId> dot_maps(const ir::Graph& graph, Maps& maps, const ir::Op& op, MapId map,
                            std::span<const uint32_t> cols) {
  const Map m = maps[map];
  std::vector<MapId> out;
  size_t left_over = attr(op, "lhs_batch").ints.size();
  for (size_t side = 0; side < 2; ++side) {
    const auto& batch = attr(op, side == 0 ? "lhs_batch" : "rhs_batch").ints;
    const auto& contracted = attr(op, side == 0 ? "lhs_contract" : "rhs_contract").ints;
    const std::vector<size_t> order = contraction_order(op);
    Map own;
    for (size_t d = 0; d < graph.value(op.operands[side]).shape.size(); ++d) {
      const auto at = [&](const std::vector<int64_t>& list) {
        return static_cast<size_t>(std::find(list.begin(), list.end(), static_cast<int64_t>(d)) - list.begin());
      };
      const size_t b = at(batch), k = at(contracted);
      if (b < batch.size()) own.dims.push_back(m.dims[b]);
      else if (k < contracted.size())
        own.dims.push_back(
            maps.axis(cols[static_cast<size_t>(std::find(order.begin(), order.end(), k) - order.begin())]));
      else own.dims.push_back(m.dims[left_over++]);
    }
    out.push_back(maps.intern(std::move(own)));
  }
  return out;
}

std::vector<MapId> index_maps(const ir::Graph& graph, Maps& maps, const ir::Op& op, MapId map) {
  const auto& result = graph.value(op.results[0]).shape;
  const auto& indices = graph.value(op.operands[1]).shape;
  const Map m = maps[map];
  const auto some = [&](size_t first, size_t count) {
    const auto begin = m.dims.begin() + static_cast<ptrdiff_t>(first);
    return Map{{begin, begin + static_cast<ptrdiff_t>(count)}, m.boxes};
  };
  switch (op.code) {
    case OpCode::op_gather: return {maps.intern(some(static_cast<size_t>(attr(op, "axis").i), indices.size()))};
    case OpCode::op_take_along_axis: return {maps.align(map, indices, result)};
    default: {
      std::vector<MapId> out;
      for (size_t i = 0; i < picked_dims(graph, op).size(); ++i) {
        Map one = some(0, indices.size() - 1);
        one.dims.push_back({maps.dims().constant(static_cast<int64_t>(i)), {}});
        out.push_back(maps.intern(std::move(one)));
      }
      return out;
    }
  }
}

std::optional<std::vector<MapId>> operand_maps(const ir::Graph& graph, Maps& maps, const ir::Op& op, MapId map,
                                               std::span<const uint32_t> cols) {
  const ir::OpInfo& info = *ir::op_info(op.code);
  const auto& result = graph.value(op.results[0]).shape;
  const auto shape = [&](size_t i) -> const std::vector<DimId>& { return graph.value(op.operands[i]).shape; };
  switch (op.code) {
    case OpCode::op_dim:
    case OpCode::op_iota: return std::vector<MapId>{};
    case OpCode::op_reshape: {
      const auto m = maps.reshape(map, shape(0), result);
      if (!m) return std::nullopt;
      return std::vector{*m};
    }
    case OpCode::op_transpose: return std::vector{maps.transpose(map, attr(op, "perm").ints)};
    case OpCode::op_broadcast: return std::vector{maps.align(map, shape(0), result)};
    case OpCode::op_slice: return std::vector{maps.slice(map, dim_list(attr(op, "starts")), attr(op, "steps").ints)};
    case OpCode::op_reverse: return std::vector{maps.reverse(map, attr(op, "axes").ints, shape(0))};
    case OpCode::op_diagonal:
      return std::vector{maps.diagonal(map, static_cast<size_t>(attr(op, "axis1").i),
                                       static_cast<size_t>(attr(op, "axis2").i), attr(op, "offset").i)};
    case OpCode::op_pad: {
      const auto inner = maps.window(map, dim_list(attr(op, "low")), shape(0), result);
      if (!inner) return std::nullopt;
      return std::vector{*inner, maps.intern({{}, maps[map].boxes})};
    }
    case OpCode::op_concat: {
      std::vector<MapId> out;
      const auto axis = static_cast<size_t>(attr(op, "axis").i);
      std::vector<DimId> low(result.size(), maps.zero());
      for (size_t i = 0; i < op.operands.size(); ++i) {
        const auto piece = maps.window(map, low, shape(i), result);
        if (!piece) return std::nullopt;
        out.push_back(*piece);
        low[axis] = maps.dims().add(low[axis], shape(i)[axis]);
      }
      return out;
    }
    case OpCode::op_matmul: return matmul_maps(graph, maps, op, map, cols[0]);
    case OpCode::op_dot_general: return dot_maps(graph, maps, op, map, cols);
    default: break;
  }
  if (info.cls == ir::OpClass::reduce)
    return std::vector{
        reduce_map(maps, graph.value(op.operands[0]), attr(op, "axes").ints, attr(op, "keepdims").i != 0, map, cols)};
  if (info.cls == ir::OpClass::scan) return std::vector{map};
  if (info.cls != ir::OpClass::elementwise && info.cls != ir::OpClass::function)
    bug("op ", info.name, " reached the planner");
  std::vector<MapId> out;
  for (size_t i = 0; i < op.operands.size(); ++i) out.push_back(maps.align(map, shape(i), result));
  return out;
}

}  // namespace

bool contracts(const ir::Op& op) { return ir::op_info(op.code)->cls == ir::OpClass::contraction; }

std::vector<DimId> removed_extents(const ir::Graph& graph, const ir::Op& op) {
  const auto& shape = graph.value(op.operands[0]).shape;
  if (op.code == OpCode::op_matmul) return {shape.back()};
  std::vector<DimId> out;
  if (op.code == OpCode::op_dot_general) {
    const auto& contracted = attr(op, "lhs_contract").ints;
    for (const size_t i : contraction_order(op)) out.push_back(shape[static_cast<size_t>(contracted[i])]);
  } else {
    for (const int64_t a : attr(op, "axes").ints) out.push_back(shape[static_cast<size_t>(a)]);
  }
  return out;
}

std::optional<std::vector<Read>> operand_reads(const ir::Graph& graph, Maps& maps, const ir::Op& op, MapId map,
                                               std::span<const uint32_t> cols) {
  std::vector<Read> out;
  if (fetches(op)) {
    for (const MapId m : index_maps(graph, maps, op, map)) out.push_back({op.operands[1], m});
    return out;
  }
  const auto all = operand_maps(graph, maps, op, map, cols);
  if (!all) return std::nullopt;
  for (size_t i = 0; i < op.operands.size(); ++i) out.push_back({op.operands[i], (*all)[i]});
  return out;
}

bool fetches(const ir::Op& op) noexcept {
  return op.code == OpCode::op_gather || op.code == OpCode::op_take_along_axis || op.code == OpCode::op_gather_nd;
}

bool is_routine(const ir::Graph& graph, const ir::Op& op) {
  return op.code == OpCode::op_scatter || op.code == OpCode::op_scatter_add || op.code == OpCode::op_searchsorted ||
         gathers_rows(graph, op);
}

bool gathers_rows(const ir::Graph& graph, const ir::Op& op) {
  if (op.code != OpCode::op_gather) return false;
  constexpr int64_t few = 8;  // items: the call of a copy costs as much as so many addresses
  const auto& shape = graph.value(op.operands[0]).shape;
  int64_t items = 1;
  for (size_t d = static_cast<size_t>(attr(op, "axis").i) + 1; d < shape.size(); ++d) {
    const auto extent = graph.dims().as_constant(shape[d]);
    if (!extent) return true;
    items *= std::min(*extent, few);
  }
  return items >= few;
}

std::vector<uint32_t> picked_dims(const ir::Graph& graph, const ir::Op& op) {
  if (op.code != OpCode::op_gather_nd) return {static_cast<uint32_t>(attr(op, "axis").i)};
  std::vector<uint32_t> out;
  const int64_t count = *graph.dims().as_constant(graph.value(op.operands[1]).shape.back());
  for (int64_t i = 0; i < count; ++i) out.push_back(static_cast<uint32_t>(attr(op, "batch_dims").i + i));
  return out;
}

std::vector<Affine> fetched_dims(const ir::Graph& graph, Maps& maps, const ir::Op& op, MapId map) {
  const auto& data = graph.value(op.operands[0]).shape;
  const auto& indices = graph.value(op.operands[1]).shape;
  std::vector<Affine> out;
  switch (op.code) {
    case OpCode::op_gather: {
      const auto axis = static_cast<size_t>(attr(op, "axis").i);
      for (size_t d = 0; d < data.size(); ++d)
        out.push_back(d == axis ? Affine{maps.zero(), {}} : maps[map].dims[d < axis ? d : d + indices.size() - 1]);
      return out;
    }
    case OpCode::op_take_along_axis: {
      std::vector<DimId> shape = data;
      shape[static_cast<size_t>(attr(op, "axis").i)] = maps.one();
      return maps[maps.align(map, shape, graph.value(op.results[0]).shape)].dims;
    }
    default: {
      const auto batch = static_cast<size_t>(attr(op, "batch_dims").i);
      const size_t picked = picked_dims(graph, op).size();
      for (size_t d = 0; d < data.size(); ++d) {
        if (d >= batch && d < batch + picked) out.push_back({maps.zero(), {}});
        else out.push_back(maps[map].dims[d < batch ? d : d - batch - picked + indices.size() - 1]);
      }
      return out;
    }
  }
}

}  // namespace ingot::fuse
