#include "runtime/waves.h"

#include <algorithm>

#include "runtime/executor.h"

namespace ingot::runtime {

namespace {

using loop::RefKind;

// Items [0, n) in lists by number, each list ascending.
Lists sorted_into(std::span<const uint32_t> list_of, size_t lists) {
  Lists out;
  out.begin.assign(lists + 1, 0);
  for (const uint32_t l : list_of) ++out.begin[l + 1];
  for (size_t l = 0; l < lists; ++l) out.begin[l + 1] += out.begin[l];
  out.items.resize(list_of.size());
  std::vector<uint32_t> at(out.begin.begin(), out.begin.end() - 1);
  for (uint32_t i = 0; i < list_of.size(); ++i) out.items[at[list_of[i]]++] = i;
  return out;
}

StepOrder order_by(const ExecutorPlan& plan, std::span<const uint32_t> wave_of, size_t waves) {
  StepOrder order;
  order.waves = sorted_into(wave_of, waves);
  std::vector<uint32_t> first(plan.buffers.size(), UINT32_MAX), last(plan.buffers.size(), 0);
  for (size_t s = 0; s < plan.steps.size(); ++s)
    for (const loop::ViewBinding& b : plan.steps[s].views)
      if (b.ref.kind == RefKind::buffer) {
        first[b.ref.index] = std::min(first[b.ref.index], wave_of[s]);
        last[b.ref.index] = std::max(last[b.ref.index], wave_of[s]);
      }
  for (uint32_t& f : first)
    if (f == UINT32_MAX) f = 0;  // no step touches it
  order.born = sorted_into(first, waves);
  order.dying = sorted_into(last, waves);
  return order;
}

// Per tensor of a kind, the steps that read it, or of outputs those that store it.
Lists users(const ExecutorPlan& plan, RefKind kind, size_t count) {
  std::vector<uint32_t> tensors, steps;
  for (uint32_t s = 0; s < plan.steps.size(); ++s)
    for (size_t v = 0; v < plan.steps[s].views.size(); ++v) {
      const loop::TensorRef& ref = plan.steps[s].views[v].ref;
      if (ref.kind != kind || (kind == RefKind::output && !plan.steps[s].stores(v))) continue;
      tensors.push_back(ref.index);
      steps.push_back(s);
    }
  Lists out = sorted_into(tensors, count);
  for (uint32_t& item : out.items) item = steps[item];
  return out;
}

}  // namespace

Waves::Waves(const ExecutorPlan& plan) {
  const size_t steps = plan.steps.size();
  // Per tensor that steps store: the first wave that may read it, and the first that may store it again.
  struct Next {
    uint32_t read = 0, store = 0;
  };
  std::vector<Next> outputs(plan.outputs.size()), buffers(plan.buffers.size());
  const auto next = [&](const loop::TensorRef& ref) -> Next* {
    if (ref.kind == RefKind::output) return &outputs[ref.index];
    return ref.kind == RefKind::buffer ? &buffers[ref.index] : nullptr;
  };
  std::vector<uint32_t> turn(steps);
  wave_of_.resize(steps);
  uint32_t waves = 0;
  for (uint32_t s = 0; s < steps; ++s) {
    turn[s] = s;
    const StepSpec& step = plan.steps[s];
    uint32_t wave = 0;
    for (size_t v = 0; v < step.views.size(); ++v)
      if (const Next* n = next(step.views[v].ref)) wave = std::max(wave, step.stores(v) ? n->store : n->read);
    for (size_t v = 0; v < step.views.size(); ++v)
      if (Next* n = next(step.views[v].ref)) {
        n->store = std::max(n->store, wave + 1);
        if (step.stores(v)) n->read = std::max(n->read, wave + 1);
      }
    wave_of_[s] = wave;
    waves = std::max(waves, wave + 1);
  }
  differ = waves < steps;
  in_turn = order_by(plan, turn, steps);
  if (!differ) return;
  together = order_by(plan, wave_of_, waves);
  readers_of_input_ = users(plan, RefKind::input, plan.inputs.size());
  stores_output_ = users(plan, RefKind::output, plan.outputs.size());
}

bool Waves::may_overwrite(size_t output, size_t input) const noexcept {
  for (const uint32_t s : stores_output_[output])
    for (const uint32_t r : readers_of_input_[input])
      if (r != s && wave_of_[r] >= wave_of_[s]) return false;
  return true;
}

}  // namespace ingot::runtime
