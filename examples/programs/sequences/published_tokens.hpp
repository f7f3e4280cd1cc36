// The tokens of a published encoder: byte-level byte pairs of a RoBERTa, or the WordPiece of a BERT or MPNet.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "shared/report/refuse.hpp"
#include "triad/io/encoder.hpp"
#include "triad/io/json_read.hpp"
#include "triad/io/text/bpe.hpp"
#include "triad/io/text/byte_bpe.hpp"
#include "triad/io/text/dictionary.hpp"
#include "triad/io/text/wordpiece.hpp"

namespace triad::programs::sequences {

class published_tokens {
 public:
  explicit published_tokens(text::byte_bpe tokens) : tokens_(std::move(tokens)) {}
  explicit published_tokens(text::wordpiece tokens) : tokens_(std::move(tokens)) {}
  /// Reads the vocabulary in the folder of an encoder of this kind.  Throws data_error.
  static published_tokens read(std::string const& folder, encoder_kind kind) {
    if (kind == encoder_kind::roberta) return of_bytes(text::byte_bpe::read(folder), folder);
    return published_tokens(text::wordpiece::read(
        folder, kind == encoder_kind::mpnet ? text::wordpiece_marks::mpnet() : text::wordpiece_marks()));
  }
  /// Reads the vocabulary of a checkpoint, as to_json() writes it.  Throws data_error and exceptions of nlohmann.
  static published_tokens from(nlohmann::json const& json, std::vector<text::bpe_merge> const& merges) {
    auto tokens = json.at("published").get<std::vector<std::string>>();
    constexpr char file[] = "a checkpoint";
    if (!json.contains("wordpiece")) return of_bytes(text::byte_bpe::of(tokens, merges, file), file);
    auto const& o = json.at("wordpiece");
    text::wordpiece_options options;
    options.lower = o.at("lower").get<bool>();
    options.strip = o.at("strip").get<bool>();
    options.clean = o.at("clean").get<bool>();
    options.split_chinese = o.at("split_chinese").get<bool>();
    options.longest = json_integer<index_t>(o.at("longest"), "longest");
    options.marks = {o.at("begin").get<std::string>(), o.at("end").get<std::string>(),
                     o.at("padding").get<std::string>(), o.at("unknown").get<std::string>()};
    return published_tokens(text::wordpiece::of(std::move(tokens), options, file));
  }

  index_t size() const {
    return std::visit([](auto const& t) { return t.size(); }, tokens_);
  }
  index_t begin() const {
    return std::visit([](auto const& t) { return t.begin(); }, tokens_);
  }
  index_t end() const {
    return std::visit([](auto const& t) { return t.end(); }, tokens_);
  }
  /// Returns a token in the spelling of the vocabulary, such as "##ing".
  std::string const& token(index_t n) const {
    return std::visit([&](auto const& t) -> std::string const& { return t.tokens().at(static_cast<std::size_t>(n)); },
                      tokens_);
  }
  /// Returns the numbers of the parts of a text, without begin and end.
  std::vector<index_t> numbers(std::string const& text) {
    return std::visit([&](auto& t) { return t.numbers(text); }, tokens_);
  }
  std::string decode(std::vector<index_t> const& numbers) const {
    return std::visit([&](auto const& t) { return t.decode(numbers); }, tokens_);
  }
  /// Returns the parts or words of a text that the vocabulary does not have.
  std::vector<std::string> unknown(std::string const& text) {
    if (auto const* const pieces = std::get_if<text::wordpiece>(&tokens_)) return pieces->unknown_words(text);
    auto& bytes = std::get<text::byte_bpe>(tokens_);
    auto const numbers = bytes.numbers(text);
    if (std::find(numbers.begin(), numbers.end(), bytes.unknown()) == numbers.end()) return {};
    std::vector<std::string> missing;
    for (auto& part : bytes.parts(text))
      if (!bytes.contains(part)) missing.push_back(std::move(part));
    return missing;
  }

  nlohmann::json to_json() const {
    if (auto const* const pieces = std::get_if<text::wordpiece>(&tokens_)) {
      auto const& o = pieces->options();
      return {{"published", pieces->tokens()},
              {"wordpiece",
               {{"lower", o.lower},
                {"strip", o.strip},
                {"clean", o.clean},
                {"split_chinese", o.split_chinese},
                {"longest", o.longest},
                {"begin", o.marks.begin},
                {"end", o.marks.end},
                {"padding", o.marks.padding},
                {"unknown", o.marks.unknown}}}};
    }
    auto const& bytes = std::get<text::byte_bpe>(tokens_);
    auto merges = nlohmann::json::array();
    for (auto const& [left, right] : bytes.merges()) merges.push_back(left + " " + right);
    return {{"published", bytes.tokens()}, {"merges", merges}};
  }

 private:
  static published_tokens of_bytes(text::byte_bpe tokens, std::string const& file) {
    if (tokens.end() != text::dictionary::end)
      refuse("{}: the number of </s> is {}, and {} is expected, as in every RoBERTa", file, tokens.end(),
             text::dictionary::end);
    return published_tokens(std::move(tokens));
  }

  std::variant<text::byte_bpe, text::wordpiece> tokens_;
};

}  // namespace triad::programs::sequences
