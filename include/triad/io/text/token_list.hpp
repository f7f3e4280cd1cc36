// The tokens of a published vocabulary and their numbers, for byte_bpe.hpp and wordpiece.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "triad/core/errors.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/io/json_read.hpp"

namespace triad::text {

/// The tokens in the order of their numbers.  An empty token means that its number is unused.
class token_list {
 public:
  token_list() = default;
  /// The number of a token is its index in the list.  Error messages name `file`.  Throws data_error if a token has two
  /// numbers.
  token_list(std::vector<std::string> tokens, std::string const& file) : tokens_(std::move(tokens)) {
    for (std::size_t n = 0; n < tokens_.size(); ++n)
      if (!tokens_[n].empty() && !numbers_.emplace(tokens_[n], static_cast<index_t>(n)).second)
        throw data_error(file + ": the token '" + tokens_[n] + "' has two numbers, expected one; remove one of them");
  }

  /// One more than the largest number of a token.
  [[nodiscard]] index_t size() const { return static_cast<index_t>(tokens_.size()); }
  [[nodiscard]] std::vector<std::string> const& all() const { return tokens_; }
  [[nodiscard]] bool contains(std::string const& token) const { return numbers_.contains(token); }
  /// Returns the number of a token, or `otherwise` if the list does not have the token.
  [[nodiscard]] index_t number(std::string const& token, index_t otherwise = -1) const {
    auto const known = numbers_.find(token);
    return known == numbers_.end() ? otherwise : known->second;
  }
  /// Returns the number of a token that the list must have.  Throws data_error, which names `file` and the `kind` of
  /// vocabulary, if it does not have the token.
  [[nodiscard]] index_t need(std::string const& token, std::string const& file, char const* kind) const {
    if (auto const n = number(token); n >= 0) return n;
    throw data_error(file + ": the token " + token + " is expected, found none; give the vocabulary of a " + kind);
  }
  /// Returns the token of a number.  Throws data_error if there is none.
  [[nodiscard]] std::string const& token(index_t n) const {
    if (n < 0 || n >= size() || tokens_[static_cast<std::size_t>(n)].empty())
      throw data_error("there is no token " + std::to_string(n) + " in a vocabulary of " + std::to_string(size()) +
                       "; is it the vocabulary the model was trained with?");
    return tokens_[static_cast<std::size_t>(n)];
  }

 private:
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, index_t> numbers_;
};

/// Returns the tokens of a JSON object {token: number ...} in the order of their numbers.  Error messages name `path`.
/// Throws data_error if a number is not from 0 to 2^24 - 1, or if two tokens have it.
inline std::vector<std::string> tokens_by_number(nlohmann::json const& object, std::string const& path) {
  constexpr index_t most = index_t{1} << 24;
  std::vector<std::string> tokens;
  for (auto const& entry : object.items()) {
    auto const fail = [&](std::string const& reason) {
      throw data_error(path + ": token '" + entry.key() + "': " + reason);
    };
    auto const number = whole_number<index_t>(entry.value(), 0, most - 1);
    if (!number || entry.key().empty())
      fail("a token with a number from 0 up to " + std::to_string(most) + " is expected");
    auto const n = static_cast<std::size_t>(*number);
    if (n >= tokens.size()) tokens.resize(n + 1);
    if (!tokens[n].empty()) fail("its number " + std::to_string(n) + " is that of '" + tokens[n] + "' already");
    tokens[n] = entry.key();
  }
  return tokens;
}

}  // namespace triad::text
