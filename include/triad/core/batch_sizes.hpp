// Functions that read the sizes of a batch, describe the sizes in messages, and compare the sizes with a capacity.
// SPDX-License-Identifier: Apache-2.0
//
// A struct of sizes needs a function each_count(), which lists the numbers in the struct.  Error messages and
// batches/room_for.hpp use this list.  An example:
//
//   template <class F>
//   constexpr void each_count(my_dims& d, F&& f) {
//     f.sum(d.rows, "rows");                    a count that adds up over a batch
//     f.largest(d.longest, "in the longest");   a maximum over a batch
//     f.maybe(d.further, "further questions");  a count that adds up, and that few batches have
//   }
//
// A number that is listed without a text does not appear in messages.
#pragma once

#include <string>

#include "triad/core/arena.hpp"
#include "triad/core/mdspan.hpp"

namespace triad::detail {

/// A batch has its sizes in a member function dims() (has_dims) or in a member `graphs` (has_graphs).
template <class Input>
concept has_dims = requires(Input const& in) { in.dims(); };
template <class Input>
concept has_graphs = requires(Input const& in) { in.graphs.dims; };

/// Returns the sizes of a batch.
template <class Input>
auto dims_of_batch(Input const& in) {
  if constexpr (has_dims<Input>)
    return in.dims();
  else
    return in.graphs.dims;
}

/// A visitor that writes the numbers and their names as a text, such as "3 graphs, 40 edges".
struct counts_in_words {
  std::string text;

  void sum(index_t count, char const* what = nullptr) {
    if (what != nullptr) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + what;
  }
  void largest(index_t count, char const* what = nullptr) { sum(count, what); }
  void maybe(index_t count, char const* what = nullptr) {
    if (count > 0) sum(count, what);
  }
};

/// Returns the sizes of a batch as a text for messages.
template <class Dims>
std::string dims_text(Dims d) {
  counts_in_words words;
  if constexpr (requires { each_count(d, words); }) each_count(d, words);
  return words.text.empty() ? "another size" : words.text;
}

/// Returns the message of the exception that a loader throws if a sample does not fit into the batch.
template <class Dims>
std::string no_room(char const* loader, std::string const& one, Dims const& batch, Dims const& capacity,
                    char const* remedy = "make the loader with room_for(data, most)") {
  return std::string(loader) + ": " + one + " does not fit: the batch has " + dims_text(batch) +
         ", and there is room for " + dims_text(capacity) + "; ask has_room() first, or " + remedy;
}

/// Runs work() and returns its result.  If an arena is too small for the work, throws contract_violation.  The message
/// has the sizes of the batch and the capacity of `owner`.  The text `where` says where the caller sets this capacity.
template <class Dims, class Work>
auto within_capacity(char const* owner, char const* where, Dims const& batch, Dims const& capacity, Work&& work) {
  try {
    return work();
  } catch (arena_too_small const& e) {
    throw contract_violation(std::string(owner) + ": a batch of " + dims_text(batch) + " does not fit: the capacity " +
                             where + " is " + dims_text(capacity) + "; set it to the largest batch (" + e.what() + ")");
  }
}

}  // namespace triad::detail
