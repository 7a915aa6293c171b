// Outputs that share memory with inputs or with each other: refused, done in place, or kept apart by a temporary.
#include <algorithm>

#include "runtime/workspace.h"

namespace ingot::runtime {

namespace {

// Above it, sorting beats comparing every pair.
constexpr size_t most_pairs = 64;

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
  // One sweep by address. The order is kept from run to run, so that it is nearly always right already.
  const auto span = [&](uint32_t i) -> const Span& { return i < n_in ? w.inputs[i].span : w.outputs[i - n_in].span; };
  const auto before = [&](uint32_t a, uint32_t b) { return span(a).lo < span(b).lo; };
  if (!std::is_sorted(w.by_address.begin(), w.by_address.end(), before))
    std::sort(w.by_address.begin(), w.by_address.end(), before);
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

bool Executor::may_be_in_place(const Workspace& w, size_t output, size_t input) const noexcept {
  const Place& out = w.outputs[output];
  const Place& in = w.inputs[input];
  bool same = in.data == out.data && in.rank == out.rank &&
              ir::item_size(plan_.inputs[input].dtype) == ir::item_size(plan_.outputs[output].dtype);
  for (size_t d = 0; same && d < in.rank; ++d)
    same = in.extent[d] == out.extent[d] && (in.stride[d] == out.stride[d] || in.extent[d] <= 1);
  return same && in_place_[output * w.inputs.size() + input];
}

void Executor::check_overlap(Workspace& w) const {
  w.in_place = false;
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
      if (may_be_in_place(w, o, i)) w.in_place = true;
      else w.home[n_in + o] = &w.homes[n_in + o];
    }
  }
}

}  // namespace ingot::runtime
