// Folds of columns (Kernel::row_lanes): lanes along the last row axis, one j of the sum order in each warp.
#include <algorithm>

#include "jit/cuda/text.h"

namespace ingot::jit::cuda {

using loop::Node;

namespace {

class Columns : public KernelText {
 public:
  using KernelText::KernelText;

  void whole() {
    line("// One block computes 32 neighbouring columns; each of its warps one of the eight items of the sum order.");
    begin("ingot_kernel");
    room(23);
    line("const i64 n = ", cols(), ";");
    open("for (i64 q = blockIdx.x; q < (", rows(), " + 31) / 32; q += gridDim.x)");
    column("q");
    const uint8_t last = *std::max_element(level_.begin(), level_.end());
    for (uint8_t l = 0; l <= last; ++l) {
      if (l > 0) line("// Level ", unsigned{l}, ".");
      for (NodeId n = 0; n < k_.nodes.size(); ++n) {
        if (level_[n] != l || !loop::is_fold(k_.nodes[n].op)) continue;
        const Joining j = joining(n);
        argument(n);
        join_lambda(n);
        const std::string own = cat("room_of<", j.type, ">(room)");
        result(n, cat("column_items(fold_column<", j.type, ">(0, n, ", j.absent, ", ", own, ", j", n, ", f", n, "), ",
                      own, ", j", n, ")"));
      }
      uniform(l);
    }
    finish();
  }

  void by_parts() {
    line();
    line("// First stage for few columns: one block folds one part of 32 columns into scratch.");
    begin("ingot_kernel_parts");
    room(4);  // no part has more than eight blocks
    parts();
    open("for (i64 q = blockIdx.x; q < (", rows(), " + 31) / 32 * parts; q += gridDim.x)");
    line("const i64 part = q % parts, first = part * items, last = first + items < n ? first + items : n;");
    column("q / parts");
    uniform(0);
    size_t at = 0;
    for (NodeId n = 0; n < k_.nodes.size(); ++n) {
      if (!loop::is_fold(k_.nodes[n].op)) continue;
      const Joining j = joining(n);
      argument(n);
      join_lambda(n);
      line("const ", j.type, " a", n, " = fold_column<", j.type, ">(first, last, ", j.absent, ", room_of<", j.type,
           ">(room), j", n, ", f", n, ");");
      line("if (valid) ", place(j, at++), "[(part * 8 + (threadIdx.x >> 5)) * ", rows(), " + r] = a", n, ";");
      line("__syncthreads();  // the next stacks are of other items");
    }
    close();
    close();
    line();
    line("// Second stage: one block joins the parts of 32 columns.");
    begin("ingot_kernel_join");
    room(23);
    parts();
    open("for (i64 q = blockIdx.x; q < (", rows(), " + 31) / 32; q += gridDim.x)");
    column("q");
    uniform(0);
    at = 0;
    for (NodeId n = 0; n < k_.nodes.size(); ++n) {
      if (!loop::is_fold(k_.nodes[n].op)) continue;
      const Joining j = joining(n);
      join_lambda(n);
      const std::string own = cat("room_of<", j.type, ">(room)");
      result(n, cat("column_items(join_column<", j.type, ">(parts, ", rows(), ", ", own, ", ", place(j, at++),
                    " + r, j", n, "), ", own, ", j", n, ")"));
    }
    finish();
  }

 private:
  // Lanes beyond the last column read it again and store nothing.
  void column(const char* block) {
    line("const i64 own = ", block, " * 32 + (threadIdx.x & 31);");
    line("const bool valid = own < ", rows(), ";");
    line("const i64 r = valid ? own : ", rows(), " - 1;");
    axes_from("r", 0, k_.rows);
  }
  std::string place(const Joining& j, size_t at) const {
    return cat("reinterpret_cast<", j.type, "*>(a.scratch + ", at, " * ", rows(), " * parts * 64)");
  }
  void result(NodeId id, const std::string& value) {
    const char* t = value_name(k_.nodes[id].type);
    line("const ", t, " ", name(id), " = n == 0 ? (", t, ")", joining(id).empty, " : (", t, ")", value, ";");
    declared_[id] = true;
  }
  void finish() {
    line("__syncthreads();  // what is stored may lie where other threads read");
    open("if (valid && threadIdx.x < 32)");
    compute_and_store(k_.stores);
    close();
    close();
    close();
  }
  // A stack of each thread.
  void room(size_t steps) {
    size_t item = 4;
    for (const Node& n : k_.nodes)
      if (loop::is_fold(n.op) && ir::item_size(n.type) == 8) item = 8;
    line("__shared__ u64 room[", 256 * steps * item / 8, "];");
  }
  void parts() {
    line("const i64 n = ", cols(), ", blocks = (n + 1023) / 1024, items = 1024ll * (blocks < 4096 ? 1 : 8);");
    line("const i64 parts = (n + items - 1) / items;");
  }
};

}  // namespace

std::string columns_text(const loop::Kernel& kernel) {
  Columns text(kernel);
  text.whole();
  if (in_parts(traits(kernel))) text.by_parts();
  return text.take();
}

}  // namespace ingot::jit::cuda
