// Where a run's batches come from: a data set, or chains made as they are needed; a batch is a function of its number.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "../common/digest.hpp"
#include "../common/permute.hpp"
#include "data.hpp"
#include "generate.hpp"
#include "options.hpp"

namespace clutrr {

/// Training, validation and test examples of one run, and the words they use.
class task {
 public:
  explicit task(options const& o) : options_(o) {
    if (o.data.empty())
      generate_tests();
    else
      read();
  }

  vocabulary const& words() const { return words_; }
  std::vector<kinship_graph> const& validation() const { return validation_; }
  std::map<int, std::vector<kinship_graph>> const& test() const { return test_; }
  int max_nodes() const { return max_nodes_; }
  int max_training_nodes() const { return max_training_nodes_; }

  /// What the graphs add to the settings that a resumed run must have.
  std::string data_setting() const {
    if (options_.data.empty()) return triad::examples::example_digest::generated();
    triad::examples::example_digest digest;
    for (auto const& g : train_) {
      digest.begin();
      digest.add({g.nodes, g.query.from, g.query.to, g.target});
      for (auto const& e : g.edges) digest.add({e.from, e.to, e.label});
    }
    return digest.setting();
  }

  /// Updates of the whole run, and of one epoch; the last batch of a file's epoch may be smaller.
  std::int64_t updates() const { return epoch_updates() * options_.epochs; }
  std::int64_t epoch_updates() const {
    if (options_.data.empty()) return std::max<std::int64_t>(1, options_.chains / options_.batch / options_.epochs);
    return (static_cast<std::int64_t>(train_.size()) + options_.batch - 1) / options_.batch;
  }

  /// f(graph) for each example of update number `update`.
  template <class F>
  void batch(std::int64_t update, std::uint64_t seed, F&& f) {
    if (options_.data.empty()) {
      chain_generator chains(seed);
      auto const first = static_cast<std::size_t>(update * options_.batch);
      chains.seek(first);
      auto const& lengths = options_.train_lengths;
      for (auto i = first; i < first + static_cast<std::size_t>(options_.batch); ++i)
        f(chains.next(lengths[i % lengths.size()]));
      return;
    }
    auto const epoch = update / epoch_updates(), first = update % epoch_updates() * options_.batch;
    order_for(options_.shuffle ? epoch : 0, seed);
    for (auto i = first; i < std::min<std::int64_t>(first + options_.batch, static_cast<std::int64_t>(order_.size()));
         ++i)
      f(train_[order_[static_cast<std::size_t>(i)]]);
  }

 private:
  void read() {
    auto all = read_data(options_.data);
    words_ = all.words;
    test_ = std::move(all.test);
    // One random split for each seed, as the released program makes it.
    std::vector<std::size_t> order(all.train.size());
    triad::examples::permute(order, options_.seed, 0);
    auto const held = static_cast<std::size_t>(options_.validation * static_cast<double>(order.size()));
    for (std::size_t i = 0; i < order.size(); ++i)
      (i < held ? validation_ : train_).push_back(std::move(all.train[order[i]]));
    measure();
  }

  void generate_tests() {
    words_ = generated_vocabulary();
    for (int k = 2; k <= 10; ++k) {
      chain_generator chains(0x7e57 + static_cast<std::uint64_t>(k));  // far from the training seeds 1, 2, 3 ...
      for (int i = 0; i < options_.test_size; ++i) test_[k].push_back(chains.next(k));
    }
    chain_generator chains(0x7a11d);
    for (int i = 0; i < options_.test_size; ++i)
      validation_.push_back(
          chains.next(options_.train_lengths[static_cast<std::size_t>(i) % options_.train_lengths.size()]));
    max_training_nodes_ = *std::max_element(options_.train_lengths.begin(), options_.train_lengths.end()) + 1;
    measure();
  }

  void measure() {
    for (auto const& g : train_) max_training_nodes_ = std::max(max_training_nodes_, g.nodes);
    max_nodes_ = max_training_nodes_;
    for (auto const& g : validation_) max_nodes_ = std::max(max_nodes_, g.nodes);
    for (auto const& [k, graphs] : test_)
      for (auto const& g : graphs) max_nodes_ = std::max(max_nodes_, g.nodes);
  }

  void order_for(std::int64_t epoch, std::uint64_t seed) {
    if (order_epoch_ == epoch) return;
    order_.resize(train_.size());
    triad::examples::permute(order_, seed, static_cast<std::uint64_t>(epoch) + 1);
    order_epoch_ = epoch;
  }

  options options_;
  vocabulary words_;
  std::vector<kinship_graph> train_, validation_;
  std::map<int, std::vector<kinship_graph>> test_;
  int max_nodes_ = 0, max_training_nodes_ = 0;
  std::vector<std::size_t> order_;
  std::int64_t order_epoch_ = -1;
};

}  // namespace clutrr
