// The sizes of a batch: functions that read them, describe them in messages, and compare them with a capacity.
// SPDX-License-Identifier: Apache-2.0
//
// For each struct of sizes there is a function each_count() that lists its counts.  Messages and batches/room_for.hpp
// call this function:
//
//   template <class F>
//   constexpr void each_count(my_dims& d, F&& f) {
//     f.sum(d.rows, "rows");                    a count that adds up over a batch
//     f.largest(d.longest, "in the longest");   a maximum over a batch
//     f.maybe(d.further, "further questions");  a count that adds up, and that few batches have
//   }
//
// A count that is listed without a text appears in no message.
#pragma once

#include <string>

#include "triad/core/arena.hpp"
#include "triad/core/mdspan.hpp"

namespace triad::detail {

/// A type with sizes: a batch with a member dims() (has_dims), or an input with a member `graphs` (has_graphs).
template <class Input>
concept has_dims = requires(Input const& in) { in.dims(); };
template <class Input>
concept has_graphs = requires(Input const& in) { in.graphs.dims; };

/// Returns the sizes of a batch.
template <class Input>
auto const& dims_of_batch(Input const& in) {
  if constexpr (has_dims<Input>)
    return in.dims();
  else
    return in.graphs.dims;
}

/// A visitor that writes counts and their names into a text, such as "3 graphs, 40 edges".
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

/// Returns a loader's message about a sample that does not fit into its batch.
template <class Dims>
std::string no_room(char const* loader, std::string const& one, Dims const& batch, Dims const& capacity,
                    char const* remedy = "make the loader with room_for(data, most)") {
  return std::string(loader) + ": " + one + " does not fit: the batch has " + dims_text(batch) +
         ", and there is room for " + dims_text(capacity) + "; ask has_room() first, or " + remedy;
}

/// Runs work() and returns its result.  If an arena is too small for the work, throws contract_violation.  The message
/// has the sizes of the batch, the capacity of `owner`, and a text `where` that says where this capacity is set.
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
