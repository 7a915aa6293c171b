// What the texts of all kinds of kernels are made of: lines, index arithmetic, nodes, folds as calls. The kinds are in
// emit_*.cpp.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "jit/cuda/kinds.h"
#include "jit/cuda/nodes.h"
#include "loop/kernel.h"

namespace ingot::jit::cuda {

class KernelText {
 public:
  explicit KernelText(const loop::Kernel& kernel);

  // Helpers, and struct Args.
  void head();
  std::string take() { return std::move(out_); }

 protected:
  using NodeId = loop::NodeId;

  // --- lines

  template <class... Args>
  void line(const Args&... args) {
    out_.append(2 * depth_, ' ');
    (append(out_, args), ...);
    out_ += '\n';
  }
  template <class... Args>
  void open(const Args&... args) {
    line(args..., " {");
    ++depth_;
  }
  void close(const char* after = "");

  static std::string name(NodeId n) { return cat("n", n); }

  // --- axes

  // Declares i<axis> for the axes [first, last) from a linear index.
  void axes_from(const char* linear, size_t first, size_t last);
  // The product of the extents of the axes [first, last).
  std::string extent(size_t first, size_t last) const;
  std::string rows() const { return extent(0, k_.rows); }
  std::string cols() const { return extent(k_.rows, k_.axis_count()); }

  // --- nodes

  std::string address(size_t view) const;
  void node(NodeId id);
  // What the roots need, operands first, without what is already declared. Folds and scans are never computed here;
  // scans are read from where they were put.
  std::vector<NodeId> needed(std::vector<NodeId> roots) const;
  void compute(const std::vector<NodeId>& nodes) {
    for (const NodeId n : nodes) node(n);
  }
  bool varies(NodeId n) const { return k_.nodes[n].axes & k_.col_set(); }
  // Declares the nodes of a level that do not vary along the cols: once a row.
  void uniform(uint8_t level);
  void store(const loop::Store& s);
  std::vector<loop::Store> stores(bool along) const;
  // Computes and stores, at the indices declared.
  void compute_and_store(const std::vector<loop::Store>& stores);

  // Begins an entry; closed by close(). `roomy`: registers for two blocks a multiprocessor rather than for as many as
  // there may be, which would put some into local memory.
  void begin(const char* entry, bool roomy = true);

  // --- folds and scans

  // How two results of a fold or scan join: the type of the result, what is absent, what a fold of nothing is, and the
  // operation on x and y. Sums and products of integers are of u32 or u64, which wrap.
  struct Joining {
    std::string type, absent, empty, op;
    bool ordered;
  };
  Joining joining(NodeId fold) const;
  // The lambda of a fold's argument: f<fold>(k).
  void argument(NodeId fold);
  // A lambda of two results: j<fold>(x, y).
  void join_lambda(NodeId fold);

  const loop::Kernel& k_;
  const Traits traits_;
  const std::vector<uint8_t> level_;
  const std::vector<bool> live_;
  std::vector<bool> declared_;
  size_t depth_ = 0;
  std::string out_;
};

// The entries of the kinds, in the order of entry_names().
std::string elements_text(const loop::Kernel& kernel);
std::string product_text(const loop::Kernel& kernel);
std::string columns_text(const loop::Kernel& kernel);
std::string rows_text(const loop::Kernel& kernel);

}  // namespace ingot::jit::cuda
