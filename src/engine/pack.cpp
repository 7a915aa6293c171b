#include "engine/pack.h"

#include <set>
#include <utility>

#include "cache/pack.h"
#include "engine/kernels.h"
#include "engine/workers.h"
#include "jit/image/isa.h"

namespace ingot::engine {

std::vector<uint8_t> make_pack(std::span<Executable* const> executables, std::span<const std::string> targets) {
  if (executables.empty()) fail(Code::invalid_argument, "no executable to pack");
  Context& context = *executables.front()->context();
  for (const std::string& target : targets)
    if (!jit::can_run(target, target)) fail(Code::invalid_argument, "target \"", target, "\" is no CPU's");

  struct Item {
    std::span<const uint8_t> kernel;
    std::string target;
  };
  std::vector<Item> items;
  std::set<cache::Key, decltype([](const cache::Key& a, const cache::Key& b) { return a.bytes < b.bytes; })> known;
  const auto add = [&](std::span<const uint8_t> kernel, const std::string& target) {
    if (known.insert(Kernels::pack_key(kernel, target)).second) items.push_back({kernel, target});
  };
  for (Executable* e : executables) {
    if (e->context().get() != &context) fail(Code::invalid_argument, "the executables are of different contexts");
    if (e->options().backend == Backend::cuda)
      fail(Code::invalid_argument, "an executable of INGOT_BACKEND_CUDA cannot be packed: packs hold CPU code");
    const std::string& chosen = e->options().target;
    const std::string own = chosen.empty() ? std::string(jit::host_target()) : chosen;
    if (targets.empty() && !jit::can_run(own, own)) fail(Code::invalid_argument, "target \"", own, "\" is no CPU's");
    for (size_t step = 0; step < e->plan().steps.size(); ++step) {
      if (e->plan().steps[step].routine) continue;
      if (targets.empty()) add(e->kernel_bytes(step), own);
      for (const std::string& target : targets) add(e->kernel_bytes(step), target);
    }
  }

  std::vector<std::pair<cache::Key, cache::Blob>> entries(items.size());
  run_on_workers(items.size(), !context.options().no_threads, [&](size_t i) {
    const Item& item = items[i];
    entries[i] = {Kernels::pack_key(item.kernel, item.target), context.kernels().artifact(item.kernel, item.target)};
  });
  return cache::encode_pack(std::move(entries), context.kernels().module_id());
}

}  // namespace ingot::engine
