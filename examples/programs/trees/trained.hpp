// Writes a machine's shape and labels to a checkpoint, and reads a trained machine from a run's folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data.hpp"
#include "machine.hpp"
#include "options.hpp"
#include "placed.hpp"
#include "shared/cli/record.hpp"
#include "shared/report/printed.hpp"
#include "shared/report/refuse.hpp"
#include "triad/io/checkpoint.hpp"
#include "triad/tree/paths.hpp"
#include "triad/tree/placement.hpp"

namespace triad::programs::trees {

/// Returns how `what`, "operations" or "arguments", is chosen according to the setting `choice` of a checkpoint.  The
/// setting is one name for both, or an object with a name for each.  Returns an empty string if the name is unknown.
std::string choice_in(nlohmann::json const& choice, char const* what);

/// Returns the record of a run.  `depth` is the depth of the roles, which is part of the machine's shape. o.depth is
/// the largest depth that trees may have.
inline run_record record_of(options const& o, index_t depth, vocabulary const& labels) {
  auto configuration = configuration_of(o);
  configuration["depth"] = depth;
  return {configuration.dump(), json_text(labels.labels(), "the vocabulary"), training_settings(o)};
}

/// A trained machine that is read from a run's folder.
struct trained {
  vocabulary labels;
  std::unique_ptr<machine> net;

  /// Reads o.run, which is a folder or a checkpoint, and allocates memory for `batch` trees.  Sets the options in `o`
  /// that determine the model's shape to the values of the run.  Throws data_error.
  trained(options& o, index_t batch) {
    auto const file = open_run(o.run);
    auto const& path = file.tensors().file();
    restore(o, file);
    try {
      labels = vocabulary(file.vocabulary().get<std::vector<std::string>>());
    } catch (nlohmann::json::exception const&) {
      refuse("{}: its vocabulary is no list of labels; it was written by another program", path);
    } catch (data_error const& e) {
      refuse("{}: {}", path, e.what());
    }
    net = make<machine>(o, {labels.size(), o.depth, batch, false});
    net->load(file, record_of(o, o.depth, labels));
  }

  /// Returns a tree with numbers in place of labels.  If a node does not fit the machine, throws a data_error that
  /// names the node.
  numbered_tree numbered(symbol_tree const& tree) const {
    for (index_t at = 0; at < tree.size(); ++at)
      if (!labels.has(tree.label(at)) || tree.label(at) == empty_label)
        refuse("the node at {}: '{}' is not one of the {} labels that this machine was trained with",
               path_text(tree, at), shortened(tree.label(at)), labels.size() - 1);
    auto numbers = labels.number(tree);
    expect_fits(numbers, 2, net->positions().depth(), labels.size());
    return numbers;
  }

  /// Returns the machine's answer to a tree: the symbol at each position.  The symbols are valid until the next call.
  /// Throws data_error if numbered(source) throws.
  std::span<index_t const> answer(symbol_tree const& source) {
    (void)numbered(source);
    placed_rows rows;
    rows.add({source, source}, labels);
    net->clear();
    net->add(rows[0]);
    return net->infer();
  }

  /// Returns all rows with numbers in place of labels.  If a row does not fit the machine, throws a data_error that
  /// names the part and the row.
  placed_rows placed(part const& rows) const {
    placed_rows all;
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
      auto const& r = rows.rows[i];
      try {
        (void)numbered(r.source);
        (void)numbered(r.target);
      } catch (data_error const& e) {
        auto const number = i < rows.numbers.size() ? rows.numbers[i] : static_cast<index_t>(i) + 1;
        refuse("{}, row {} of the file: {}", rows.name, number, e.what());
      }
      all.add(r, labels);
    }
    return all;
  }
};

}  // namespace triad::programs::trees
