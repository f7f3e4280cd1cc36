// Writes the options that determine a model's shape to its checkpoint, and reads them.
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

/// The options that shape the model.
nlohmann::json configuration_of(run_options const& o);

/// The same out of a checkpoint; what does not shape a model stays as it is, but for dropout, of which there is none.
/// Throws data_error that names the file, the setting and its value.
void restore(run_options& o, checkpoint const& file);

/// The checkpoint of a run that is asked, which is named by its folder or by the file itself; where it has averages of
/// its weights, the program prints that, too.  Throws data_error.
inline checkpoint open_run(std::string const& run) {
  expect_one_run(run);
  auto file = open_checkpoint(checkpoint_of(run));
  if (file.has_averages() && world().is_first())
    std::fprintf(stderr, "%s was trained with --average: the averages of its weights answer\n", printable(run).c_str());
  return file;
}

/// words: to_json(words) is found by its type.
template <class Words>
run_record record_of(run_options const& o, Words const& words) {
  return {configuration_of(o).dump(), json_text(to_json(words), "the vocabulary"), training_settings(o)};
}

/// A trained model of a run.
template <class Net>
struct trained {
  typename Net::vocabulary words;
  typename Net::options options;  // of the model, and how it runs
  std::uint64_t seed;             // of its run
  std::unique_ptr<Net> net;

  /// Reads o.run, a folder or a checkpoint.  room(words, options): the room that the model needs; it may refuse both.
  /// Throws data_error.
  template <class Room>
  trained(typename Net::options const& o, Room const& room) : trained(o, open_run(o.run), room) {}
  /// The same of the run's checkpoint where that is open.  asked: what is said of the examples where there is no memory
  /// for their room; without `larger` memory_refused is thrown.
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
