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

  // A tile of 64 x 64 elements by a block, 4 x 4 by a thread. Both arguments of 16 k at a time are computed into shared
  // memory once for the tile. What lies beyond an edge is -0 times +0 there, which no chain feels.
  void tile(bool swapped) {
    const auto id = static_cast<NodeId>(
        std::find_if(k_.nodes.begin(), k_.nodes.end(), [](const Node& n) { return loop::is_fold(n.op); }) -
        k_.nodes.begin());
    const Node& n = k_.nodes[id];
    const char* t = value_name(n.type);
    const size_t down = k_.rows - 2u, across = k_.rows - 1u;
    const std::string high = cat("a.size[", down, "]"), wide = cat("a.size[", across, "]");
    line();
    line("// One block computes a tile of 64 x 64 elements, a thread 4 x 4 of them.");
    begin("ingot_kernel_tile");
    line("__align__(16) __shared__ ", t, " left[16][68], right[16][68];");
    line("const i64 n = ", cols(), ", high = (", high, " + 63) / 64, wide = (", wide, " + 63) / 64;");
    line("const int row = threadIdx.x / 16 * 4, col = threadIdx.x % 16 * 4;");
    open("for (i64 r = blockIdx.x; r < ", extent(0, down), " * high * wide; r += gridDim.x)");
    line("const i64 top = r / wide % high * 64, start = r % wide * 64, batch = r / wide / high;");
    axes_from("batch", 0, down);
    line(t, " sum[4][4], p[4][4];");
    line("#pragma unroll");
    line("for (int e = 0; e < 16; ++e) sum[e / 4][e % 4] = p[e / 4][e % 4] = -(", t, ")0;");
    open("for (i64 first = 0; first < n; first += 16)");
    line("// The arguments: neighbours along the tile's side by neighbouring threads, or along k where k is theirs.");
    side(n.arg[swapped ? 1 : 0], t, "left", down, "top", high, "-0.0f");
    side(n.arg[swapped ? 0 : 1], t, "right", across, "start", wide, "0.0f");
    line("__syncthreads();");
    line("#pragma unroll");
    open("for (int d = 0; d < 16; ++d)");
    line(t, " x[4], y[4];");
    line("#pragma unroll");
    line("for (int e = 0; e < 4; ++e) x[e] = left[d][row + e], y[e] = right[d][col + e];");
    line("#pragma unroll");
    const std::string fma = expression(Prim::fma, n.type, n.type, swapped ? "y[e % 4]" : "x[e / 4]",
                                       swapped ? "x[e / 4]" : "y[e % 4]", "p[e / 4][e % 4]");
    line("for (int e = 0; e < 16; ++e) p[e / 4][e % 4] = ", fma, ";");
    close();
    open("if (first % 256 == 240 || first + 16 >= n)");
    line("#pragma unroll");
    open("for (int e = 0; e < 16; ++e)");
    line("sum[e / 4][e % 4] += p[e / 4][e % 4];");
    line("p[e / 4][e % 4] = -(", t, ")0;");
    close();
    close();
    line("__syncthreads();");
    close();
    line("// The elements.");
    line("#pragma unroll");
    open("for (int e = 0; e < 16; ++e)");
    line("const i64 i", down, " = top + row + e / 4, i", across, " = start + col + e % 4;");
    line("if (i", down, " >= ", high, " || i", across, " >= ", wide, ") continue;");
    line("const ", t, " ", name(id), " = n == 0 ? (", t, ")0 : sum[e / 4][e % 4];");
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

  // 16 k of one argument for the 64 indices of an axis from `first_index`, four items a thread.
  void side(NodeId id, const char* type, const char* to, size_t axis, const char* first_index, const std::string& end,
            const char* beyond) {
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
    line("#pragma unroll");
    open("for (int e = 0; e < 4; ++e)");
    line("const int slot = threadIdx.x + 256 * e, side = along ? slot % 64 : slot / 16;");
    line("const int d = along ? slot / 64 : slot % 16;");
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
