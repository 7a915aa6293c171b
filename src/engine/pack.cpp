#include "engine/pack.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "cache/pack.h"
#include "engine/device_kernels.h"
#include "engine/kernels.h"
#include "engine/workers.h"
#include "jit/cuda/occupancy.h"
#include "jit/image/isa.h"

namespace ingot::engine {

namespace {

bool is_cpu(const std::string& target) { return jit::can_run(target, target); }
bool is_gpu(const std::string& target) { return jit::sm_of(target) > 0; }

}  // namespace

std::vector<uint8_t> make_pack(std::span<Executable* const> executables, std::span<const std::string> targets) {
  if (executables.empty()) fail(Code::invalid_argument, "no executable to pack");
  Context& context = *executables.front()->context();
  const bool devices =
      std::ranges::any_of(executables, [](const Executable* e) { return e->options().backend == Backend::cuda; });
  for (const std::string& target : targets)
    if (!is_cpu(target) && !(devices && is_gpu(target)))
      fail(Code::invalid_argument, "target \"", target, "\" is no CPU's",
           devices          ? " and no GPU's"
           : is_gpu(target) ? ", and no executable is of INGOT_BACKEND_CUDA"
                            : "");

  // Code for a CPU, or for a GPU where there is a source.
  struct Item {
    std::span<const uint8_t> kernel;
    std::string target;
    std::optional<DeviceSource> source;
  };
  std::vector<Item> items;
  std::set<cache::Key, decltype([](const cache::Key& a, const cache::Key& b) { return a.bytes < b.bytes; })> known;
  const auto add = [&](std::span<const uint8_t> kernel, const std::string& target) {
    if (known.insert(Kernels::pack_key(kernel, target)).second) items.push_back({kernel, target, {}});
  };
  const auto add_source = [&](DeviceSource source, const std::string& target) {
    if (known.insert(DeviceKernels::pack_key(source, target)).second) items.push_back({{}, target, std::move(source)});
  };
  const auto add_cubins = [&](const Executable& e, const std::string& target) {
    for (size_t s = 0; s < e.plan().steps.size(); ++s) {
      const fuse::Step& step = e.plan().steps[s];
      add_source(step.routine ? source_of(step.routine) : source_of(step.kernel, e.kernel_bytes(s)), target);
    }
    add_source(copier_source(), target);
  };
  for (Executable* e : executables) {
    if (e->context().get() != &context) fail(Code::invalid_argument, "the executables are of different contexts");
    const std::string& chosen = e->options().target;
    if (e->options().backend == Backend::cuda) {
      if (targets.empty()) add_cubins(*e, chosen.empty() ? context.device_kernels().preferred().target() : chosen);
      else if (std::ranges::none_of(targets, is_gpu))
        fail(Code::invalid_argument, "an executable of INGOT_BACKEND_CUDA, and no target is a GPU's, as sm_90 is");
      for (const std::string& target : targets)
        if (is_gpu(target)) add_cubins(*e, target);
      continue;
    }
    const std::string own = chosen.empty() ? std::string(jit::host_target()) : chosen;
    if (targets.empty() && !jit::can_run(own, own)) fail(Code::invalid_argument, "target \"", own, "\" is no CPU's");
    for (size_t step = 0; step < e->plan().steps.size(); ++step) {
      if (e->plan().steps[step].routine) continue;
      if (targets.empty()) add(e->kernel_bytes(step), own);
      for (const std::string& target : targets)
        if (is_cpu(target)) add(e->kernel_bytes(step), target);
    }
  }

  std::vector<std::pair<cache::Key, cache::Blob>> entries(items.size());
  run_on_workers(items.size(), !context.options().no_threads, [&](size_t i) {
    const Item& item = items[i];
    if (item.source)
      entries[i] = {DeviceKernels::pack_key(*item.source, item.target),
                    context.device_kernels().artifact(*item.source, item.target)};
    else
      entries[i] = {Kernels::pack_key(item.kernel, item.target), context.kernels().artifact(item.kernel, item.target)};
  });
  const bool cubins_alone = std::ranges::all_of(items, [](const Item& item) { return item.source.has_value(); });
  return cache::encode_pack(std::move(entries),
                            cubins_alone ? context.device_kernels().compiler_id() : context.kernels().module_id());
}

}  // namespace ingot::engine
