// Evaluates a trainer's model on your own data: the mean loss, the accuracy, and the accuracy for each group of
// samples.
// SPDX-License-Identifier: Apache-2.0
//
//   auto const found =
//       evaluate(learner, loader, test, add_one, {.group = [](auto const& s) { return s.nodes; }, .most = 60});
//   found.loss, found.accuracy, found.by.at(8).fraction()
//
//   loss = sum over batches of (number of targets in the batch) (mean loss of the batch) / number of all targets
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "triad/batches/batches.hpp"
#include "triad/core/backend.hpp"
#include "triad/core/buffer.hpp"
#include "triad/core/contracts.hpp"
#include "triad/core/finite.hpp"
#include "triad/train/finite_weights.hpp"
#include "triad/train/metrics.hpp"
#include "triad/train/row_classes.hpp"

namespace triad {

/// Options of evaluate().  group(sample) returns a number, such as the length of the sample.  Samples with equal
/// numbers form one group.
template <class Sample>
struct evaluate_options {
  std::function<index_t(Sample const&)> group{};
  index_t most = std::numeric_limits<index_t>::max();  // the largest number of samples in a batch
};

/// The result of evaluate().  Loss and accuracy are NaN if there are no targets, or if a weight is NaN or infinite.
/// The accuracy of groups is counted even in these cases.
struct evaluation {
  double loss = 0, accuracy = 0;  // the mean over targets; the fraction of targets that are predicted correctly
  std::uint64_t answers = 0;      // the number of targets
  std::map<index_t, triad::accuracy> by{};
};

namespace detail {
template <class Data>
using sample_of = std::remove_cvref_t<decltype(std::declval<Data const&>()[0])>;

template <class Learner>
constexpr bool answers_by_number() {
  return has_classes<typename Learner::output>() && std::is_same_v<typename Learner::answers, vec<index_t const>>;
}
}  // namespace detail

/// Evaluates a model on all of `data`, in order, without dropout and without gradients.  add_one is the function that
/// batches() takes.  The model's logits must be (rows, classes), with one target for each row.  Rows with a negative
/// target do not count.  For other models, call loss_of() and infer() with each batch.  Accuracy by group needs a model
/// with one row of logits for each sample.
template <class Learner, loader Loader, class Data, class AddOne>
evaluation evaluate(Learner& learner, Loader& batch, Data const& data, AddOne add_one,
                    evaluate_options<detail::sample_of<Data>> const& options = {}) {
  static_assert(detail::answers_by_number<Learner>(),
                "evaluate: it counts right answers of models with logits (rows, classes) and one target a row; "
                "take loss_of() and infer() of each of batches(...) for this one");
  auto const where = memory_of(learner.context());
  evaluation found;
  triad::accuracy all;
  double loss = 0;
  row_classes classes(learner.context());
  std::vector<index_t> targets;
  auto pass = batches(batch, data, std::move(add_one), {.most = options.most});
  for (auto const& both : pass) {  // no structured binding: clang rejects one inside of `requires`
    auto const& in = both.in;
    auto const& batch_targets = both.targets;
    if constexpr (requires { in.graphs.dims.further; })
      TRIAD_EXPECTS(in.graphs.dims.further == 0,
                    "evaluate: a batch has " + std::to_string(in.graphs.dims.further) +
                        " further questions, expected none: they are no samples; add the samples without them");
    auto const result = learner.evaluate_batch(in, batch_targets);
    index_t const rows = result.scores.extent(0);
    auto const& best = classes.or_none(result.scores);
    targets.resize(best.size());
    where.to_host(targets.data(), batch_targets.data_handle(), targets.size() * sizeof(index_t));

    auto const before = all.total;
    all.add(make_vec<index_t const>(best.data(), rows), make_vec<index_t const>(targets.data(), rows));
    if (all.total > before) loss += static_cast<double>(result.loss) * static_cast<double>(all.total - before);
    if (!options.group) continue;
    TRIAD_EXPECTS(rows == pass.samples(), "evaluate: " + std::to_string(rows) + " rows with groups, expected " +
                                              std::to_string(pass.samples()) + ", one for each sample of the batch");
    for (index_t k = 0; k < rows; ++k)
      found.by[options.group(data[pass.sample(k)])].add(make_vec<index_t const>(best.data() + k, 1),
                                                        make_vec<index_t const>(targets.data() + k, 1));
  }
  found.answers = all.total;
  found.accuracy = all.fraction();
  found.loss = all.total > 0 ? loss / static_cast<double>(all.total) : std::numeric_limits<double>::quiet_NaN();
  // If a weight is infinite or NaN, the loss may still be finite: the row of the weight may be unused, and relu maps
  // minus infinity to 0.
  if (first_not_finite(learner.parameters())) found.loss = std::numeric_limits<double>::quiet_NaN();
  if (is_nan(found.loss)) found.accuracy = found.loss;
  return found;
}

}  // namespace triad
