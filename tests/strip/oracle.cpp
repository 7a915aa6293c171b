#include "oracle.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "loop/eval.h"

namespace ingot::test {

using loop::DType;
using loop::Node;
using loop::NodeId;
using loop::Prim;
using loop::ViewKind;

template <class T>
T ordered_fold(const std::vector<T>& x, bool product) {
  if (x.empty()) return product ? T(1) : T(0);
  const T absent = product ? T(1) : T(-0.0);
  const auto join = [&](T a, T b) { return product ? a * b : a + b; };
  const size_t blocks = (x.size() + 1023) / 1024;
  std::vector<std::array<T, 8>> stack;
  for (size_t b = 0; b < blocks; ++b) {
    std::array<T, 8> a;
    a.fill(absent);
    for (size_t g = 0; g < 16; ++g) {
      const auto at = [&](size_t i) {
        const size_t k = b * 1024 + g * 64 + i;
        return k < x.size() ? x[k] : absent;
      };
      for (size_t j = 0; j < 8; ++j) {
        const T t = join(join(join(at(j), at(j + 32)), join(at(j + 16), at(j + 48))),
                         join(join(at(j + 8), at(j + 40)), join(at(j + 24), at(j + 56))));
        a[j] = join(a[j], t);
      }
    }
    for (size_t i = b; i & 1; i >>= 1) {
      for (size_t j = 0; j < 8; ++j) a[j] = join(stack.back()[j], a[j]);
      stack.pop_back();
    }
    stack.push_back(a);
  }
  std::array<T, 8> a = stack.back();
  for (stack.pop_back(); !stack.empty(); stack.pop_back())
    for (size_t j = 0; j < 8; ++j) a[j] = join(stack.back()[j], a[j]);
  return join(join(join(a[0], a[4]), join(a[2], a[6])), join(join(a[1], a[5]), join(a[3], a[7])));
}
template float ordered_fold(const std::vector<float>&, bool);
template double ordered_fold(const std::vector<double>&, bool);

namespace {

class Oracle {
 public:
  Oracle(const loop::Kernel& k, const int64_t* sizes, const jit::ViewArg* views)
      : k_(k), sizes_(sizes), views_(views), index_(k.axis_count()), value_(k.nodes.size()) {}

  void run() {
    for (size_t a = 0; a < k_.rows; ++a)
      if (sizes_[a] == 0) return;
    do row();
    while (next(0, k_.rows));
    for (const Write& w : writes_) std::memcpy(w.to, &w.bits, w.size);
  }

 private:
  struct Write {
    char* to;
    uint64_t bits;
    size_t size;
  };

  // The next index in row-major order over axes [first, last); false when it comes round to the start.
  bool next(size_t first, size_t last) {
    for (size_t a = last; a-- > first;) {
      if (++index_[a] < sizes_[a]) return true;
      index_[a] = 0;
    }
    return false;
  }
  bool no_cols() const {
    for (size_t a = k_.rows; a < k_.axis_count(); ++a)
      if (sizes_[a] == 0) return true;
    return false;
  }

  void row() {
    for (NodeId f = 0; f < k_.nodes.size(); ++f) {
      if (loop::is_fold(k_.nodes[f].op)) fold(f);
      if (loop::is_scan(k_.nodes[f].op)) scan(f);
    }
    for (const loop::Store& s : k_.stores) {
      const bool cols = k_.views[s.view].axes & k_.col_set();
      if (cols && no_cols()) continue;
      do {
        nodes(static_cast<NodeId>(k_.nodes.size()), cols);
        const loop::View& v = k_.views[s.view];
        writes_.push_back({address(s.view), value_[s.value], ir::item_size(v.storage)});
      } while (cols && next(k_.rows, k_.axis_count()));
    }
  }

  int64_t offset(size_t view) const {
    int64_t at = 0;
    for (size_t a = 0; a < k_.axis_count(); ++a)
      if (k_.views[view].axes >> a & 1) at += index_[a] * views_[view].stride[a];
    return at;
  }
  char* address(size_t view) const {
    return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(views_[view].base) +
                                   static_cast<uintptr_t>(offset(view)));
  }
  bool inside(const loop::View& v) const {
    for (const loop::Box& b : v.boxes)
      if (index_[b.axis] < sizes_[b.lo] || index_[b.axis] >= sizes_[b.hi]) return false;
    return true;
  }

  uint64_t load(size_t view) const {
    const loop::View& v = k_.views[view];
    if (v.kind == ViewKind::iota) return static_cast<uint64_t>(views_[view].value + offset(view));
    if (v.kind == ViewKind::inside) return inside(v);
    uint64_t bits = 0;
    if (inside(v)) std::memcpy(&bits, address(view), ir::item_size(v.storage));
    else bits = v.fill;
    return v.storage == DType::boolean ? bits != 0 : bits;
  }

  // Every node before `end` at the current index; those that vary along cols only if the cols have an index.
  void nodes(NodeId end, bool cols) {
    for (NodeId i = 0; i < end; ++i) {
      const Node& n = k_.nodes[i];
      if (loop::is_fold(n.op) || (!cols && (n.axes & k_.col_set()))) continue;
      if (loop::is_scan(n.op)) {
        value_[i] = scanned_[i][column()];
        continue;
      }
      switch (n.op) {
        case Prim::literal: value_[i] = n.imm; break;
        case Prim::size: value_[i] = static_cast<uint64_t>(sizes_[n.imm]); break;
        case Prim::load: value_[i] = load(n.imm); break;
        default: {
          const auto arg = [&](int a) { return n.arg[a] == loop::no_node ? 0 : value_[n.arg[a]]; };
          const bool second = n.op == Prim::select || n.op == Prim::rare;
          value_[i] = loop::eval(n.op, n.type, k_.nodes[n.arg[second]].type, arg(0), arg(1), arg(2));
        }
      }
    }
  }

  // k of the index over the cols.
  size_t column() const {
    int64_t k = 0;
    for (size_t a = k_.rows; a < k_.axis_count(); ++a) k = k * sizes_[a] + index_[a];
    return static_cast<size_t>(k);
  }

  void scan(NodeId f) {
    const Node& n = k_.nodes[f];
    std::vector<uint64_t> x;
    if (!no_cols()) {
      do {
        nodes(f, true);
        x.push_back(value_[n.arg[0]]);
      } while (next(k_.rows, k_.axis_count()));
    }
    const bool sum = n.op == Prim::scan_sum, real = ir::is_float(n.type);
    const Prim op = sum                       ? Prim::add
                    : n.op == Prim::scan_prod ? Prim::mul
                    : n.op == Prim::scan_max  ? Prim::max
                                              : Prim::min;
    const auto join = [&](uint64_t a, uint64_t b) { return loop::eval(op, n.type, n.type, a, b); };
    // What nothing gives is what a fold of it gives; what an absent element is differs from it in sums of floats.
    const Prim folds[] = {Prim::fold_sum, Prim::fold_prod, Prim::fold_min, Prim::fold_max};
    const Node of_nothing{.op = folds[static_cast<size_t>(n.op) - static_cast<size_t>(Prim::scan_sum)], .type = n.type};
    const uint64_t nothing = folded(of_nothing, {}, {});
    const uint64_t absent = sum && real ? uint64_t{1} << (8 * ir::item_size(n.type) - 1) : nothing;
    const bool exclusive = n.imm & loop::scan_exclusive;
    if (n.imm & loop::scan_reverse) std::reverse(x.begin(), x.end());
    std::vector<uint64_t>& y = scanned_[f];
    y.clear();
    uint64_t offset = absent, carry = absent, last = nothing;
    for (size_t first = 0; first < x.size(); first += 16) {
      if (first % 4096 == 0) {
        offset = join(offset, carry);
        carry = absent;
      }
      std::vector<uint64_t> p(16, absent);
      for (size_t i = 0; i < 16 && first + i < x.size(); ++i) p[i] = x[first + i];
      for (size_t d = 1; d < 16; d *= 2)
        for (size_t i = 16; i-- > d;) p[i] = join(p[i - d], p[i]);
      for (size_t i = 0; i < 16 && first + i < x.size(); ++i) {
        const uint64_t inclusive = join(offset, join(carry, p[i]));
        y.push_back(exclusive ? last : inclusive);
        last = inclusive;
      }
      carry = join(carry, p[15]);
    }
    if (n.imm & loop::scan_reverse) std::reverse(y.begin(), y.end());
  }

  void fold(NodeId f) {
    const Node& n = k_.nodes[f];
    std::vector<uint64_t> x, y;
    if (!no_cols()) {
      do {
        nodes(f, true);
        x.push_back(value_[n.arg[0]]);
        if (n.op == Prim::fold_dot) y.push_back(value_[n.arg[1]]);
      } while (next(k_.rows, k_.axis_count()));
    }
    value_[f] = folded(n, x, y);
  }

  static uint64_t folded(const Node& n, const std::vector<uint64_t>& x, const std::vector<uint64_t>& y) {
    return n.type == DType::f32   ? float_fold<float, uint32_t>(n, x, y)
           : n.type == DType::f64 ? float_fold<double, uint64_t>(n, x, y)
                                  : int_fold(n, x, y);
  }

  template <class T, class U>
  static uint64_t float_fold(const Node& n, const std::vector<uint64_t>& bits, const std::vector<uint64_t>& other) {
    const auto value = [](uint64_t b) { return std::bit_cast<T>(static_cast<U>(b)); };
    const auto back = [](T v) { return uint64_t{std::bit_cast<U>(v)}; };
    if (n.op == Prim::fold_dot) {
      if (bits.empty()) return 0;
      T sum = T(-0.0);
      for (size_t k = 0; k < bits.size(); k += 256) {
        T p = T(-0.0);
        for (size_t i = k; i < std::min(bits.size(), k + 256); ++i) p = std::fma(value(bits[i]), value(other[i]), p);
        sum = sum + p;
      }
      return back(sum);
    }
    if (n.op == Prim::fold_sum || n.op == Prim::fold_prod) {
      std::vector<T> x;
      for (const uint64_t b : bits) x.push_back(value(b));
      return back(ordered_fold(x, n.op == Prim::fold_prod));
    }
    const bool max = n.op == Prim::fold_max;
    uint64_t r = back(max ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity());
    for (const uint64_t b : bits) r = loop::eval(max ? Prim::max : Prim::min, n.type, n.type, r, b);
    return r;
  }

  static uint64_t int_fold(const Node& n, const std::vector<uint64_t>& x, const std::vector<uint64_t>& y) {
    const size_t width = n.type == DType::boolean ? 1 : 8 * ir::item_size(n.type);
    const uint64_t ones = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
    const uint64_t high = uint64_t{1} << (width - 1);
    const bool is_signed = ir::is_signed(n.type);
    uint64_t r = 0;
    if (n.op == Prim::fold_prod) r = 1;
    if (n.op == Prim::fold_min) r = is_signed ? high - 1 : ones;
    if (n.op == Prim::fold_max) r = is_signed ? high : 0;
    for (size_t i = 0; i < x.size(); ++i) {
      // Signed order is that of the bits with the sign flipped.
      const uint64_t flip = is_signed ? high : 0;
      switch (n.op) {
        case Prim::fold_sum: r = (r + x[i]) & ones; break;
        case Prim::fold_prod: r = (r * x[i]) & ones; break;
        case Prim::fold_dot: r = (r + x[i] * y[i]) & ones; break;
        case Prim::fold_min: r = (x[i] ^ flip) < (r ^ flip) ? x[i] : r; break;
        default: r = (x[i] ^ flip) > (r ^ flip) ? x[i] : r;
      }
    }
    return r;
  }

  const loop::Kernel& k_;
  const int64_t* sizes_;
  const jit::ViewArg* views_;
  std::vector<int64_t> index_;
  std::vector<uint64_t> value_;
  std::map<NodeId, std::vector<uint64_t>> scanned_;  // of the row at hand, by k
  std::vector<Write> writes_;
};

}  // namespace

void oracle(const loop::Kernel& kernel, const int64_t* sizes, const jit::ViewArg* views) {
  Oracle(kernel, sizes, views).run();
}

}  // namespace ingot::test
