// The machine's shape and its labels as a checkpoint keeps them, and back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "../common/model_sizes.hpp"
#include "../common/run_folder.hpp"
#include "machine.hpp"
#include "task.hpp"
#include "triad/io/checkpoint.hpp"
#include "triad/io/json_read.hpp"

namespace tree_transforms {

/// The options that shape the machine, `depth` that of its roles, and those that generated rows depend on.
inline nlohmann::json to_json(options const& o, index_t depth) {
  nlohmann::json choice = choice_of_both(o);
  if (choice == "") choice = {{"operations", choice_of_operations(o)}, {"arguments", choice_of_arguments(o)}};
  return {{"model", o.model},
          {"task", o.task},
          {"one_way", o.one_way},
          {"rows", o.rows},
          {"data_seed", o.data_seed},
          {"steps", o.steps},
          {"depth", depth},
          {"layers", o.layers},
          {"width", o.width},
          {"heads", o.heads},
          {"hidden_factor", o.hidden_factor},
          {"choice", choice},
          {"interpreter", o.interpreter},
          {"role_seed", o.role_seed}};
}
/// How "operations" or "arguments" are chosen in what to_json() made of it, one name for both or one for each; empty
/// where that is none.
inline std::string choice_in(nlohmann::json const& choice, char const* what) {
  auto const& named = choice.is_object() && choice.contains(what) ? choice[what] : choice;
  bool const released = named == "gumbel-released" && (choice.is_string() || std::string(what) == "arguments");
  return named == "softmax" || named == "gumbel" || released ? named.get<std::string>() : std::string();
}

inline triad::examples::run_record record_of(options const& o, index_t depth, triad::vocabulary const& labels) {
  return {to_json(o, depth).dump(), triad::json_text(labels.labels(), "the vocabulary"), training_settings(o)};
}

/// The options of the machine in a checkpoint; what does not shape a machine is taken from `o`.
inline options shaped_as(triad::checkpoint const& file, options o) {
  o.model = triad::examples::read_name(file, "model", {"tree-machine"});
  o.task = triad::examples::read_name(file, "task",
                                      {"car-cdr-seq", "active-logical", "passive-logical", "active-passive-logical"});
  o.one_way = file.setting<bool>("one_way");
  o.rows = file.setting("rows", 1, std::numeric_limits<int>::max());
  o.data_seed = file.setting<std::uint64_t>("data_seed");
  o.steps = file.setting("steps", 1, 64);
  o.depth = file.setting("depth", 1, 24);
  triad::examples::read_stack(file, o);
  auto const choice = file.setting<nlohmann::json>("choice");
  o.operation_choice = choice_in(choice, "operations");
  o.argument_choice = choice_in(choice, "arguments");
  if (o.operation_choice.empty() || o.argument_choice.empty())
    throw triad::data_error(file.tensors().file() + ": setting 'choice' is " + triad::quoted(choice) +
                            ", which is no way to choose; it was written by another program");
  o.interpreter = triad::examples::read_name(file, "interpreter", {"rows", "matrices", "learned"});
  o.role_seed = file.setting<std::uint64_t>("role_seed");
  o.dropout = 0;
  settle(o);
  return o;
}

/// A trained machine out of a run's folder.
struct trained {
  options shape;
  triad::vocabulary labels;
  std::unique_ptr<machine> net;

  /// Reads folder/model.safetensors (or a file itself), with room for `batch` trees.  Throws data_error.
  trained(std::string const& folder, options const& o, index_t batch) {
    auto const path = triad::examples::checkpoint_of(folder);
    auto const file = triad::examples::open_checkpoint(path);
    shape = shaped_as(file, o);
    try {
      labels = triad::vocabulary(file.vocabulary().get<std::vector<std::string>>());
    } catch (nlohmann::json::exception const&) {
      throw triad::data_error(path + ": its vocabulary is no list of labels; it was written by another program");
    } catch (triad::data_error const& e) {
      throw triad::data_error(path + ": " + e.what());
    }
    net = make_machine(shape, {labels.size(), shape.depth, batch, false});
    net->load(path, record_of(shape, shape.depth, labels));
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
    if (shape.data.empty()) std::printf("rows are generated; --data takes a folder\n");
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
