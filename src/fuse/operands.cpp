// How each class of op passes an index map on to its operands.
#include <bit>

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

}  // namespace

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

}  // namespace ingot::fuse
