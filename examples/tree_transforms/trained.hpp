// The machine's shape and its labels as a checkpoint keeps them, and a trained machine out of a run's folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "../apps/record.hpp"
#include "machine.hpp"
#include "task.hpp"
#include "triad/io/checkpoint.hpp"

namespace tree_transforms {

/// How "operations" or "arguments" are chosen in what a checkpoint says of it, one name for both or one for each; empty
/// where that is none.
std::string choice_in(nlohmann::json const& choice, char const* what);

/// depth: that of the roles, which shapes the machine where the options have the most that trees may have.
inline triad::apps::run_record record_of(options o, index_t depth, triad::vocabulary const& labels) {
  auto const settings = training_settings(o);
  o.depth = static_cast<int>(depth);
  return {triad::apps::configuration_of(o).dump(), triad::json_text(labels.labels(), "the vocabulary"), settings};
}

/// A trained machine out of a run's folder.
struct trained {
  options shape;
  triad::vocabulary labels;
  std::unique_ptr<machine> net;

  /// Reads o.run, a folder or a checkpoint, with room for `batch` trees.  Throws data_error.
  trained(options const& o, index_t batch) : shape(o) {
    auto const file = triad::apps::open_run(o.run);
    auto const& path = file.tensors().file();
    triad::apps::restore(shape, file);
    try {
      labels = triad::vocabulary(file.vocabulary().get<std::vector<std::string>>());
    } catch (nlohmann::json::exception const&) {
      throw triad::data_error(path + ": its vocabulary is no list of labels; it was written by another program");
    } catch (triad::data_error const& e) {
      throw triad::data_error(path + ": " + e.what());
    }
    net = triad::apps::make<machine>(shape, {labels.size(), shape.depth, batch, false});
    net->load(file, record_of(shape, shape.depth, labels));
  }

  /// A tree as the machine takes it.  Throws data_error that names the node that does not fit.
  numbered_tree numbered(symbol_tree const& tree) const {
    for (index_t at = 0; at < tree.size(); ++at)
      if (!labels.has(tree.label(at)) || tree.label(at) == triad::empty_label)
        throw triad::data_error("the node at " + triad::path_text(tree, at) + ": '" + tree.label(at) +
                                "' is not one of the " + std::to_string(labels.size() - 1) +
                                " labels that this machine was trained with");
    auto numbers = labels.number(tree);
    triad::expect_fits(numbers, 2, net->positions().depth(), labels.size());
    return numbers;
  }

  /// The rows of the command line, and says which where they are generated: a run may have been trained on others.
  data_set rows() const {
    if (shape.data.empty()) fmt::print("rows are generated; --data takes a folder\n");
    return load_data(shape, true);
  }

  /// All rows by numbers.  Throws data_error that names the split and the row that does not fit.
  placed_rows placed(split_rows const& part, split s) const {
    placed_rows all;
    index_t number = 0;
    for (auto const& r : part.rows) {
      ++number;
      try {
        (void)numbered(r.source);
        (void)numbered(r.target);
      } catch (triad::data_error const& e) {
        throw triad::data_error(std::string(name_of(s)) + ", row " + std::to_string(number) + ": " + e.what());
      }
      all.add(r, labels);
    }
    return all;
  }
};

}  // namespace tree_transforms
