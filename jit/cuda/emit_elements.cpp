// Pointwise kernels: a thread an element, or 16 bytes of each view.
#include "jit/cuda/launch_plan.h"
#include "jit/cuda/text.h"

namespace ingot::jit::cuda {

using loop::Node;
using loop::Prim;
using loop::View;
using loop::ViewKind;

namespace {

class Elements : public KernelText {
 public:
  using KernelText::KernelText;

  void single() {
    line("// One thread computes one element.");
    begin("ingot_kernel", false);
    line("const i64 total = ", rows(), ";");
    open("for (i64 r = blockIdx.x * 256ll + threadIdx.x; r < total; r += gridDim.x * 256ll)");
    axes_from("r", 0, k_.rows);
    compute_and_store(k_.stores);
    close();
    close();
  }

  // 16 bytes of every view at a time; the last items by the same thread mapping, one each.
  void linear(size_t width) {
    line();
    line("template <class T>");
    line("struct __align__(16) Pack {");
    line("  T item[", width, "];");
    line("};");
    line("// Compact views over the same rows: ", width, " items a thread, 16-byte accesses.");
    begin("ingot_kernel_linear", false);
    line("const i64 total = ", rows(), ", packs = total / ", width, ";");
    open("for (i64 r = blockIdx.x * 256ll + threadIdx.x; r < packs + total % ", width, "; r += gridDim.x * 256ll)");
    line("const bool whole = r < packs;");
    line("const i64 first = whole ? r * ", width, " : packs * ", width, " + (r - packs);");
    for (size_t v = 0; v < k_.views.size(); ++v) {
      const View& view = k_.views[v];
      if (view.axes == 0) continue;
      const char* t = storage_name(view.storage);
      line("Pack<", t, "> p", v, ";");
      if (view.kind != ViewKind::load) continue;
      line("if (whole) p", v, " = at<Pack<", t, ">>(a.view[", v, "].base + first * sizeof(", t, "));");
      line("else p", v, ".item[0] = at<", t, ">(a.view[", v, "].base + first * sizeof(", t, "));");
    }
    line("#pragma unroll");
    open("for (int e = 0; e < ", width, "; ++e)");
    line("if (!whole && e > 0) break;");
    std::vector<NodeId> roots;
    for (const loop::Store& s : k_.stores) roots.push_back(s.value);
    for (const NodeId id : needed(std::move(roots))) {
      const Node& n = k_.nodes[id];
      if (n.op == Prim::load && n.axes != 0) {
        const bool boolean = k_.views[n.imm].storage == ir::DType::boolean;
        line("const ", value_name(n.type), " ", name(id), " = p", n.imm, ".item[e]", boolean ? " != 0" : "", ";");
      } else {
        node(id);
      }
    }
    for (const loop::Store& s : k_.stores) line("p", s.view, ".item[e] = ", name(s.value), ";");
    close();
    for (const loop::Store& s : k_.stores) {
      const char* t = storage_name(k_.views[s.view].storage);
      line("if (whole) *reinterpret_cast<Pack<", t, ">*>(a.view[", s.view, "].base + first * sizeof(", t, ")) = p",
           s.view, ";");
      line("else *reinterpret_cast<", t, "*>(a.view[", s.view, "].base + first * sizeof(", t, ")) = p", s.view,
           ".item[0];");
    }
    close();
    close();
  }
};

}  // namespace

std::string elements_text(const loop::Kernel& kernel) {
  Elements text(kernel);
  text.single();
  if (const size_t width = linear_width(kernel); width > 0) text.linear(width);
  return text.take();
}

}  // namespace ingot::jit::cuda
