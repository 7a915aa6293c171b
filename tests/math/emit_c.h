// Runs a kernel as C compiled by the host compiler: an independent reading of prims.def that is fast enough to visit
// every f32 input. Tests only; the product never needs a C compiler at run time.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "loop/expr.h"

namespace ingot::test {

// One row axis, `arity` loads of element type `type` (tensors 0..arity-1), the expression, one store of its type
// (tensor `arity`).
loop::Kernel function_kernel(loop::DType type, size_t arity,
                             const std::function<loop::Val(std::span<const loop::Val>)>& expression);

// Primitives that do work: leaves are free, and so are bitcasts, which are only another view of a register.
size_t primitive_count(const loop::Kernel& kernel);
// The same where no `rare` condition holds: what only slow paths need does not count.
size_t fast_primitive_count(const loop::Kernel& kernel);
// The nodes of that count and the leaves, from the last to the first.
std::vector<loop::Node> fast_nodes(const loop::Kernel& kernel);

// `void kernel(const void* const* in, void* out, long n)` over contiguous arrays. Takes kernels as function_kernel()
// makes them: one row axis, loads and one store without boxes, no folds and no sizes (Error internal otherwise).
std::string emit_c(const loop::Kernel& kernel);

// C text compiled into a shared object in a private temporary folder, loaded, and removed from disk at once. For the
// best vector set of this machine, without contraction or any other liberty.
class CompiledC {
 public:
  // `libraries`: what the linker is to add, "-lm". Throws Error unavailable if there is no working C compiler, with its
  // output.
  CompiledC(const std::string& source, const std::string& libraries);
  // Throws Error unavailable if there is no such symbol.
  void* symbol(const char* name) const;

 private:
  struct Close {
    void operator()(void* handle) const noexcept;
  };
  std::unique_ptr<void, Close> library_;
};

class CompiledKernel {
 public:
  explicit CompiledKernel(const loop::Kernel& kernel);

  // `in`: one array of n elements for each load, in tensor order; `out`: n elements. Arrays do not overlap.
  // Thread-safe.
  void run(std::span<const void* const> in, void* out, size_t n) const;

 private:
  CompiledC code_;
  void (*function_)(const void* const*, void*, long) = nullptr;
};

}  // namespace ingot::test
