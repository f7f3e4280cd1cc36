// The batch of an update in parts that fit a learner's memory: where it is cut, and the update.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>

#include "learner.hpp"

namespace triad::apps {

/// What a learner's batch holds of the batch of an update.
struct batch_part {
  double fraction = 1;  // of the answers that are asked for
  bool whole = true;    // nothing is left for another part
};

/// Cuts a batch where the next example has no room, which depends on the examples and the room alone.  clear(): empties
/// the learner's batch; add(example): puts it in, or returns false; asked(example): its answers; use(part): the
/// learner's batch is this part.
template <class Examples, class Clear, class Add, class Asked, class Use>
void cut_batch(Examples const& examples, Clear const& clear, Add const& add, Asked const& asked, Use const& use) {
  double all = 0, here = 0;
  for (auto const& example : examples) all += asked(example);
  bool cut = false;
  clear();
  for (auto const& example : examples) {
    if (!add(example)) {
      use(batch_part{all > 0 ? here / all : 0, false});
      cut = true;
      here = 0;
      clear();
      if (!add(example)) throw std::logic_error("an example within the bounds of a batch has no room of its own");
    }
    here += asked(example);
  }
  use(cut ? batch_part{all > 0 ? here / all : 0, false} : batch_part{});
}

/// The update of this number.  fill(update, use) fills the learner's batch and uses it, in parts as cut_batch does.
template <class Fill>
void make_update(learner& net, Fill const& fill, std::int64_t update, double rate) {
  bool in_parts = false;
  fill(update, [&](batch_part const& part) {
    if (part.whole) return net.update(rate);
    net.accumulate(part.fraction);
    in_parts = true;
  });
  if (in_parts) net.finish(rate);
}

/// The most parts of any of the updates in [first, last).
template <class Fill>
int most_parts(Fill const& fill, std::int64_t first, std::int64_t last) {
  int most = 0;
  for (auto update = first; update < last; ++update) {
    int parts = 0;
    fill(update, [&](batch_part const&) { ++parts; });
    most = parts > most ? parts : most;
  }
  return most;
}

}  // namespace triad::apps
