#include "capi/handles.h"
#include "engine/describe.h"
#include "ir/op_json.h"

using namespace ingot;

namespace {

// The public tensor has the layout of runtime::Tensor (layout.cpp), so arrays of pointers to it are passed on as they
// are.
std::span<const runtime::Tensor* const> tensors(const ingot_tensor* const* p, size_t n, const char* name) {
  const auto given = capi::list(p, n, name);
  return {reinterpret_cast<const runtime::Tensor* const*>(given.data()), given.size()};
}

ingot_executable::Io describe(const ir::DimTable& dims, const runtime::IoSpec& spec) {
  ingot_executable::Io io;
  io.name = spec.name;
  io.dtype = static_cast<ingot_dtype>(spec.dtype);
  io.shape_text = "[";
  for (const ir::DimId d : spec.shape) {
    io.extents.push_back(dims.as_constant(d).value_or(-1));
    if (io.shape_text.size() > 1) io.shape_text += ", ";
    io.shape_text += dims.to_string(d);
  }
  io.shape_text += "]";
  return io;
}

engine::Executable& engine_of(ingot_executable* e) { return *capi::need(e, "executable").executable; }
const engine::Executable& engine_of(const ingot_executable* e) { return *capi::need(e, "executable").executable; }

}  // namespace

extern "C" {

ingot_status* ingot_compile(ingot_context* context, const ingot_graph* graph, const ingot_compile_options* options,
                            ingot_executable** executable) {
  return capi::guarded([&] {
    const ingot_compile_options o = capi::options(options);
    capi::need(context, "context");
    capi::need(graph, "graph");
    capi::need(executable, "executable");
    if (o.backend < 0 || o.backend > INGOT_BACKEND_INTERPRETER) fail(Code::invalid_argument, "backend ", o.backend);
    engine::CompileOptions c;
    if (o.backend) c.backend = static_cast<engine::Backend>(o.backend);
    c.fuse = o.no_fusion == 0;
    if (o.target) c.target = o.target;
    auto handle = std::make_unique<ingot_executable>();
    handle->executable = engine::Executable::compile(context->context, graph->graph, c);
    const runtime::ExecutorPlan& plan = handle->executable->executor().plan();
    for (const runtime::IoSpec& s : plan.inputs) handle->inputs.push_back(describe(plan.dims, s));
    for (const runtime::IoSpec& s : plan.outputs) handle->outputs.push_back(describe(plan.dims, s));
    *executable = handle.release();
  });
}

void ingot_executable_retain(ingot_executable* executable) {
  if (executable) executable->retain();
}

void ingot_executable_release(ingot_executable* executable) {
  if (executable && executable->release()) delete executable;
}

ingot_status* ingot_executable_prepare(ingot_executable* executable) {
  return capi::guarded([&] { engine_of(executable).prepare(); });
}

ingot_status* ingot_executable_io_count(const ingot_executable* executable, size_t* inputs, size_t* outputs) {
  return capi::guarded([&] {
    capi::need(executable, "executable");
    if (inputs) *inputs = executable->inputs.size();
    if (outputs) *outputs = executable->outputs.size();
  });
}

ingot_status* ingot_executable_io_info(const ingot_executable* executable, int32_t is_output, size_t index,
                                       ingot_io_info* info) {
  return capi::guarded([&] {
    capi::need(executable, "executable");
    capi::need(info, "info");
    if (info->struct_size < sizeof(size_t)) fail(Code::invalid_argument, "info->struct_size is ", info->struct_size);
    const auto& all = is_output ? executable->outputs : executable->inputs;
    if (index >= all.size()) fail(Code::invalid_argument, is_output ? "output " : "input ", index, " of ", all.size());
    const ingot_executable::Io& io = all[index];
    const ingot_io_info out{info->struct_size, io.name.c_str(),      io.dtype, static_cast<uint32_t>(io.extents.size()),
                            io.extents.data(), io.shape_text.c_str()};
    std::memcpy(info, &out, std::min(info->struct_size, sizeof out));
  });
}

ingot_status* ingot_executable_output_shape(const ingot_executable* executable, const ingot_tensor* const* inputs,
                                            size_t n_inputs, size_t index, int64_t* dims, size_t capacity,
                                            size_t* rank) {
  return capi::guarded([&] {
    const engine::Executable& e = engine_of(executable);
    capi::need(rank, "rank");
    const std::vector<int64_t> shape = e.executor().output_shape(tensors(inputs, n_inputs, "inputs"), index);
    *rank = shape.size();
    if (!dims && capacity == 0) return;
    if (capacity < shape.size()) fail(Code::invalid_argument, "capacity is ", capacity, ", the rank is ", shape.size());
    std::copy(shape.begin(), shape.end(), capi::list(dims, shape.size(), "dims").begin());
  });
}

ingot_status* ingot_executable_scratch_size(const ingot_executable* executable, const ingot_tensor* const* inputs,
                                            size_t n_inputs, uint64_t* bytes) {
  return capi::guarded([&] {
    const engine::Executable& e = engine_of(executable);
    capi::need(bytes, "bytes") = e.executor().scratch_size(tensors(inputs, n_inputs, "inputs"));
  });
}

ingot_status* ingot_executable_describe(const ingot_executable* executable, const char* what, size_t length,
                                        ingot_buffer** out) {
  return capi::guarded([&] {
    const engine::Executable& e = engine_of(executable);
    capi::need(out, "out");
    auto buffer = std::make_unique<ingot_buffer>();
    buffer->bytes = engine::describe(e, capi::text(what, length, "what"));
    *out = buffer.release();
  });
}

ingot_status* ingot_ops_json(ingot_buffer** out) {
  return capi::guarded([&] {
    capi::need(out, "out");
    auto buffer = std::make_unique<ingot_buffer>();
    buffer->bytes = ir::op_table_json();
    *out = buffer.release();
  });
}

ingot_status* ingot_run(ingot_executable* executable, const ingot_tensor* const* inputs, size_t n_inputs,
                        const ingot_tensor* const* outputs, size_t n_outputs, const ingot_run_options* options) {
  return capi::guarded([&] {
    engine::Executable& e = engine_of(executable);
    engine::RunOptions run;
    if (options) {
      const ingot_run_options o = capi::options(options);
      run.serial = o.serial != 0;
      run.cancel = reinterpret_cast<const std::atomic<uint32_t>*>(o.cancel);
      run.scratch = o.scratch;
      run.scratch_bytes = o.scratch_bytes;
      if (reinterpret_cast<uintptr_t>(o.scratch) % 64 != 0)
        fail(Code::invalid_argument, "scratch is not 64-byte aligned");
    }
    e.run(tensors(inputs, n_inputs, "inputs"), tensors(outputs, n_outputs, "outputs"), run);
  });
}

}  // extern "C"
