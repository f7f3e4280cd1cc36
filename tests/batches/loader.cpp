// Tests the concept of a loader: every loader satisfies it, and other types do not.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/loader.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "triad/batches/dependency_loader.hpp"
#include "triad/batches/edge_pair_loader.hpp"
#include "triad/batches/graph_loader.hpp"
#include "triad/batches/pair_loader.hpp"
#include "triad/batches/sentence_loader.hpp"
#include "triad/batches/tree_loader.hpp"
#include "triad/reference/reference.hpp"

namespace batches_loader_tests {

using namespace triad;
using reference::backend;

struct without_dims {
  using memory = backend::memory;
  void clear() {}
  int upload() { return 0; }
};
struct uploads_nothing : without_dims {
  int dims() const { return 0; }
  void upload() {}
};

TEST_CASE("every loader of the library is a loader") {
  CHECK(loader<graph_loader<backend>>);
  CHECK(loader<sentence_loader<backend, float>>);
  CHECK(loader<dependency_loader<backend, float>>);
  CHECK(loader<pair_loader<backend, float>>);
  CHECK(loader<edge_pair_loader<backend, float>>);
  CHECK(loader<tree_loader<backend, float>>);
}

TEST_CASE("what has no sizes, or uploads nothing, is no loader") {
  CHECK_FALSE(loader<without_dims>);
  CHECK_FALSE(loader<uploads_nothing>);
  CHECK_FALSE(loader<std::vector<int>>);
}

}  // namespace batches_loader_tests
