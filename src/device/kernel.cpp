#include "device/kernel.h"

#include "base/error.h"
#include "jit/image/artifact.h"

namespace ingot::device {

Kernel::Kernel(std::shared_ptr<const Driver> driver, std::span<const uint8_t> artifact) : driver_(std::move(driver)) {
  jit::Artifact a = jit::decode_artifact(artifact);
  if (!a.target.starts_with("sm_")) fail(Code::invalid_argument, "an artifact for ", a.target, " is no cubin");
  cubin_ = std::move(a.image);
  for (jit::ArtifactEntry& e : a.entries) entries_.push_back(std::move(e.name));
}

Kernel::~Kernel() {
  std::unique_ptr<Loaded> l(loaded_.load(std::memory_order_relaxed));
  while (l) {
    if (const Revisit there{*driver_, l->context, l->id}) driver_->cuModuleUnload(l->module);
    l = std::move(l->older);
  }
}

const FunctionHandle* Kernel::find(const Scope& scope) const noexcept {
  for (const Loaded* l = loaded_.load(std::memory_order_acquire); l; l = l->older.get())
    if (l->id == scope.id()) return l->functions.data();
  return nullptr;
}

const FunctionHandle* Kernel::load(const Scope& scope) const {
  if (const FunctionHandle* known = find(scope)) return known;
  const std::lock_guard lock(loading_);
  if (const FunctionHandle* known = find(scope)) return known;
  auto fresh = std::make_unique<Loaded>();
  fresh->id = scope.id();
  fresh->context = scope.context();
  fresh->functions.resize(entries_.size());
  driver_->must(driver_->cuModuleLoadData(&fresh->module, cubin_.data()), "loading a module");
  for (size_t i = 0; i < entries_.size(); ++i)
    if (const Result r = driver_->cuModuleGetFunction(&fresh->functions[i], fresh->module, entries_[i].c_str())) {
      driver_->cuModuleUnload(fresh->module);
      driver_->must(r, "finding a function of a module");
    }
  fresh->older.reset(loaded_.load(std::memory_order_relaxed));
  const FunctionHandle* const functions = fresh->functions.data();
  loaded_.store(fresh.release(), std::memory_order_release);
  return functions;
}

std::vector<uint8_t> encode(const std::string& target, std::span<const char* const> entries,
                            std::vector<uint8_t> cubin) {
  jit::Artifact a;
  a.target = target;
  for (const char* name : entries) a.entries.push_back({name, 0});
  a.image = std::move(cubin);
  return jit::encode_artifact(a);
}

}  // namespace ingot::device
