#include "jit/strip/launch.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "jit/strip/items.h"
#include "jit/strip/stream.h"

namespace ingot::jit {

using loop::LaneMode;
using loop::strip_lanes;
using loop::ViewKind;

namespace {
// Frame::along where no view stands still.
constexpr auto all_move = [] {
  std::array<int64_t, loop::max_views> along;
  along.fill(-1);
  return along;
}();
}  // namespace

void Launch::prepare(const Program& program, const int64_t* sizes, const ViewArg* views) {
  program_ = &program;
  sizes_.assign(sizes, sizes + program.kernel.sizes);
  allow_stream(false);
  allow_twice(false);
  linear_ = program.kernel.cols == 0 && program.schedule.row_stores.empty() && prepare_linear(sizes, views);
  double work = static_cast<double>(element_cost(program));
  for (unsigned a = 0; a < program.kernel.axis_count(); ++a) work *= static_cast<double>(sizes[a]);
  work_ = static_cast<int64_t>(std::min(work, 0x1p48));
  one_call_ = linear_ && lanes_ > 0 && lanes_ <= strip_lanes && lanes_ % program.schedule.sweeps[0].granule == 0;
  if (linear_) {
    chunk_lanes_ = chunk_lanes(program);
    chunks_ = (lanes_ + chunk_lanes_ - 1) / chunk_lanes_;
    scratch_ = program.kernel.views.size() * pad_lanes * sizeof(int64_t);
    return;
  }
  plan_.build(program, sizes_.data(), views);
  chunks_ = plan_.chunks();
  scratch_ = plan_.scratch;
}

bool Launch::prepare_linear(const int64_t* sizes, const ViewArg* views) {
  const loop::Kernel& kernel = program_->kernel;
  lanes_ = 1;
  for (unsigned a = 0; a < kernel.rows; ++a) lanes_ *= sizes[a];
  for (size_t v = 0; v < kernel.views.size(); ++v) {
    const loop::View& kv = kernel.views[v];
    if (kv.kind > ViewKind::store || !kv.boxes.empty()) return false;
    base_[v] = views[v].base;
    step_[v] = 0;
    if (kv.axes == 0) continue;
    const int64_t size = storage_size(kv.storage);
    int64_t stride = size;
    for (unsigned a = kernel.rows; a-- > 0;) {
      if (sizes[a] == 1) continue;
      if (!(kv.axes >> a & 1) || views[v].stride[a] != stride) return false;
      stride *= sizes[a];
    }
    step_[v] = static_cast<uint8_t>(size);
  }
  return true;
}

void Launch::run_linear(const Body& body, int64_t chunk, char* scratch, Fault& fault) const noexcept {
  const loop::Kernel& kernel = program_->kernel;
  const size_t count = kernel.views.size();
  const loop::Sweep& sweep = program_->schedule.sweeps[0];
  char* ptr[loop::max_views];
  Frame frame{};
  frame.ptr = ptr;
  frame.size = sizes_.data();
  frame.scratch = scratch + scratch_;
  frame.fault = &fault;
  frame.along = all_move.data();
  int64_t at = chunk * chunk_lanes_;
  const int64_t end = std::min(lanes_, at + chunk_lanes_);
  for (size_t v = 0; v < count; ++v) ptr[v] = base_[v] + at * step_[v];
  const auto advance = [&](int64_t n) {
    for (size_t v = 0; v < count; ++v) ptr[v] += n * step_[v];
    at += n;
  };
  const auto call = [&](int64_t n, int64_t valid) {
    frame.n = n;
    frame.valid = valid;
    body.sweep(0, frame);
  };
  // Lanes that are no whole granule run on padded copies: nothing beyond the views is touched.
  const auto padded = [&](int64_t valid) {
    char* const pad = scratch;
    char* real[loop::max_views];
    const int64_t n = round_up(valid, sweep.granule);
    for (size_t v = 0; v < count; ++v) {
      real[v] = ptr[v];
      if (step_[v] == 0) continue;
      ptr[v] = pad + v * pad_lanes * sizeof(int64_t);
      if (kernel.views[v].kind != ViewKind::load) continue;
      std::memcpy(ptr[v], real[v], static_cast<size_t>(valid * step_[v]));
      std::memset(ptr[v] + valid * step_[v], 0, static_cast<size_t>((n - valid) * step_[v]));
    }
    call(n, valid);
    for (size_t v = 0; v < count; ++v) {
      if (step_[v] != 0 && kernel.views[v].kind == ViewKind::store)
        std::memcpy(real[v], ptr[v], static_cast<size_t>(valid * step_[v]));
      ptr[v] = real[v];
    }
    advance(valid);
  };

  bool streams = false;
  if (stream_ && body.compiled() && end - at >= strip_lanes) {
    StreamPeel peel;
    for (size_t v = 0; v < count; ++v)
      if (kernel.views[v].kind == ViewKind::store) peel.add(ptr[v], step_[v]);
    if (const int64_t head = peel.lanes(); head >= 0) {
      if (head > 0 && twice_ && head < sweep.granule) {
        call(sweep.granule, sweep.granule);
        advance(head);
      } else if (head > 0) {
        padded(head);
      }
      frame.flags = frame_stream;
      streams = true;
    }
  }
  for (; end - at >= strip_lanes; advance(strip_lanes)) call(strip_lanes, strip_lanes);
  if (const int64_t whole = (end - at) / sweep.granule * sweep.granule) {
    call(whole, whole);
    advance(whole);
  }
  frame.flags = 0;
  if (at < end) {
    if (const int64_t back = sweep.granule - (end - at); twice_ && at - back >= chunk * chunk_lanes_) {
      advance(-back);
      call(sweep.granule, sweep.granule);
    } else {
      padded(end - at);
    }
  }
  if (streams) stream_fence();
}

void Launch::call(const Body& body, Fault& fault) const noexcept {
  Frame frame{};
  frame.ptr = base_;
  frame.size = sizes_.data();
  frame.n = frame.valid = lanes_;
  frame.fault = &fault;
  frame.along = all_move.data();
  body.sweep(0, frame);
}

void Launch::begin(void* shared) const noexcept {
  if (shared_bytes() == 0) return;
  char* const arena = static_cast<char*>(shared);
  const auto rows = static_cast<size_t>(plan_.geometry.rows);
  for (size_t row = 0; row < rows; ++row) std::construct_at(&pieces_done(plan_, arena, static_cast<int64_t>(row)), 0);
  std::memset(arena + plan_.row_value, 0, rows * program_->schedule.folds.size() * sizeof(uint64_t));
}

void Launch::run_chunk(const Body& body, unsigned phase, int64_t chunk, void* scratch, void* shared,
                       Fault& fault) const noexcept {
  char* const arena = static_cast<char*>(scratch);
  if (linear_) run_linear(body, chunk, arena, fault);
  else if (plan_.split) walk_piece(plan_, body, phase, chunk, arena, static_cast<char*>(shared), fault);
  else if (program_->schedule.mode == LaneMode::cols) walk_cols(plan_, body, chunk, arena, fault);
  else walk_row(plan_, body, chunk, arena, fault);
}

}  // namespace ingot::jit
