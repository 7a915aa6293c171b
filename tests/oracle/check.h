// Runs a graph in several ways and compares each with the oracle.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array.h"
#include "engine/executable.h"
#include "host.h"

namespace ingot::oracle {

struct Way {
  std::string_view name;
  engine::Backend backend;
  bool fuse;
  const char* target;  // "" for the machine's own
  bool simplify = true;
  bool threads = false;
};

// Those this machine and build can run: interpreter unfused, fused, with threads; compiled for each ISA it has. With
// INGOT_TEST_BACKEND=cuda both this and main_ways() are cuda_ways().
std::span<const Way> all_ways();
// Interpreter unfused and fused, compiled fused for the machine's own ISA.
std::span<const Way> main_ways();

// On CUDA devices, fused and unfused; the driver and NVRTC are those of INGOT_CUDA_DRIVER and INGOT_NVRTC.
std::span<const Way> cuda_ways();

// Without disk cache, environment or log; the compiler module of this build. `threads` of the library's own.
std::shared_ptr<engine::Context> make_context(uint32_t threads = 4);
// One for the whole program, so that equal kernels compile once.
const std::shared_ptr<engine::Context>& shared_context();
bool have_compiler();

// A graph compiled in one way.
std::shared_ptr<engine::Executable> compile(std::shared_ptr<const ir::Graph> graph, const Way& way,
                                            std::shared_ptr<engine::Context> context = nullptr);

// Runs on inputs and fresh outputs in the given layouts (one for all). Throws what run() throws, and internal if memory
// outside of the outputs was written. `on_device`: of CUDA executables, the tensors lie in the device's memory.
std::vector<Array> run(engine::Executable& e, std::span<const Array> inputs, Layout in = Layout::compact,
                       Layout out = Layout::compact, bool threads = false, bool on_device = false);

// Empty if every way gives the oracle's outputs, else which way differs where. Errors count as differences.
std::string check(const std::shared_ptr<const ir::Graph>& graph, std::span<const Array> inputs,
                  std::span<const Way> ways);

// The graph as readable lines, for messages.
std::string describe(const ir::Graph& graph);

// --- building graphs and values in tests

struct Net {
  std::shared_ptr<ir::Graph> g = std::make_shared<ir::Graph>("test");
  ir::DimId sym(std::string_view n) { return g->dims().symbol(n); }
  ir::DimId num(int64_t v) { return g->dims().constant(v); }
  ir::ValueId in(std::string_view n, ir::DType t, std::vector<ir::DimId> shape) {
    return g->input(n, t, std::move(shape));
  }
  ir::ValueId op(ir::OpCode c, std::vector<ir::ValueId> operands, std::vector<ir::NamedAttr> attrs = {}) {
    return g->op(c, operands, attrs);
  }
  void out(ir::ValueId v) { g->output("", v); }
  std::shared_ptr<const ir::Graph> done() {
    g->seal();
    return g;
  }
};

template <class T>
Array array(ir::DType t, std::vector<int64_t> shape, const std::vector<T>& values) {
  Array out{t, std::move(shape), {}};
  for (const T& v : values) out.bits.push_back(to_bits(v));
  return out;
}
inline Array floats(std::vector<int64_t> shape, const std::vector<float>& v) {
  return array(ir::DType::f32, std::move(shape), v);
}
inline Array doubles(std::vector<int64_t> shape, const std::vector<double>& v) {
  return array(ir::DType::f64, std::move(shape), v);
}

}  // namespace ingot::oracle
