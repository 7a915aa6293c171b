// Runs, one by one and bound.
#include <algorithm>
#include <cstdlib>

#include "capi/handles.h"
#include "runtime/bound_run.h"

using namespace ingot;

// Layout of DLPack 1.0's DLManagedTensorVersioned, which hosts know from its header (checked in the tests).
struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  ingot_tensor dl_tensor;
};

struct ingot_call {
  explicit ingot_call(std::shared_ptr<engine::Executable> e)
      : executable(std::move(e)), bound(executable->executor()) {}
  std::shared_ptr<engine::Executable> executable;
  runtime::BoundRun bound;
};

namespace ingot::capi {

std::span<const runtime::Tensor* const> tensors(const ingot_tensor* const* p, size_t n, const char* name) {
  const auto given = list(p, n, name);
  return {reinterpret_cast<const runtime::Tensor* const*>(given.data()), given.size()};
}

runtime::Allocator allocator(ingot_allocate allocate, ingot_deallocate release, void* user) {
  if (!allocate != !release) fail(Code::invalid_argument, "of allocate and deallocate one is NULL");
  return {allocate, release, user};
}

engine::RunOptions run_options(const ingot_run_options* options) {
  engine::RunOptions run;
  if (!options) return run;
  const ingot_run_options o = capi::options(options);
  run.serial = o.serial != 0;
  run.never_stall = o.never_stall != 0;
  run.cancel = reinterpret_cast<const std::atomic<uint32_t>*>(o.cancel);
  run.scratch = o.scratch;
  run.scratch_bytes = o.scratch_bytes;
  run.stream = o.stream;
  run.allocator = allocator(o.allocate, o.deallocate, o.allocator_user);
  if (reinterpret_cast<uintptr_t>(o.scratch) % 64 != 0) fail(Code::invalid_argument, "scratch is not 64-byte aligned");
  return run;
}

}  // namespace ingot::capi

namespace {

constexpr size_t output_alignment = 64;

// An output the library made: what its deleter gives back.
struct Output {
  DLManagedTensorVersioned managed{};
  std::vector<int64_t> shape;
  runtime::Allocator from;
  std::shared_ptr<void> allocator_user;  // of the context's allocator
  size_t bytes = 0;
  void* memory = nullptr;
  std::unique_ptr<device::Memory> on_device;

  Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (!memory || on_device) return;
    if (from.allocate) from.give_back(memory, bytes, output_alignment);
    else std::free(memory);
  }
};

void delete_output(DLManagedTensorVersioned* self) {
  const std::unique_ptr<Output> owned(static_cast<Output*>(self->manager_ctx));
}

std::unique_ptr<Output> make_output(const engine::Executable& e, std::span<const runtime::Tensor* const> ins, size_t i,
                                    const engine::RunOptions& run) {
  auto out = std::make_unique<Output>();
  const engine::ContextOptions& context = e.context()->options();
  const bool on_device = e.options().backend == engine::Backend::cuda;
  if (run.allocator.allocate && !on_device) {
    out->from = run.allocator;
  } else {
    out->from = context.allocator;
    out->allocator_user = context.allocator_user;
  }
  out->shape = e.executor().output_shape(ins, i);
  const runtime::IoSpec& spec = e.executor().plan().outputs[i];
  size_t bytes = ir::item_size(spec.dtype);
  const bool empty = std::ranges::find(out->shape, 0) != out->shape.end();
  for (const int64_t extent : out->shape)
    if (!empty && __builtin_mul_overflow(bytes, static_cast<size_t>(extent), &bytes))
      fail(Code::out_of_memory, "output ", i, " overflows 64 bits");
  // Rounded up, as aligned_alloc wants it; empty ones have an address, too.
  if (bytes > SIZE_MAX - output_alignment) fail(Code::out_of_memory, "output ", i, " overflows 64 bits");
  out->bytes = empty ? output_alignment : (bytes + output_alignment - 1) / output_alignment * output_alignment;
  const runtime::Device where = e.outputs_on(ins);
  // On a device the run's allocator makes device memory, and the context's host memory.
  if (where.type != runtime::device_cpu) {
    out->from = run.allocator;
    out->allocator_user.reset();
  }
  if (out->from.allocate) {
    out->memory = out->from.get(out->bytes, output_alignment);
  } else if (where.type != runtime::device_cpu) {
    out->on_device = e.allocate(where, run, out->bytes);
    out->memory = reinterpret_cast<void*>(out->on_device->at());
  } else {
    out->memory = std::aligned_alloc(output_alignment, out->bytes);
    if (!out->memory) throw std::bad_alloc();
  }
  DLManagedTensorVersioned& m = out->managed;
  m.major = 1;
  m.manager_ctx = out.get();
  m.deleter = delete_output;
  m.dl_tensor.data = out->memory;
  m.dl_tensor.device = {where.type, where.id};
  m.dl_tensor.ndim = static_cast<int32_t>(out->shape.size());
  m.dl_tensor.dtype = {spec.dlpack.code, spec.dlpack.bits, spec.dlpack.lanes};
  m.dl_tensor.shape = out->shape.data();
  return out;
}

runtime::BoundRun& bound_of(ingot_call* call) { return capi::need(call, "call").bound; }

}  // namespace

extern "C" {

ingot_status* ingot_run(ingot_executable* executable, const ingot_tensor* const* inputs, size_t n_inputs,
                        const ingot_tensor* const* outputs, size_t n_outputs, const ingot_run_options* options) {
  return capi::guarded([&] {
    engine::Executable& e = *capi::need(executable, "executable").executable;
    const auto ins = capi::tensors(inputs, n_inputs, "inputs"), outs = capi::tensors(outputs, n_outputs, "outputs");
    if (!options) return e.run(ins, outs);
    e.run(ins, outs, capi::run_options(options));
  });
}

ingot_status* ingot_run_allocating(ingot_executable* executable, const ingot_tensor* const* inputs, size_t n_inputs,
                                   DLManagedTensorVersioned** outputs, size_t n_outputs,
                                   const ingot_run_options* options) {
  return capi::guarded([&] {
    engine::Executable& e = *capi::need(executable, "executable").executable;
    const engine::RunOptions run = capi::run_options(options);
    const auto ins = capi::tensors(inputs, n_inputs, "inputs");
    const auto outs = capi::list(outputs, n_outputs, "outputs");
    const size_t count = e.executor().plan().outputs.size();
    if (n_outputs != count) fail(Code::invalid_argument, n_outputs, " outputs are asked for, the graph has ", count);
    std::vector<std::unique_ptr<Output>> made;
    std::vector<const ingot_tensor*> to;
    for (size_t i = 0; i < count; ++i) {
      made.push_back(make_output(e, ins, i, run));
      to.push_back(&made.back()->managed.dl_tensor);
    }
    e.run(ins, capi::tensors(to.data(), to.size(), "outputs"), run);
    for (size_t i = 0; i < count; ++i) outs[i] = &made[i].release()->managed;
  });
}

ingot_status* ingot_call_create(ingot_executable* executable, ingot_call** call) {
  return capi::guarded([&] {
    const auto& e = capi::need(executable, "executable").executable;
    capi::need(call, "call");
    *call = std::make_unique<ingot_call>(e).release();
  });
}

ingot_status* ingot_call_clone(const ingot_call* call, ingot_call** clone) {
  return capi::guarded([&] {
    const ingot_call& from = capi::need(call, "call");
    capi::need(clone, "clone");
    *clone = std::make_unique<ingot_call>(from).release();
  });
}

void ingot_call_release(ingot_call* call) { const std::unique_ptr<ingot_call> owned(call); }

ingot_status* ingot_call_bind(ingot_call* call, const ingot_tensor* const* inputs, size_t n_inputs,
                              const ingot_tensor* const* outputs, size_t n_outputs) {
  return capi::guarded([&] {
    runtime::BoundRun& bound = bound_of(call);
    const auto ins = capi::tensors(inputs, n_inputs, "inputs"), outs = capi::tensors(outputs, n_outputs, "outputs");
    if (outputs && n_outputs == 0) fail(Code::invalid_argument, "outputs is not NULL, but its count is 0");
    bound.bind(ins, outs);
  });
}

ingot_status* ingot_call_output(const ingot_call* call, size_t index, ingot_tensor* output) {
  return capi::guarded([&] {
    const ingot_call& c = capi::need(call, "call");
    capi::need(output, "output");
    *output = reinterpret_cast<const ingot_tensor&>(c.bound.output(index));
  });
}

ingot_status* ingot_call_set_data(ingot_call* call, uint32_t is_output, size_t index, void* data) {
  return capi::guarded([&] {
    if (is_output > 1) fail(Code::invalid_argument, "is_output is ", is_output, ", expected 0 or 1");
    bound_of(call).set_data(is_output != 0, index, data);
  });
}

ingot_status* ingot_call_run(ingot_call* call, const ingot_run_options* options) {
  return capi::guarded([&] {
    runtime::BoundRun& bound = bound_of(call);
    if (!options) return call->executable->run(bound);
    call->executable->run(bound, capi::run_options(options));
  });
}

}  // extern "C"
