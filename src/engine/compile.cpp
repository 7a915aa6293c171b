// The pipeline: graph -> passes -> plan -> programs -> executor. Nothing is compiled to machine code here.
#include <set>
#include <unordered_map>

#include "engine/describe.h"
#include "engine/executable.h"
#include "jit/cuda/occupancy.h"
#include "jit/image/isa.h"
#include "jit/interp/interp.h"
#include "loop/schedule.h"
#include "pass/pipeline.h"
#include "runtime/fp_env.h"

namespace ingot::engine {

namespace {

runtime::IoSpec io_spec(const ir::Graph& graph, ir::ValueId v, std::string name) {
  const ir::Value& value = graph.value(v);
  return {std::move(name), value.dtype, value.shape, value.kind == ir::ValueKind::dim_input ? value.dim : ir::no_dim};
}

// Everything of the executor's plan but the steps.
runtime::ExecutorPlan frame_of(const ir::Graph& graph, const fuse::Plan& plan) {
  runtime::ExecutorPlan out;
  out.dims = plan.dims;
  for (const ir::ValueId v : graph.inputs()) out.inputs.push_back(io_spec(graph, v, std::string(graph.value_name(v))));
  for (const ir::Output& o : graph.outputs()) out.outputs.push_back(io_spec(graph, o.value, o.name));
  for (runtime::IoSpec& o : out.outputs) o.symbol = ir::no_dim;
  // Only constants that some kernel reads: most are literals inside of one.
  std::set<ir::ValueId> read;
  for (const fuse::Step& step : plan.steps)
    for (const loop::ViewBinding& b : step.views)
      if (b.ref.kind == loop::RefKind::constant) read.insert(b.ref.index);
  for (const ir::ValueId v : read) {
    const ir::Constant& c = graph.constant_data(v);
    out.constants.push_back({v, c.owner, c.data, graph.value(v).dtype, graph.value(v).shape});
  }
  for (const fuse::Buffer& b : plan.buffers) out.buffers.push_back({b.dtype, b.shape});
  return out;
}

}  // namespace

std::vector<ir::Constant> evaluate(const ir::Graph& graph) {
  const fuse::Plan plan = fuse::plan_graph(graph, {.fuse = false});
  runtime::ExecutorPlan frame = frame_of(graph, plan);
  std::vector<std::shared_ptr<const jit::Body>> bodies;
  std::vector<const jit::Body*> pointers;
  for (const fuse::Step& step : plan.steps) {
    if (step.routine) {
      pointers.push_back(nullptr);
      frame.steps.push_back({nullptr, {}, step.views, step.checks, step.routine});
      continue;
    }
    auto program = std::make_shared<jit::Program>(jit::Program{step.kernel, loop::schedule(step.kernel)});
    bodies.push_back(jit::interpreter(*program));
    pointers.push_back(bodies.back().get());
    frame.steps.push_back({std::move(program), step.sizes, step.views, step.checks, {}});
  }
  const runtime::Executor executor(std::move(frame));
  std::vector<ir::Constant> results;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<runtime::Tensor> tensors;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    shapes.push_back(executor.output_shape({}, i));
    const ir::DType t = graph.value(graph.outputs()[i].value).dtype;
    size_t bytes = ir::item_size(t);
    for (const int64_t e : shapes.back()) bytes *= static_cast<size_t>(e);
    auto data = std::make_shared<std::vector<uint8_t>>(bytes);
    results.push_back({data, data->data(), bytes});
    tensors.push_back({data->data(),
                       {runtime::device_cpu, 0},
                       static_cast<int32_t>(shapes.back().size()),
                       runtime::to_dlpack(t),
                       nullptr,
                       nullptr,
                       0});
  }
  std::vector<const runtime::Tensor*> outs;
  for (size_t i = 0; i < tensors.size(); ++i) {
    tensors[i].shape = shapes[i].data();
    outs.push_back(&tensors[i]);
  }
  executor.run({}, outs, pointers, {});
  return results;
}

std::shared_ptr<Executable> Executable::compile(std::shared_ptr<Context> context,
                                                std::shared_ptr<const ir::Graph> graph, const CompileOptions& options) {
  if (!graph->sealed()) fail(Code::failed_precondition, "the graph is not finished");
  const runtime::FpEnv env;
  // Any machine's code may be asked for, but it has to be some machine's.
  const std::string& target = options.target;
  if (!target.empty() && !target.starts_with("sm_") && !jit::can_run(target, target))
    fail(Code::invalid_argument, "target \"", target, "\" is none of x86-64-v2, x86-64-v3, x86-64-v4, aarch64, sm_NN");
  if (target.starts_with("sm_") && !jit::multiprocessor(jit::sm_of(target)))
    fail(Code::invalid_argument, "target \"", target, "\" is none of ", jit::known_sms());
  if (options.backend == Backend::cuda && !target.empty() && !target.starts_with("sm_"))
    fail(Code::invalid_argument, "target \"", target, "\" is no GPU: expected sm_NN");
  const std::shared_ptr<Executable> out(new Executable());
  out->context_ = std::move(context);
  out->graph_ = std::move(graph);
  out->options_ = options;

  const Log& log = out->context_->log();
  const Trace* const trace = out->context_->trace();
  const Span whole(trace, "plan", [&] { return out->graph_->name(); });
  const auto observe = [&](std::string_view pass, const ir::Graph& g, int64_t us) {
    log.write(LogLevel::debug, "pass ", pass, ": ", g.op_count(), " ops in ", us, " us");
    if (trace) trace->span(cat("pass ", pass), cat(g.op_count(), " ops"), Trace::now() - us * 1000);
  };
  out->optimised_ = pass::run(*out->graph_, {.simplify = options.simplify}, evaluate, observe);
  {
    const Span span(trace, "fuse");
    out->plan_ = fuse::plan_graph(out->optimised_, {.fuse = options.fuse});
  }

  runtime::ExecutorPlan frame = frame_of(out->optimised_, out->plan_);
  if (options.backend == Backend::cuda) frame.device = runtime::device_cuda;
  const Span signature(trace, "signature", [&] { return cat(out->plan_.steps.size(), " steps"); });
  // Structurally equal kernels are one program, however often they occur.
  std::unordered_map<std::string, uint32_t> known;
  for (fuse::Step& step : out->plan_.steps) {
    if (step.routine) {
      out->program_of_.push_back(no_program);
      frame.steps.push_back({nullptr, {}, step.views, step.checks, step.routine});
      continue;
    }
    std::vector<uint8_t> bytes = loop::encode(step.kernel);
    const auto [at, fresh] =
        known.try_emplace(std::string(bytes.begin(), bytes.end()), static_cast<uint32_t>(out->programs_.size()));
    if (fresh) {
      auto program = std::make_shared<jit::Program>(jit::Program{step.kernel, loop::schedule(step.kernel)});
      out->programs_.push_back({std::move(program), std::move(bytes)});
    }
    out->program_of_.push_back(at->second);
    frame.steps.push_back({out->programs_[at->second].program, step.sizes, step.views, step.checks, {}});
  }
  out->executor_ = std::make_unique<runtime::Executor>(std::move(frame), out->context_->tallies());
  out->default_run_ = out->for_run({});
  for (const std::string& stage : out->context_->dumps()) {
    try {
      log.write(LogLevel::info, out->graph_->name(), " ", stage, ":\n", describe(*out, stage));
    } catch (const Error& e) {
      if (e.code() == Code::out_of_memory) throw;
      log.write(LogLevel::warning, "INGOT_DUMP: ", stage, ": ", e.message());  // what is only looked at fails nothing
    }
  }
  out->context_->counters().graphs.fetch_add(1, std::memory_order_relaxed);
  out->context_->counters().kernels.fetch_add(out->programs_.size(), std::memory_order_relaxed);
  return out;
}

}  // namespace ingot::engine
