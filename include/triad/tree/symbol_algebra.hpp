// An algebra with the symbols it speaks of: trees of labels in, tensors that own their numbers out, and back.
// SPDX-License-Identifier: Apache-2.0
//
//   symbol_algebra const language(gather_algebra<double>({2, 4}, words.size()), words);
//   auto const x = language.encode(parse_tree("( S ( NP the fox ) ( VP sleeps ) )"));
//   language.decode(cons(cdr(x), car(x), x))                ( S ( VP sleeps ) ( NP the fox ) )
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/tree/bind.hpp"
#include "triad/tree/roles.hpp"
#include "triad/tree/tensor_tree.hpp"
#include "triad/tree/vocabulary.hpp"

namespace triad {

/// Owns its labels and their fillers.  Trees of it point to it, so it stays where it is and outlives them.
template <tree_algebra A>
class symbol_algebra {
 public:
  using value_type = typename A::value_type;
  using tree = tensor_tree<A>;

  /// Fillers are unit vectors: a filler is as wide as there are labels, the empty one aside, or
  /// wider; else a contract_violation.
  symbol_algebra(A algebra, vocabulary words)
      : algebra_(std::move(algebra)), words_(std::move(words)), table_(numbers()) {
    TRIAD_EXPECTS(algebra_.fillers() + 1 >= words_.size(),
                  "symbol_algebra: a filler is " + std::to_string(algebra_.fillers()) + " wide, and there are " +
                      std::to_string(words_.size() - 1) + " labels; make the algebra's fillers as wide as that");
    one_hot_fillers(as_matrix(table()));
  }
  /// The same of orthonormal vectors, drawn by the seed.  A contract_violation where they are too narrow, as above.
  symbol_algebra(A algebra, vocabulary words, philox_key seed)
      : algebra_(std::move(algebra)), words_(std::move(words)), table_(numbers()) {
    random_fillers(seed, as_matrix(table()));
  }
  symbol_algebra(symbol_algebra const&) = delete;
  symbol_algebra& operator=(symbol_algebra const&) = delete;

  A const& algebra() const& { return algebra_; }
  vocabulary const& words() const& { return words_; }
  /// (labels, width of a filler)
  tensor<value_type const, dyn, dyn> fillers() const& {
    return tensor<value_type const, dyn, dyn>(table_.data(), words_.size(), algebra_.fillers());
  }

  /// A data_error where a label is none of the vocabulary's or a node lies deeper than the roles.
  tree encode(symbol_tree const& labels) const& { return triad::encode(algebra_, fillers(), words_.number(labels)); }
  /// The tree of labels that x is nearest to.
  symbol_tree decode(tree const& x, double threshold = decode_threshold) const {
    return words_.label(triad::decode(fillers(), x, threshold));
  }
  /// The empty tree: zero.
  tree none() const& { return tree(algebra_); }

  // Of a temporary they would point to what is gone: these overloads are there for their message alone.
  template <class Self = symbol_algebra>
  void algebra() const&& {
    refuse_temporary<Self>();
  }
  template <class Self = symbol_algebra>
  void words() const&& {
    refuse_temporary<Self>();
  }
  template <class Self = symbol_algebra>
  void fillers() const&& {
    refuse_temporary<Self>();
  }
  template <class Self = symbol_algebra>
  void encode(symbol_tree const&) const&& {
    refuse_temporary<Self>();
  }
  template <class Self = symbol_algebra>
  void none() const&& {
    refuse_temporary<Self>();
  }

 private:
  template <class Self>
  static constexpr void refuse_temporary() {
    static_assert(
        sizeof(Self) == 0,
        "symbol_algebra: this one is a temporary, which ends before its trees do; give it a name that lives as "
        "long as its trees");
  }
  std::size_t numbers() const { return static_cast<std::size_t>(words_.size() * algebra_.fillers()); }
  tensor<value_type, dyn, dyn> table() {
    return tensor<value_type, dyn, dyn>(table_.data(), words_.size(), algebra_.fillers());
  }

  A algebra_;
  vocabulary words_;
  std::vector<value_type> table_;
};

}  // namespace triad
