// The sizes of a batch: read from it, put into words, and compared with what memory was planned for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "triad/core/arena.hpp"
#include "triad/core/mdspan.hpp"

namespace triad::detail {

/// What says its sizes: a batch, or an input with graphs.
template <class Input>
concept says_dims = requires(Input const& in) {
  in.dims();
};
template <class Input>
concept has_graphs = requires(Input const& in) {
  in.graphs.dims;
};

/// The sizes of a batch.
template <class Input>
auto const& dims_of_batch(Input const& in) {
  if constexpr (says_dims<Input>)
    return in.dims();
  else
    return in.graphs.dims;
}

/// The sizes that a batch has, in words.
template <class Dims>
std::string dims_text(Dims const& d) {
  std::string text;
  auto const say = [&](index_t count, char const* what) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + what;
  };
  if constexpr (requires { d.pairs; }) say(d.pairs, "pairs");
  if constexpr (requires { d.batch; }) say(d.batch, "trees");
  if constexpr (requires { d.graphs + index_t{}; }) say(d.graphs, "graphs");
  if constexpr (requires { d.rows; })
    say(
        d.rows, requires { d.nodes; } ? "edges" : "rows");
  if constexpr (requires { d.nodes; }) say(d.nodes, "nodes");
  if constexpr (requires { d.triangles; }) say(d.triangles, "triangles");
  if constexpr (requires { d.max_nodes; }) say(d.max_nodes, "nodes in the largest");
  if constexpr (requires { d.further; })
    if (d.further > 0) say(d.further, "further questions");
  if constexpr (requires { d.source_rows; }) say(d.source_rows, "tokens of sources");
  if constexpr (requires { d.target_rows; }) say(d.target_rows, "tokens of targets");
  if constexpr (requires { d.longest_source; }) say(d.longest_source, "in the longest source");
  if constexpr (requires { d.longest_target; }) say(d.longest_target, "in the longest target");
  if constexpr (requires { d.whole.rows; }) {  // of edges between the tokens of pairs
    say(d.source.rows, "edges of sources");
    say(d.whole.rows, "edges of pairs");
    say(d.source.max_nodes, "nodes in the largest source");
    say(d.whole.max_nodes, "nodes in the largest pair");
    say(d.whole.nodes, "nodes");
    say(d.whole.triangles, "triangles");
    say(d.targets, "tokens of targets");
  }
  return text.empty() ? "another size" : text;
}

/// What a loader says of one more sample, in words, that does not fit.
template <class Dims>
std::string no_room(char const* loader, std::string const& one, Dims const& batch, Dims const& capacity,
                    char const* remedy = "make the loader with room_for(data, most)") {
  return std::string(loader) + ": " + one + " does not fit: the batch has " + dims_text(batch) +
         ", and there is room for " + dims_text(capacity) + "; ask has_room() first, or " + remedy;
}

/// work(); where an arena has too little memory for it, the message has the sizes of the batch and those that were
/// planned for, which `owner` has `where`.
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
