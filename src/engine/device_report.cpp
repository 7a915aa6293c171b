#include "engine/device_report.h"

#include <algorithm>
#include <charconv>

#include "engine/device_kernels.h"
#include "engine/json_writer.h"
#include "jit/cuda/cubin.h"
#include "jit/cuda/kinds.h"
#include "jit/cuda/nvrtc.h"
#include "jit/cuda/occupancy.h"
#include "jit/image/artifact.h"

namespace ingot::engine {

namespace {

void write_devices(JsonWriter& out, DeviceKernels& kernels, const device::Driver& driver) {
  out.begin_object("driver");
  out.field("library", driver.path());
  out.field("version", cat(driver.version() / 1000, ".", driver.version() % 1000 / 10));
  out.end();
  out.begin_array("devices");
  for (int i = 0; i < driver.device_count(); ++i) {
    const device::Device& d = kernels.at(i);
    const device::Speed speed = d.speed();
    out.begin_object();
    out.field("ordinal", i);
    out.field("name", d.name());
    out.field("target", d.target());
    out.field("multiprocessors", d.limits().multiprocessors);
    out.field("clock_khz", speed.clock_khz);
    out.field("memory_clock_khz", speed.memory_clock_khz);
    out.field("bus_bits", speed.bus_bits);
    out.field("bytes_per_s", speed.bytes_per_s);
    out.field("f32_per_s", speed.f32_per_s);
    out.field("f64_per_s", speed.f64_per_s);
    out.end();
  }
  out.end();
}

// The device that runs code for `target`, of which an empty one becomes that of the device: the preferred one, else the
// first. Negative: none does.
int choose_device(DeviceKernels& kernels, const device::Driver& driver, std::string& target) {
  const device::Device& preferred = kernels.preferred();
  if (target.empty()) target = preferred.target();
  if (preferred.runs(target)) return preferred.ordinal();
  for (int i = 0; i < driver.device_count(); ++i)
    if (kernels.at(i).runs(target)) return i;
  return -1;
}

void write_nvrtc(JsonWriter& out, const std::string& library) {
  try {
    const jit::NvrtcInfo nvrtc = jit::nvrtc_info(library);
    out.begin_object("nvrtc");
    out.field("library", nvrtc.path);
    out.field("version", cat(nvrtc.major, ".", nvrtc.minor));
    out.end();
  } catch (const Error& e) {
    if (e.code() != Code::unavailable) throw;
    out.null("nvrtc");
    out.field("nvrtc_error", e.message());
  }
}

void write_entries(JsonWriter& out, const jit::CubinResources& cubin, const std::string& target) {
  const jit::Multiprocessor* const mp = jit::multiprocessor(jit::sm_of(target));
  out.begin_array("entries");
  for (const jit::CubinEntry& e : cubin.entries) {
    out.begin_object();
    out.field("name", e.name);
    out.field("threads", jit::cuda::block_threads);
    out.field("registers", e.registers);
    out.field("shared_bytes", e.shared_bytes);
    if (mp) {
      const uint32_t shared =
          cubin.reserved_counted ? std::max(e.shared_bytes, mp->shared_reserved) : e.shared_bytes + mp->shared_reserved;
      const jit::Occupancy o = jit::occupancy(*mp, jit::cuda::block_threads, e.registers, shared);
      out.field("blocks", o.blocks);
      out.field("warps", o.warps);
      out.field("most_warps", mp->warps);
      out.field("limited_by", jit::name(o.limit));
    }
    out.end();
  }
  out.end();
}

// The values of "N=1000,M=3", by the symbols of the table; all must be there.
std::vector<int64_t> read_sizes(const ir::DimTable& dims, std::string_view text) {
  std::vector<int64_t> out(dims.size());
  std::vector<bool> known(dims.size());
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const size_t equals = std::min(part.rfind('='), part.size());
    const std::string_view name = part.substr(0, equals), number = part.substr(std::min(equals + 1, part.size()));
    const auto d = std::ranges::find(dims.symbols(), name, [&](ir::DimId s) { return dims.symbol_name(s); });
    int64_t value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (d == dims.symbols().end() || error != std::errc{} || end != number.data() + number.size() || value < 0)
      fail(Code::invalid_argument, "\"", part, "\" gives no extent of the graph a value, as NAME=4096 would");
    out[*d] = value;
    known[*d] = true;
  }
  for (const ir::DimId d : dims.symbols())
    if (!known[d]) fail(Code::invalid_argument, "the extent ", dims.symbol_name(d), " has no value");
  dims.evaluate(out);
  return out;
}

// How every step is launched on the device for these sizes.
std::vector<jit::cuda::LaunchPlan> launches(const Executable& e, const std::vector<int64_t>& dims,
                                            const device::Device& device) {
  const runtime::ExecutorPlan& plan = e.executor().plan();
  const size_t n = plan.inputs.size();
  std::vector<std::vector<int64_t>> shapes(n);
  std::vector<int64_t> bound(n);
  std::vector<runtime::Tensor> tensors(n);
  std::vector<const runtime::Tensor*> pointers;
  for (size_t i = 0; i < n; ++i) {
    const runtime::IoSpec& in = plan.inputs[i];
    const bool binds = in.symbol != ir::no_dim;
    for (const ir::DimId d : in.shape) shapes[i].push_back(dims[d]);
    if (binds) bound[i] = dims[in.symbol];
    const runtime::Device where =
        binds ? runtime::Device{runtime::device_cpu, 0} : runtime::Device{runtime::device_cuda, device.ordinal()};
    tensors[i] = {binds ? &bound[i] : nullptr,
                  where,
                  static_cast<int32_t>(in.shape.size()),
                  in.dlpack,
                  shapes[i].data(),
                  nullptr,
                  0};
    pointers.push_back(&tensors[i]);
  }
  return e.executor().launches(pointers, device.limits());
}

void write_launches(JsonWriter& out, const jit::cuda::LaunchPlan& plan, const std::vector<const char*>& entries) {
  out.begin_array("stages");
  for (uint32_t i = 0; i < plan.count; ++i) {
    out.begin_object();
    out.field("entry", entries[plan.stages[i].entry]);
    out.field("blocks", plan.stages[i].blocks);
    out.field("threads", plan.stages[i].threads);
    out.end();
  }
  out.end();
  out.field("scratch_bytes", plan.scratch_bytes);
}

}  // namespace

std::string device_report(const Executable& e, std::optional<std::string_view> sizes) {
  std::string target = e.options().target;
  if (!target.empty() && !target.starts_with("sm_"))
    fail(Code::invalid_argument, "target \"", target, "\" is no GPU: expected sm_NN");
  DeviceKernels& kernels = e.context()->device_kernels();
  JsonWriter out;
  out.begin_object();
  out.field("schema", 1);
  int chosen = -1;
  try {
    const std::shared_ptr<const device::Driver> driver = kernels.driver();
    chosen = choose_device(kernels, *driver, target);
    write_devices(out, kernels, *driver);
  } catch (const Error& error) {
    if (error.code() != Code::unavailable) throw;
    out.null("driver");
    out.field("driver_error", error.message());
    out.begin_array("devices");
    out.end();
  }
  if (chosen < 0) out.null("device");
  else out.field("device", chosen);
  write_nvrtc(out, e.context()->nvrtc());
  if (target.empty()) out.null("target");
  else out.field("target", target);
  out.begin_array("steps");
  std::vector<jit::cuda::LaunchPlan> plans;
  if (sizes) {
    const std::vector<int64_t> dims = read_sizes(e.executor().plan().dims, *sizes);
    if (chosen >= 0 && e.executor().plan().device == runtime::device_cuda)
      plans = launches(e, dims, kernels.at(chosen));
  }
  for (size_t s = 0; s < e.plan().steps.size(); ++s) {
    const fuse::Step& step = e.plan().steps[s];
    out.begin_object();
    out.field("step", s);
    const DeviceSource source = step.routine ? source_of(step.routine) : source_of(step.kernel, e.kernel_bytes(s));
    if (!plans.empty()) write_launches(out, plans[s], source.entries);
    try {
      if (target.empty()) fail(Code::unavailable, "no target is given, and there is no device");
      write_entries(out, jit::read_cubin(jit::decode_artifact(kernels.artifact(source, target)).image), target);
    } catch (const Error& error) {
      if (error.code() == Code::out_of_memory) throw;
      out.field("error", error.message());
    }
    out.end();
  }
  out.end();
  out.end();
  return out.take();
}

}  // namespace ingot::engine
