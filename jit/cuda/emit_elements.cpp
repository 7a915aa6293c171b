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

  void pack() {
    line();
    line("template <class T, int count>");
    line("struct __align__(sizeof(T) * count < 16 ? sizeof(T) * count : 16) Pack {");
    line("  T item[count];");
    line("};");
  }

  // Whole packs of every view; the last items by the same thread mapping, one each.
  void linear(size_t width) {
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
      line("Pack<", t, ", ", width, "> p", v, ";");
      if (view.kind != ViewKind::load) continue;
      line("if (whole) p", v, " = at<Pack<", t, ", ", width, ">>(a.view[", v, "].base + first * sizeof(", t, "));");
      line("else p", v, ".item[0] = at<", t, ">(a.view[", v, "].base + first * sizeof(", t, "));");
    }
    line("#pragma unroll");
    open("for (int e = 0; e < ", width, "; ++e)");
    line("if (!whole && e > 0) break;");
    items([&](const View& view) { return view.axes != 0; });
    close();
    for (const loop::Store& s : k_.stores) {
      const char* t = storage_name(k_.views[s.view].storage);
      line("if (whole) *reinterpret_cast<Pack<", t, ", ", width, ">*>(a.view[", s.view, "].base + first * sizeof(", t,
           ")) = p", s.view, ";");
      line("else *reinterpret_cast<", t, "*>(a.view[", s.view, "].base + first * sizeof(", t, ")) = p", s.view,
           ".item[0];");
    }
    close();
    close();
  }

  // Packs along the last axis, whose extent is a whole number of them; what does not lie along it is read by the item.
  void packed(size_t width) {
    const size_t last = k_.rows - 1u;
    line("// Neighbours in memory along the last axis: ", width, " items a thread, 16-byte accesses.");
    begin("ingot_kernel_packed", false);
    line("const i64 packs = ", extent(0, last), " * (a.size[", last, "] / ", width, ");");
    open("for (i64 r = blockIdx.x * 256ll + threadIdx.x; r < packs; r += gridDim.x * 256ll)");
    line("const i64 row = r / (a.size[", last, "] / ", width, "), start = r % (a.size[", last, "] / ", width, ") * ",
         width, ";");
    axes_from("row", 0, last);
    const auto along = [&](const View& view) { return in_packs(k_, view); };
    for (size_t v = 0; v < k_.views.size(); ++v) {
      if (!along(k_.views[v])) continue;
      line("Pack<", storage_name(k_.views[v].storage), ", ", width, "> p", v, ";");
      if (k_.views[v].kind == ViewKind::load) line("p", v, " = ", place(v, width), ";");
    }
    line("#pragma unroll");
    open("for (int e = 0; e < ", width, "; ++e)");
    line("const i64 i", last, " = start + e;");
    items(along);
    close();
    for (const loop::Store& s : k_.stores) line(place(s.view, width), " = p", s.view, ";");
    close();
    close();
  }

 private:
  // One item of each pack.
  template <class F>
  void items(F is_packed) {
    std::vector<NodeId> roots;
    for (const loop::Store& s : k_.stores) roots.push_back(s.value);
    for (const NodeId id : needed(std::move(roots))) {
      const Node& n = k_.nodes[id];
      if (n.op == Prim::load && is_packed(k_.views[n.imm])) {
        const bool boolean = k_.views[n.imm].storage == ir::DType::boolean;
        line("const ", value_name(n.type), " ", name(id), " = p", n.imm, ".item[e]", boolean ? " != 0" : "", ";");
      } else {
        node(id);
      }
    }
    for (const loop::Store& s : k_.stores) line("p", s.view, ".item[e] = ", name(s.value), ";");
  }

  // The pack of a view at the indices of the axes before the last, and `start`.
  std::string place(size_t v, size_t width) const {
    const size_t last = k_.rows - 1u;
    std::string at = cat("a.view[", v, "].base");
    for (size_t x = 0; x < last; ++x)
      if (k_.views[v].axes >> x & 1) at += cat(" + i", x, " * a.view[", v, "].stride[", x, "]");
    const char* t = storage_name(k_.views[v].storage);
    return cat("*reinterpret_cast<Pack<", t, ", ", width, ">*>(", at, " + start * sizeof(", t, "))");
  }
};

}  // namespace

std::string elements_text(const loop::Kernel& kernel) {
  Elements text(kernel);
  text.single();
  const size_t linear = linear_width(kernel), packed = packed_width(kernel);
  if (linear > 0 || packed > 0) text.pack();
  if (linear > 0) text.linear(linear);
  if (packed > 0) text.packed(packed);
  return text.take();
}

}  // namespace ingot::jit::cuda
