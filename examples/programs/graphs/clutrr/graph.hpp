// A family graph: people, facts about them, and the relation between two of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graphs/graph.hpp"

namespace triad::programs::clutrr {

using graphs::edge, graphs::node_pair, graphs::vocabulary;
using kinship_graph = graphs::labelled_graph;  // k: the number of facts on the path, from the data set

}  // namespace triad::programs::clutrr
