// Writes the options that determine a model's shape to a checkpoint, and reads them from it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "options.hpp"
#include "renames.hpp"
#include "shared/backend/network.hpp"
#include "shared/processes/world.hpp"
#include "shared/report/printed.hpp"
#include "shared/run/digest.hpp"
#include "shared/run/learner.hpp"
#include "shared/run/run_folder.hpp"
#include "triad/io/checkpoint.hpp"

namespace triad::programs {

/// Returns the options that determine the model's shape, as JSON for a checkpoint.
nlohmann::json configuration_of(run_options const& o);

/// Sets the options that determine the model's shape to the values in a checkpoint.  Sets dropout to 0, and leaves all
/// other options unchanged.  If a value is wrong, throws data_error with the file, the setting and the value.
void restore(run_options& o, checkpoint const& file);

/// Opens the checkpoint of the run that a verb uses.  `run` is the run's folder, or the checkpoint itself.  Prints a
/// message if the checkpoint has averages of the weights.  Throws data_error.
inline checkpoint open_run(std::string const& run) {
  expect_one_run(run);
  auto file = open_checkpoint(checkpoint_of(run));
  if (file.has_averages() && world().is_first())
    std::fprintf(stderr, "%s was trained with --average: the averages of its weights answer\n", printable(run).c_str());
  return file;
}

/// Returns the record of a run for its checkpoint.  to_json(words) is found by argument-dependent lookup.
template <class Words>
run_record record_of(run_options const& o, Words const& words) {
  return {configuration_of(o).dump(), json_text(to_json(words), "the vocabulary"), training_settings(o)};
}

/// The trained model of a run.
template <class Net>
struct trained {
  typename Net::vocabulary words;
  typename Net::options options;  // the model's shape, and the options of this command
  std::uint64_t seed;             // the seed of the run
  std::unique_ptr<Net> net;

  /// Loads o.run, which is a folder or a checkpoint.  room(words, options) must return the sizes that the model needs
  /// memory for.  It may throw if these words or options cannot be used.  Throws data_error.
  template <class Room>
  trained(typename Net::options const& o, Room const& room) : trained(o, open_run(o.run), room) {}
  /// Loads the run from its open checkpoint.  If there is not enough memory, throws data_error with a message that
  /// contains `advice`.  If advice.larger is empty, throws memory_refused instead.
  template <class Room>
  trained(typename Net::options const& o, checkpoint const& file, Room const& room, room_advice const& advice = {})
      : words(Net::vocabulary::from(file.vocabulary(), file.tensors().file())), options(o), seed(file.key()) {
    restore(options, file);
    auto const record = record_of(options, words);
    options.adapt(file);
    auto const size = room(words, options);
    net = advice.larger ? make<Net>(options, size, advice) : make<Net>(options, size);
    net->load(file, record);
    if (world().size() > 1) expect_same("the trained model", digest_of(file.tensors().file()));
  }
};

}  // namespace triad::programs
