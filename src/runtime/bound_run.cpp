#include "runtime/bound_run.h"

#include <cstring>

#include "base/error.h"
#include "runtime/workspace.h"

namespace ingot::runtime {

BoundRun::BoundRun(const Executor& executor)
    : executor_(executor),
      plan_inputs_(executor.plan().inputs.size()),
      plan_outputs_(executor.plan().outputs.size()),
      workspace_(executor.take()) {}

BoundRun::BoundRun(const BoundRun& other) : BoundRun(other.executor_) {
  if (other.bound()) adopt(other.pointers_);
}

BoundRun::~BoundRun() { executor_.give(workspace_); }

void BoundRun::bind(std::span<const Tensor* const> ins, std::span<const Tensor* const> outs) {
  std::vector<const Tensor*> all(ins.begin(), ins.end());
  std::vector<Tensor> made;
  std::vector<std::vector<int64_t>> shapes;
  if (outs.empty()) {
    made.reserve(plan_outputs_);
    for (size_t i = 0; i < plan_outputs_; ++i) shapes.push_back(executor_.output_shape(ins, i));
    // Where the inputs are, as far as that is a device.
    Device on{device_cpu, 0};
    if (const Tensor* t = on_a_device(ins)) on = {executor_.plan().device, t->device.id};
    for (size_t i = 0; i < plan_outputs_; ++i) {
      made.push_back({nullptr, on, static_cast<int32_t>(shapes[i].size()), executor_.plan().outputs[i].dlpack,
                      shapes[i].data(), nullptr, 0});
    }
    for (const Tensor& t : made) all.push_back(&t);
  } else {
    executor_.check(*workspace_, ins, outs);
    all.insert(all.end(), outs.begin(), outs.end());
  }
  adopt(all);
}

// Nothing is changed before all that may throw is done.
void BoundRun::adopt(std::span<const Tensor* const> all) {
  std::vector<Tensor> tensors;
  std::vector<int64_t> extents, dim_values(plan_inputs_, 0);
  std::vector<const Tensor*> pointers;
  size_t total = 0;
  for (const Tensor* t : all) total += static_cast<size_t>(t->ndim) * (t->strides ? 2 : 1);
  extents.reserve(total);
  tensors.reserve(all.size());
  pointers.reserve(all.size());
  for (const Tensor* t : all) {
    tensors.push_back(*t);
    Tensor& copy = tensors.back();
    const auto keep = [&](const int64_t* from) {
      int64_t* const at = extents.data() + extents.size();
      extents.insert(extents.end(), from, from + t->ndim);
      return at;
    };
    if (t->ndim > 0) copy.shape = keep(t->shape);
    if (t->strides && t->ndim > 0) copy.strides = keep(t->strides);
    pointers.push_back(&copy);
  }
  tensors_ = std::move(tensors);
  extents_ = std::move(extents);
  dim_values_ = std::move(dim_values);
  pointers_ = std::move(pointers);
  for (size_t i = 0; i < plan_inputs_; ++i) read_dim_input(i);
  changed_ = true;
}

void BoundRun::read_dim_input(size_t i) {
  if (executor_.plan().inputs[i].symbol == ir::no_dim) return;
  Tensor& t = tensors_[i];
  std::memcpy(&dim_values_[i], static_cast<const char*>(t.data) + t.byte_offset, sizeof(int64_t));
  t.data = &dim_values_[i];
  t.byte_offset = 0;
}

const Tensor& BoundRun::output(size_t i) const {
  if (!bound()) fail(Code::failed_precondition, "no tensors are bound");
  if (i >= plan_outputs_) fail(Code::invalid_argument, "output ", i, " of ", plan_outputs_);
  return tensors_[plan_inputs_ + i];
}

void BoundRun::set_data(bool is_output, size_t i, void* data) {
  if (!bound()) fail(Code::failed_precondition, "no tensors are bound");
  const size_t count = is_output ? plan_outputs_ : plan_inputs_;
  if (i >= count) fail(Code::invalid_argument, is_output ? "output " : "input ", i, " of ", count);
  const bool dim = !is_output && executor_.plan().inputs[i].symbol != ir::no_dim;
  if (dim && !data) fail(Code::invalid_argument, "input ", i, " binds a symbol: its data must not be NULL");
  Tensor& t = tensors_[(is_output ? plan_inputs_ : 0) + i];
  t.data = data;
  t.byte_offset = 0;
  if (dim) read_dim_input(i);
  changed_ = true;
}

void BoundRun::run(std::span<const jit::Body* const> bodies, const RunOptions& options) {
  if (!bound()) fail(Code::failed_precondition, "no tensors are bound");
  const std::span<const Tensor* const> all(pointers_);
  executor_.run(*workspace_, !changed_, all.subspan(0, plan_inputs_), all.subspan(plan_inputs_), bodies, options);
  changed_ = false;
}

void BoundRun::run(const DeviceCode& code, const RunOptions& options) {
  if (!bound()) fail(Code::failed_precondition, "no tensors are bound");
  const std::span<const Tensor* const> all(pointers_);
  executor_.run(*workspace_, !changed_, all.subspan(0, plan_inputs_), all.subspan(plan_inputs_), code, options);
  changed_ = false;
}

}  // namespace ingot::runtime
