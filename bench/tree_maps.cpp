// Times how the shift matrices D_c of the dense tree algebra are computed from random orthonormal roles.  A program
// computes the matrices once, before training.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <string>

#include "session.hpp"
#include "triad/core/random.hpp"
#include "triad/tree/tree.hpp"

namespace bench {
namespace {

constexpr index_t children = 2;

struct set_up {
  triad::tree_positions<> positions;
  triad::buffer<triad::host_memory> memory;
  triad::role_maps<float> maps;

  explicit set_up(index_t depth)
      : positions(children, depth), memory(triad::planned_bytes([this](triad::arena& a) { (void)plan(a); })), maps([&] {
          auto place = memory.place();
          return plan(place);
        }()) {
    triad::make_random(positions, 5, maps);
  }
  triad::role_maps<float> plan(triad::arena& place) const {
    return triad::role_maps<float>::plan(place, positions, positions.count());
  }
};

/// Checks the definition of D_c at random positions.
verdict check(set_up const& s) {
  triad::role_paths const paths(children);
  auto const& roles = s.maps.roles;
  auto const width = static_cast<std::uint32_t>(roles.extent(1));
  triad::random_stream stream(3, 0);
  for (int drawn = 0; drawn < 100; ++drawn) {
    auto const c = static_cast<index_t>(stream.below(children)), i = static_cast<index_t>(stream.below(width)),
               j = static_cast<index_t>(stream.below(width));
    double sum = 0;
    for (index_t x = 0; x < s.positions.level_begin(s.positions.depth() - 1); ++x)
      sum += static_cast<double>(roles(x, i)) * roles(paths.position(paths.under(c, paths.at_position(x))), j);
    if (!(std::abs(s.maps.shifts(c, i, j) - sum) < 1e-5))
      return "D_" + std::to_string(c) + " is not its definition at (" + std::to_string(i) + ", " + std::to_string(j) +
             ")";
  }
  return std::nullopt;
}

void run(benchmark::State& state, index_t depth) {
  auto const name = "tree_maps/depth:" + std::to_string(depth);
  auto const roles = triad::tree_positions<>(children, depth).count();
  auto const bytes = static_cast<std::size_t>((1 + children) * roles * roles) * sizeof(float);
  if (!may_time(state, name, bytes, [&] { return check(set_up(depth)); })) return;
  set_up const s(depth);
  // for each child: (r, N') (N', r), where N' is the number of positions above the last level; computed by one thread
  work_model model;
  model.products = {{{roles, roles, s.positions.level_begin(depth - 1), true, false}, children}};
  time_work(state, {.model = model, .total = bytes}, [&] {
    triad::make_shifts<float>(s.positions, s.maps.roles, s.maps.shifts);
    benchmark::DoNotOptimize(s.maps.shifts.data_handle());
  });
}

[[maybe_unused]] bool const registered = [] {
  for (index_t const depth : {8, 10})
    benchmark::RegisterBenchmark(("tree_maps/depth:" + std::to_string(depth)).c_str(), [=](benchmark::State& state) {
      run(state, depth);
    })->Unit(benchmark::kMillisecond);
  return true;
}();

}  // namespace
}  // namespace bench
