// Divides your own data into batches, in order or shuffled.  Each batch has a given number of samples, or as many as
// fit.
// SPDX-License-Identifier: Apache-2.0
//
//   auto const add_one = [](auto& batch, my_sample const& s) { batch.add(...); };
//   for (auto const& [in, targets] : batches(loader, data, add_one, {.shuffle = 1, .epoch = epoch, .most = 100}))
//     learner.update(in, targets, rate);
//
// Every sample occurs once, and the last batch may be smaller than the others.  A loader made with room_for(data, most)
// (batches/room_for.hpp) can hold any `most` samples.  If the loader has less capacity, add_one must return whether the
// sample was added.  A batch then ends before the first sample that does not fit.
//
// If the data have a member seen(place, epoch), batches() reads the samples with this member.  Augmented data have this
// member (batches/augmentation.hpp).
#pragma once

#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "triad/batches/loader.hpp"
#include "triad/core/contracts.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/core/random.hpp"

namespace triad {

/// Options of batches().
struct batches_options {
  std::optional<philox_key> shuffle{};                 // the seed of the random order; none: in the order of the data
  std::uint64_t epoch = 0;                             // every epoch has a different order
  index_t most = std::numeric_limits<index_t>::max();  // the largest number of samples in a batch
  // For training: if the backend replays recorded work, pads batches to a few shapes (batches/padding.hpp).  The loader
  // must have upload_padded(), and the trainer's capacity must be padded_room_for<Ex>(the loader's capacity).
  bool pad = false;
};

/// A batch and its targets, in the backend's memory.  Both are valid until the loader's next upload.
template <class Input, class Answers>
struct batch_and_answers {
  Input in;
  Answers targets;
};

/// Returns the batch and its targets.  If `padded` is true, calls upload_padded() of the loader, else upload().
template <loader Loader>
auto upload_both(Loader& batch, bool padded = false) {
  auto const upload = [&] {
    if constexpr (requires { batch.upload_padded(); })
      return padded ? batch.upload_padded() : batch.upload();
    else
      return batch.upload();
  };
  TRIAD_EXPECTS(
      !padded || requires { batch.upload_padded(); },
      "batches: `pad` with a loader that has no upload_padded(), expected no padding; leave `pad` out");
  auto const both = upload();
  static_assert(
      requires { both.first, both.second; }, "batches: a loader's upload() gives the batch and its targets as a pair");
  return batch_and_answers<std::remove_cvref_t<decltype(both.first)>, std::remove_cvref_t<decltype(both.second)>>{
      both.first, both.second};
}

/// The result of batches(), which is an input range of batches.  Keeps references to the loader and the data.
template <loader Loader, class Data, class AddOne>
class batch_range {
 public:
  using value_type = decltype(upload_both(std::declval<Loader&>()));

  class iterator {
   public:
    using value_type = batch_range::value_type;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    using reference = value_type const&;
    using pointer = value_type const*;

    reference operator*() const { return *of_->batch_; }
    pointer operator->() const { return &*of_->batch_; }
    iterator& operator++() {
      of_->fill();
      return *this;
    }
    void operator++(int) { of_->fill(); }
    bool operator==(std::default_sentinel_t) const { return !of_->batch_; }

   private:
    friend class batch_range;
    explicit iterator(batch_range& of) : of_(&of) {}
    batch_range* of_;
  };

  batch_range(Loader& batch, Data const& data, AddOne how, batches_options const& o)
      : loader_(batch), data_(data), add_one_(std::move(how)), count_(std::size(data)), options_(o) {
    TRIAD_EXPECTS(o.most > 0, "batches: most is " + std::to_string(o.most) + " samples a batch, expected 1 or more");
    if (!o.shuffle) return;
    TRIAD_EXPECTS(count_ <= std::numeric_limits<std::uint32_t>::max(),
                  "batches: " + std::to_string(count_) + " samples to shuffle, expected at most 2^32 - 1");
    order_.resize(count_);
    for (std::size_t i = 0; i < count_; ++i) order_[i] = static_cast<std::uint32_t>(i);
    random_stream(*o.shuffle, o.epoch).shuffle(order_);
  }
  batch_range(batch_range const&) = delete;
  batch_range& operator=(batch_range const&) = delete;

  /// Starts again from the first sample.  When the loader uploads another batch, the views of the current batch become
  /// invalid, even if the upload is not part of this range.
  iterator begin() {
    next_ = 0;
    fill();
    return iterator(*this);
  }
  std::default_sentinel_t end() const { return {}; }

  /// samples() returns the number of samples in the current batch.  sample(k) returns the index in the data of sample k
  /// of the batch.
  index_t samples() const { return static_cast<index_t>(next_ - first_); }
  std::size_t sample(index_t k) const {
    TRIAD_EXPECTS(k >= 0 && k < samples(), "batches: sample " + std::to_string(k) + " of a batch, expected 0 to " +
                                               std::to_string(samples() - 1));
    return place(first_ + static_cast<std::size_t>(k));
  }

 private:
  std::size_t place(std::size_t k) const { return order_.empty() ? k : order_[k]; }
  decltype(auto) seen(std::size_t at) const {
    if constexpr (requires { data_.seen(at, options_.epoch); })
      return data_.seen(at, options_.epoch);
    else
      return data_[at];
  }
  bool added(std::size_t k) {
    auto const& sample = seen(place(k));
    static_assert(std::is_invocable_v<AddOne&, Loader&, decltype(sample)>,
                  "batches, evaluate: the last function is called as add_one(loader, sample), and this one cannot be");
    if constexpr (std::is_void_v<decltype(add_one_(loader_, sample))>) {
      add_one_(loader_, sample);
      return true;
    } else {
      return static_cast<bool>(add_one_(loader_, sample));
    }
  }
  void fill() {
    batch_.reset();
    loader_.clear();
    first_ = next_;
    while (next_ < count_ && samples() < options_.most) {
      if (!added(next_)) {
        TRIAD_EXPECTS(next_ > first_, "batches: sample " + std::to_string(place(next_)) +
                                          " does not fit into an empty batch; make the loader, and the trainer's "
                                          "capacity, with room_for(data, most)");
        break;
      }
      ++next_;
    }
    if (next_ > first_) batch_.emplace(upload_both(loader_, options_.pad));
  }

  Loader& loader_;
  Data const& data_;
  AddOne add_one_;
  std::size_t count_, first_ = 0, next_ = 0;
  batches_options options_;
  std::vector<std::uint32_t> order_;  // empty if the data are not shuffled
  std::optional<value_type> batch_;
};

/// Returns a range of batches, which together contain all of the data.  The data must have size(), and operator[] or
/// seen(place, epoch).  add_one(loader, sample) adds a sample to the batch, and may return whether the sample was
/// added.  Throws contract_violation if a sample does not fit into an empty batch.
template <loader Loader, class Data, class AddOne>
batch_range<Loader, Data, AddOne> batches(Loader& batch, Data const& data, AddOne add_one,
                                          batches_options const& options = {}) {
  return {batch, data, std::move(add_one), options};
}
/// Deleted: the range keeps a reference to the data, and temporary data are destroyed at the end of the expression.
template <loader Loader, class Data, class AddOne>
  requires(!std::is_lvalue_reference_v<Data>)
void batches(Loader&, Data&&, AddOne, batches_options const& = {}) {
  static_assert(std::is_lvalue_reference_v<Data>,
                "batches: the data are a temporary, which ends before the pass does; give them a name that lives as "
                "long");
}

}  // namespace triad
