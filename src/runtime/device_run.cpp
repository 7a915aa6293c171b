// A run on a CUDA device: the plan's steps, one after the other, on the host's stream.
#include <algorithm>

#include "base/error.h"
#include "jit/cuda/copy.h"
#include "jit/cuda/launch_plan.h"
#include "jit/cuda/routines.h"
#include "runtime/residence.h"
#include "runtime/routines.h"
#include "runtime/workspace.h"

namespace ingot::runtime {

namespace {

using device::Address;

// A place in scratch before it is known where scratch is: as aligned as that will be.
constexpr uintptr_t nowhere = uintptr_t{1} << 20;

Address address(const char* p) { return reinterpret_cast<uintptr_t>(p); }

// The operands, then the result.
jit::cuda::RoutineArgs routine_args(const loop::Routine& routine, std::span<const RoutineTensor> tensors) {
  jit::cuda::RoutineArgs args;
  const auto fill = [](const Place& from, jit::cuda::RoutinePlace& to) {
    to.data = address(from.data);
    to.rank = from.rank;
    std::copy_n(from.extent, from.rank, to.extent);
    std::copy_n(from.stride, from.rank, to.stride);
  };
  const size_t operands = loop::operand_count(routine);
  for (size_t i = 0; i < operands; ++i) fill(tensors[i].place, args.operand[i]);
  fill(tensors[operands].place, args.result);
  args.axis = routine.axis;
  return args;
}

// What the launches of one run need of the device, and what they leave to be given back or waited for.
class Session {
 public:
  Session(const DeviceCode& code, const device::FunctionHandle* copier, const RunOptions& options)
      : code_(code), copier_(copier), options_(options), driver_(code.device.driver()) {}
  ~Session() {
    // A run that failed must not leave copies of host memory behind.
    if (copying_) driver_.cuStreamSynchronize(options_.stream);
    if (pooled_ != 0) driver_.cuMemFreeAsync(pooled_, options_.stream);
    if (allocated_ != 0) driver_.cuMemFree_v2(allocated_);  // waits for the work that uses it
    if (lent_) options_.allocator.give_back(lent_, bytes_, device_alignment);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const device::Driver& driver() const { return driver_; }

  void must_not_be_captured(const char* why) const {
    if (driver_.is_captured(options_.stream)) fail(Code::not_ready, "the stream is being captured, and ", why);
  }

  // Device memory for this run, in the order of the stream.
  char* scratch(size_t bytes) {
    if (options_.scratch && options_.scratch_bytes >= bytes) {
      const auto lent = static_cast<char*>(options_.scratch);
      if (const std::string wrong = not_device_memory(code_.device, address(lent)); !wrong.empty())
        fail(Code::invalid_argument, "the lent scratch: ", wrong);
      return lent;
    }
    bytes_ = bytes;
    if (driver_.is_captured(options_.stream))
      fail(Code::not_ready, "the stream is being captured, and the run needs ", bytes, " bytes of lent scratch; ",
           options_.scratch ? options_.scratch_bytes : 0, " were lent");
    if (options_.allocator.allocate) {
      lent_ = options_.allocator.get(bytes, device_alignment);
      if (const std::string wrong = not_device_memory(code_.device, reinterpret_cast<uintptr_t>(lent_)); !wrong.empty())
        fail(Code::invalid_argument, "the run's allocator, which makes scratch: ", wrong);
      return static_cast<char*>(lent_);
    }
    if (device::PoolHandle pool = code_.device.pool()) {
      driver_.must(driver_.cuMemAllocFromPoolAsync(&pooled_, bytes, pool, options_.stream), "allocating scratch");
      return reinterpret_cast<char*>(pooled_);
    }
    driver_.must(driver_.cuMemAlloc_v2(&allocated_, bytes), "allocating scratch");
    return reinterpret_cast<char*>(allocated_);
  }

  void launch(const device::FunctionHandle* functions, const jit::cuda::LaunchPlan& plan, void* args) const {
    void* parameters[] = {args};
    for (uint32_t i = 0; i < plan.count; ++i) {
      const jit::cuda::Stage& stage = plan.stages[i];
      driver_.must(driver_.cuLaunchKernel(functions[stage.entry], stage.blocks, 1, 1, stage.threads, 1, 1, 0,
                                          options_.stream, parameters, nullptr),
                   "launching a kernel");
    }
  }

  void routine(const loop::Routine& routine, std::span<const RoutineTensor> tensors,
               const device::FunctionHandle* functions, Address fault) const {
    jit::cuda::RoutineArgs args = routine_args(routine, tensors);
    args.fault = fault;
    launch(functions, plan_routine(routine, args, code_.device.limits()), &args);
  }

  // Between two places of device memory.
  void copy(const Place& from, const Place& to) const {
    if (from.empty) return;
    jit::cuda::CopyArgs args;
    args.from = address(from.data);
    args.to = address(to.data);
    for (uint32_t d = 0; d < from.rank; ++d) args.add_axis(from.extent[d], from.stride[d], to.stride[d]);
    launch(copier_, plan_copy(args, from.item, code_.device.limits()), &args);
  }

  // From host memory, which may change once this returns.
  void upload(const Place& from, const Place& to) {
    if (from.empty) return;
    copying_ = true;
    const Place* compact = &from;
    Place packed;
    if (!from.compact) {
      packed = pack(from);
      copy_strided(from, packed, from.item);
      compact = &packed;
    }
    driver_.must(driver_.cuMemcpyHtoDAsync_v2(address(to.data), compact->data, bytes_of(to, to.item), options_.stream),
                 "copying a tensor to the device");
  }

  // To host memory, where it is after wait().
  void download(const Place& from, const Place& to) {
    if (from.empty) return;
    copying_ = true;
    const Place* compact = &to;
    if (!to.compact) compact = &spread_.emplace_back(Spread{pack(to), to}).packed;
    driver_.must(
        driver_.cuMemcpyDtoHAsync_v2(compact->data, address(from.data), bytes_of(from, from.item), options_.stream),
        "copying a tensor to the host");
  }

  void wait() {
    copying_ = false;
    driver_.must(driver_.cuStreamSynchronize(options_.stream), "running kernels");
    for (const Spread& s : spread_) copy_strided(s.packed, s.to, s.to.item);
  }

 private:
  struct Spread {
    Place packed, to;
  };
  Place pack(const Place& like) {
    Place p = like;
    make_compact(p, p.item);
    packed_.push_back(std::make_unique<std::vector<char>>(bytes_of(p, p.item)));
    p.data = packed_.back()->data();
    return p;
  }

  const DeviceCode& code_;
  const device::FunctionHandle* const copier_;
  const RunOptions& options_;
  const device::Driver& driver_;
  size_t bytes_ = 0;
  bool copying_ = false;  // to or from host memory
  Address pooled_ = 0, allocated_ = 0;
  void* lent_ = nullptr;
  std::vector<std::unique_ptr<std::vector<char>>> packed_;
  std::vector<Spread> spread_;
};

}  // namespace

void DeviceStep::prepare(const loop::Kernel& kernel, const Executor::Workspace& w) {
  layout.emplace(kernel);
  sizes.assign(w.sizes.begin(), w.sizes.begin() + kernel.sizes);
  sizes.resize(std::max<size_t>(kernel.sizes, 1));  // Args has one where the kernel has none
  views.assign(w.views.begin(), w.views.begin() + static_cast<ptrdiff_t>(kernel.views.size()));
  args.resize(layout->bytes() / 8);
}

void DeviceStep::move(std::span<const Origin> origins) noexcept {
  for (size_t v = 0; v < origins.size(); ++v)
    if (const Place* p = origins[v].place)
      views[v].base = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(p->data) + origins[v].offset);
}

// Whose memory is whose: all tensors of one device, and none of them host memory under a device's name.
void Executor::check_devices(std::span<const Tensor* const> ins, std::span<const Tensor* const> outs,
                             const device::Device& device, Workspace& w) const {
  const auto check = [&](const char* what, size_t i, const Tensor& t, const IoSpec& spec, Place& p) {
    if (p.empty) return;
    if (p.device == device_cpu) {
      if (device::is_device_memory(device.driver(), address(p.data)))
        fail(Code::invalid_argument, label(what, i, spec),
             ": its data is device memory, but its device type is 1 (CPU)");
      return;
    }
    if (t.device.id != device.ordinal())
      fail(Code::invalid_argument, label(what, i, spec), ": lies on device ", t.device.id, ", the run is on ",
           device.ordinal());
    if (p.data == p.checked && device.ordinal() == p.checked_on) return;
    // A device faults on what the CPU forgives.
    if (address(p.data) % p.item != 0)
      fail(Code::invalid_argument, label(what, i, spec), ": its data is not aligned to its items of ", p.item,
           " bytes, as a device wants it");
    const std::string wrong = device::not_device_memory(device, address(p.data));
    if (!wrong.empty()) fail(Code::invalid_argument, label(what, i, spec), ": ", wrong);
    p.checked = p.data;
    p.checked_on = device.ordinal();
  };
  for (size_t i = 0; i < ins.size(); ++i) check("input", i, *ins[i], plan_.inputs[i], w.inputs[i]);
  for (size_t i = 0; i < outs.size(); ++i) check("output", i, *outs[i], plan_.outputs[i], w.outputs[i]);
}

// After lay_out(): what a run on a device needs beyond it.
void Executor::lay_out_device(const jit::cuda::DeviceLimits& limits, Workspace& w) const {
  for (Place& p : w.buffers) p.data = reinterpret_cast<char*>(nowhere + p.offset);
  const bool remember = w.steps.size() == plan_.steps.size();
  w.device_steps.resize(w.steps.size());
  size_t most = 0;
  for (size_t s = 0; s < plan_.steps.size(); ++s) {
    if (plan_.steps[s].routine) continue;
    const loop::Kernel& kernel = plan_.steps[s].program->kernel;
    StepState& state = w.steps[remember ? s : 0];
    DeviceStep& d = w.device_steps[remember ? s : 0];
    bind_views(plan_.steps[s], state, w);
    d.prepare(kernel, w);
    d.move(state.origins);
    most = std::max(most, plan_launch(kernel, d.sizes.data(), d.views.data(), limits).scratch_bytes);
  }
  w.waits = false;
  for (size_t h = 0; h < w.home.size(); ++h) w.waits = w.waits || (w.home[h] && w.homes[h].device == device_cpu);
  w.faults_at = device_aligned(w.scratch_bytes);
  w.stages_at = w.faults_at + (w.waits ? device_aligned(fault_bytes * plan_.steps.size()) : 0);
  w.device_bytes = w.stages_at + most;
}

void Executor::lay_out_shapes(std::span<const Tensor* const> ins, const jit::cuda::DeviceLimits& limits,
                              Workspace& w) const {
  std::fill(w.home.begin(), w.home.end(), nullptr);
  bind(ins, false, w);
  w.wide = w.ordered = false;
  for (size_t o = 0; o < w.outputs.size(); ++o) {
    Place& p = w.outputs[o];
    p.device = plan_.device;
    p.rank = static_cast<uint32_t>(plan_.outputs[o].shape.size());
    for (uint32_t d = 0; d < p.rank; ++d) p.extent[d] = w.dims[plan_.outputs[o].shape[d]];
    make_compact(p, p.item);
  }
  lay_out(w);
  lay_out_device(limits, w);
}

uint64_t Executor::scratch_size(std::span<const Tensor* const> ins, const jit::cuda::DeviceLimits& limits) const {
  const auto back = [this](Workspace* w) { give(w); };
  const std::unique_ptr<Workspace, decltype(back)> w(take(), back);
  lay_out_shapes(ins, limits, *w);
  return w->device_bytes;
}

std::vector<jit::cuda::LaunchPlan> Executor::launches(std::span<const Tensor* const> ins,
                                                      const jit::cuda::DeviceLimits& limits) const {
  const auto back = [this](Workspace* w) { give(w); };
  const std::unique_ptr<Workspace, decltype(back)> held(take(), back);
  Workspace& w = *held;
  lay_out_shapes(ins, limits, w);
  // As a device's allocators place tensors; what was here before may lie anywhere.
  for (auto* places : {&w.inputs, &w.outputs})
    for (Place& p : *places) p.data = reinterpret_cast<char*>(nowhere);
  for (Place& p : w.constants) p.data = reinterpret_cast<char*>(nowhere);
  std::vector<jit::cuda::LaunchPlan> out;
  for (const StepSpec& step : plan_.steps) {
    if (step.routine) {
      RoutineTensor tensors[4];
      RunCounts unused;
      bind_routine(step, w, tensors, unused);
      out.push_back(plan_routine(step.routine, routine_args(step.routine, tensors), limits));
      continue;
    }
    StepState state;
    DeviceStep d;
    bind_views(step, state, w);
    d.prepare(step.program->kernel, w);
    d.move(state.origins);
    out.push_back(plan_launch(step.program->kernel, d.sizes.data(), d.views.data(), limits));
  }
  return out;
}

void Executor::run(std::span<const Tensor* const> ins, std::span<const Tensor* const> outs, const DeviceCode& code,
                   const RunOptions& options) const {
  const auto back = [this](Workspace* w) { give(w); };
  const std::unique_ptr<Workspace, decltype(back)> held(take(), back);
  run(*held, false, ins, outs, code, options);
}

void Executor::run(Workspace& w, bool unchanged, std::span<const Tensor* const> ins,
                   std::span<const Tensor* const> outs, const DeviceCode& code, const RunOptions& options) const {
  const device::Scope scope(code.device, options.stream);
  const bool again = w.known && (unchanged || recall(ins, outs, w));
  if (!again) {
    w.wide = false;
    resolve(ins, outs, w);
    lay_out_device(code.device.limits(), w);
  }
  check_devices(ins, outs, code.device, w);
  const Residence& residence = this->residence(code, scope, options);
  for (size_t i = 0; i < w.constants.size(); ++i) w.constants[i].data = reinterpret_cast<char*>(residence.constants[i]);

  Session session(code, residence.copier, options);
  const size_t n_in = w.inputs.size();
  if (w.waits) session.must_not_be_captured("a tensor in host memory has to be copied");
  char* const base = w.device_bytes > 0 ? session.scratch(w.device_bytes) : nullptr;
  for (Place& p : w.buffers) p.data = base + p.offset;
  Address faults = residence.block->at();
  if (w.waits) {
    faults = address(base + w.faults_at);
    session.driver().must(session.driver().cuMemsetD8Async(faults, 0, fault_bytes * plan_.steps.size(), options.stream),
                          "clearing memory");
  }
  for (size_t h = 0; h < w.home.size(); ++h) {
    if (!w.home[h]) continue;
    Place& p = h < n_in ? w.inputs[h] : w.outputs[h - n_in];
    p.data = base + p.offset;
    if (h >= n_in) continue;
    if (w.homes[h].device == device_cpu) session.upload(w.homes[h], p);
    else session.copy(w.homes[h], p);
  }

  RunCounts counts{.runs = 1};
  const bool remember = w.steps.size() == plan_.steps.size();
  for (size_t s = 0; s < plan_.steps.size(); ++s) {
    if (options.cancelled()) fail(Code::cancelled, "the run was cancelled");
    const StepSpec& step = plan_.steps[s];
    if (step.routine) {
      RoutineTensor tensors[4];
      bind_routine(step, w, tensors, counts);
      session.routine(step.routine, tensors, residence.functions[s], faults + s * fault_bytes);
      const size_t result = loop::operand_count(step.routine);
      for (size_t v = result + 1; v < step.views.size(); ++v)
        session.copy(tensors[result].place, place_of(step.views[v].ref, w));
      continue;
    }
    StepState& state = w.steps[remember ? s : 0];
    DeviceStep& d = w.device_steps[remember ? s : 0];
    const loop::Kernel& kernel = step.program->kernel;
    if (!remember) {
      bind_views(step, state, w);
      d.prepare(kernel, w);
    }
    d.move(state.origins);
    const jit::cuda::LaunchPlan plan = plan_launch(kernel, d.sizes.data(), d.views.data(), code.device.limits());
    if (plan.scratch_bytes > w.device_bytes - w.stages_at) bug("a launch wants more scratch than was asked for");
    counts.bytes_read += state.read;
    counts.bytes_written += state.written;
    if (plan.count == 0) continue;
    ++counts.launches;
    // CUDA's limit before 12.1.
    if (d.layout->bytes() > 4096 && code.device.driver().version() < 12010)
      fail(Code::unimplemented, "a kernel with ", d.layout->bytes(),
           " bytes of parameters needs a driver of CUDA 12.1");
    d.layout->pack(d.sizes.data(), d.views.data(), faults + s * fault_bytes, address(base + w.stages_at),
                   d.args.data());
    session.launch(residence.functions[s], plan, d.args.data());
  }
  for (size_t o = 0; o < w.outputs.size(); ++o) {
    if (!w.home[n_in + o]) continue;
    if (w.homes[n_in + o].device == device_cpu) session.download(w.outputs[o], w.homes[n_in + o]);
    else session.copy(w.outputs[o], w.homes[n_in + o]);
  }
  if (w.waits) {
    std::vector<jit::Fault> found(plan_.steps.size());
    session.driver().must(
        session.driver().cuMemcpyDtoHAsync_v2(found.data(), faults, fault_bytes * found.size(), options.stream),
        "reading faults");
    session.wait();
    for (size_t s = 0; s < found.size(); ++s)
      if (found[s].check != 0) fail_for(found[s], plan_.steps[s]);
  }
  w.known = remember && !w.temporaries;
  w.calls_of = nullptr;
  w.tally.add(counts);
}

}  // namespace ingot::runtime
