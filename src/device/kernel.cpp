#include "device/kernel.h"

#include "base/error.h"
#include "jit/image/artifact.h"

namespace ingot::device {

Kernel::Kernel(std::shared_ptr<const Driver> driver, std::span<const uint8_t> artifact,
               std::function<std::vector<uint8_t>()> renew)
    : driver_(std::move(driver)), renew_(std::move(renew)) {
  take(artifact);
}

void Kernel::take(std::span<const uint8_t> artifact) const {
  jit::Artifact a = jit::decode_artifact(artifact);
  if (!a.target.starts_with("sm_")) fail(Code::invalid_argument, "an artifact for ", a.target, " is no cubin");
  cubin_ = std::move(a.image);
  entries_.clear();
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

Result Kernel::try_load(const Scope& scope, Loaded& into) const {
  into.id = scope.id();
  into.context = scope.context();
  into.functions.resize(entries_.size());
  if (const Result r = driver_->cuModuleLoadData(&into.module, cubin_.data())) return r;
  for (size_t i = 0; i < entries_.size(); ++i)
    if (const Result r = driver_->cuModuleGetFunction(&into.functions[i], into.module, entries_[i].c_str())) {
      driver_->cuModuleUnload(into.module);
      return r;
    }
  return 0;
}

const FunctionHandle* Kernel::publish(std::unique_ptr<Loaded> fresh) const {
  fresh->older.reset(loaded_.load(std::memory_order_relaxed));
  const FunctionHandle* const functions = fresh->functions.data();
  loaded_.store(fresh.release(), std::memory_order_release);
  return functions;
}

const FunctionHandle* Kernel::load(const Scope& scope) const {
  if (const FunctionHandle* known = find(scope)) return known;
  auto fresh = std::make_unique<Loaded>();
  std::function<std::vector<uint8_t>()> renew;
  {
    const std::lock_guard lock(loading_);
    if (const FunctionHandle* known = find(scope)) return known;
    const Result r = try_load(scope, *fresh);
    if (r == 0) return publish(std::move(fresh));
    if (!renew_ || !Driver::refuses_image(r)) driver_->must(r, "loading a module");
    renew = renew_;
  }
  // With no lock held: a compile may fork.
  const std::vector<uint8_t> artifact = renew();
  const std::lock_guard lock(loading_);
  if (const FunctionHandle* known = find(scope)) return known;
  take(artifact);
  renew_ = nullptr;
  driver_->must(try_load(scope, *fresh), "loading a module");
  return publish(std::move(fresh));
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
