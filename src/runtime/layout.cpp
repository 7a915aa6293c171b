// Where intermediate values and temporaries of a run lie in scratch memory.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "runtime/workspace.h"

namespace ingot::runtime {

namespace {

// Waves keep more values at once than steps in turn. Where that is more than a last-level cache holds, steps are large
// enough to keep all threads busy one by one.
constexpr uint64_t most_wave_scratch = uint64_t{24} << 20;

constexpr int64_t most_elements = int64_t{1} << 62;  // of a kernel, so that rounding their number up cannot overflow

}  // namespace

void copy_strided(const Place& from, const Place& to, size_t item) {
  const uint32_t rank = from.rank;
  for (uint32_t d = 0; d < rank; ++d)
    if (from.extent[d] == 0) return;
  if (from.compact && to.compact) {
    std::memcpy(to.data, from.data, bytes_of(from, item));
    return;
  }
  int64_t index[ir::max_rank] = {};
  const char* a = from.data;
  char* b = to.data;
  for (;;) {
    const int64_t n = rank ? from.extent[rank - 1] : 1;
    const int64_t sa = rank ? from.stride[rank - 1] : 0, sb = rank ? to.stride[rank - 1] : 0;
    for (int64_t i = 0; i < n; ++i) std::memcpy(b + i * sb, a + i * sa, item);
    uint32_t d = rank ? rank - 1 : 0;
    for (;;) {
      if (d == 0) return;
      --d;
      a += from.stride[d];
      b += to.stride[d];
      if (++index[d] < from.extent[d]) break;
      a -= from.stride[d] * from.extent[d];
      b -= to.stride[d] * from.extent[d];
      index[d] = 0;
    }
  }
}

// Slots by lifetime: a buffer takes the smallest idle one that holds it, else the largest one, which grows; of those
// that are born together the largest chooses first.
uint64_t Executor::place_buffers(const StepOrder& order, Workspace& w) const {
  std::vector<uint32_t>& idle = w.idle_slots;  // ascending by size
  std::vector<size_t>& bytes = w.slot_bytes;
  idle.clear();
  bytes.clear();
  const auto smaller = [&](uint32_t slot, size_t than) { return bytes[slot] < than; };
  for (size_t wave = 0; wave < order.waves.size(); ++wave) {
    const auto born = order.born[wave];
    w.born.assign(born.begin(), born.end());
    std::sort(w.born.begin(), w.born.end(), [&](uint32_t a, uint32_t b) {
      return w.buffer_bytes[a] != w.buffer_bytes[b] ? w.buffer_bytes[a] > w.buffer_bytes[b] : a < b;
    });
    for (const uint32_t b : w.born) {
      const size_t need = w.buffer_bytes[b];
      if (idle.empty()) {
        w.slot_of[b] = static_cast<uint32_t>(bytes.size());
        bytes.push_back(need);
        continue;
      }
      auto at = std::lower_bound(idle.begin(), idle.end(), need, smaller);
      if (at == idle.end()) --at;
      w.slot_of[b] = *at;
      bytes[*at] = std::max(bytes[*at], need);
      idle.erase(at);
    }
    for (const uint32_t b : order.dying[wave]) {
      const uint32_t slot = w.slot_of[b];
      idle.insert(std::lower_bound(idle.begin(), idle.end(), bytes[slot], smaller), slot);
    }
  }
  uint64_t total = 0;
  w.slot_at.resize(bytes.size());
  for (size_t s = 0; s < bytes.size(); ++s) {
    w.slot_at[s] = total;
    if (__builtin_add_overflow(total, aligned(bytes[s]), &total))
      fail(Code::out_of_memory, "scratch overflows 64 bits");
  }
  for (size_t b = 0; b < plan_.buffers.size(); ++b) w.buffers[b].offset = w.slot_at[w.slot_of[b]];
  return total;
}

// What a fold goes over need not lie anywhere, so that no tensor bounds it. As in tensors an extent of 0 counts as 1.
void Executor::check_space(const StepSpec& step, const Workspace& w) const {
  const size_t axes = step.program->kernel.axis_count();
  int64_t space = 1;
  for (size_t a = 0; a < axes; ++a) {
    const int64_t extent = std::max<int64_t>(w.dims[step.sizes[a]], 1);
    if (!__builtin_mul_overflow(space, extent, &space) && space <= most_elements) continue;
    std::string extents;
    for (size_t b = 0; b < axes; ++b) extents += cat(b > 0 ? ", " : "", plan_.dims.named(step.sizes[b], w.dims));
    fail(Code::invalid_argument, "a kernel would go over more than 2^62 elements: those of the extents ", extents);
  }
}

// Extents of buffers and constants, and the offsets of buffers and temporaries in one block of scratch.
void Executor::lay_out(Workspace& w) const {
  const auto shape = [&](Place& p, std::span<const ir::DimId> dims, ir::DType t) {
    p.rank = static_cast<uint32_t>(dims.size());
    p.item = static_cast<uint32_t>(ir::item_size(t));
    size_t bytes = ir::item_size(t);
    bool empty = false;
    for (uint32_t d = 0; d < p.rank; ++d) {
      p.extent[d] = w.dims[dims[d]];
      if (p.extent[d] < 0)
        fail(Code::invalid_argument, "the extent ", plan_.dims.to_string(dims[d]), " is ", p.extent[d]);
      empty = empty || p.extent[d] == 0;
    }
    // So far below 2^63 that offsets of several buffers can be added up.
    for (uint32_t d = 0; d < p.rank; ++d)
      if (p.extent[d] > 1 &&
          (__builtin_mul_overflow(bytes, static_cast<size_t>(p.extent[d]), &bytes) || bytes > INT64_MAX / 64))
        fail(Code::invalid_argument, "an intermediate value would take more than 2^57 bytes: its extent ",
             plan_.dims.to_string(dims[d]), " is ", p.extent[d]);
    make_compact(p, ir::item_size(t));
    p.empty = empty;
    return empty ? 0 : bytes;
  };
  for (size_t i = 0; i < plan_.constants.size(); ++i) {
    const ConstantSpec& c = plan_.constants[i];
    shape(w.constants[i], c.shape, c.dtype);
    w.constants[i].data = const_cast<char*>(reinterpret_cast<const char*>(c.data));
  }
  for (size_t b = 0; b < plan_.buffers.size(); ++b)
    w.buffer_bytes[b] = shape(w.buffers[b], plan_.buffers[b].shape, plan_.buffers[b].dtype);
  for (const StepSpec& step : plan_.steps)
    if (step.program) check_space(step, w);
  w.order = &waves_.in_turn;
  uint64_t total = place_buffers(waves_.in_turn, w);
  if (w.wide && !w.ordered) {
    const uint64_t most = total + most_wave_scratch;
    w.order = &waves_.together;
    total = place_buffers(waves_.together, w);
    if (total > most) {
      w.order = &waves_.in_turn;
      total = place_buffers(waves_.in_turn, w);
    }
  }
  for (size_t h = 0; h < w.home.size(); ++h) {
    const bool input = h < w.inputs.size();
    Place& p = input ? w.inputs[h] : w.outputs[h - w.inputs.size()];
    const ir::DType t = input ? plan_.inputs[h].dtype : plan_.outputs[h - w.inputs.size()].dtype;
    if (input && needs_compact_[h] && !p.compact) w.home[h] = &w.homes[h];
    const bool dim = input && plan_.inputs[h].symbol != ir::no_dim;
    if (plan_.device != device_cpu && p.device == device_cpu && !dim) w.home[h] = &w.homes[h];
    if (!w.home[h]) continue;
    w.homes[h] = p;
    make_compact(p, ir::item_size(t));
    p.offset = total;
    w.temporaries = true;
    if (__builtin_add_overflow(total, aligned(bytes_of(p, ir::item_size(t))), &total) || total > INT64_MAX)
      fail(Code::out_of_memory, "temporaries of more than 63 bits");
  }
  w.scratch_bytes = total;
}

void Executor::copy_in(char* scratch, Workspace& w) const {
  for (size_t h = 0; h < w.home.size(); ++h) {
    if (!w.home[h]) continue;
    const bool input = h < w.inputs.size();
    Place& p = input ? w.inputs[h] : w.outputs[h - w.inputs.size()];
    p.data = scratch + p.offset;
    if (input) copy_strided(w.homes[h], p, ir::item_size(plan_.inputs[h].dtype));
  }
}

void Executor::copy_out(Workspace& w) const {
  const size_t n_in = w.inputs.size();
  for (size_t o = 0; o < w.outputs.size(); ++o)
    if (w.home[n_in + o]) copy_strided(w.outputs[o], w.homes[n_in + o], ir::item_size(plan_.outputs[o].dtype));
}

}  // namespace ingot::runtime
