// Converts the words of both sides to numbers, and cuts words into parts by merges.  If the encoder is pre-trained,
// sources are cut into the tokens of that encoder instead.  Stores dictionaries and merges in checkpoints, and reads
// them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data.hpp"
#include "options.hpp"
#include "published_tokens.hpp"
#include "shared/data/dictionary_json.hpp"
#include "shared/data/tokeniser.hpp"
#include "shared/report/refuse.hpp"
#include "triad/io/json_read.hpp"
#include "triad/io/text/bpe.hpp"
#include "triad/io/text/dictionary.hpp"

namespace triad::programs::sequences {

using text::bpe;
using text::dictionary;

/// The vocabulary of one side: source or target.
class language {
 public:
  language() = default;
  /// If `plain`, texts are first cut into words and punctuation marks.
  language(dictionary words, std::optional<bpe> parts, bool plain)
      : words_(std::move(words)), parts_(std::move(parts)), plain_(plain) {}
  /// Makes the vocabulary of a published encoder.
  explicit language(published_tokens published) : published_(std::move(published)) {}

  /// Returns a vocabulary with the words of a dictionary file.  If no file is named, it has the words of the lines.
  template <class Lines>
  static language of(Lines const& lines, std::string const& dictionary_file, std::string const& merges_file,
                     int least_count, bool plain) {
    language made;
    made.plain_ = plain;
    if (!merges_file.empty()) made.parts_ = bpe::read(merges_file);
    if (!dictionary_file.empty()) {
      made.words_ = dictionary::read(dictionary_file);
      return made;
    }
    text::token_counts counts;
    for (auto const& line : lines) counts.add_line(made.parts(line));
    made.words_ = dictionary::build(counts, least_count);
    return made;
  }

  dictionary const& words() const { return words_; }
  std::optional<bpe> const& merges() const { return parts_; }
  bool plain() const { return plain_; }
  /// Returns a line as decode() would write it.  Plain text is cut into tokens; any other text is unchanged.
  std::string tokens(std::string const& line) const { return plain_ ? text::joined(tokens_of(line)) : line; }
  /// The tokens of a published encoder, which replace the dictionary.
  std::optional<published_tokens> const& published() const { return published_; }

  /// The number of tokens, including special ones.
  index_t size() const { return published_ ? published_->size() : words_.size(); }
  /// The token after the last one of a sentence.
  index_t end() const { return published_ ? published_->end() : dictionary::end; }
  /// Returns the name of one token in tables and pictures: decoded, or the token of a published encoder as its
  /// vocabulary spells it, because a part of a character or a mark decodes to no text.
  std::string name_of(index_t token) const {
    if (published_) return published_->token(token);
    return token == dictionary::end ? words_.token(token) : decode({token});
  }
  /// The number of tokens without special ones.
  index_t ordinary() const { return size() - dictionary::specials; }

  /// Returns the numbers of a line's tokens, without begin and end.  For a published encoder, the numbers begin with
  /// that of <s>, as in the encoder's training.  A word that is spelt like a special token (<s>, <pad>, </s> or <unk>)
  /// is unknown.
  std::vector<index_t> encode(std::string const& line) {
    if (published_) {
      auto const text = spaced(line);
      if (text.empty()) return {};
      auto numbers = published_->numbers(text);
      numbers.insert(numbers.begin(), published_->begin());
      return numbers;
    }
    auto numbers = words_.numbers(parts(line));
    for (auto& n : numbers)
      if (is_mark(n)) n = dictionary::unknown;
    return numbers;
  }
  /// Returns the first word of a line that is <s>, <pad> or </s>.  Returns an empty string if there is none.
  std::string mark_in(std::string const& line) {
    if (published_) return {};  // a published encoder reads such a word as plain text
    for (auto const n : words_.numbers(parts(line)))
      if (is_mark(n) && n != dictionary::unknown) return words_.token(n);
    return {};
  }
  std::string decode(std::vector<index_t> const& numbers) const {
    if (published_) return published_->decode(numbers);
    auto const line = words_.decode(numbers);
    return parts_ ? bpe::undo(line) : line;
  }
  /// Returns the words or word parts of a line that the dictionary does not have.
  std::vector<std::string> unknown(std::string const& line) {
    if (published_) return published_->unknown(spaced(line));
    std::vector<std::string> missing;
    for (auto& word : text::words(parts(line)))
      if (is_mark(words_.number(word))) missing.push_back(std::move(word));
    return missing;
  }

 private:
  /// Returns whether `number` is the number of a special token. <unk> is a special token.
  static bool is_mark(index_t number) { return number < dictionary::specials; }
  /// Returns the line with single spaces between its words, as in a file of pairs.  The tokens of a published encoder
  /// depend on white space.
  static std::string spaced(std::string const& line) { return text::joined(text::words(line)); }
  std::string parts(std::string const& line) { return parts_ ? parts_->apply(spaced(tokens(line))) : tokens(line); }

  dictionary words_;  // empty if the encoder is published
  std::optional<bpe> parts_;
  std::optional<published_tokens> published_;
  bool plain_ = false;
};

/// Returns the pairs with targets as a model would write them, for comparison with a model's translations.
inline std::vector<text_pair> with_tokens(std::vector<text_pair> pairs, language const& target) {
  for (auto& pair : pairs) pair.target = target.tokens(pair.target);
  return pairs;
}

struct vocabulary {
  language source, target;
  index_t longest_source = 1, longest_target = 1;  // number of tokens in the longest training sentence

  /// Reads the vocabulary of a checkpoint.  Throws data_error.
  static vocabulary from(nlohmann::json const& json, std::string const& file);
  static vocabulary of(std::vector<text_pair> const& train, options const& o) {
    auto const plain = [&](char const* side) { return o.tokenise == "both" || o.tokenise == side; };
    std::vector<std::string> sources, targets;
    for (auto const& pair : train) {
      sources.push_back(pair.source);
      targets.push_back(pair.target);
    }
    if (o.joint) {
      sources.insert(sources.end(), targets.begin(), targets.end());
      auto const both = language::of(sources, o.source_dictionary, o.source_bpe, o.least_count, plain("both"));
      return {both, both};
    }
    auto target = language::of(targets, o.target_dictionary, o.target_bpe, o.least_count, plain("target"));
    if (!o.encoder.empty()) {
      auto const kind = o.published ? o.published->kind : encoder_kind::roberta;
      return {language(published_tokens::read(o.encoder, kind)), std::move(target)};
    }
    return {language::of(sources, o.source_dictionary, o.source_bpe, o.least_count, plain("source")),
            std::move(target)};
  }
};

inline nlohmann::json to_json(language const& l) {
  if (auto const& p = l.published()) return p->to_json();
  auto json = dictionary_json(l.words());
  if (l.plain()) json["plain"] = true;
  if (!l.merges()) return json;
  auto merges = nlohmann::json::array();
  for (auto const& [left, right] : l.merges()->merges()) merges.push_back(left + " " + right);
  json["merges"] = merges;
  return json;
}

inline nlohmann::json to_json(vocabulary const& v) {
  return {{"source", to_json(v.source)},
          {"target", to_json(v.target)},
          {"longest_source", v.longest_source},
          {"longest_target", v.longest_target}};
}

namespace detail {

inline std::vector<text::bpe_merge> merges_from(nlohmann::json const& json) {
  std::vector<text::bpe_merge> merges;
  for (auto const& text : json.get<std::vector<std::string>>()) {
    auto merge = text::merge_of(text);
    if (!merge) refuse("a merge is {}, expected two parts", quoted(nlohmann::json(text)));
    merges.push_back(*std::move(merge));
  }
  return merges;
}

inline language language_from(nlohmann::json const& json) {
  if (json.contains("published"))
    return language(published_tokens::from(
        json, json.contains("merges") ? merges_from(json.at("merges")) : std::vector<text::bpe_merge>()));
  auto words = dictionary_from(json);
  std::optional<bpe> parts;
  if (json.contains("merges")) parts = bpe(merges_from(json.at("merges")));
  return {std::move(words), std::move(parts), json.value("plain", false)};
}

}  // namespace detail

inline vocabulary vocabulary::from(nlohmann::json const& json, std::string const& file) {
  std::string reason;
  try {
    constexpr index_t least = 1, most = 1 << 20;  // limits of a sentence's length in tokens
    auto const source = whole_number(json.at("longest_source"), least, most),
               target = whole_number(json.at("longest_target"), least, most);
    if (source && target)
      return {detail::language_from(json.at("source")), detail::language_from(json.at("target")), *source, *target};
    reason = ": its longest sentences have " + quoted(json.at("longest_source")) + " and " +
             quoted(json.at("longest_target")) + " tokens, expected whole numbers from 1 to " + std::to_string(most);
  } catch (nlohmann::json::exception const&) {
  } catch (data_error const& e) {
    reason = std::string(": ") + e.what();
  }
  refuse("{}: its vocabulary is not one of this program's{}", file, reason);
}

}  // namespace triad::programs::sequences
