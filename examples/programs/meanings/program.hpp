// What the verbs of the program share: the data of a run, and the scores of predicted graphs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data.hpp"
#include "network.hpp"
#include "score.hpp"
#include "shared/backend/in_batches.hpp"
#include "shared/cli/verbs.hpp"
#include "shared/run/epoch_batches.hpp"
#include "shared/run/training.hpp"
#include "swap.hpp"

namespace triad::programs::meanings {

/// Reads the data of a run.
data_set data_of(options const& o, bool needs_train);
/// Calls f(name, rows) for dev, if there is one, and for each test part.
template <class F>
void each_part(data_set const& data, F const& f) {
  if (!data.dev.empty()) f(std::string("dev"), data.dev);
  for (auto const& part : data.tests) f(part.name, part.rows);
}

/// Returns the sizes of a row in a batch of a model with `slots` slots.
sentence_graph_dims dims_of(std::vector<std::string> const& tokens, vocabulary const& v, int slots);

/// Returns the tables of a model with these names.
sentence_graph_tables tables_of(vocabulary const& v, options const& o);

/// Returns the model's answer as a graph.
meaning answer_of(std::vector<std::string> const& tokens, found_graph const& found, vocabulary const& v);

/// Calls f(row, predicted graph, answer) for all rows.
template <class F>
void predict_all(network& net, std::vector<given_row> const& rows, vocabulary const& v, F const& f) {
  in_batches(
      net, rows.size(), [&](std::size_t i) { return net.add(question_of(rows[i].graph.tokens, v)); },
      [&](std::size_t i) {
        return fmt::format("a sentence of {} tokens is longer than there is room for", rows[i].graph.tokens.size());
      },
      [&]() -> auto const& { return net.infer(); },
      [&](std::size_t first, std::size_t last, auto const& found) {
        for (auto i = first; i < last; ++i)
          f(rows[i], answer_of(rows[i].graph.tokens, found[i - first], v), found[i - first]);
      });
}

/// Returns the scores of the model's graphs.
graph_tally score(network& net, data_format format, std::vector<given_row> const& rows, vocabulary const& v);
/// Returns a fraction as a percentage with two digits.
inline std::string percent(double part) { return fmt::format("{:.2f}", 100 * part); }

/// Training on the rows of a data set that have a graph.
class graph_training final : public training {
 public:
  graph_training(options const& o, data_set const& data);

  learner& net() override;
  run_plan plan() override;
  double rate(std::int64_t update) override;
  double validate() override;
  std::vector<part_scores> score() override;
  /// Exact matches are rare for large graphs, so a run has learned its task if it finds the edges.
  bool learned(double) override { return edges_ >= 0.5; }

  vocabulary const& words() const { return words_; }
  std::size_t examples() const { return examples_.size(); }
  std::int64_t updates_of_a_pass() const { return batches_->epoch_updates(); }
  bool measured_on_train() const { return measured_on_train_; }
  std::size_t measured() const { return dev_.size(); }
  double threshold() const { return net_->threshold; }
  std::map<std::string, long long> const& left_out() const { return left_out_; }
  /// Null without --augment.
  phrase_swaps const* swaps() const { return swaps_ ? &*swaps_ : nullptr; }

 protected:
  std::size_t begin_update(std::int64_t update) override;
  void clear() override { net_->clear(); }
  bool add(std::size_t k) override {
    auto const& swapped = swapped_[k];
    return net_->add(swapped ? swapped->numbers : examples_[batch_[k]]);
  }

 private:
  /// Returns the weight of the penalty of list members at this update.
  double list_weight(std::int64_t update) const;
  /// Validates the model with each threshold, and sets the best.  Returns its exact match.
  double choose_threshold();

  options const& options_;
  data_set const& data_;
  vocabulary words_;
  std::vector<example> examples_;
  std::vector<given_row> dev_, sample_;        // validation rows; training rows that show when lists may begin
  std::map<std::string, long long> left_out_;  // the number of training rows that are left out, by reason
  bool measured_on_train_ = false;
  double edges_ = 0;  // F1 of the edges of the last validation
  std::optional<epoch_batches> batches_;
  std::vector<std::size_t> batch_;  // the examples of the current update
  std::optional<phrase_swaps> swaps_;
  std::vector<std::optional<swapped_sentence>> swapped_;  // of the current update: the examples with swapped phrases
  std::unique_ptr<network> net_;
};

int train(options& o);
/// Returns the verbs train, evaluate, predict and explain.
std::vector<verb> verbs_of(options& o);

}  // namespace triad::programs::meanings
