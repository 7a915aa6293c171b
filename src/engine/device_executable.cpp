// Executables on CUDA devices: the code of their kernels for each kind of device, and their runs.
#include <unistd.h>

#include "base/error.h"
#include "engine/device_kernels.h"
#include "engine/executable.h"
#include "engine/kernels.h"
#include "runtime/fp_env.h"

namespace ingot::engine {

struct Executable::DeviceBodies {
  std::string target;
  std::vector<std::shared_ptr<const device::Kernel>> kernels;
  std::vector<const device::Kernel*> of_step;
  const device::Kernel* copier;
  DeviceBodies* older;
};

void Executable::drop_device_bodies() noexcept {
  for (DeviceBodies* b = device_bodies_.load(std::memory_order_relaxed); b;) {
    const std::unique_ptr<DeviceBodies> owned(b);
    b = owned->older;
  }
}

const std::string& Executable::target_for(const device::Device& device) const {
  if (options_.target.empty()) return device.target();
  if (!device.runs(options_.target))
    fail(Code::failed_precondition, "device ", device.ordinal(), " (", device.name(), ") is ", device.target(),
         ", which does not run code for ", options_.target);
  return options_.target;
}

const Executable::DeviceBodies* Executable::find(std::string_view target) const noexcept {
  const DeviceBodies* b = device_bodies_.load(std::memory_order_acquire);
  while (b && b->target != target) b = b->older;
  return b;
}

// Without a lock, as prepare(): threads that compile at once share the work through the memory cache, and the first to
// be done publishes.
const Executable::DeviceBodies& Executable::compile_for(const device::Device& device, const std::atomic<bool>* cancel) {
  const std::string& target = target_for(device);
  if (const DeviceBodies* known = find(target)) return *known;
  const Span span(context_->trace(), "prepare", [&] { return graph_->name(); });
  const runtime::FpEnv env;
  auto fresh = std::make_unique<DeviceBodies>();
  fresh->target = target;
  // The programs, then the steps that are none, then what copies.
  std::vector<size_t> routines;
  for (size_t s = 0; s < program_of_.size(); ++s)
    if (program_of_[s] == no_program) routines.push_back(s);
  const size_t programs = programs_.size();
  fresh->kernels.resize(programs + routines.size() + 1);
  compile_all(fresh->kernels.size(), cancel, [&](size_t i) {
    DeviceKernels& kernels = context_->device_kernels();
    const auto source = [&] {
      if (i < programs) return source_of(programs_[i].program->kernel, programs_[i].bytes);
      return i - programs < routines.size() ? source_of(plan_.steps[routines[i - programs]].routine) : copier_source();
    };
    fresh->kernels[i] = kernels.get(device, source(), target);
  });
  size_t next = programs;
  for (const uint32_t p : program_of_) fresh->of_step.push_back(fresh->kernels[p == no_program ? next++ : p].get());
  fresh->copier = fresh->kernels.back().get();
  context_->device_kernels().watch(shared_from_this());  // before it is published: it may throw
  fresh->older = device_bodies_.load(std::memory_order_acquire);
  for (;;) {
    if (const DeviceBodies* known = find(target)) return *known;
    if (device_bodies_.compare_exchange_weak(fresh->older, fresh.get(), std::memory_order_acq_rel))
      return *fresh.release();
  }
}

const Executable::DeviceBodies& Executable::device_bodies(const device::Device& device, const RunOptions& options) {
  if (const DeviceBodies* known = find(target_for(device))) return *known;
  const auto stream = static_cast<device::StreamHandle>(options.stream);
  const device::Scope scope(device, stream);
  if (device.driver().is_captured(stream))
    fail(Code::not_ready, "the stream is being captured, and the machine code is not ready yet");
  if (!options.never_stall) return compile_for(device, nullptr);
  if (const int64_t process = getpid(); !context_->options().no_threads && preparing_.exchange(process) != process) {
    const std::shared_ptr<Event> event = prepare_async(device.ordinal());
    // A failure is tried again by the next run, and another kind of device asks anew.
    event->on_done([weak = weak_from_this()](const Event::Result&) {
      if (const auto self = weak.lock()) self->preparing_.store(0);
    });
  }
  fail(Code::not_ready, "the machine code is not ready yet");
}

void Executable::prepare_device(int ordinal, const std::atomic<bool>* cancel) {
  DeviceKernels& kernels = context_->device_kernels();
  const device::Device& device = ordinal < 0 ? kernels.preferred() : kernels.at(ordinal);
  const DeviceBodies& bodies = compile_for(device, cancel);
  const device::Scope scope(device, nullptr);
  executor_->settle({device, bodies.of_step, *bodies.copier}, scope);
}

const device::Device& Executable::device_of(const runtime::Tensor* tensor) const {
  DeviceKernels& kernels = context_->device_kernels();
  return tensor ? kernels.at(tensor->device.id) : kernels.preferred();
}

uint64_t Executable::scratch_size_on_device(std::span<const runtime::Tensor* const> ins) const {
  return executor_->scratch_size(ins, device_of(runtime::on_a_device(ins)).limits());
}

runtime::Device Executable::outputs_on(std::span<const runtime::Tensor* const> ins) const {
  if (const runtime::Tensor* t = runtime::on_a_device(ins); t && on_device())
    return {runtime::device_cuda, t->device.id};
  return {runtime::device_cpu, 0};
}

std::unique_ptr<device::Memory> Executable::allocate(runtime::Device where, const RunOptions& options,
                                                     size_t bytes) const {
  const device::Device& device = context_->device_kernels().at(where.id);
  const auto stream = static_cast<device::StreamHandle>(options.stream);
  const device::Scope scope(device, stream);
  if (device.driver().is_captured(stream))
    fail(Code::not_ready, "the stream is being captured, and outputs have to be allocated");
  return std::make_unique<device::Memory>(device, scope, bytes);
}

// On the device of the first tensor that lies on one.
template <class Run>
void Executable::with_device_code(std::span<const runtime::Tensor* const> ins,
                                  std::span<const runtime::Tensor* const> outs, const RunOptions& options, Run&& run) {
  const runtime::Tensor* first = runtime::on_a_device(ins);
  if (!first) first = runtime::on_a_device(outs);
  const device::Device& device = device_of(first);
  const DeviceBodies& bodies = device_bodies(device, options);
  traced_run([&] { run(runtime::DeviceCode{device, bodies.of_step, *bodies.copier}, for_run(options)); });
}

void Executable::run_device(std::span<const runtime::Tensor* const> ins, std::span<const runtime::Tensor* const> outs,
                            const RunOptions& options) {
  with_device_code(ins, outs, options, [&](const runtime::DeviceCode& code, const runtime::RunOptions& run) {
    executor_->run(ins, outs, code, run);
  });
}

void Executable::run_device(runtime::BoundRun& bound, const RunOptions& options) {
  with_device_code(bound.tensors(), {}, options,
                   [&](const runtime::DeviceCode& code, const runtime::RunOptions& run) { bound.run(code, run); });
}

}  // namespace ingot::engine
