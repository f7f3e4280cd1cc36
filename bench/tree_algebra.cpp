// Times the tree algebra in sparse form, for trees that are too deep for an array.  A step of a program applies car,
// cdr and cons to trees of 4096 nodes.
// SPDX-License-Identifier: Apache-2.0

#include <set>

#include "session.hpp"
#include "triad/core/random.hpp"
#include "triad/tree/tree.hpp"

namespace bench {
namespace {

using algebra = triad::sparse_algebra<float>;
using tree = triad::tensor_tree<algebra>;
constexpr index_t nodes = 4096, labels = 100;

/// Returns a chain of length `depth` with more nodes attached to random nodes.  Each node has one label.
tree random_tree(algebra const& a) {
  triad::random_stream stream(static_cast<triad::philox_key>(a.depth()), 0);
  std::vector<triad::role_code> roles{triad::root_role};
  std::set<triad::role_code> known{triad::root_role};
  auto const grow = [&](triad::role_code parent) {
    auto const role = a.paths().child(parent, static_cast<index_t>(stream.below(2)));
    if (known.insert(role).second) roles.push_back(role);
    return role;
  };
  for (auto role = triad::root_role; a.paths().level(role) + 1 < a.depth();) role = grow(role);
  while (static_cast<index_t>(roles.size()) < nodes) {
    auto const parent = roles[stream.below(static_cast<std::uint32_t>(roles.size()))];
    if (a.paths().level(parent) + 1 < a.depth()) grow(parent);
  }
  tree x(a);
  for (auto const role : known) {
    x.view().coordinates.push_back({role, static_cast<index_t>(stream.below(static_cast<std::uint32_t>(labels))), 1});
  }
  return x;
}

/// Checks that cons of the car and the cdr restores the tree.  Also checks that each node is either in the car, or in
/// the cdr, or the root.
verdict check(tree const& x) {
  auto const left = car(x), right = cdr(x);
  if (left.view().coordinates.size() + right.view().coordinates.size() + 1 != x.view().coordinates.size())
    return "car and cdr lose nodes";
  if (!(cons(left, right, x).view() == x.view())) return "cons of car and cdr is another tree";
  return std::nullopt;
}

void run(benchmark::State& state, index_t depth) {
  algebra const a(2, depth, labels);
  auto const x = random_tree(a);
  auto const name = "tree_algebra/sparse/depth:" + std::to_string(depth);
  if (!may_time(state, name, 1 << 20, [&] { return check(x); })) return;
  tree left(a), right(a), y(a);
  double const seconds =
      time_work(state, {.model = {}, .total = nodes * sizeof(x.view().coordinates[0]), .floor = false}, [&] {
        triad::car(a, x.view(), left.view());
        triad::cdr(a, x.view(), right.view());
        y = cons(left, right, x);
        benchmark::DoNotOptimize(y.view().coordinates.data());
      });
  state.counters["nodes/s"] = static_cast<double>(x.view().coordinates.size()) / seconds;
}

[[maybe_unused]] bool const registered = [] {
  for (index_t const depth : {20, 30, 63})
    benchmark::RegisterBenchmark(("tree_algebra/sparse/depth:" + std::to_string(depth)).c_str(),
                                 [=](benchmark::State& state) { run(state, depth); })
        ->Unit(benchmark::kMicrosecond);
  return true;
}();

}  // namespace
}  // namespace bench
