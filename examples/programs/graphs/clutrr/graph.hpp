// A family graph: people, the facts told about them, and what one is to another.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graphs/graph.hpp"

namespace triad::programs::clutrr {

using graphs::edge, graphs::node_pair, graphs::vocabulary;
using kinship_graph = graphs::labelled_graph;  // k: as the data set counts the facts on the way

}  // namespace triad::programs::clutrr
