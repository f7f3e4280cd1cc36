// Reads the published CFQ: dataset.json, and a split file that assigns its questions to train, dev and test.
// SPDX-License-Identifier: Apache-2.0
//
//   dataset.json   [{"questionPatternModEntities": "Did M0 's ...",
//                    "sparqlPatternModEntities": "SELECT count(*) WHERE {\n...}", ...}, ...]
//   split          {"trainIdxs": [...], "devIdxs": [...], "testIdxs": [...]}     indices into that list, from 0
// Either file may be gzipped.  dataset.json is read as a stream, and only the questions of the split are kept.  The
// texts are preprocessed as the authors did: every punctuation mark of a question becomes a token.  In queries,
// `count(*)` becomes `count ( * )`, `ns:` is removed from the beginning of a token, and a following `m.` becomes `m_`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sequences/data.hpp"
#include "shared/data/gz_stream.hpp"
#include "shared/report/refuse.hpp"
#include "triad/core/errors.hpp"
#include "triad/io/json_read.hpp"
#include "triad/io/text/characters.hpp"

namespace triad::programs::cfq {

inline std::string tokenised_question(std::string_view text) {
  static constexpr std::string_view marks = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
  std::string spaced;
  for (char const c : text)
    if (marks.find(c) == std::string_view::npos)
      spaced += c;
    else
      ((spaced += ' ') += c) += ' ';
  return text::joined(text::words(spaced));
}

inline std::string tokenised_query(std::string_view text) {
  static constexpr std::string_view count = "count(*)";
  std::string spaced(text);
  for (auto at = spaced.find(count); at != std::string::npos; at = spaced.find(count, at))
    spaced.replace(at, count.size(), "count ( * )");
  auto tokens = text::words(spaced);
  for (auto& token : tokens) {
    if (token.starts_with("ns:")) token.erase(0, 3);
    if (token.starts_with("m.")) token[1] = '_';
  }
  return text::joined(tokens);
}

/// Returns the first token that begins with `ns:` or contains `count(*)`.  Such a token shows that the query is not
/// preprocessed.  Returns an empty string if there is no such token.
inline std::string raw_token(std::string_view query) {
  for (auto const& token : text::words(query))
    if (token.starts_with("ns:") || token.find("count(*)") != std::string::npos) return token;
  return {};
}

namespace detail {

/// The part that a question of dataset.json belongs to, and the question's number in that part.
struct place {
  int part;  // 0 train, 1 dev, 2 test
  std::size_t number;
};

/// Collects the questions of a split while dataset.json is parsed.
class dataset_reader : public nlohmann::json_sax<nlohmann::json> {
 public:
  dataset_reader(std::unordered_map<std::size_t, place> const& wanted, std::array<std::vector<text_pair>, 3>& parts)
      : wanted_(&wanted), parts_(&parts) {}

  std::size_t objects() const { return objects_; }
  std::string const& problem() const { return problem_; }

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, string_t const&) override { return value(); }
  bool binary(binary_t&) override { return value(); }
  bool string(string_t& text) override {
    if (depth_ == 2 && keep_ != nullptr) *keep_ = std::move(text);
    return value();
  }
  bool key(string_t& name) override {
    keep_ = depth_ != 2 ? keep_ : name == question_key ? &question_ : name == query_key ? &query_ : nullptr;
    return true;
  }
  bool start_array(std::size_t) override { return open(true); }
  bool start_object(std::size_t) override { return open(false); }
  bool end_array() override { return --depth_, true; }
  bool end_object() override { return --depth_ != 1 || finish(); }
  bool parse_error(std::size_t byte, std::string const&, nlohmann::json::exception const&) override {
    return fail("expected JSON, found none from byte " + std::to_string(byte) + " on; was the file copied whole?");
  }

 private:
  static constexpr int deepest = 100'000;  // the largest number of nested levels
  static constexpr char const *question_key = "questionPatternModEntities", *query_key = "sparqlPatternModEntities";

  bool fail(std::string const& what) {
    problem_ = what;
    return false;
  }
  bool value() { return depth_ > 1 || fail("a list of objects is expected, as in the published dataset.json"); }
  bool open(bool list) {
    if (depth_ == deepest)
      return fail("expected at most " + std::to_string(deepest) +
                  " levels of lists and objects, found more from object " + std::to_string(objects_) + " on");
    if (depth_ < 2 && list != (depth_ == 0))
      return fail("a list of objects is expected, as in the published dataset.json");
    if (depth_ == 1) {
      question_.clear();
      query_.clear();
    }
    if (depth_ < 2) keep_ = nullptr;
    ++depth_;
    return true;
  }
  bool finish() {
    auto const at = wanted_->find(objects_++);
    if (at == wanted_->end()) return true;
    auto& pair = (*parts_)[static_cast<std::size_t>(at->second.part)][at->second.number];
    pair.source = tokenised_question(question_);
    pair.target = tokenised_query(query_);
    if (pair.source.empty() || pair.target.empty())
      return fail("object " + std::to_string(objects_ - 1) + " lacks " +
                  (pair.source.empty() ? question_key : query_key) + ": is this CFQ's dataset.json?");
    return true;
  }

  std::unordered_map<std::size_t, place> const* wanted_;
  std::array<std::vector<text_pair>, 3>* parts_;
  int depth_ = 0;
  std::size_t objects_ = 0;
  std::string question_, query_, problem_;
  std::string* keep_ = nullptr;  // where the next text is stored
};

}  // namespace detail

/// Reads a whole JSON file, gzipped or not, into memory.
inline nlohmann::json read_json(std::string const& path) {
  triad::programs::gz_buffer bytes(path);
  std::istream stream(&bytes);
  try {
    return triad::parse_json(stream);
  } catch (triad::data_error const& e) {
    std::string const what = e.what();
    throw triad::data_error(what.starts_with(path) ? what : path + ": " + what);  // the stream may name the file
  } catch (nlohmann::json::exception const&) {
    refuse("{}: expected JSON, found none; was the file copied whole?", path);
  }
}

/// Reads the pairs of question and query that a split file names, in the order of that file.
inline sequences::data_set read_dataset(std::string const& path, std::string const& split) {
  static constexpr std::array<char const*, 3> keys{"trainIdxs", "devIdxs", "testIdxs"};
  std::unordered_map<std::size_t, detail::place> wanted;
  std::array<std::vector<text_pair>, 3> parts;
  auto const lists = read_json(split);
  std::size_t last = 0;
  for (int part = 0; part < 3; ++part) {
    auto const k = static_cast<std::size_t>(part);
    if (!lists.is_object() || !lists.contains(keys[k]) || !lists[keys[k]].is_array())
      refuse("{}: there is no list {}; expected trainIdxs, devIdxs and testIdxs", split, keys[k]);
    auto const& list = lists[keys[k]];
    parts[k].resize(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!list[i].is_number_unsigned())
        refuse("{}: {}: expected places from 0 on, found {}", split, keys[k], triad::quoted(list[i]));
      auto const index = list[i].get<std::size_t>();
      if (!wanted.try_emplace(index, detail::place{part, i}).second) refuse("{}: {} is there twice", split, index);
      last = index > last ? index : last;
    }
  }
  detail::dataset_reader reader(wanted, parts);
  triad::programs::gz_buffer bytes(path);
  std::istream stream(&bytes);
  if (!nlohmann::json::sax_parse(stream, &reader)) refuse("{}: {}", path, reader.problem());
  if (!wanted.empty() && last >= reader.objects())
    refuse("{}: question {} is asked for, but {} has {}: do the two files belong together?", split, last, path,
           reader.objects());
  sequences::data_set d;
  d.train = std::move(parts[0]);
  d.dev = std::move(parts[1]);
  if (!d.dev.empty()) d.tests.push_back({"dev", d.dev});
  if (!parts[2].empty()) d.tests.push_back({"test", std::move(parts[2])});
  if (d.train.empty()) refuse("{}: trainIdxs is empty", split);
  return d;
}

}  // namespace triad::programs::cfq
