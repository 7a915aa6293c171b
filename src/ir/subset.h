// The part of a graph between given values.
#pragma once

#include <span>

#include "ir/graph.h"

namespace ingot::ir {

// A sealed graph whose inputs are the feeds and whose outputs are the fetches, in their order, with the ops that lead
// from the first to the second. A feed may be any value: it takes the place of that value, and what the whole graph
// would compute it from is left out. Names stay. Symbols keep their bounds and stated facts; an extent that is an
// expression of symbols no feed binds becomes a symbol of its own, where it is all that is needed of them.
//
// Throws invalid_argument, naming the value: an id the graph has not, no fetch, a feed given twice or one that no fetch
// depends on, an input that a fetch needs and that is not fed, an extent that no feed determines.
Graph subset(const Graph& graph, std::span<const ValueId> feeds, std::span<const ValueId> fetches);

}  // namespace ingot::ir
