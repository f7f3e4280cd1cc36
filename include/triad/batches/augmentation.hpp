// Data augmentation: in each epoch, any sample may be changed at random.  The change depends only on the seed, the
// epoch and the sample's index.
// SPDX-License-Identifier: Apache-2.0
//
//   auto const swap = [&](sample const& s, random_stream random) { return swapped(s, data[random.below(count)]); };
//   augmented const seen(data, swap, {.seed = 1, .rate = 0.3});
//   for (auto const& [in, targets] : batches(loader, seen, add_one, {.shuffle = 1, .epoch = epoch, .most = 100}))
//     trainer.update(in, targets, rate);
//
// Every sample has its own random stream in every epoch.  So a resumed run sees the same samples as an uninterrupted
// run, and the number of threads and processes does not change the samples.  A single random number generator for the
// whole training would have to be saved in every checkpoint.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "triad/core/contracts.hpp"
#include "triad/core/finite.hpp"
#include "triad/core/random.hpp"

namespace triad {

/// Chooses the samples that are changed, and the random stream of each changed sample.
struct augmentation {
  philox_key seed = 0;
  double rate = 1;  // the probability that a sample is changed, from 0 to 1

  /// Returns the random stream with which the sample with index `place` is changed in this epoch.  Returns nothing if
  /// the sample is not changed.
  std::optional<random_stream> of(std::size_t place, std::uint64_t epoch) const {
    TRIAD_EXPECTS(!is_nan(rate) && rate >= 0 && rate <= 1,
                  "augmentation: rate is " + std::to_string(rate) + ", expected 0 to 1");
    // Philox maps (epoch, place) one to one, so no two samples share a stream.  A sample and the shuffling of the data
    // share a stream only by chance.
    auto const words = philox({low(epoch), high(epoch), low(place), high(place)}, seed);
    random_stream random(std::uint64_t{words[0]} << 32U | words[1], std::uint64_t{words[2]} << 32U | words[3]);
    if (random.uniform() >= rate) return std::nullopt;
    return random;
  }

 private:
  static constexpr std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
  static constexpr std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); }
};

/// Training data whose samples are changed at random.  batches() calls the members size() and seen(place, epoch).
/// Keeps a reference to the original data.  change(sample, random) returns the changed sample, or nothing to leave the
/// sample unchanged.
template <class Data, class Change>
class augmented {
 public:
  using sample = std::remove_cvref_t<decltype(std::declval<Data const&>()[0])>;

  augmented(Data const& data, Change change, augmentation const& how)
      : data_(data), change_(std::move(change)), how_(how) {}
  /// Deleted: an `augmented` keeps a reference to its data, and temporary data are destroyed at the end of the
  /// expression.
  augmented(Data const&&, Change, augmentation const&) = delete;

  std::size_t size() const { return std::size(data_); }
  sample seen(std::size_t place, std::uint64_t epoch) const {
    auto const& plain = data_[place];
    auto const random = how_.of(place, epoch);
    if (!random) return plain;
    auto changed = change_(plain, *random);
    if constexpr (std::is_convertible_v<decltype(changed), sample>)
      return changed;
    else
      return changed ? std::move(*changed) : sample(plain);
  }

 private:
  Data const& data_;
  Change change_;
  augmentation how_;
};

}  // namespace triad
