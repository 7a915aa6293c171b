#include "loop/schedule.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "loop/rules.h"
#include "random_kernel.h"

using namespace ingot::loop;

namespace {

// A sweep that the next one follows strip by strip: nothing in it is finished only at the end of the row.
void linked(const Kernel& k, const Schedule& s, size_t l) {
  REQUIRE(l + 1 < s.sweeps.size());
  CHECK(s.sweeps[l].folds.empty());
  std::set<bool> ways;
  size_t end = l + 1;
  while (s.sweeps[end].linked) ++end;
  for (size_t at = l; at < end; ++at)
    for (const uint16_t h : s.sweeps[at].fills)
      if (s.holds[h].scanned()) ways.insert((k.nodes[s.holds[h].node].imm & scan_reverse) != 0);
  CHECK(ways.size() == 1);
  if (!ways.contains(true)) return;
  // Downwards: no blocks of a fold, and nothing that stays behind the last strip.
  CHECK(s.sweeps[end].folds.empty());
  for (size_t at = l; at <= end; ++at)
    for (const uint16_t h : s.sweeps[at].fills) CHECK(s.holds[h].window);
}

// What any reader of a schedule relies on, checked without knowing how it was made: every node of a list finds its
// arguments computed before it, in its own list, in one that runs before, in a hold or in a finished fold; what a list
// holds has the right axes; every fold and store happens once.
void check(const Kernel& k, const Schedule& s) {
  const AxisSet cols = k.col_set();
  const AxisSet lanes = s.mode == LaneMode::row ? (k.rows ? AxisSet{1} << (k.rows - 1) : 0)
                        : k.cols                ? cols
                                                : k.row_set();
  std::multiset<NodeId> folds_done;
  std::multiset<uint16_t> stores_done;
  std::set<NodeId> finished, filled;
  const auto run = [&](std::set<NodeId>& ready, const std::vector<NodeId>& list, auto belongs) {
    CHECK(std::ranges::is_sorted(list));
    for (const NodeId n : list) {
      CAPTURE(n);
      CHECK(belongs(k.nodes[n].axes));
      CHECK_FALSE(ends_sweep(k.nodes[n].op));
      CHECK_FALSE(ready.contains(n));
      for (const NodeId a : k.nodes[n].arg)
        if (a != no_node) CHECK(ready.contains(a));
      ready.insert(n);
    }
  };
  for (size_t l = 0; l < s.sweeps.size(); ++l) {
    CAPTURE(l);
    const Sweep& w = s.sweeps[l];
    std::set<NodeId> ready = finished;
    run(ready, w.uniform, [&](AxisSet axes) { return !(axes & (lanes | cols)); });
    run(ready, w.per_lane_invariant,
        [&](AxisSet axes) { return s.mode == LaneMode::row && (axes & lanes) && !(axes & cols); });
    for (const uint16_t h : w.reads) {
      CHECK(s.holds[h].level < l);
      CHECK(filled.contains(s.holds[h].node));
      ready.insert(s.holds[h].node);
    }
    run(ready, w.varying, [&](AxisSet axes) { return s.mode == LaneMode::row ? axes & cols : axes & lanes; });
    std::set<uint16_t> views;
    for (const auto* list : {&w.per_lane_invariant, &w.varying})
      for (const NodeId n : *list)
        if (k.nodes[n].op == Prim::load) views.insert(static_cast<uint16_t>(k.nodes[n].imm));
    CHECK(w.views == std::vector<uint16_t>(views.begin(), views.end()));
    for (const uint16_t h : w.fills) {
      CHECK(s.holds[h].level == l);
      const Hold& hold = s.holds[h];
      CHECK(hold.scanned() == is_scan(k.nodes[hold.node].op));
      if (hold.scanned()) CHECK((hold.source == k.nodes[hold.node].arg[0] && ready.contains(hold.source)));
      else CHECK(std::ranges::binary_search(w.varying, hold.node));
      filled.insert(s.holds[h].node);
    }
    for (const NodeId f : w.folds) {
      for (const NodeId a : k.nodes[f].arg)
        if (a != no_node) CHECK(ready.contains(a));
      folds_done.insert(f);
    }
    for (const uint16_t st : w.stores) {
      CHECK(ready.contains(k.stores[st].value));
      stores_done.insert(st);
    }
    finished.insert(w.folds.begin(), w.folds.end());
    if (w.linked) linked(k, s, l);
    const bool ordered = std::ranges::any_of(w.folds, [&](NodeId f) { return is_ordered(k.nodes[f]); });
    CHECK(w.granule == (s.mode == LaneMode::cols && ordered ? fold_granule : plain_granule));
  }
  std::set<NodeId> ready = finished;
  run(ready, s.row_nodes, [&](AxisSet axes) { return !(axes & lanes); });
  for (const uint16_t st : s.row_stores) {
    CHECK(ready.contains(k.stores[st].value));
    stores_done.insert(st);
  }
  CHECK(stores_done.size() == k.stores.size());
  CHECK(std::set<uint16_t>(stores_done.begin(), stores_done.end()).size() == k.stores.size());
  CHECK(std::vector<NodeId>(folds_done.begin(), folds_done.end()) == s.folds);
  // The buffer of a strip is enough where no sweep reads it that is walked later.
  for (const Hold& h : s.holds) {
    size_t end = h.level, last = 0;
    while (s.sweeps[end].linked) ++end;
    for (size_t l = 0; l < s.sweeps.size(); ++l)
      if (std::ranges::count(s.sweeps[l].reads, s.hold_slot[h.node])) last = l;
    CHECK(h.window == (last <= end));
  }
  for (NodeId n = 0; n < k.nodes.size(); ++n) {
    CHECK((s.fold_slot[n] >= 0) == is_fold(k.nodes[n].op));
    if (s.fold_slot[n] >= 0) CHECK(s.folds[static_cast<size_t>(s.fold_slot[n])] == n);
    if (s.hold_slot[n] >= 0) CHECK(s.holds[static_cast<size_t>(s.hold_slot[n])].node == n);
  }
}

}  // namespace

TEST_CASE("schedules compute everything once and before it is needed") {
  for (const auto& sample : samples::all()) {
    CAPTURE(sample.name);
    check(sample.kernel, schedule(sample.kernel));
  }
  size_t holds = 0;
  for (uint32_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    const samples::RandomOptions shapes[] = {
        {}, {.rows = 0, .cols = 2}, {.rows = 1, .cols = 0}, {.rows = 3, .ops = 120}};
    Kernel k = samples::random_kernel(seed, shapes[seed % 4]).builder.finish();
    k.row_lanes = may_have_row_lanes(k);
    const Schedule s = schedule(k);
    check(k, s);
    holds += s.holds.size();
  }
  CHECK(holds > 100);
}

TEST_CASE("softmax is three sweeps and holds the exponential") {
  const Kernel k = samples::softmax();
  CHECK(to_text(k, schedule(k)) == R"(schedule lanes cols
hold h0 = %18 from sweep 1
sweep 0 granule 16 weight 1
  views v0
  varying %0 %1
  folds %2
sweep 1 granule 64 weight 11
  views v0
  uniform %4 %7 %9 %10 %12 %14
  varying %0 %1 %3 %5 %6 %8 %11 %13 %15 %16 %17 %18
  folds %19
  fills h0
sweep 2 granule 16 weight 5
  reads h0
  varying %20 %21
  stores v1
)");
}

TEST_CASE("scans are walked strip by strip with what reads them, those of the other direction apart") {
  const Kernel k = samples::two_way_scans();
  CHECK(to_text(k, schedule(k)) == R"(schedule lanes cols
hold h0 = %2 scanned from %1 from sweep 0
hold h1 = %7 scanned from %0 from sweep 0
hold h2 = %4 scanned from %3 from sweep 1, a strip at a time
sweep 0 granule 16 weight 1
  views v0
  varying %0 %1
  fills h0 h1
sweep 1 granule 16 weight 2 linked
  reads h0 h1
  views v0
  varying %0 %3 %8
  fills h2
  stores v2
sweep 2 granule 16 weight 2
  reads h0 h2
  varying %5 %6
  stores v1
)");
}

TEST_CASE("layer_norm computes x - mean again rather than hold it") {
  const Kernel k = samples::layer_norm();
  const Schedule s = schedule(k);
  CHECK(s.sweeps.size() == 3);
  CHECK(s.holds.empty());
  const auto minus_mean = [&](const Sweep& w) {
    return std::ranges::count_if(w.varying, [&](NodeId n) { return k.nodes[n].op == Prim::sub; });
  };
  CHECK(minus_mean(s.sweeps[1]) == 1);
  CHECK(minus_mean(s.sweeps[2]) == 1);
  // The mean and 1 / sqrt(...) are per row: they are no lane's work.
  for (const NodeId n : s.sweeps[2].uniform) CHECK((k.nodes[n].axes & k.col_set()) == 0);
  CHECK(std::ranges::any_of(s.sweeps[2].uniform, [&](NodeId n) { return k.nodes[n].op == Prim::sqrt; }));
}

TEST_CASE("a pointwise kernel is one sweep over the lanes of all rows") {
  const Schedule s = schedule(samples::integers());
  CHECK(s.mode == LaneMode::cols);
  CHECK(s.sweeps.size() == 1);
  CHECK(s.sweeps[0].stores.size() == 4);
  CHECK(s.row_stores.empty());
}

TEST_CASE("what has no lane axis is stored with the row") {
  const Schedule sums = schedule(samples::column_sum());
  CHECK(sums.sweeps.size() == 1);
  CHECK(sums.sweeps[0].stores.empty());
  CHECK(sums.row_stores == std::vector<uint16_t>{0});
  const Schedule scalar = schedule(samples::scalars());
  CHECK(scalar.sweeps.size() == 1);
  CHECK(scalar.sweeps[0].uniform.empty());
  CHECK(scalar.row_stores == std::vector<uint16_t>{0});
}

TEST_CASE("a row's value stored along the row is written by the sweep that knows it") {
  const Kernel k = samples::spread();
  const Schedule s = schedule(k);
  CHECK(s.sweeps.size() == 2);
  CHECK(s.sweeps[1].stores == std::vector<uint16_t>{0});
  CHECK(s.sweeps[1].varying.empty());
  CHECK(s.row_stores == std::vector<uint16_t>{1});
}

TEST_CASE("fold.dot puts the lanes on the last row axis") {
  const Kernel k = samples::matmul();
  const Schedule s = schedule(k);
  CHECK(s.mode == LaneMode::row);
  CHECK(s.sweeps.size() == 2);
  CHECK(s.sweeps[0].stores.empty());
  CHECK(s.sweeps[1].folds.empty());
  CHECK(s.sweeps[1].varying.empty());
  CHECK(s.row_stores.empty());
  // Without a row axis there is one lane, still in the last sweep: rows are never run in this mode.
  const Schedule dot = schedule(samples::dot());
  CHECK(dot.mode == LaneMode::row);
  CHECK(dot.sweeps.back().stores == std::vector<uint16_t>{0});
  CHECK(dot.row_stores.empty());
}
