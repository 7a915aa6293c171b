// Matrix products: chains of 256 fused multiply-adds in the order of k, added left to right.
#include <algorithm>

#include "jit/cuda/text.h"

namespace ingot::jit::cuda {

using loop::Node;
using loop::Prim;

namespace {

class Product : public KernelText {
 public:
  using KernelText::KernelText;

  // Any product: a thread an element, and other folds beside it.
  void single() {
    line("// One thread computes one element: chains of 256 fused multiply-adds, added left to right.");
    begin("ingot_kernel");
    line("const i64 total = ", rows(), ", n = ", cols(), ";");
    open("for (i64 r = blockIdx.x * 256ll + threadIdx.x; r < total; r += gridDim.x * 256ll)");
    axes_from("r", 0, k_.rows);
    uniform(0);
    for (NodeId n = 0; n < k_.nodes.size(); ++n) {
      if (k_.nodes[n].op == Prim::fold_dot) dot(n);
      else if (loop::is_fold(k_.nodes[n].op)) fold(n);
    }
    compute_and_store(k_.stores);
    close();
    close();
  }

  // A tile of elements by a block: 128 x 64 of f32, 64 x 64 of f64, a thread 8 x 4 or 4 x 4 of them. Both arguments of
  // 16 k at a time are computed into shared memory once for the tile. What lies beyond an edge is -0 times +0 there,
  // which no chain feels.
  void tile(bool swapped) {
    const auto id = static_cast<NodeId>(
        std::find_if(k_.nodes.begin(), k_.nodes.end(), [](const Node& n) { return loop::is_fold(n.op); }) -
        k_.nodes.begin());
    const Node& n = k_.nodes[id];
    const char* t = value_name(n.type);
    const size_t down = k_.rows - 2u, across = k_.rows - 1u;
    const size_t side_y = static_cast<size_t>(tile_high(n.type)), side_x = static_cast<size_t>(tile_side);
    const size_t own_y = side_y / 16, own_x = side_x / 16, own = own_y * own_x;
    const std::string high = cat("a.size[", down, "]"), wide = cat("a.size[", across, "]");
    line();
    line("// One block computes a tile of ", side_y, " x ", side_x, " elements, a thread ", own_y, " x ", own_x,
         " of them.");
    begin("ingot_kernel_tile");
    line("__align__(16) __shared__ ", t, " left[16][", side_y + 4, "], right[16][", side_x + 4, "];");
    line("const i64 n = ", cols(), ", high = (", high, " + ", side_y - 1, ") / ", side_y, ", wide = (", wide, " + ",
         side_x - 1, ") / ", side_x, ";");
    line("const int row = threadIdx.x / 16 * ", own_y, ", col = threadIdx.x % 16 * ", own_x, ";");
    open("for (i64 r = blockIdx.x; r < ", extent(0, down), " * high * wide; r += gridDim.x)");
    line("const i64 top = r / wide % high * ", side_y, ", start = r % wide * ", side_x, ", batch = r / wide / high;");
    axes_from("batch", 0, down);
    line(t, " sum[", own, "], p[", own, "];");
    line("#pragma unroll");
    line("for (int e = 0; e < ", own, "; ++e) sum[e] = p[e] = -(", t, ")0;");
    open("for (i64 first = 0; first < n; first += 16)");
    line("// The arguments, read along the tile's side or along k, where neighbours in memory are.");
    side(n.arg[swapped ? 1 : 0], t, "left", down, "top", side_y, high, "-0.0f");
    side(n.arg[swapped ? 0 : 1], t, "right", across, "start", side_x, wide, "0.0f");
    line("__syncthreads();");
    line("#pragma unroll 4");
    open("for (int d = 0; d < 16; ++d)");
    line(t, " x[", own_y, "], y[", own_x, "];");
    line("#pragma unroll");
    line("for (int e = 0; e < ", own_y, "; ++e) x[e] = left[d][row + e];");
    line("#pragma unroll");
    line("for (int e = 0; e < ", own_x, "; ++e) y[e] = right[d][col + e];");
    line("#pragma unroll");
    const std::string x = cat("x[e / ", own_x, "]"), y = cat("y[e % ", own_x, "]");
    line("for (int e = 0; e < ", own, "; ++e) p[e] = ", expression(Prim::fma, n.type, n.type, x, y, "p[e]"), ";");
    close();
    open("if (first % 256 == 240 || first + 16 >= n)");
    line("#pragma unroll");
    line("for (int e = 0; e < ", own, "; ++e) sum[e] = sum[e] + p[e], p[e] = -(", t, ")0;");
    close();
    line("__syncthreads();");
    close();
    line("// The elements.");
    line("#pragma unroll");
    open("for (int e = 0; e < ", own, "; ++e)");
    line("const i64 i", down, " = top + row + e / ", own_x, ", i", across, " = start + col + e % ", own_x, ";");
    line("if (i", down, " >= ", high, " || i", across, " >= ", wide, ") continue;");
    line("const ", t, " ", name(id), " = n == 0 ? (", t, ")0 : sum[e];");
    compute_and_store(k_.stores);
    close();
    close();
    close();
  }

 private:
  void dot(NodeId id) {
    const Node& n = k_.nodes[id];
    const char* t = value_name(n.type);
    const bool real = ir::is_float(n.type);
    const std::string zero = real ? cat("-(", t, ")0") : cat("(", t, ")0");
    line(t, " ", name(id), " = ", zero, ";");
    open("for (i64 first = 0; first < n; first += 256)");
    line(t, " p = ", zero, ";");
    line("const i64 last = first + 256 < n ? first + 256 : n;");
    open("for (i64 k = first; k < last; ++k)");
    axes_from("k", k_.rows, k_.axis_count());
    compute(needed({n.arg[0], n.arg[1]}));
    if (real) line("p = ", expression(Prim::fma, n.type, n.type, name(n.arg[0]), name(n.arg[1]), "p"), ";");
    else line("p = (", t, ")((u64)p + (u64)", name(n.arg[0]), " * (u64)", name(n.arg[1]), ");");
    close();
    line(name(id), " = ", real ? cat(name(id), " + p") : cat("(", t, ")((u64)", name(id), " + (u64)p)"), ";");
    close();
    line("if (n == 0) ", name(id), " = 0;");
    declared_[id] = true;
  }

  void fold(NodeId id) {
    const Joining j = joining(id);
    argument(id);
    join_lambda(id);
    line("const ", value_name(k_.nodes[id].type), " ", name(id), " = (", value_name(k_.nodes[id].type), ")fold_thread<",
         j.type, ">(n, ", j.absent, ", ", j.empty, ", j", id, ", f", id, ");");
    declared_[id] = true;
  }

  // 16 k of one argument for the `count` indices of an axis from `first_index`.
  void side(NodeId id, const char* type, const char* to, size_t axis, const char* first_index, size_t count,
            const std::string& end, const char* beyond) {
    // Whether neighbours in memory are those of the axis is known at run time alone; a load's stride tells.
    std::string along = "true";
    for (const NodeId v : needed({id})) {
      const Node& n = k_.nodes[v];
      if (n.op != Prim::load || !(n.axes >> axis & 1) || k_.cols == 0 || !varies(v)) continue;
      along = cat("a.view[", n.imm, "].stride[", axis, "] < a.view[", n.imm, "].stride[", k_.axis_count() - 1, "]");
      break;
    }
    line("{");
    ++depth_;
    line("const bool along = ", along, ";");
    line("#pragma unroll ", count / 32, "  // all of them at once take more registers than there are");
    open("for (int e = 0; e < ", count / 16, "; ++e)");
    line("const int slot = threadIdx.x + 256 * e, side = along ? slot % ", count, " : slot / 16;");
    line("const int d = along ? slot / ", count, " : slot % 16;");
    line("const i64 i", axis, " = ", first_index, " + side, k = first + d;");
    line(type, " v = ", beyond, ";");
    open("if (i", axis, " < ", end, " && k < n)");
    axes_from("k", k_.rows, k_.axis_count());
    compute(needed({id}));
    line("v = ", name(id), ";");
    close();
    line(to, "[d][side] = v;");
    close();
    close();
  }
};

}  // namespace

std::string product_text(const loop::Kernel& kernel) {
  Product text(kernel);
  text.single();
  if (const TileAxes tile = tile_axes(kernel, traits(kernel)); tile.fits) text.tile(tile.swapped);
  return text.take();
}

}  // namespace ingot::jit::cuda
