// A copy, on the host, of what an update changes, and the way back: the best of several epochs, or a step undone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "triad/core/fields.hpp"
#include "triad/train/parameters.hpp"

namespace triad {

/// A parameter of the model of a snapshot.
struct snapshot_tensor {
  std::string path;
  std::vector<index_t> shape;

  bool operator==(snapshot_tensor const&) const = default;
};

/// Owns its numbers; has moments where the trainer had some.
template <class T>
struct trainer_snapshot {
  std::uint64_t step = 0;
  std::vector<T> values, first_moments, second_moments;  // flat, as parameter_set has them
  bool initialized = false;                              // whether the parameters had values
  std::vector<snapshot_tensor> tensors{};                // in the order of the values: of which model they are

  bool operator==(trainer_snapshot const&) const = default;
};

namespace detail {
template <class Fields>
std::vector<snapshot_tensor> tensors_of(Fields values) {
  std::vector<snapshot_tensor> all;
  walk(values, [&](std::string const& path, auto view) {
    all.push_back({path, {}});
    for (std::size_t r = 0; r < view.rank(); ++r) all.back().shape.push_back(view.extent(r));
  });
  return all;
}
/// layers.0.norm1.gain (32)
inline std::string tensor_text(std::vector<snapshot_tensor> const& all, std::size_t k) {
  if (k >= all.size()) return "none";
  std::string shape;
  for (auto const n : all[k].shape) shape += (shape.empty() ? "" : ", ") + std::to_string(n);
  return all[k].path + " (" + shape + ")";
}
}  // namespace detail

/// Overwrites `now`, whose memory is used again.  A contract_violation while averages stand in for the parameters.
template <class Model, class Ex, class T>
void take_snapshot(parameter_set<Model, Ex> const& parameters, std::uint64_t step, trainer_snapshot<T>& now) {
  parameters.expect_weights("snapshot");
  auto const copy = [&](vec<T const> from, std::vector<T>& to) {
    to.resize(static_cast<std::size_t>(from.extent(0)));
    parameters.where().to_host(to.data(), from.data_handle(), to.size() * sizeof(T));
  };
  now.step = step;
  now.initialized = parameters.initialized();
  now.tensors = detail::tensors_of(parameters.values());
  copy(parameters.flat_values(), now.values);
  now.first_moments.clear();
  now.second_moments.clear();
  if (!parameters.holds_moments()) return;
  copy(parameters.flat_first_moments(), now.first_moments);
  copy(parameters.flat_second_moments(), now.second_moments);
}

/// Overwrites values, and moments where the parameters hold some.  Throws contract_violation, and then changes nothing,
/// where the names or shapes of the snapshot are others, where the parameters hold moments and the snapshot does not,
/// and while averages stand in for the parameters.
template <class Model, class Ex, class T>
void put_snapshot(trainer_snapshot<T> const& then, parameter_set<Model, Ex>& parameters) {
  parameters.expect_weights("restore");
  auto const ours = detail::tensors_of(parameters.values());
  auto const differs =
      std::mismatch(ours.begin(), ours.end(), then.tensors.begin(), then.tensors.end()).first - ours.begin();
  auto const k = static_cast<std::size_t>(differs);
  TRIAD_EXPECTS(ours == then.tensors, "restore: the snapshot has " + detail::tensor_text(then.tensors, k) +
                                          ", expected " + detail::tensor_text(ours, k) +
                                          ", as the model has; it is of another model");
  auto const all = parameters.flat_values().extent(0);
  TRIAD_EXPECTS(static_cast<index_t>(then.values.size()) == all,
                "restore: the snapshot has " + std::to_string(then.values.size()) + " values, expected " +
                    std::to_string(all) + ", as the model has; it is of another model");
  bool const learns = parameters.holds_moments();
  TRIAD_EXPECTS(
      !learns || (then.first_moments.size() == then.values.size() && then.second_moments.size() == then.values.size()),
      "restore: the snapshot has " + std::to_string(then.first_moments.size()) + " moments, expected " +
          std::to_string(then.values.size()) + "; take it of a trainer that learns");
  if (then.initialized) (void)parameters.mutable_values();  // then they have values, also where these are zero
  auto const copy = [&](std::vector<T> const& from, vec<T> to) {
    parameters.where().from_host(to.data_handle(), from.data(), from.size() * sizeof(T));
  };
  copy(then.values, parameters.flat_values());
  if (!learns) return;
  copy(then.first_moments, parameters.flat_first_moments());
  copy(then.second_moments, parameters.flat_second_moments());
}

}  // namespace triad
