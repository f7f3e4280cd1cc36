// A copy of all values that an update changes, in host memory.  With a snapshot, training can return to the best of
// several epochs, or undo updates.
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

/// The name and the shape of one parameter in a snapshot.
struct snapshot_tensor {
  std::string path;
  std::vector<index_t> shape;

  bool operator==(snapshot_tensor const&) const = default;
};

/// The parameters, moments and step of a trainer.  Owns its numbers.  Has moments if the trainer has moments.
template <class T>
struct trainer_snapshot {
  std::uint64_t step = 0;
  std::vector<T> values, first_moments, second_moments;  // each in one vector, in the layout of parameter_set
  bool initialized = false;                              // whether the parameters were initialised
  std::vector<snapshot_tensor> tensors{};                // names and shapes of the parameters, in the order of memory

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
/// Returns a text such as "layers.0.norm1.gain (32)".
inline std::string tensor_text(std::vector<snapshot_tensor> const& all, std::size_t k) {
  if (k >= all.size()) return "none";
  std::string shape;
  for (auto const n : all[k].shape) shape += (shape.empty() ? "" : ", ") + std::to_string(n);
  return all[k].path + " (" + shape + ")";
}
}  // namespace detail

/// Copies the parameters to `now`, and reuses the memory of `now`.  Throws contract_violation if averages replace the
/// parameters.
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

/// Overwrites the values, and the moments if the parameters hold moments.  Throws contract_violation in three cases:
/// the snapshot has other names or shapes, the parameters hold moments but the snapshot has none, or averages replace
/// the parameters.  In these cases nothing changes.
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
  if (then.initialized) (void)parameters.mutable_values();  // marks the parameters as initialised, even if all are zero
  auto const copy = [&](std::vector<T> const& from, vec<T> to) {
    parameters.where().from_host(to.data_handle(), from.data(), from.size() * sizeof(T));
  };
  copy(then.values, parameters.flat_values());
  if (!learns) return;
  copy(then.first_moments, parameters.flat_first_moments());
  copy(then.second_moments, parameters.flat_second_moments());
}

}  // namespace triad
