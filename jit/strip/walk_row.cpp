// Mode row: strips of lanes along the last row axis. Each runs all of k, for dot products in blocks of dot_block, for
// the other folds group by group in the sum order; then the sweep that uses the results.
#include <algorithm>
#include <cstring>

#include "jit/strip/fold.h"
#include "jit/strip/items.h"
#include "jit/strip/plan.h"

namespace ingot::jit {

using loop::dot_block;
using loop::Sweep;
using loop::ViewKind;

namespace {

class Walk {
 public:
  Walk(const Plan& plan, const Body& body, char* scratch, Fault& fault)
      : p_(plan),
        g_(plan.geometry),
        kernel_(plan.program->kernel),
        schedule_(plan.program->schedule),
        body_(body),
        scratch_(scratch),
        first_k_(g_.outer + g_.lane) {
    frame_.ptr = ptr_;
    frame_.step = step_;
    frame_.size = plan.sizes;
    frame_.acc_stride = static_cast<int64_t>(plan.acc_stride);
    frame_.scratch = scratch + plan.scratch;
    frame_.fault = &fault;
  }

  // Lanes [lane0, lane1) of `rows` outer rows from `row` on, neighbours along the innermost outer axis.
  void run(int64_t row, int64_t rows, int64_t lane0, int64_t lane1) {
    rows_ = rows;
    for (int64_t r = 0; r < rows; ++r) locate(r, row + r);
    for (size_t v = 0; v < g_.views.size(); ++v) shared_[v] = shared(v);
    const int64_t whole = (lane1 - lane0) / loop::plain_granule * loop::plain_granule;
    if (whole > 0) lanes(lane0, whole, false);
    if (lane0 + whole == lane1) return;
    // The last lanes once more with those that make up a granule: nothing is stored in place, so that equal values are
    // stored twice. That is far cheaper than copies, which only fewer lanes than a granule need.
    if (whole > 0) lanes(lane1 - loop::plain_granule, loop::plain_granule, false);
    else lanes(lane0, lane1 - lane0, true);
  }

 private:
  // Of the row at hand.
  size_t place(size_t v) const { return static_cast<size_t>(row_) * g_.views.size() + v; }
  bool& in(size_t v) const { return reinterpret_cast<bool*>(scratch_ + p_.in)[place(v)]; }
  char*& at(size_t v) const { return reinterpret_cast<char**>(scratch_ + p_.at)[place(v)]; }
  int64_t& item(size_t v) const { return reinterpret_cast<int64_t*>(scratch_ + p_.item)[place(v)]; }

  bool has_k(size_t v) const { return kernel_.views[v].axes & kernel_.col_set(); }
  bool has_lane(size_t v) const { return g_.views[v].access != Access::uniform; }

  // Whether the view is the same in all rows of a group, so that it is presented once for all of them.
  bool shared(size_t v) const {
    const ViewPlan& view = g_.views[v];
    if (g_.outer == 0) return true;
    for (unsigned c = 0; c < view.outer_cuts; ++c)
      if (g_.cuts[view.first_cut + c].axis == g_.outer - 1) return false;
    return view.stride[g_.outer - 1] == 0;
  }

  void locate(int64_t group_row, int64_t row) {
    row_ = group_row;
    int64_t index[loop::max_axes];
    for (unsigned a = g_.outer; a-- > 0;) {
      index[a] = row % g_.extent[a];
      row /= g_.extent[a];
    }
    for (size_t v = 0; v < g_.views.size(); ++v) {
      const ViewPlan& view = g_.views[v];
      int64_t offset = 0;
      for (unsigned a = 0; a < g_.outer; ++a) offset += index[a] * view.stride[a];
      bool inside = !view.outside;
      for (unsigned c = 0; c < view.outer_cuts; ++c) {
        const Cut& cut = g_.cuts[view.first_cut + c];
        inside &= index[cut.axis] >= cut.lo && index[cut.axis] < cut.hi;
      }
      in(v) = inside;
      at(v) = moved(view.base, offset);
      item(v) = view.kind == ViewKind::iota     ? view.value + offset
                : view.kind == ViewKind::inside ? inside
                                                : static_cast<int64_t>(view.fill);
    }
  }

  // Points the frame at row r, views without lanes and k included.
  void select_row(int64_t r) {
    row_ = r;
    frame_.acc = scratch_ + p_.acc + static_cast<size_t>(r) * schedule_.folds.size() * p_.acc_stride;
    // A fold's accumulators are its values once its sweep is done.
    frame_.value = frame_.acc;
    for (size_t v = 0; v < g_.views.size(); ++v) {
      if (has_lane(v) || has_k(v)) continue;
      const ViewKind kind = g_.views[v].kind;
      const bool memory = kind == ViewKind::store || (kind == ViewKind::load && in(v));
      ptr_[v] = memory ? at(v) : reinterpret_cast<char*>(&item(v));
      step_[v] = 0;
    }
  }

  // `m` lanes from `lane` on. `apart`: they are no whole granule, so every view with lanes is copied.
  void lanes(int64_t lane, int64_t m, bool apart) {
    for (unsigned i = 0; i < schedule_.sweeps.size(); ++i) {
      const Sweep& s = schedule_.sweeps[i];
      const int64_t n = round_up(m, s.granule);
      frame_.n = n;
      frame_.valid = m;
      if (s.folds.empty()) last_sweep(i, lane, m, n, apart);
      else if (schedule_.dots) dots(i, lane, m, n, apart);
      else groups(i, lane, m, n, apart);
    }
  }

  void last_sweep(unsigned i, int64_t lane, int64_t m, int64_t n, bool apart) {
    const Sweep& s = schedule_.sweeps[i];
    frame_.k = 0;
    for (int64_t r = 0; r < rows_; ++r) {
      select_row(r);
      for (const uint16_t v : s.views) present(v, lane, m, n, 0, 0, apart);
      for (const uint16_t st : s.stores) {
        const size_t v = kernel_.stores[st].view;
        const ViewPlan& view = g_.views[v];
        ptr_[v] = view.access == Access::direct && !apart ? at(v) + lane * view.size : scratch_ + view.strip;
      }
      body_.sweep(i, frame_);
      for (const uint16_t st : s.stores) store(kernel_.stores[st].view, lane, m);
    }
  }

  void dots(unsigned i, int64_t lane, int64_t m, int64_t n, bool apart) {
    const Sweep& s = schedule_.sweeps[i];
    for (int64_t r = 0; r < rows_; ++r) {
      select_row(r);
      for (const loop::NodeId f : s.folds) {
        char* const acc = frame_.acc + static_cast<size_t>(schedule_.fold_slot[f]) * p_.acc_stride;
        // A dot product of nothing is +0, otherwise the chains are added to -0.
        if (g_.k == 0) std::memset(acc, 0, p_.acc_stride);
        else fold_init(kernel_.nodes[f].op, kernel_.nodes[f].type, acc, n);
      }
    }
    for (int64_t k0 = 0; k0 < g_.k; k0 += dot_block) {
      frame_.k = std::min(dot_block, g_.k - k0);
      for (int64_t r = 0; r < rows_; ++r) {
        select_row(r);
        for (const uint16_t v : s.views)
          if (r == 0 || !shared_[v]) present(v, lane, m, n, k0, frame_.k, apart);
        body_.sweep(i, frame_);
      }
    }
  }

  // Bytes from an item of n lanes to the next one: of the widest type, so that one pitch will do for all folds.
  static int64_t items_pitch(int64_t n) { return n * int64_t{sizeof(uint64_t)}; }

  // Blocks of 16 groups of 64 k; blocks join in a tree, lane by lane.
  void groups(unsigned i, int64_t lane, int64_t m, int64_t n, bool apart) {
    const Sweep& s = schedule_.sweeps[i];
    select_row(0);
    char* const items = frame_.acc;
    const int64_t pitch = items_pitch(n);
    auto* const depth = reinterpret_cast<uint32_t*>(scratch_ + p_.depth);
    const auto each = [&](auto f) {
      for (const loop::NodeId id : s.folds) {
        const auto slot = static_cast<size_t>(schedule_.fold_slot[id]);
        f(kernel_.nodes[id], items + slot * p_.acc_stride, scratch_ + p_.stack + slot * p_.levels * p_.acc_stride,
          depth[slot]);
      }
    };
    each([](const loop::Node&, char*, char*, uint32_t& d) { d = 0; });
    const bool tree = g_.k > loop::strip_lanes;
    for (int64_t k0 = 0; k0 == 0 || k0 < g_.k; k0 += loop::strip_lanes) {
      each([&](const loop::Node& f, char* acc, char*, uint32_t&) {
        for (int64_t j = 0; j < loop::group_items; ++j) fold_init(f.op, f.type, acc + j * pitch, n);
      });
      const int64_t end = std::min(g_.k, k0 + loop::strip_lanes);
      for (int64_t k = k0; k < end; k += loop::fold_granule)
        group(i, lane, m, n, k, std::min(loop::fold_granule, end - k), apart);
      if (tree)
        each([&](const loop::Node& f, char* acc, char* stack, uint32_t& d) {
          d = lanes_push(f.op, f.type, stack, d, k0 / loop::strip_lanes, acc, n, pitch);
        });
    }
    each([&](const loop::Node& f, char* acc, char* stack, uint32_t& d) {
      if (tree) {
        lanes_close(f.op, f.type, stack, d, n, pitch);
        std::memcpy(acc, stack, static_cast<size_t>(loop::group_items * pitch));
      }
      lanes_finish(f.op, f.type, acc, n, pitch, g_.k);
    });
  }

  // `kn` of the 64 k from `k` on: a call for each item of the sum order.
  void group(unsigned i, int64_t lane, int64_t m, int64_t n, int64_t k, int64_t kn, bool apart) {
    const Sweep& s = schedule_.sweeps[i];
    for (const uint16_t v : s.views)
      if (k == 0 || has_k(v)) present(v, lane, m, n, k, kn, apart);
    int64_t along[loop::max_views];
    for (const uint16_t v : s.views) {
      along[v] = step_[v];
      step_[v] *= loop::group_items;
    }
    char* const items = scratch_ + p_.acc;
    const int64_t pitch = items_pitch(n);
    for (int64_t j = 0; j < std::min(kn, loop::group_items); ++j) {
      frame_.acc = items + j * pitch;
      frame_.k = (kn - j + loop::group_items - 1) / loop::group_items;
      body_.sweep(i, frame_);
      for (const uint16_t v : s.views) ptr_[v] = moved(ptr_[v], along[v]);
    }
  }

  void store(size_t v, int64_t lane, int64_t m) {
    const ViewPlan& view = g_.views[v];
    if (ptr_[v] != scratch_ + view.strip) return;
    scatter(moved(at(v), lane * view.stride[g_.outer]),
            view.access == Access::direct ? view.size : view.stride[g_.outer], ptr_[v], m, view.size);
  }

  // Offset of k position `k` along the view's k axes, and whether the view's boxes on them hold there.
  int64_t k_offset(const ViewPlan& view, int64_t k, bool& inside) const {
    int64_t offset = 0;
    unsigned cut = view.first_cut + view.outer_cuts + view.lane_cuts + view.k_cuts;
    for (unsigned a = g_.ks; a-- > 0;) {
      const unsigned axis = first_k_ + a;
      const int64_t index = a ? k % g_.extent[axis] : k;
      k = a ? k / g_.extent[axis] : 0;
      offset += index * view.stride[axis];
      if (cut > view.first_cut + view.outer_cuts + view.lane_cuts && g_.cuts[cut - 1].axis == axis) {
        --cut;
        inside &= index >= g_.cuts[cut].lo && index < g_.cuts[cut].hi;
      }
    }
    return offset;
  }

  // Whether k is one strided axis for the view; its stride.
  bool k_linear(const ViewPlan& view, int64_t& stride) const {
    for (unsigned a = first_k_; a + 1 < first_k_ + g_.ks; ++a)
      if (view.stride[a] != view.stride[a + 1] * g_.extent[a + 1]) return false;
    stride = g_.ks ? view.stride[first_k_ + g_.ks - 1] : 0;
    return view.k_cuts == 0;
  }

  // Points ptr_ and step_ of a load view at lanes [lane, lane + m), padded to n where it is copied, and k [k0, k0 +
  // kn).
  void present(size_t v, int64_t lane, int64_t m, int64_t n, int64_t k0, int64_t kn, bool apart) {
    const ViewPlan& view = g_.views[v];
    char* const strip = scratch_ + view.strip;
    step_[v] = 0;
    const uint64_t outside = view.kind == ViewKind::inside ? 0 : view.fill;
    if (!in(v)) {
      fill(strip, outside, n, view.size);
      ptr_[v] = strip;
      return;
    }
    int64_t k_stride = 0;
    const bool memory = view.kind == ViewKind::load;
    const bool linear = k_linear(view, k_stride);
    const AxisRun lane_run{g_.outer, g_.lane, view.first_cut + view.outer_cuts, view.lane_cuts};
    const AxisRun k_run{first_k_, g_.ks, view.first_cut + view.outer_cuts + view.lane_cuts, view.k_cuts};
    if (!has_lane(v)) {
      if (memory && linear) {
        ptr_[v] = moved(at(v), k0 * k_stride);
        step_[v] = k_stride;
      } else if (g_.ks == 0) {  // every k axis has one index
        ptr_[v] = memory ? at(v) : reinterpret_cast<char*>(&item(v));
      } else {
        stage(g_, view, k_run, at(v), item(v), k0, kn, strip);
        ptr_[v] = strip;
        step_[v] = view.size;
      }
      return;
    }
    const bool whole_lanes = memory && view.access == Access::direct && view.lane_cuts == 0 && !apart;
    if (whole_lanes && linear) {
      ptr_[v] = moved(at(v), lane * view.size + k0 * k_stride);
      step_[v] = k_stride;
      return;
    }
    ptr_[v] = strip;
    if (!has_k(v)) {
      stage(g_, view, lane_run, at(v), item(v), lane, m, strip);
      return;
    }
    step_[v] = n * view.size;
    if (memory && linear && k_stride == view.size && view.lane_cuts == 0) {
      const int64_t stride = view.stride[g_.outer];
      gather_rows(strip, step_[v], moved(at(v), lane * stride + k0 * k_stride), stride, kn, m, view.size);
      return;
    }
    for (int64_t k = 0; k < kn; ++k) {
      bool inside = true;
      const int64_t offset = k_offset(view, k0 + k, inside);
      char* const to = strip + k * step_[v];
      if (inside) stage(g_, view, lane_run, moved(at(v), offset), item(v) + offset, lane, m, to);
      else fill(to, outside, m, view.size);
    }
  }

  const Plan& p_;
  const Geometry& g_;
  const loop::Kernel& kernel_;
  const loop::Schedule& schedule_;
  const Body& body_;
  char* const scratch_;
  const unsigned first_k_;
  Frame frame_{};
  int64_t row_ = 0, rows_ = 1;  // of the group: the one at hand, and how many there are
  bool shared_[loop::max_views];
  char* ptr_[loop::max_views];
  int64_t step_[loop::max_views];
};

}  // namespace

void walk_row(const Plan& plan, const Body& body, int64_t chunk, char* scratch, Fault& fault) noexcept {
  const Geometry& g = plan.geometry;
  Walk walk(plan, body, scratch, fault);
  const int64_t inner = g.outer > 0 ? g.extent[g.outer - 1] : 1;
  const int64_t groups = (inner + g.tile_rows - 1) / g.tile_rows;  // along the innermost outer axis
  const int64_t first = chunk * plan.rows_per_chunk;
  const int64_t last = std::min(plan.units(), first + plan.rows_per_chunk);
  for (int64_t unit = first; unit < last; ++unit) {
    const int64_t lane = unit % plan.pieces * plan.strip;
    const int64_t group = unit / plan.pieces;
    const int64_t row = group % groups * g.tile_rows;
    walk.run(group / groups * inner + row, std::min(g.tile_rows, inner - row), lane,
             std::min(g.lanes, lane + plan.strip));
  }
}

}  // namespace ingot::jit
