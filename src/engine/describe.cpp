#include "engine/describe.h"

#include <algorithm>
#include <charconv>

#include "engine/device_kernels.h"
#include "engine/device_report.h"
#include "engine/json_writer.h"
#include "engine/kernels.h"
#include "ir/text.h"
#include "jit/cuda/emit.h"
#include "jit/image/artifact.h"
#include "jit/image/isa.h"
#include "loop/float_ops.h"

namespace ingot::engine {

namespace {

std::string shape_text(const ir::DimTable& dims, std::span<const ir::DimId> shape) {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d) text += (d ? ", " : "") + dims.to_string(shape[d]);
  return text + "]";
}

std::string op_name(const ir::Graph& g, uint32_t index) { return std::string(ir::op_info(g.op(index).code)->name); }

// "exp sub div (softmax...)": the ops of a step in graph order.
std::string op_list(const Executable& e, size_t step) {
  std::string out;
  for (const uint32_t op : e.plan().steps[step].ops) {
    if (!out.empty()) out += ' ';
    out += op_name(e.optimised(), op);
  }
  return out.empty() ? "copy" : out;
}

// "%3: f32[B, 4]" with the names of the printed graph.
std::string label(const Executable& e, const std::vector<std::string>& names, ir::ValueId v) {
  const ir::Value& value = e.optimised().value(v);
  return cat(names[v], ": ", ir::name(value.dtype), shape_text(e.optimised().dims(), value.shape));
}

std::string fusion(const Executable& e) {
  const std::vector<std::string> names = ir::printed_names(e.optimised());
  std::string out;
  for (size_t s = 0; s < e.plan().steps.size(); ++s) {
    const loop::Kernel& k = e.plan().steps[s].kernel;
    if (e.plan().steps[s].routine) {
      out += cat("step ", s, ": no kernel: ", op_list(e, s), "\n");
      continue;
    }
    out += cat("step ", s, ": kernel ", e.kernel(s).program, ", ", k.nodes.size(), " nodes, ", k.views.size(),
               " views: ", op_list(e, s), "\n");
  }
  for (const fuse::Edge& edge : e.plan().edges)
    out += cat("step ", edge.producer, " -> step ", edge.consumer, ": ", label(e, names, edge.value),
               " is stored: ", fuse::to_text(edge.reason, e.optimised(), e.plan().dims, names), "\n");
  for (const fuse::SharedRead& s : e.plan().shared)
    out += cat("step ", s.first, ", step ", s.second, ": ", label(e, names, s.value),
               " is read by both: ", fuse::to_text(s.reason, e.optimised(), e.plan().dims, names), "\n");
  return out;
}

// A tensor that a step reads or writes, with the extents that it covers: what ingot_stats counts.
void tensor(JsonWriter& out, const Executable& e, loop::TensorRef ref, bool store, ir::DType type,
            std::span<const ir::DimId> extents) {
  static constexpr const char* kinds[] = {"none", "input", "output", "constant", "buffer"};
  out.begin_object();
  out.field("kind", kinds[static_cast<size_t>(ref.kind)]);
  out.field("index", ref.index);
  out.field("store", store);
  out.field("dtype", ir::name(type));
  out.field("extents", shape_text(e.plan().dims, extents));
  out.end();
}

void tensors(JsonWriter& out, const Executable& e, const fuse::Step& step) {
  for (size_t v = 0; v < step.views.size(); ++v) {
    const loop::TensorRef ref = step.views[v].ref;
    if (step.routine) {
      const ir::Op& op = e.optimised().op(step.ops[0]);
      const bool store = v >= op.operands.size();
      // What is gathered counts by the times.
      const bool gathered = step.routine.op == ir::OpCode::op_gather && v == 0;
      const ir::Value& value = e.optimised().value(store || gathered ? op.results[0] : op.operands[v]);
      tensor(out, e, ref, store, value.dtype, value.shape);
      continue;
    }
    const loop::View& view = step.kernel.views[v];
    if (view.kind != loop::ViewKind::load && view.kind != loop::ViewKind::store) continue;
    // What is fetched counts by the times.
    loop::AxisSet axes = view.axes;
    for (const loop::Node& n : step.kernel.nodes)
      if (n.op == loop::Prim::fetch && n.imm == v) axes |= n.axes;
    std::vector<ir::DimId> extents;
    for (size_t a = 0; a < step.kernel.axis_count(); ++a)
      if (axes >> a & 1) extents.push_back(step.sizes[a]);
    tensor(out, e, ref, view.kind == loop::ViewKind::store, view.storage, extents);
  }
}

// Operations on floats, by the elements that each is done for: loop::float_ops().
void float_ops(JsonWriter& out, const Executable& e, const fuse::Step& step) {
  if (step.routine) return;
  for (const loop::FloatOps& ops : loop::float_ops(step.kernel)) {
    std::vector<ir::DimId> extents;
    for (size_t a = 0; a < step.kernel.axis_count(); ++a)
      if (ops.axes >> a & 1) extents.push_back(step.sizes[a]);
    out.begin_object();
    out.field("dtype", ir::name(ops.type));
    out.field("extents", shape_text(e.plan().dims, extents));
    out.field("count", ops.count);
    out.end();
  }
}

// "reason" for people, "why" and the facts that it has for programs.
void reason(JsonWriter& out, const Executable& e, const std::vector<std::string>& names, const fuse::Reason& r) {
  out.field("reason", fuse::to_text(r, e.optimised(), e.plan().dims, names));
  out.field("why", fuse::name(r.why));
  if (r.op != ir::no_op) {
    out.field("op", op_name(e.optimised(), r.op));
    out.field("result", names[e.optimised().op(r.op).results[0]]);
  }
  if (!r.own.empty()) out.field("own", shape_text(e.plan().dims, r.own));
  if (!r.theirs.empty()) out.field("theirs", shape_text(e.plan().dims, r.theirs));
  if (r.limit != 0) {
    out.field("number", r.number);
    out.field("limit", r.limit);
  }
  if (r.operations != 0) {
    out.field("operations", r.operations);
    out.field("bytes", r.bytes);
  }
}

std::string json(const Executable& e) {
  JsonWriter out;
  out.begin_object();
  out.field("schema", 1);
  out.field("name", e.graph().name());
  out.field("source", ir::print(e.graph()));
  out.field("graph", ir::print(e.optimised()));
  out.field("ops", e.optimised().op_count());
  out.field("backend_used", e.backend_used());
  out.field("kernels", e.distinct_kernels());
  // Traffic is symbolic: each step lists the tensors it reads and writes with their shapes.
  const ir::DimTable& dims = e.plan().dims;
  const std::vector<std::string> names = ir::printed_names(e.optimised());
  out.begin_array("steps");
  for (size_t s = 0; s < e.plan().steps.size(); ++s) {
    const fuse::Step& step = e.plan().steps[s];
    const KernelInfo kernel = e.kernel(s);
    out.begin_object();
    out.field("kernel", step.routine ? int64_t{-1} : int64_t{kernel.program});
    out.field("nodes", step.kernel.nodes.size());
    out.begin_array("ops");
    for (const uint32_t op : step.ops) {
      out.begin_object();
      out.field("name", op_name(e.optimised(), op));
      out.field("result", label(e, names, e.optimised().op(op).results[0]));
      out.end();
    }
    out.end();
    out.field("sizes", shape_text(dims, std::span(step.sizes).first(step.kernel.axis_count())));
    out.field("text", kernel.text);
    out.field("schedule", kernel.schedule);
    out.begin_array("tensors");
    tensors(out, e, step);
    out.end();
    out.begin_array("float_ops");
    float_ops(out, e, step);
    out.end();
    out.end();
  }
  out.end();
  out.begin_array("edges");
  for (const fuse::Edge& edge : e.plan().edges) {
    out.begin_object();
    out.field("from", edge.producer);
    out.field("to", edge.consumer);
    out.field("value", label(e, names, edge.value));
    reason(out, e, names, edge.reason);
    out.end();
  }
  out.end();
  out.begin_array("shared");
  for (const fuse::SharedRead& shared : e.plan().shared) {
    out.begin_object();
    out.field("first", shared.first);
    out.field("second", shared.second);
    out.field("value", label(e, names, shared.value));
    reason(out, e, names, shared.reason);
    out.end();
  }
  out.end();
  out.begin_array("buffers");
  for (const fuse::Buffer& b : e.plan().buffers) {
    out.begin_object();
    out.field("value", label(e, names, b.value));
    out.field("dtype", ir::name(b.dtype));
    out.field("shape", shape_text(dims, b.shape));
    out.end();
  }
  out.end();
  out.end();
  return out.take();
}

bool for_devices(const Executable& e) {
  return e.options().backend == Backend::cuda || e.options().target.starts_with("sm_");
}

// The cubin of a step, or the artifact that it is cached in.
std::string device_code(const Executable& e, std::string_view what, size_t step) {
  if (what == "llvm" || what == "asm")
    fail(Code::invalid_argument, "code for GPUs has no \"", what, "\"; there are cuda, cubin and artifact");
  DeviceKernels& kernels = e.context()->device_kernels();
  std::string target = e.options().target;
  if (target.empty() && e.options().backend == Backend::cuda) target = kernels.preferred().target();
  std::vector<uint8_t> bytes = kernels.artifact(source_of(e.plan().steps[step].kernel, e.kernel_bytes(step)), target);
  if (what == "cubin") bytes = jit::decode_artifact(bytes).image;
  return {bytes.begin(), bytes.end()};
}

std::string kernel_part(const Executable& e, std::string_view what, size_t program) {
  const size_t step = e.first_step(program);
  if (what == "cuda") return cat("// kernel ", program, "\n", jit::emit_cuda(e.plan().steps[step].kernel));
  if (what == "kernel") return cat("// kernel ", program, "\n", e.kernel(step).text, e.kernel(step).schedule);
  if (what == "cubin" || for_devices(e)) return device_code(e, what, step);
  const uint32_t kind = what == "llvm" ? 1 : what == "asm" ? 2 : 0;
  const std::string target = e.options().target.empty() ? std::string(jit::host_target()) : e.options().target;
  const std::vector<uint8_t> bytes = e.context()->kernels().emit(e.kernel_bytes(step), target, kind);
  std::string text(bytes.begin(), bytes.end());
  return kind == 0 ? text : cat(what == "asm" ? "# kernel " : "; kernel ", program, "\n", text);
}

}  // namespace

std::string describe(const Executable& e, std::string_view what) {
  if (what == "source") return ir::print(e.graph());
  if (what == "graph") return ir::print(e.optimised());
  if (what == "fusion") return fusion(e);
  if (what == "json") return json(e);
  if (what == "device") return device_report(e, std::nullopt);
  if (what.starts_with("device/")) return device_report(e, what.substr(7));
  const size_t slash = what.find('/');
  const std::string_view stage = what.substr(0, slash);
  static constexpr std::string_view stages[] = {"kernel", "llvm", "asm", "artifact", "cuda", "cubin"};
  if (std::find(std::begin(stages), std::end(stages), stage) == std::end(stages))
    fail(Code::invalid_argument, "\"", what,
         "\" is none of source, graph, fusion, kernel, llvm, asm, cuda, artifact, cubin, device, json");
  const size_t n = e.distinct_kernels();
  if (slash != std::string_view::npos) {
    const std::string_view number = what.substr(slash + 1);
    size_t program = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), program);
    if (error != std::errc{} || end != number.data() + number.size() || program >= n)
      fail(Code::invalid_argument, "kernel ", number, " of ", n, " (they count from 0)");
    return kernel_part(e, stage, program);
  }
  if ((stage == "artifact" || stage == "cubin") && n != 1)
    fail(Code::invalid_argument, "the graph has ", n, " kernels; name one, as in ", stage, "/0");
  std::string out;
  for (size_t p = 0; p < n; ++p) out += kernel_part(e, stage, p);
  return out;
}

}  // namespace ingot::engine
