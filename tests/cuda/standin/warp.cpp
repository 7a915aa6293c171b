#include "exec.h"

using standin::BarrierOp;
using standin::exec;
using standin::Fibre;
using standin::State;
using standin::stop;
using standin::Warp;
using standin::WarpOp;

unsigned standin_barrier_reached(int site, int op, unsigned value) {
  Fibre& f = *exec.self;
  f.state = State::at_barrier;
  f.site = site;
  f.op = op;
  f.value = value;
  ++exec.at_barrier;
  standin::yield();
  return static_cast<unsigned>(f.result);
}

namespace {

// The lane a shuffle takes its value from, or the own one where that is outside the segment.
unsigned source(WarpOp op, unsigned lane, int arg, int width) {
  const auto segment = static_cast<unsigned>(width);
  const unsigned first = lane & ~(segment - 1), last = first + segment - 1;
  const auto by = static_cast<unsigned>(arg);
  switch (op) {
    case WarpOp::index: return first | (by & (segment - 1));
    case WarpOp::up: return lane - first < by ? lane : lane - by;
    case WarpOp::down: return by > last - lane ? lane : lane + by;
    default: return (lane ^ by) > last ? lane : lane ^ by;
  }
}

uint64_t joined(WarpOp op, uint64_t a, uint64_t b) {
  switch (op) {
    case WarpOp::add: return static_cast<uint32_t>(a + b);
    case WarpOp::min: return a < b ? a : b;
    case WarpOp::max: return a > b ? a : b;
    case WarpOp::and_: return a & b;
    default: return a | b;
  }
}

// What a lane gets; all of its mask have arrived.
void answer(Fibre* lanes, unsigned lane) {
  Fibre& f = lanes[lane];
  const auto op = static_cast<WarpOp>(f.op);
  switch (op) {
    case WarpOp::sync: return;
    case WarpOp::index:
    case WarpOp::up:
    case WarpOp::down:
    case WarpOp::xor_: {
      const unsigned from = source(op, lane, f.arg, f.width);
      if (!(f.mask >> from & 1))
        stop(CUDA_ERROR_LAUNCH_FAILED, "shuffle: " + standin::where() + ": thread " + standin::thread_text(f.index) +
                                           " reads lane " + std::to_string(from) + ", which is not in the mask");
      f.result = lanes[from].value;
      return;
    }
    default: break;
  }
  uint64_t set = 0, all = 0;
  bool first = true;
  for (unsigned i = 0; i < 32; ++i) {
    if (!(f.mask >> i & 1)) continue;
    const uint64_t v = lanes[i].value;
    const bool bit = op == WarpOp::match ? v == f.value : v != 0;
    set |= uint64_t{bit} << i;
    all = first ? v : joined(op, all, v);
    first = false;
  }
  switch (op) {
    case WarpOp::ballot:
    case WarpOp::match: f.result = set; return;
    case WarpOp::any: f.result = set != 0; return;
    case WarpOp::all: f.result = set == f.mask; return;
    default: f.result = all; return;
  }
}

void refuse_lanes(unsigned mask, unsigned lane, const Warp& w) {
  const auto refuse = [](const std::string& why) {
    stop(CUDA_ERROR_LAUNCH_FAILED, "warp: " + standin::where() + ": " + why);
  };
  if (!(mask >> lane & 1)) refuse("the calling lane is not in its own mask");
  const unsigned absent = mask & ~(w.exists & ~w.over);
  if (absent)
    refuse("lane " + std::to_string(__builtin_ctz(absent)) + " of the mask " +
           (absent & w.exists ? "is over" : "is not there"));
}

}  // namespace

unsigned long long standin_warp_reached(unsigned mask, int op, unsigned long long value, int arg, int width) {
  Fibre& f = *exec.self;
  const unsigned lane = f.index % 32;
  Warp& w = exec.warps[f.index / 32];
  if (static_cast<WarpOp>(op) == WarpOp::active) return w.exists & ~w.over;
  refuse_lanes(mask, lane, w);
  if (width < 1 || width > 32 || (width & (width - 1)))
    stop(CUDA_ERROR_LAUNCH_FAILED, "shuffle: " + standin::where() + ": a width of " + std::to_string(width));
  f.mask = mask;
  f.op = op;
  f.value = value;
  f.arg = arg;
  f.width = width;
  w.arrived |= 1u << lane;
  Fibre* const lanes = &exec.fibres[f.index / 32 * 32];
  for (unsigned m = mask & w.arrived; m; m &= m - 1) {
    const Fibre& other = lanes[__builtin_ctz(m)];
    if (other.mask != mask || other.op != op)
      stop(CUDA_ERROR_LAUNCH_FAILED, "divergence: " + standin::where() + ": thread " +
                                         standin::thread_text(other.index) + " of its mask is at another exchange");
  }
  if ((w.arrived & mask) != mask) {
    f.state = State::at_warp;
    standin::yield();
    return f.result;
  }
  ++w.syncs;
  for (unsigned m = mask; m; m &= m - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctz(m));
    answer(lanes, i);
  }
  for (unsigned m = mask; m; m &= m - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctz(m));
    lanes[i].tag = standin::make_tag(lanes[i].index, w.syncs);
    if (i == lane) continue;
    lanes[i].state = State::ready;
    w.ready |= 1u << i;
  }
  w.arrived &= ~mask;
  if (w.ready) exec.ready_warps |= 1u << f.index / 32;
  return f.result;
}
