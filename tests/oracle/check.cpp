#include "check.h"

#include <cstdlib>

#include "engine/device_kernels.h"
#include "evaluate.h"
#include "jit/image/isa.h"
#include "on_device.h"
#include "runtime/fp_env.h"

namespace ingot::oracle {

using engine::Backend;

std::shared_ptr<engine::Context> make_context(uint32_t threads) {
  engine::ContextOptions o;
  o.disk_cache = false;
  o.ignore_environment = true;
  o.threads = threads;
  if (const char* driver = std::getenv("INGOT_CUDA_DRIVER")) o.cuda_driver = driver;
  if (const char* nvrtc = std::getenv("INGOT_NVRTC")) o.nvrtc = nvrtc;
#ifdef INGOT_TEST_MODULE_DIR
  o.module_dir = INGOT_TEST_MODULE_DIR;
#endif
  return engine::Context::create(o);
}

const std::shared_ptr<engine::Context>& shared_context() {
  static const std::shared_ptr<engine::Context> context = make_context();
  return context;
}

bool have_compiler() {
#ifdef INGOT_TEST_MODULE_DIR
  return true;
#else
  return false;
#endif
}

namespace {

bool cuda_asked() {
  const char* const backend = std::getenv("INGOT_TEST_BACKEND");
  return backend && std::string_view(backend) == "cuda";
}

}  // namespace

std::span<const Way> main_ways() {
  if (cuda_asked()) return cuda_ways();
  static const Way ways[] = {
      {"interpreter, unfused", Backend::interpreter, false, "", false},
      {"interpreter, fused", Backend::interpreter, true, ""},
      {"compiled, fused", Backend::cpu, true, ""},
  };
  return std::span(ways).first(have_compiler() ? 3 : 2);
}

std::span<const Way> cuda_ways() {
  static const Way ways[] = {
      {"CUDA, fused", Backend::cuda, true, ""},
      {"CUDA, unfused", Backend::cuda, false, "", false},
  };
  return ways;
}

std::span<const Way> all_ways() {
  if (cuda_asked()) return cuda_ways();
  static const std::vector<Way> ways = [] {
    std::vector<Way> w(main_ways().begin(), main_ways().end());
    w.push_back({"interpreter, fused, threads", Backend::interpreter, true, "", true, true});
    if (!have_compiler()) return w;
    w.push_back({"compiled, fused, threads", Backend::cpu, true, "", true, true});
    for (const char* isa : {"x86-64-v2", "x86-64-v3", "x86-64-v4"})
      if (jit::host_target() != isa && jit::can_run(jit::host_target(), isa))
        w.push_back({isa, Backend::cpu, true, isa});
    return w;
  }();
  return ways;
}

std::shared_ptr<engine::Executable> compile(std::shared_ptr<const ir::Graph> graph, const Way& way,
                                            std::shared_ptr<engine::Context> context) {
  return engine::Executable::compile(
      context ? std::move(context) : shared_context(), std::move(graph),
      {.backend = way.backend, .target = way.target, .fuse = way.fuse, .simplify = way.simplify});
}

namespace {

// The same tensors on the first CUDA device; what the run wrote is fetched back.
void run_on_device(engine::Executable& e, std::span<const std::unique_ptr<HostTensor>> ins,
                   std::span<const std::unique_ptr<HostTensor>> outs) {
  engine::DeviceKernels& kernels = e.context()->device_kernels();
  const device::Device& device = kernels.at(0);
  const device::Scope scope(device, nullptr);
  std::vector<std::unique_ptr<OnDevice>> all;
  std::vector<const runtime::Tensor*> in_tensors, out_tensors;
  for (size_t i = 0; i < ins.size(); ++i) {
    // What binds a symbol is read by the host.
    if (e.executor().plan().inputs[i].symbol != ir::no_dim) {
      in_tensors.push_back(ins[i]->tensor());
      continue;
    }
    all.push_back(std::make_unique<OnDevice>(*ins[i], device, scope));
    in_tensors.push_back(all.back()->tensor());
  }
  for (const auto& out : outs) {
    all.push_back(std::make_unique<OnDevice>(*out, device, scope));
    out_tensors.push_back(all.back()->tensor());
  }
  e.run(in_tensors, out_tensors);
  kernels.sync(0, nullptr);
  for (const auto& t : all) t->fetch();
}

}  // namespace

std::vector<Array> run(engine::Executable& e, std::span<const Array> inputs, Layout in, Layout out, bool threads,
                       bool on_device) {
  // Devices want items aligned.
  if (on_device && in == Layout::unaligned) in = Layout::compact;
  if (on_device && out == Layout::unaligned) out = Layout::compact;
  std::vector<std::unique_ptr<HostTensor>> ins, outs;
  std::vector<const runtime::Tensor*> in_tensors, out_tensors;
  for (const Array& a : inputs) {
    ins.push_back(std::make_unique<HostTensor>(a, in));
    in_tensors.push_back(ins.back()->tensor());
  }
  for (size_t i = 0; i < e.graph().outputs().size(); ++i) {
    const ir::DType t = e.graph().value(e.graph().outputs()[i].value).dtype;
    outs.push_back(std::make_unique<HostTensor>(t, e.executor().output_shape(in_tensors, i), out));
    out_tensors.push_back(outs.back()->tensor());
  }
  if (on_device) run_on_device(e, ins, outs);
  else e.run(in_tensors, out_tensors, {.serial = !threads});
  for (size_t i = 0; i < ins.size(); ++i)
    if (ins[i]->strayed()) fail(Code::internal, "input ", i, " was written to");
  std::vector<Array> results;
  for (size_t i = 0; i < outs.size(); ++i) {
    if (outs[i]->strayed()) fail(Code::internal, "memory beside output ", i, " was written to");
    results.push_back(outs[i]->read_raw());
  }
  return results;
}

std::string check(const std::shared_ptr<const ir::Graph>& graph, std::span<const Array> inputs,
                  std::span<const Way> ways) {
  const std::vector<Array> want = evaluate(*graph, inputs);
  for (const Way& way : ways) {
    try {
      const auto e = compile(graph, way);
      const std::vector<Array> got =
          run(*e, inputs, Layout::compact, Layout::compact, way.threads, way.backend == Backend::cuda);
      for (size_t i = 0; i < want.size(); ++i)
        if (const std::string text = difference(want[i], got[i]); !text.empty())
          return cat(way.name, ": output ", i, ": ", text);
    } catch (const Error& error) {
      return cat(way.name, ": ", code_name(error.code()), ": ", error.message());
    }
  }
  return {};
}

std::string describe(const ir::Graph& graph) {
  std::string out;
  for (const ir::ValueId v : graph.inputs()) out += cat("  input ", graph.describe(v), "\n");
  for (ir::ValueId v = 0; v < graph.value_count(); ++v)
    if (graph.value(v).kind == ir::ValueKind::constant) {
      out += cat("  constant ", graph.describe(v), " =");
      const ir::Constant& c = graph.constant_data(v);
      for (size_t i = 0; i < std::min<size_t>(c.size, 16); ++i) out += cat(" ", unsigned{c.data[i]});
      out += '\n';
    }
  for (uint32_t i = 0; i < graph.op_count(); ++i) {
    const ir::Op& op = graph.op(i);
    for (const ir::ValueId v : op.results) out += cat(v == op.results[0] ? "  " : ", ", graph.describe(v));
    out += cat(" = ", ir::op_info(op.code)->name);
    for (const ir::ValueId v : op.operands) out += cat(" %", v);
    for (size_t a = 0; a < op.attrs.size(); ++a) {
      const ir::Attr& at = op.attrs[a];
      out += cat(" ", ir::op_info(op.code)->attrs[a].name, "=");
      if (at.kind == ir::AttrKind::dims) {
        for (const int64_t d : at.ints) out += graph.dims().to_string(static_cast<ir::DimId>(d)) + ",";
      } else if (at.kind == ir::AttrKind::i64s) {
        for (const int64_t d : at.ints) out += cat(d, ",");
      } else if (at.kind == ir::AttrKind::f64) {
        out += cat(at.f);
      } else if (at.kind == ir::AttrKind::string) {
        out += at.s;
      } else if (at.kind == ir::AttrKind::dtype) {
        out += ir::name(static_cast<ir::DType>(at.i));
      } else {
        out += cat(at.i);
      }
    }
    out += '\n';
  }
  for (const ir::Output& o : graph.outputs()) out += cat("  output %", o.value, "\n");
  return out;
}

}  // namespace ingot::oracle
