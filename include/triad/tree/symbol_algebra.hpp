// A tree algebra together with its labels and their fillers.  Encodes trees of labels as tensors that own their
// elements, and decodes these tensors.
// SPDX-License-Identifier: Apache-2.0
//
//   symbol_algebra const language(gather_algebra<double>({2, 4}, words.size()), words);
//   auto const x = language.encode(parse_tree("( S ( NP the fox ) ( VP sleeps ) )"));
//   language.decode(cons(cdr(x), car(x), x))                ( S ( VP sleeps ) ( NP the fox ) )
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/tree/bind.hpp"
#include "triad/tree/roles.hpp"
#include "triad/tree/tensor_tree.hpp"
#include "triad/tree/vocabulary.hpp"

namespace triad {

/// Owns the labels and fillers.  The encoded trees point to the algebra in this object, so the object cannot be copied
/// or moved, and must outlive the trees.
template <tree_algebra A>
class symbol_algebra {
 public:
  using value_type = typename A::value_type;
  using tree = tensor_tree<A>;

  /// Uses unit vectors as fillers.  Throws contract_violation if a filler has fewer elements than there are labels
  /// except "<empty>".
  symbol_algebra(A algebra, vocabulary words)
      : algebra_(std::move(algebra)), words_(std::move(words)), table_(numbers()) {
    TRIAD_EXPECTS(algebra_.fillers() + 1 >= words_.size(),
                  "symbol_algebra: fillers of width " + std::to_string(algebra_.fillers()) + ", expected " +
                      std::to_string(words_.size() - 1) +
                      " or more, one for each label; make the algebra's fillers wider");
    one_hot_fillers(as_matrix(table()));
    symbols_ = number_of_symbols();
  }
  /// Uses random orthonormal fillers, drawn from the seed.  Throws contract_violation if a filler has fewer elements
  /// than there are labels except "<empty>".
  symbol_algebra(A algebra, vocabulary words, philox_key seed)
      : algebra_(std::move(algebra)), words_(std::move(words)), table_(numbers()) {
    random_fillers(seed, as_matrix(table()));
    symbols_ = number_of_symbols();
  }
  symbol_algebra(symbol_algebra const&) = delete;
  symbol_algebra& operator=(symbol_algebra const&) = delete;

  A const& algebra() const& { return algebra_; }
  vocabulary const& words() const& { return words_; }
  /// The fillers (labels, f).
  tensor<value_type const, dyn, dyn> fillers() const& {
    return tensor<value_type const, dyn, dyn>(table_.data(), words_.size(), algebra_.fillers());
  }

  /// Encodes a tree.  Throws data_error if a label is not in the vocabulary or a node lies deeper than the roles.
  tree encode(symbol_tree const& labels) const& {
    auto x = none();
    triad::encode(algebra_, fillers(), words_.number(labels), x.view());
    return x;
  }
  /// Returns the tree of labels nearest to x.  Throws contract_violation if x has labels or fillers that differ from
  /// those of this object.
  symbol_tree decode(tree const& x, double threshold = decode_threshold) const {
    TRIAD_EXPECTS(x.symbols() == symbols_ || x.symbols() == 0,
                  "symbol_algebra: a tree of another symbol algebra, expected one of the same labels and fillers; "
                  "decode it there");
    return words_.label(triad::decode(fillers(), x, threshold));
  }
  /// The empty tree, whose elements are all zero.
  tree none() const& { return tree(algebra_, symbols_); }

  // Called on a temporary, these functions would return views of destroyed memory.  The overloads below stop such a
  // call at compile time, with a message.
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

  /// A hash of the labels and fillers (by Fowler, Noll and Vo).  It distinguishes trees of this object from trees with
  /// other labels or fillers.
  std::uint64_t number_of_symbols() const {
    std::uint64_t hash = 0xcbf29ce484222325u;
    auto const add = [&](void const* data, std::size_t bytes) {
      auto const* const at = static_cast<unsigned char const*>(data);
      for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ at[i]) * 0x100000001b3u;
    };
    for (auto const& label : words_.labels()) add(label.c_str(), label.size() + 1);
    add(table_.data(), table_.size() * sizeof(value_type));
    return hash;
  }

  A algebra_;
  vocabulary words_;
  std::vector<value_type> table_;
  std::uint64_t symbols_ = 0;  // the hash of labels and fillers
};

}  // namespace triad
