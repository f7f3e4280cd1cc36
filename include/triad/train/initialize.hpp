// Initial values of parameters, chosen by the names of the tensors.
// SPDX-License-Identifier: Apache-2.0
//
//   xavier_uniform   U(-a, a), a = sqrt(6 / (fan_in + fan_out))         weight (out, in): fan_in = in, fan_out = out;
//   linear_uniform   U(-a, a), a = 1 / sqrt(in)                         table (v, d): fan_in = d, fan_out = v
//   by name          gain: 1;  bias next to a gain: 0; bias next to a weight (out, in): U(-1/sqrt(in), 1/sqrt(in));
//                    combination of n elements: 1 / n;  every matrix: xavier_uniform
//
// Each tensor has its own random stream, which depends on the seed and on the tensor's path.  So an added layer does
// not change the initial values of other layers.  The same seed gives the same model on every backend.  Models of two
// scalar types differ only by rounding.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "triad/core/buffer.hpp"
#include "triad/core/fields.hpp"
#include "triad/core/random.hpp"
#include "triad/train/holds_parameters.hpp"

namespace triad {

/// A rule for the initial values of one tensor.
struct initializer {
  enum class kind { by_name, xavier_uniform, linear_uniform, uniform, normal, constant };
  kind how = kind::by_name;
  double low = 0, high = 0;  // uniform: the bounds; constant: low is the value; normal: the mean and the deviation

  static constexpr initializer by_name() { return {}; }
  static constexpr initializer xavier_uniform() { return {kind::xavier_uniform}; }
  static constexpr initializer linear_uniform() { return {kind::linear_uniform}; }
  static constexpr initializer uniform(double low, double high) { return {kind::uniform, low, high}; }
  static constexpr initializer normal(double deviation) { return {kind::normal, 0, deviation}; }
  static constexpr initializer constant(double value) { return {kind::constant, value, value}; }
};

/// Returns the 64-bit FNV-1a hash of the path, which is the same on every machine.  `hash` is the hash of the
/// characters before `path`.
constexpr std::uint64_t path_hash(std::string_view path, std::uint64_t hash = 0xcbf29ce484222325u) {
  for (char const c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

namespace detail {
struct first_values {
  std::map<std::string, std::vector<index_t>> const& shapes;

  std::vector<index_t> const* beside(std::string const& path, std::string_view name) const {
    auto const found = shapes.find(path.substr(0, path.rfind('.') + 1) + std::string(name));
    return found == shapes.end() ? nullptr : &found->second;
  }

  /// Replaces by_name, xavier_uniform and linear_uniform by uniform or constant, with numbers.
  initializer resolve(std::string const& path, initializer rule) const {
    using kind = initializer::kind;
    auto const& shape = shapes.at(path);
    auto const name = path.substr(path.rfind('.') + 1);
    if (rule.how == kind::by_name) {
      if (shape.size() == 2)
        rule.how = kind::xavier_uniform;
      else if (name == "gain")
        return initializer::constant(1);
      else if (name == "combination")
        return initializer::constant(1 / static_cast<double>(shape[0]));
      else if (name == "bias" && beside(path, "gain"))
        return initializer::constant(0);
      else if (name == "bias" && beside(path, "weight"))
        rule.how = kind::linear_uniform;
      else
        throw contract_violation("initialize: no rule for " + path + "; return one from `choose`");
    }
    if (rule.how == kind::xavier_uniform) {
      if (shape.size() != 2)
        throw contract_violation("initialize: xavier_uniform needs a matrix; " + path + " is none");
      double const a = std::sqrt(6 / static_cast<double>(shape[0] + shape[1]));
      return initializer::uniform(-a, a);
    }
    if (rule.how == kind::linear_uniform) {
      auto const* const weight = shape.size() == 2 ? &shape : beside(path, "weight");
      if (!weight || weight->size() != 2)
        throw contract_violation("initialize: linear_uniform needs a matrix, or a bias next to one; " + path +
                                 " is neither");
      double const a = 1 / std::sqrt(static_cast<double>((*weight)[1]));
      return initializer::uniform(-a, a);
    }
    return rule;
  }
};
struct all_by_name {
  constexpr initializer operator()(std::string const&) const { return {}; }
};
template <class Learner>
concept has_parameters = requires(Learner& one) { one.parameters(); };
}  // namespace detail

/// Overwrites every tensor of `values`.  choose(path) returns the rule for the tensor with this path.  `where` is the
/// memory of the tensors.
template <class Memory = host_memory, class Fields, class Choose = detail::all_by_name>
  requires(!holds_parameters<Fields> && !detail::has_parameters<Fields>)
void initialize(Fields values, philox_key key, Choose choose = {}, Memory const& where = {}) {
  std::map<std::string, std::vector<index_t>> shapes;
  walk(values, [&](std::string const& path, auto view) {
    auto& shape = shapes[path];
    for (std::size_t r = 0; r < view.rank(); ++r) shape.push_back(view.extent(r));
  });
  detail::first_values const rules{shapes};
  walk(values, [&](std::string const& path, auto view) {
    using T = typename decltype(view)::element_type;
    auto const rule = rules.resolve(path, choose(path));
    random_stream random(key, path_hash(path));
    std::vector<T> first(static_cast<std::size_t>(view.size()), T(rule.low));
    if (rule.how == initializer::kind::uniform)
      for (auto& v : first) v = T(random.uniform(rule.low, rule.high));
    if (rule.how == initializer::kind::normal)  // the method of Box and Muller 1958
      for (auto& v : first) {
        double const length = std::sqrt(-2 * std::log(1 - random.uniform(0, 1))),
                     angle = random.uniform(0, 2 * 3.14159265358979323846);
        v = T(rule.low + rule.high * length * std::cos(angle));
      }
    where.from_host(view.data_handle(), first.data(), first.size() * sizeof(T));
  });
}
/// Stops the compilation with a message if the argument is not a set of parameters but owns one, as a trainer does.
template <detail::has_parameters Learner, class... More>
  requires(!holds_parameters<Learner>)
void initialize(Learner&, philox_key, More const&...) {
  static_assert(!detail::has_parameters<Learner>,
                "initialize: it takes parameters, and this has some: initialize(learner.parameters(), seed)");
}
/// Initialises a parameter_set in any memory.  Example: initialize(learner.parameters(), seed).
template <holds_parameters Set, class Choose = detail::all_by_name>
void initialize(Set& set, philox_key key, Choose choose = {}) {
  initialize(set.mutable_values(), key, std::move(choose), set.where());
}

}  // namespace triad
