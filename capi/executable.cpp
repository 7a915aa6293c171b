#include "capi/handles.h"
#include "engine/describe.h"
#include "ir/op_json.h"

using namespace ingot;

namespace {

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

std::unique_ptr<ingot_executable> handle_of(std::shared_ptr<engine::Executable> executable) {
  auto handle = std::make_unique<ingot_executable>();
  handle->executable = std::move(executable);
  handle->executable->attach();
  const runtime::ExecutorPlan& plan = handle->executable->executor().plan();
  for (const runtime::IoSpec& s : plan.inputs) handle->inputs.push_back(describe(plan.dims, s));
  for (const runtime::IoSpec& s : plan.outputs) handle->outputs.push_back(describe(plan.dims, s));
  return handle;
}

}  // namespace

extern "C" {

ingot_status* ingot_compile(ingot_context* context, const ingot_graph* graph, const ingot_compile_options* options,
                            ingot_executable** executable) {
  return capi::guarded([&] {
    const ingot_compile_options o = capi::options(options);
    capi::need(context, "context");
    capi::need(graph, "graph");
    capi::need(executable, "executable");
    if (o.backend < 0 || o.backend > INGOT_BACKEND_CUDA) fail(Code::invalid_argument, "unknown backend ", o.backend);
    engine::CompileOptions c;
    if (o.backend) c.backend = static_cast<engine::Backend>(o.backend);
    c.fuse = o.no_fusion == 0;
    if (o.target) c.target = o.target;
    *executable = handle_of(engine::Executable::compile(context->context, graph->graph, c)).release();
  });
}

void ingot_executable_retain(ingot_executable* executable) {
  if (executable) executable->retain();
}

void ingot_executable_release(ingot_executable* executable) {
  if (executable && executable->release()) delete executable;
}

ingot_status* ingot_executable_subset(ingot_executable* executable, const ingot_value* feeds, size_t n_feeds,
                                      const ingot_value* fetches, size_t n_fetches, ingot_executable** subset) {
  return capi::guarded([&] {
    engine::Executable& e = engine_of(executable);
    capi::need(subset, "subset");
    const auto from = capi::list(feeds, n_feeds, "feeds"), to = capi::list(fetches, n_fetches, "fetches");
    *subset = handle_of(e.subset(from, to)).release();
  });
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
    if (is_output != 0 && is_output != 1) fail(Code::invalid_argument, "is_output is ", is_output, ", expected 0 or 1");
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
    const std::vector<int64_t> shape = e.executor().output_shape(capi::tensors(inputs, n_inputs, "inputs"), index);
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
    capi::need(bytes, "bytes") = e.scratch_size(capi::tensors(inputs, n_inputs, "inputs"));
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

}  // extern "C"
