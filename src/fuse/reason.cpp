#include "fuse/reason.h"

#include "base/error.h"

namespace ingot::fuse {

namespace {

std::string extents(const ir::DimTable& dims, std::span<const ir::DimId> shape) {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d) text += (d ? ", " : "") + dims.to_string(shape[d]);
  return text + "]";
}

}  // namespace

std::string_view name(Why why) {
  switch (why) {
    case Why::unfused: return "unfused";
    case Why::reshape_no_map: return "reshape_no_map";
    case Why::reshape_in_memory: return "reshape_in_memory";
    case Why::routine_reads: return "routine_reads";
    case Why::routine_makes: return "routine_makes";
    case Why::fetched_from: return "fetched_from";
    case Why::full_work: return "full_work";
    case Why::full_views: return "full_views";
    case Why::full_sizes: return "full_sizes";
    case Why::full_folds: return "full_folds";
    case Why::many_maps: return "many_maps";
    case Why::dear: return "dear";
    case Why::no_index_map: return "no_index_map";
    case Why::dot_operand: return "dot_operand";
    case Why::moved: return "moved";
    case Why::other_space: return "other_space";
    case Why::cycle: return "cycle";
    case Why::far: return "far";
    case Why::fold_maps: return "fold_maps";
    case Why::dot_alone: return "dot_alone";
    case Why::other_rows: return "other_rows";
    case Why::other_cols: return "other_cols";
    case Why::dot_transposed: return "dot_transposed";
    case Why::scan_unit: return "scan_unit";
    case Why::other_scan: return "other_scan";
    case Why::apart_maps: return "apart_maps";
    case Why::apart_dot: return "apart_dot";
    case Why::apart_space: return "apart_space";
    case Why::apart_sweep: return "apart_sweep";
    case Why::apart_many: return "apart_many";
  }
  bug("a reason without a name");
}

namespace {

std::string structure(const Reason& r, const ir::Graph& graph, const ir::DimTable& dims,
                      std::span<const std::string> names) {
  std::string op;
  if (r.op < graph.op_count())
    op = cat(ir::op_info(graph.op(r.op).code)->name, " (", names[graph.op(r.op).results[0]], ")");
  const std::string own = extents(dims, r.own), theirs = extents(dims, r.theirs);
  const auto full = [&](const char* what) {
    return cat("one kernel for both would hold ", r.number, " ", what, ", and ", r.limit, " are allowed");
  };
  switch (r.why) {
    case Why::unfused: return "fusion is off";
    case Why::reshape_no_map:
      return cat(op, " from ", own, " to ", theirs, " is no index map: it shares memory in row-major order");
    case Why::reshape_in_memory:
      return cat(op,
                 " is no index map: it is the same memory under another shape, so that what it reads is stored in "
                 "row-major order");
    case Why::routine_reads: return cat(op, " is a step without a kernel: what it reads lies in memory");
    case Why::routine_makes: return cat(op, " is a step without a kernel: what it makes lies in memory");
    case Why::fetched_from: return cat(op, " fetches from it at computed indices");
    case Why::full_work: return full("operations");
    case Why::full_views: return full("views of tensors");
    case Why::full_sizes: return full("sizes for boxes");
    case Why::full_folds: return full("reductions and scans");
    case Why::many_maps:
      return cat("the kernel that reads it does so under ", r.number, " index maps, and ", op, " is computed under ",
                 r.limit, " at most");
    case Why::dear: return "the kernel that reads it would compute it several times";
    case Why::no_index_map: return cat(op, " has no index map under the indices of the kernel that reads it");
    case Why::dot_operand: return cat(op, " would be computed again for every ", theirs, " of the matrix product");
    case Why::moved: return cat("the kernel that reads it moves or broadcasts what ", op, " makes");
    case Why::other_space: return cat(op, " makes ", own, ", the kernel that reads it goes over ", theirs);
    case Why::cycle:
      return "a third kernel reads what the one makes and makes what the other reads: as one they would wait for it, "
             "and it "
             "for them";
    case Why::far:
      return cat("more than ", r.limit,
                 " kernels lie behind it: it is not known whether two would wait for each other");
    case Why::fold_maps: return cat(op, " is not computed under ", r.number, " index maps");
    case Why::dot_alone: return cat(op, " would share a kernel with a matrix product or another reduction");
    case Why::other_rows: return cat(op, " keeps ", own, ", the kernel that reads it has the rows ", theirs);
    case Why::other_cols: return cat(op, " removes ", own, ", the kernel that reads it sweeps ", theirs);
    case Why::dot_transposed: return cat("the kernel that reads it transposes what ", op, " makes");
    case Why::scan_unit: return cat("the kernel that reads it has no axis for the one that ", op, " goes along");
    case Why::other_scan: return cat(op, " goes along ", own, ", the kernel that reads it sweeps ", theirs);
    case Why::apart_maps: return "the two kernels read it under different index maps";
    case Why::apart_dot: return "one of the two kernels is a matrix product";
    case Why::apart_space: return cat("one kernel goes over ", own, ", the other over ", theirs);
    case Why::apart_sweep: return cat("one kernel sweeps ", own, ", the other ", theirs);
    case Why::apart_many: return cat(r.number, " uses read it, and ", r.limit, " are compared");
  }
  bug("a reason without words");
}

}  // namespace

std::string to_text(const Reason& r, const ir::Graph& graph, const ir::DimTable& dims,
                    std::span<const std::string> names) {
  std::string text = structure(r, graph, dims, names);
  if (r.operations != 0)
    text += cat("; stored once: computing it again would cost ", r.operations, " operations an element against ",
                r.bytes, " bytes");
  return text;
}

}  // namespace ingot::fuse
