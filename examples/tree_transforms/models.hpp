// The machines of this program, made of its options, and their first values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>
#include <utility>

#include "machine.hpp"
#include "triad/models/tree_machine.hpp"
#include "triad/train/initialize.hpp"
#include "triad/tree/shift.hpp"

namespace tree_transforms {

/// A binary machine over unit fillers, one for each symbol: the released program's random orthonormal ones are these,
/// turned.
inline triad::tree_machine_options sizes_of(options const& o, machine_options const& z) {
  return {.steps = o.steps,
          .symbols = z.symbols,
          .unit_fillers = true,
          .agent = {.layer = {.width = o.width,
                              .heads = o.heads,
                              .hidden = o.hidden(),
                              .dropout = o.dropout,
                              .norms = triad::norm_position::before,
                              .between = triad::activation::gelu},
                    .layers = o.layers,
                    .branching = 2,
                    .fillers = z.symbols}};
}

/// Roles and matrices of a matrix_interpreter, in a backend's memory.
template <class Memory>
class role_memory {
 public:
  /// Random orthonormal roles, as many as positions and as wide, of a seed; D_c and E_c = D_c' behind them.
  role_memory(triad::tree_positions<> const& positions, std::uint64_t seed, Memory const& where)
      : there_(bytes(positions), where) {
    triad::buffer<> here(there_.bytes());
    auto place = here.place();
    auto const all = plan(place, positions);
    triad::random_orthonormal(seed, triad::as_matrix(all.roles));
    triad::make_shifts_both_ways(positions, triad::read_only(all.roles), all.maps);
    there_.memory().from_host(there_.data(), here.data(), here.bytes());
  }

  triad::matrix_interpreter<float> interpreter(triad::tree_positions<> const& positions, bool learned) const {
    auto place = there_.place();
    auto const all = plan(place, positions);
    return {2, positions.count(), positions.count(), learned, triad::read_only(all.roles), triad::read_only(all.maps)};
  }

 private:
  struct views {
    triad::tensor<float, triad::dyn, triad::dyn> roles;             // (N, N)
    triad::tensor<float, triad::dyn, triad::dyn, triad::dyn> maps;  // (4, N, N)
  };
  static views plan(triad::arena& place, triad::tree_positions<> const& positions) {
    index_t const r = positions.count();
    auto const roles = place.make<triad::tensor<float, triad::dyn, triad::dyn>>(r, r);
    return {roles, place.make<triad::tensor<float, triad::dyn, triad::dyn, triad::dyn>>(4, r, r)};
  }
  static std::size_t bytes(triad::tree_positions<> const& positions) {
    return triad::planned_bytes([&](triad::arena& a) { (void)plan(a, positions); });
  }

  triad::buffer<Memory> there_;
};

/// As the released program: tokens from a normal distribution, the three maps into an attention as one matrix (3 d, d),
/// xavier uniform, its biases 0, and all else as its framework makes linear maps: uniform, by what goes in.
inline triad::initializer first_values_of(options const& o, std::string const& path) {
  using triad::initializer;
  if (path == "operation_token" || path == "root_token") return initializer::normal(1);
  if (path.find(".norm") != std::string::npos) return initializer::by_name();
  bool const bias = path.ends_with(".bias"), attention = path.find(".attention.") != std::string::npos;
  if (attention && bias) return initializer::constant(0);
  if (attention && path.find(".attention.output.") == std::string::npos) {
    double const bound = std::sqrt(6 / static_cast<double>(4 * o.width));
    return initializer::uniform(-bound, bound);
  }
  return initializer::linear_uniform();
}

/// The first layer of the first agent, which all others begin equal to: where a parameter of one of them lies in it, or
/// nothing.
inline std::string in_first_layer(std::string const& path) {
  if (!path.starts_with("agents.")) return {};
  auto const layers = path.find(".layers.");
  if (layers == std::string::npos) return {};
  return path.substr(path.find('.', layers + 8) + 1);
}

}  // namespace tree_transforms
