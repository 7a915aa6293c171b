// Outputs that share memory with inputs or with each other: refused, done in place, or kept apart by a temporary.
#include <algorithm>

#include "runtime/workspace.h"

namespace ingot::runtime {

namespace {

// Above it, sorting beats comparing every pair.
constexpr size_t most_pairs = 64;

// The order is kept from run to run, so that it is nearly always right already.
void sort_by_address(Executor::Workspace& w) noexcept {
  const size_t n_in = w.inputs.size();
  const auto lo = [&](uint32_t i) { return i < n_in ? w.inputs[i].span.lo : w.outputs[i - n_in].span.lo; };
  const auto before = [&](uint32_t a, uint32_t b) { return lo(a) < lo(b); };
  if (!std::is_sorted(w.by_address.begin(), w.by_address.end(), before))
    std::sort(w.by_address.begin(), w.by_address.end(), before);
}

}  // namespace

bool outputs_apart(Executor::Workspace& w) noexcept {
  const size_t n_in = w.inputs.size(), n_out = w.outputs.size();
  if (n_out * (n_in + n_out) <= most_pairs) {
    for (size_t o = 0; o < n_out; ++o) {
      const Span out = w.outputs[o].span;
      for (size_t i = 0; i < n_in; ++i)
        if (!apart(w.inputs[i].span, out)) return false;
      for (size_t i = 0; i < o; ++i)
        if (!apart(w.outputs[i].span, out)) return false;
    }
    return true;
  }
  // One sweep by address.
  const auto span = [&](uint32_t i) -> const Span& { return i < n_in ? w.inputs[i].span : w.outputs[i - n_in].span; };
  sort_by_address(w);
  uintptr_t end = 0, output_end = 0;
  for (const uint32_t i : w.by_address) {
    const Span& s = span(i);
    if (s.lo == s.hi) continue;
    if (s.lo < (i < n_in ? output_end : end)) return false;
    end = std::max(end, s.hi);
    if (i >= n_in) output_end = std::max(output_end, s.hi);
  }
  return true;
}

// By address, as outputs_apart() has sorted them: each meets those before it that reach so far.
bool Executor::overlaps_fit(Workspace& w) const noexcept {
  const size_t n_in = w.inputs.size();
  const auto span = [&](uint32_t i) -> const Span& { return i < n_in ? w.inputs[i].span : w.outputs[i - n_in].span; };
  sort_by_address(w);
  size_t around = 0;
  for (const uint32_t i : w.by_address) {
    const Span& s = span(i);
    if (s.lo == s.hi) continue;
    size_t kept = 0;
    for (size_t k = 0; k < around; ++k) {
      const uint32_t other = w.around[k];
      if (apart(span(other), s)) continue;
      w.around[kept++] = other;
      if (i < n_in && other < n_in) continue;
      if (i >= n_in && other >= n_in) return false;
      const size_t output = std::max(i, other) - n_in, input = std::min(i, other);
      if (!may_be_in_place(w, output, input)) return false;
      take_place(w, output, input);
    }
    w.around[kept] = i;
    around = kept + 1;
  }
  return true;
}

bool Executor::may_be_in_place(const Workspace& w, size_t output, size_t input) const noexcept {
  const Place& out = w.outputs[output];
  const Place& in = w.inputs[input];
  bool same = in.data == out.data && in.rank == out.rank &&
              ir::item_size(plan_.inputs[input].dtype) == ir::item_size(plan_.outputs[output].dtype);
  for (size_t d = 0; same && d < in.rank; ++d)
    same = in.extent[d] == out.extent[d] && (in.stride[d] == out.stride[d] || in.extent[d] <= 1);
  return same && in_place_[output * w.inputs.size() + input];
}

void Executor::take_place(Workspace& w, size_t output, size_t input) const noexcept {
  w.in_place = true;
  w.ordered = w.ordered || (w.wide && !waves_.may_overwrite(output, input));
}

void Executor::check_overlap(Workspace& w) const {
  w.in_place = w.ordered = false;
  if (outputs_apart(w)) return;
  const auto region = [](const Place& p, const IoSpec& s) {
    return Region{p.data, ir::item_size(s.dtype), p.rank, p.extent, p.stride};
  };
  const size_t n_in = w.inputs.size();
  for (size_t o = 0; o < w.outputs.size(); ++o) {
    const Region out = region(w.outputs[o], plan_.outputs[o]);
    const Span span = w.outputs[o].span;
    for (size_t other = 0; other < o; ++other)
      if (!apart(span, w.outputs[other].span) && overlap(out, region(w.outputs[other], plan_.outputs[other])))
        fail(Code::invalid_argument, label("output", o, plan_.outputs[o]), ": overlaps ",
             label("output", other, plan_.outputs[other]));
    for (size_t i = 0; i < n_in; ++i) {
      if (apart(span, w.inputs[i].span) || !overlap(out, region(w.inputs[i], plan_.inputs[i]))) continue;
      if (may_be_in_place(w, o, i)) take_place(w, o, i);
      else w.home[n_in + o] = &w.homes[n_in + o];
    }
  }
}

}  // namespace ingot::runtime
