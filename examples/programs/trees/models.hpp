// Makes the machines of tree-to-tree programs from the options, with their initial values and the noise of their
// choices.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "machine.hpp"
#include "triad/batches/batch_upload.hpp"
#include "triad/batches/tree_batch.hpp"
#include "triad/core/random.hpp"
#include "triad/models/tree_machine.hpp"
#include "triad/train/initialize.hpp"
#include "triad/tree/shift.hpp"

namespace triad::programs::trees {

/// Returns the options of a binary machine whose fillers are unit vectors, one for each symbol.  The released program
/// has random orthonormal fillers instead, which are a rotation of the unit vectors.
inline tree_machine_options sizes_of(options const& o, machine_options const& z) {
  return {.steps = o.steps,
          .symbols = z.symbols,
          .unit_fillers = true,
          .agent = {.layer = {.width = o.width,
                              .heads = o.heads,
                              .hidden = o.hidden(),
                              .dropout = o.dropout,
                              .norms = norm_position::before,
                              .between = activation::gelu},
                    .layers = o.layers,
                    .branching = 2,
                    .fillers = z.symbols},
          .root = o.root == "distribution" ? tree_root::distribution : tree_root::scores,
          .empty_tree = o.empty_tree};
}

/// The roles and the matrices of a matrix_interpreter, stored in a backend's memory.
template <class Memory>
class role_memory {
 public:
  /// Draws a random orthonormal role for each position from a seed.  The width of a role is the number of positions.
  /// Then computes the matrices: first each D_c, then each E_c = D_c'.
  role_memory(tree_positions<> const& positions, std::uint64_t seed, Memory const& where)
      : there_(bytes(positions), where) {
    buffer<> here(there_.bytes());
    auto place = here.place();
    auto const all = plan(place, positions);
    random_orthonormal(seed, as_matrix(all.roles));
    make_shifts_both_ways(positions, read_only(all.roles), all.maps);
    there_.memory().from_host(there_.data(), here.data(), here.bytes());
  }

  matrix_interpreter<float> interpreter(tree_positions<> const& positions, bool learned) const {
    auto place = there_.place();
    auto const all = plan(place, positions);
    return {2, positions.count(), positions.count(), learned, read_only(all.roles), read_only(all.maps)};
  }

 private:
  struct views {
    tensor<float, dyn, dyn> roles;      // (N, N)
    tensor<float, dyn, dyn, dyn> maps;  // (4, N, N)
  };
  static views plan(arena& place, tree_positions<> const& positions) {
    index_t const r = positions.count();
    auto const roles = place.make<tensor<float, dyn, dyn>>(r, r);
    return {roles, place.make<tensor<float, dyn, dyn, dyn>>(4, r, r)};
  }
  static std::size_t bytes(tree_positions<> const& positions) {
    return planned_bytes([&](arena& a) { (void)plan(a, positions); });
  }

  buffer<Memory> there_;
};

/// Returns how a parameter is initialised, as in the released program.  Token vectors are drawn from a normal
/// distribution.  The three input maps of an attention are drawn as one matrix (3 d, d), with Xavier uniform; their
/// biases are 0.  All other linear maps have PyTorch's defaults: they are uniform, with a bound that depends on the
/// number of inputs.
inline initializer first_values_of(options const& o, std::string const& path) {
  if (path == "operation_token" || path == "root_token" || path == "empty_token") return initializer::normal(1);
  if (path.find(".norm") != std::string::npos) return initializer::by_name();
  bool const head = path.find(".operation.") != std::string::npos || path.find(".arguments.") != std::string::npos;
  if (head && o.choice_deviation > 0)
    return path.ends_with(".bias") ? initializer::constant(0) : initializer::normal(o.choice_deviation);
  bool const bias = path.ends_with(".bias"), attention = path.find(".attention.") != std::string::npos;
  if (attention && bias) return initializer::constant(0);
  if (attention && path.find(".attention.output.") == std::string::npos) {
    double const bound = std::sqrt(6 / static_cast<double>(4 * o.width));
    return initializer::uniform(-bound, bound);
  }
  return initializer::linear_uniform();
}

/// Returns the path of a parameter within its layer.  Returns an empty text if the parameter is not in a layer of an
/// agent.  At the beginning, the layers of all agents are copies of the first agent's first layer, so parameters with
/// the same path within a layer have the same initial values.
inline std::string in_first_layer(std::string const& path) {
  if (!path.starts_with("agents.")) return {};
  auto const layers = path.find(".layers.");
  if (layers == std::string::npos) return {};
  return path.substr(path.find('.', layers + 8) + 1);
}

/// Returns the number, from 0, of the step whose agent has this parameter.  Returns -1 if no agent has it.
inline int step_of(std::string const& path) {
  static constexpr std::string_view agents = "agents.";
  return path.starts_with(agents) ? std::stoi(path.substr(agents.size())) : -1;
}

/// Draws a number for the noise of Gumbel-softmax.  It is minus the logarithm of an exponential variable.
inline float gumbel(random_stream& random) {
  double const u = random.uniform();  // in [0, 1)
  return static_cast<float>(-std::log(-std::log1p(-std::max(u, 1e-300))));
}

/// The Gumbel noise of all choices of an update.  It is drawn on the host, so that it is the same on every backend.
template <backend Ex>
class gumbel_noise {
 public:
  gumbel_noise(index_t steps, index_t batch, options const& o, typename Ex::memory where)
      : steps_(steps),
        key_(o.seed + 0x9e3779b97f4a7c15u),
        on_operations_(choice_of_operations(o) != "softmax"),
        on_arguments_(choice_of_arguments(o) != "softmax"),
        last_choices_(tree_choices_at(steps - 1, o.empty_tree)),
        operations_(static_cast<std::size_t>(steps * batch * 3)),
        arguments_(static_cast<std::size_t>(steps * batch * last_choices_ * 4)),
        upload_(bytes(steps, batch, last_choices_), where) {}

  /// Adds the noise of an update to a batch.  The noise is valid until the next call.  Numbers are always drawn for
  /// both operations and arguments, so the noise of operations does not depend on whether arguments have noise.
  void add(tree_batch<float>& in, std::uint64_t update) {
    index_t const batch = in.sizes.batch;
    random_stream random(key_, update);
    std::fill(arguments_.begin(), arguments_.end(), 0.0f);
    for (index_t k = 0; k < steps_; ++k)
      for (index_t b = 0; b < batch; ++b) {
        auto const row = static_cast<std::size_t>(k * batch + b), columns = static_cast<std::size_t>(last_choices_ * 4);
        for (std::size_t j = 0; j < 3; ++j) operations_[row * 3 + j] = gumbel(random);
        for (std::size_t j = 0; j < static_cast<std::size_t>(in.choices_at(k) * 4); ++j)
          arguments_[row * columns + j] = gumbel(random);
      }
    upload_([&](auto const& put) {
      auto const o = put(operations_, steps_ * batch * 3), a = put(arguments_, steps_ * batch * last_choices_ * 4);
      using noise = tensor<float const, dyn, dyn, dyn>;
      if (on_operations_) in.operation_noise = noise(o.data_handle(), steps_, batch, 3);
      if (on_arguments_) in.argument_noise = noise(a.data_handle(), steps_, batch, last_choices_ * 4);
      return 0;
    });
  }

 private:
  static std::size_t bytes(index_t steps, index_t batch, index_t last_choices) {
    return planned_bytes([&](arena& a) {
      a.make<vec<float>>(steps * batch * 3);
      a.make<vec<float>>(steps * batch * last_choices * 4);
    });
  }

  index_t steps_;
  std::uint64_t key_;
  bool on_operations_, on_arguments_;
  index_t last_choices_;  // number of trees among which an argument of the last step is chosen
  std::vector<float> operations_, arguments_;
  batch_upload<Ex> upload_;
};

}  // namespace triad::programs::trees
