// The batch of an update in parts that fit a learner's memory: where it is cut, and the update.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <stdexcept>

#include "learner.hpp"
#include "triad/parallel/shares.hpp"

namespace triad::programs {

/// What a learner's batch holds of the batch of an update.
struct batch_part {
  double fraction = 1;  // of the answers that are asked for
  bool whole = true;    // nothing is left for another part
};

/// What becomes of the batch of an update: the shares of it that are wanted, and what is done with each part.
struct batch_use {
  share_range shares{};
  std::function<void(index_t share)> begin{};     // before the parts of each share, of which an empty one has none
  std::function<void(batch_part const&)> part{};  // the learner's batch is this
};

/// Cuts a batch into shares, and those where the next example has no room, which depends on the examples and the room
/// alone.  clear(): empties the learner's batch; add(example): puts it in, or returns false; asked(example): its
/// answers.  may_cut false: there is room for every share, and a logic_error says where there is not.
template <class Examples, class Clear, class Add, class Asked>
void cut_batch(Examples const& examples, Clear const& clear, Add const& add, Asked const& asked, batch_use const& use,
               bool may_cut = false) {
  double all = 0;
  for (auto const& example : examples) all += asked(example);
  bool const one_share = use.shares.all == 1;
  for (auto share = use.shares.first; share < use.shares.last; ++share) {
    auto const [first, last] = examples_of_share(share, use.shares.all, std::size(examples));
    if (!one_share) use.begin(share);
    if (first == last && !one_share) continue;
    double here = 0;
    bool cut = !one_share;
    auto const part = [&] { use.part(cut ? batch_part{all > 0 ? here / all : 0, false} : batch_part{}); };
    clear();
    for (auto i = first; i < last; ++i) {
      auto const& example = examples[i];
      if (!add(example)) {
        if (!may_cut) throw std::logic_error("a batch within its bounds has no room");
        cut = true;
        part();
        here = 0;
        clear();
        if (!add(example)) throw std::logic_error("an example within the bounds of a batch has no room of its own");
      }
      here += asked(example);
    }
    part();
  }
}

/// The update of this number.  fill(update, use) cuts its batch, as cut_batch does.
template <class Fill>
void make_update(learner& net, Fill const& fill, std::int64_t update, double rate) {
  bool in_parts = false;
  batch_use use;
  use.shares = net.shares();
  use.begin = [&](index_t share) { net.begin_share(share), in_parts = true; };
  use.part = [&](batch_part const& part) {
    if (part.whole) return net.update(rate);
    net.accumulate(part.fraction);
    in_parts = true;
  };
  fill(update, use);
  if (in_parts) net.finish(rate);
}

/// The most parts of any of the updates in [first, last).
template <class Fill>
int most_parts(Fill const& fill, std::int64_t first, std::int64_t last, index_t shares = 1) {
  int most = 0;
  for (auto update = first; update < last; ++update) {
    int parts = 0;
    fill(update, batch_use{{shares, 0, shares}, [](index_t) {}, [&](batch_part const&) { ++parts; }});
    most = parts > most ? parts : most;
  }
  return most;
}

}  // namespace triad::programs
