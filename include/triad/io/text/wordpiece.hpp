// WordPiece, the tokens of BERT and MPNet.  Converts text to the numbers of a published vocabulary.
// SPDX-License-Identifier: Apache-2.0
//
//   text    loses its control characters; spaces are put around each Chinese character; if the options say so, accents
//           are removed (NFD without non-spacing marks), and letters become lower case
//   words   are separated by white space; each mark of punctuation is a word
//   parts   of a word: the longest token that begins it, then the longest `##` token that continues it, and so on.  A
//           word that cannot be cut so, or that is longer than 100 characters, is [UNK]
//   numbers of the parts are the lines of vocab.txt, from 0
//
// The options come from tokenizer_config.json and tokenizer.json.  Names of special tokens in a text, as [SEP], are
// encoded as plain text.  The text cannot be restored from the numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "triad/core/errors.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/io/json_file.hpp"
#include "triad/io/text/bert_characters.hpp"
#include "triad/io/text/characters.hpp"
#include "triad/io/text/gz_lines.hpp"
#include "triad/io/text/token_list.hpp"

namespace triad::text {

/// The names of the special tokens.
struct wordpiece_marks {
  std::string begin = "[CLS]", end = "[SEP]", padding = "[PAD]", unknown = "[UNK]";

  /// The special tokens of MPNet.
  static wordpiece_marks mpnet() { return {"<s>", "</s>", "<pad>", "[UNK]"}; }
  bool operator==(wordpiece_marks const&) const = default;
};

struct wordpiece_options {
  bool lower = true;          // letters become lower case
  bool strip = true;          // accents are removed
  bool clean = true;          // control characters are removed
  bool split_chinese = true;  // each Chinese character is a word
  index_t longest = 100;      // the most characters of a word that is cut into parts
  wordpiece_marks marks;

  bool operator==(wordpiece_options const&) const = default;
};

/// Returns the words of a text before they are cut into parts.
inline std::vector<std::string> bert_words(std::string_view text, wordpiece_options const& o) {
  std::u32string now;
  for (std::size_t at = 0; at < text.size();) {
    auto const c = character_at(text, at);
    at += c.bytes;
    if (o.clean && detail::is_in<detail::bert_removed>(c.code)) continue;
    bool const chinese = o.split_chinese && detail::is_in<detail::bert_ideographs>(c.code);
    if (chinese) now += U' ';
    now += c.code;
    if (chinese) now += U' ';
  }
  if (o.strip) {
    now = detail::decomposed(now);
    std::erase_if(now, [](char32_t c) { return detail::is_in<detail::bert_marks>(c); });
  }
  if (o.lower) {
    std::u32string lower;
    for (char32_t const c : now) detail::append_lower(c, lower);
    now = std::move(lower);
  }
  std::vector<std::string> words;
  bool inside = false;
  for (char32_t const c : now) {
    bool const mark = detail::is_in<detail::bert_punctuation>(c), white = is_space(c) && !(c >= 0x1c && c <= 0x1f);
    if (!white) {
      if (mark || !inside) words.emplace_back();
      words.back() += detail::utf8_of(c);
    }
    inside = !white && !mark;
  }
  return words;
}

class wordpiece {
 public:
  /// Reads the vocabulary and its options from a folder: vocab.txt, or the vocabulary in tokenizer.json.  The options
  /// are those of tokenizer_config.json and tokenizer.json; without either, those of BERT: lower case, no accents.
  /// `marks` are the special tokens if tokenizer_config.json does not name them.  Throws data_error if a file is
  /// damaged, if the files say different things, or if they ask for other tokens than BERT's.
  static wordpiece read(std::string const& folder, wordpiece_marks const& marks = {}) {
    auto const in = std::filesystem::path(folder);
    auto const at = [&](char const* name) { return (in / name).string(); };
    auto const exists = [&](char const* name) {
      std::error_code ignored;
      return std::filesystem::exists(in / name, ignored);
    };
    wordpiece_options o;
    o.marks = marks;
    std::vector<std::string> tokens;
    flag lower, strip, chinese, clean;
    std::optional<std::string> unknown;  // of tokenizer.json
    if (exists("tokenizer.json")) {
      read_tokenizer(at("tokenizer.json"), o, tokens, lower, strip, chinese, clean, unknown);
      if (unknown) o.marks.unknown = *unknown;
    }
    if (exists("tokenizer_config.json")) {
      read_config(at("tokenizer_config.json"), o, lower, strip, chinese, clean);
      if (unknown && o.marks.unknown != *unknown)
        throw data_error(at("tokenizer_config.json") + ": unk_token is '" + o.marks.unknown + "', expected '" +
                         *unknown + "', as in tokenizer.json; correct the wrong one");
    }
    if (tokens.empty() && !exists("vocab.txt"))
      throw data_error(folder +
                       ": found neither vocab.txt nor a vocabulary in tokenizer.json, expected one of them; "
                       "take it from the model's page");
    if (exists("vocab.txt")) {
      auto listed = lines_of(at("vocab.txt"));
      if (!tokens.empty() && listed != tokens)
        throw data_error(at("vocab.txt") +
                         ": its tokens are not those of the tokenizer.json next to it, expected the "
                         "same; take both from one model");
      tokens = std::move(listed);
    }
    auto const file = at(exists("vocab.txt") ? "vocab.txt" : "tokenizer.json");
    if (!lower.value)
      for (auto const& token : tokens)
        if (!token.starts_with('[') && !token.starts_with('<') &&
            token.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") != std::string::npos)
          throw data_error(file + ": found the token '" + token +
                           "' in upper case, expected a tokenizer_config.json that says do_lower_case: true or false; "
                           "take it from the model's page");
    o.lower = lower.value.value_or(true);
    o.strip = strip.value.value_or(o.lower);
    o.split_chinese = chinese.value.value_or(true);
    o.clean = clean.value.value_or(true);
    return of(tokens, o, file);
  }
  /// Makes a vocabulary from a list of tokens.  The number of a token is its index in the list.  An empty token means
  /// that its number is unused.  `file` is the name of the source in messages.
  static wordpiece of(std::vector<std::string> tokens, wordpiece_options const& options, std::string const& file) {
    wordpiece made;
    made.options_ = options;
    made.tokens_ = {std::move(tokens), file};
    for (auto const& token : made.tokens_.all()) made.longest_ = std::max(made.longest_, token.size());
    auto const special = [&](std::string const& token) { return made.tokens_.need(token, file, "BERT or MPNet"); };
    made.begin_ = special(options.marks.begin);
    made.end_ = special(options.marks.end);
    made.padding_ = special(options.marks.padding);
    made.unknown_ = special(options.marks.unknown);
    return made;
  }

  /// One more than the largest number of a token.
  [[nodiscard]] index_t size() const { return tokens_.size(); }
  // The numbers of [CLS], [SEP], [PAD] and [UNK], or of MPNet's <s>, </s>, <pad> and [UNK].
  [[nodiscard]] index_t begin() const { return begin_; }
  [[nodiscard]] index_t end() const { return end_; }
  [[nodiscard]] index_t padding() const { return padding_; }
  [[nodiscard]] index_t unknown() const { return unknown_; }
  [[nodiscard]] bool contains(std::string const& token) const { return tokens_.contains(token); }
  /// The tokens in the order of their numbers.  An empty token means that its number is unused.
  [[nodiscard]] std::vector<std::string> const& tokens() const { return tokens_.all(); }
  [[nodiscard]] wordpiece_options const& options() const { return options_; }

  /// Returns the parts of a text in the spelling of the vocabulary.
  [[nodiscard]] std::vector<std::string> parts(std::string_view text) const {
    std::vector<std::string> all;
    for (auto const& word : bert_words(text, options_))
      for (auto const n : numbers_of_word(word)) all.push_back(tokens_.token(n));
    return all;
  }
  /// Returns the words of a text that are [UNK].
  [[nodiscard]] std::vector<std::string> unknown_words(std::string_view text) const {
    std::vector<std::string> all;
    for (auto& word : bert_words(text, options_))
      if (numbers_of_word(word) == std::vector{unknown_}) all.push_back(std::move(word));
    return all;
  }

  /// Returns the numbers of the parts of a text, without begin and end, because pair_loader adds both.  Stores the
  /// numbers of every word, so that equal words are cut only once.
  std::vector<index_t> numbers(std::string_view text) {
    std::vector<index_t> all;
    for (auto& word : bert_words(text, options_)) {
      auto known = seen_.find(word);
      if (known == seen_.end()) {
        auto found = numbers_of_word(word);
        known = seen_.emplace(std::move(word), std::move(found)).first;
      }
      all.insert(all.end(), known->second.begin(), known->second.end());
    }
    return all;
  }

  /// Returns the numbers of `[CLS] text [SEP]`.
  std::vector<index_t> encode(std::string_view text) {
    auto all = numbers(text);
    all.insert(all.begin(), begin_);
    all.push_back(end_);
    return all;
  }

  /// Returns the words for these numbers, with single spaces between them, without begin, end and padding.  Lower case,
  /// accents and white space of the encoded text are not restored.
  [[nodiscard]] std::string decode(std::span<index_t const> numbers) const {
    std::string text;
    for (auto const n : numbers) {
      std::string_view token = tokens_.token(n);
      if (n == begin_ || n == end_ || n == padding_) continue;
      if (token.size() > 2 && token.starts_with("##"))
        token.remove_prefix(2);
      else if (!text.empty())
        text += ' ';
      text += token;
    }
    return text;
  }

 private:
  wordpiece() = default;

  /// An option, and the file that has it.
  struct flag {
    std::optional<bool> value;
    std::string by;
  };

  static void set(flag& option, char const* name, nlohmann::json const& value, std::string const& file) {
    if (value.is_null()) return;
    if (!value.is_boolean())
      throw data_error(file + ": " + name + " is " + quoted(value) + ", expected true, false or null");
    if (option.value && *option.value != value.get<bool>())
      throw data_error(file + ": " + name + " is " + quoted(value) + ", and " + option.by +
                       " says the opposite; correct the wrong one");
    option = {value.get<bool>(), file};
  }

  /// Throws data_error if a token that was added to a vocabulary is not special.  A text that contains it would be cut
  /// around it before all else, which bert_words() does not do.
  static void expect_special(nlohmann::json const& added, std::string const& path) {
    auto const is = [](nlohmann::json const& token, char const* name) {
      return token.is_object() ? token.value(name, nlohmann::json()) : nlohmann::json();
    };
    for (auto const& token : added)
      if (is(token, "special") != nlohmann::json(true))
        throw data_error(path + ": found the added token " + quoted(is(token, "content")) +
                         ", expected special tokens only; only BERT's own tokens can be read");
  }

  static void read_config(std::string const& path, wordpiece_options& o, flag& lower, flag& strip, flag& chinese,
                          flag& clean) {
    auto const json = read_json_file(path);
    auto const refuse = [&](std::string const& name, std::string const& expected) {
      throw data_error(path + ": " + name + " is " + quoted(json.at(name)) + ", expected " + expected +
                       "; only BERT's own tokens can be read");
    };
    if (!json.is_object()) throw data_error(path + ": found " + quoted(json) + ", expected an object of options");
    set(lower, "do_lower_case", json.value("do_lower_case", nlohmann::json()), path);
    set(strip, "strip_accents", json.value("strip_accents", nlohmann::json()), path);
    set(chinese, "tokenize_chinese_chars", json.value("tokenize_chinese_chars", nlohmann::json()), path);
    set(clean, "clean_text", json.value("clean_text", nlohmann::json()), path);
    expect_special(json.value("added_tokens_decoder", nlohmann::json()), path);
    if (json.value("do_basic_tokenize", nlohmann::json(true)) != nlohmann::json(true))
      refuse("do_basic_tokenize", "true");
    if (auto const kept = json.value("never_split", nlohmann::json()); !kept.is_null() && !kept.empty())
      refuse("never_split", "none");
    auto const mark = [&](char const* name, std::string& to) {
      auto token = json.value(name, nlohmann::json());
      if (token.is_object()) token = token.value("content", nlohmann::json());
      if (token.is_string())
        to = token.get<std::string>();
      else if (!token.is_null())
        refuse(name, "a token");
    };
    mark("cls_token", o.marks.begin);
    mark("sep_token", o.marks.end);
    mark("pad_token", o.marks.padding);
    mark("unk_token", o.marks.unknown);
  }

  static void read_tokenizer(std::string const& path, wordpiece_options& o, std::vector<std::string>& tokens,
                             flag& lower, flag& strip, flag& chinese, flag& clean,
                             std::optional<std::string>& unknown_token) {
    auto const json = read_json_file(path);
    auto const part = [&](nlohmann::json const& of, char const* name) {
      return of.is_object() ? of.value(name, nlohmann::json()) : nlohmann::json();
    };
    auto const expect = [&](char const* name, char const* type) {
      auto const found = part(json, name);
      if (auto const is = part(found, "type"); is != type)
        throw data_error(path + ": the type of its " + name + " is " + quoted(is) + ", expected \"" + type +
                         "\"; only BERT's own tokens can be read");
      return found;
    };
    auto const model = expect("model", "WordPiece"), normalizer = expect("normalizer", "BertNormalizer");
    (void)expect("pre_tokenizer", "BertPreTokenizer");
    set(lower, "lowercase", part(normalizer, "lowercase"), path);
    set(strip, "strip_accents", part(normalizer, "strip_accents"), path);
    set(chinese, "handle_chinese_chars", part(normalizer, "handle_chinese_chars"), path);
    set(clean, "clean_text", part(normalizer, "clean_text"), path);
    expect_special(part(json, "added_tokens"), path);
    if (auto const prefix = part(model, "continuing_subword_prefix"); prefix != "##")
      throw data_error(path + ": its continuing_subword_prefix is " + quoted(prefix) +
                       ", expected \"##\"; only BERT's own tokens can be read");
    if (auto const longest = part(model, "max_input_chars_per_word"); !longest.is_null())
      o.longest = json_integer<index_t>(longest, path + ": max_input_chars_per_word");
    if (o.longest < 1)
      throw data_error(path + ": max_input_chars_per_word is " + std::to_string(o.longest) +
                       ", expected 1 or more; only BERT's own tokens can be read");
    if (auto const unknown = part(model, "unk_token"); unknown.is_string()) unknown_token = unknown.get<std::string>();
    auto const vocabulary = part(model, "vocab");
    if (!vocabulary.is_object() || vocabulary.empty())
      throw data_error(path + ": its model.vocab is " + quoted(vocabulary) + ", expected {token: number ...}");
    tokens = tokens_by_number(vocabulary, path);
  }

  static std::vector<std::string> lines_of(std::string const& path) {
    gz_lines lines(path);
    std::vector<std::string> tokens;
    for (std::string line; lines.next(line);) tokens.push_back(line);
    return tokens;
  }

  [[nodiscard]] std::vector<index_t> numbers_of_word(std::string const& word) const {
    std::vector<std::size_t> ends{0};  // the bytes at which characters end
    while (ends.back() < word.size()) ends.push_back(ends.back() + character_at(word, ends.back()).bytes);
    if (static_cast<index_t>(ends.size()) - 1 > options_.longest) return {unknown_};
    std::vector<index_t> all;
    for (std::size_t first = 0; first + 1 < ends.size();) {
      std::string const prefix = first == 0 ? "" : "##";
      std::size_t last = ends.size() - 1;
      for (; last > first; --last) {
        auto const bytes = ends[last] - ends[first];
        if (prefix.size() + bytes > longest_) continue;
        auto const number = tokens_.number(prefix + word.substr(ends[first], bytes));
        if (number < 0) continue;
        all.push_back(number);
        break;
      }
      if (last == first) return {unknown_};
      first = last;
    }
    return all;
  }

  wordpiece_options options_;
  token_list tokens_;
  std::size_t longest_ = 0;  // the bytes of the longest token
  std::unordered_map<std::string, std::vector<index_t>> seen_;
  index_t begin_ = 0, end_ = 0, padding_ = 0, unknown_ = 0;
};

}  // namespace triad::text
