// Reads sentences from files, replaces their words by numbers, and adds predicted trees to sentences.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "program.hpp"
#include "shared/cli/say.hpp"
#include "shared/data/data_folder.hpp"
#include "shared/data/dictionary_json.hpp"
#include "shared/data/json_lines.hpp"
#include "shared/report/printed.hpp"
#include "shared/report/refuse.hpp"
#include "triad/io/json_read.hpp"

namespace triad::programs::dependencies {
namespace {

bool is_conllu(std::string const& path) { return path.ends_with(".conllu") || path.ends_with(".conllu.gz"); }

/// Throws data_error if a text cannot be a column of CoNLL-U: it is empty, or contains a tab or a line end.
std::string const& checked(std::string const& text, std::string const& what) {
  if (text.empty()) refuse("{} is empty; expected a text", what);
  if (text.find_first_of("\t\n\r") != std::string::npos)
    refuse("{} is {}; expected a text without tabs and line ends", what, quoted(nlohmann::json(text)));
  return text;
}

std::vector<std::string> texts_of(nlohmann::json const& line, char const* name, char const* expected,
                                  std::string const& one) {
  auto texts = member<std::vector<std::string>>(line, name, expected);
  for (std::size_t i = 0; i < texts.size(); ++i) checked(texts[i], fmt::format("{} {}", one, i + 1));
  return texts;
}

/// Returns the endings of the files that the program reads, for error messages.
char const* endings(options const& o) { return o.task.empty() ? ".conllu or .jsonl" : ".conllu"; }

sentences read_json_sentences(std::string const& path) {
  sentences all;
  read_json_lines(path, [&](nlohmann::json const& line) {
    auto const tokens = tokens_of(line);
    auto const heads = json_integers<int>(member(line, "heads", "a list of whole numbers, 0 for the root"), "heads");
    auto const labels = texts_of(line, "labels", "a list of texts", "the label of token");
    auto const n = tokens.size();
    if (n == 0 || heads.size() != n || labels.size() != n)
      refuse("{} tokens, {} heads and {} labels; expected as many of each, and one at least", n, heads.size(),
             labels.size());
    if (auto const none = std::find(labels.begin(), labels.end(), "_"); none != labels.end())
      refuse("the label of token {} is \"_\", which says in CoNLL-U that there is none; give it another name",
             none - labels.begin() + 1);
    auto s = text::conllu_of(tokens);
    int roots = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (heads[i] < 0 || heads[i] > static_cast<int>(n) || heads[i] == static_cast<int>(i) + 1)
        refuse("the head of token {} is {}; expected another of the {} tokens, counted from 1, or 0 for the root",
               i + 1, heads[i], n);
      roots += heads[i] == 0 ? 1 : 0;
      s.words[i] = {tokens[i], heads[i], labels[i]};
    }
    if (roots != 1) refuse("{} heads are 0; expected one, the root's", roots);
    auto const head = [&](int i) { return heads[static_cast<std::size_t>(i - 1)]; };
    if (int const at = text::word_on_cycle(static_cast<int>(n), head); at != 0)
      refuse("the heads from token {} upward come back to it: no tree", at);
    all.push_back(std::move(s));
  });
  return all;
}

}  // namespace

std::vector<std::string> tokens_of(nlohmann::json const& line) {
  return texts_of(line, "tokens", "a list of words", "token");
}

int inspect(std::string const& path) {
  auto const all = is_conllu(path) ? text::read_conllu(path) : read_json_sentences(path);
  std::map<std::string, int> words, relations;
  std::size_t longest = 0;
  for (auto const& s : all) {
    longest = std::max(longest, s.words.size());
    for (auto const& word : s.words) {
      ++words[word.form];
      ++relations[word.relation];
    }
  }
  std::string names;
  for (auto const& [name, count] : relations)
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", printable_name(name), count);
  say("{}: {} sentences of up to {} words\n{} words\n{} relations: {}\n", path, all.size(), longest, words.size(),
      relations.size(), names);
  return 0;
}

data_set read_data(options const& o, bool needs_train) {
  if (o.data.empty())
    refuse("{} needs sentences: give a folder with train, dev and test {} with --data; docs/data.md has the format",
           o.one_task ? "a parser" : "--task " + o.task, endings(o));
  auto const files = find_data(o.data, {".conllu", ".jsonl"}, needs_train);
  auto const read = [](std::string const& path) {
    return is_conllu(path) ? text::read_conllu(path) : read_json_sentences(path);
  };
  data_set d;
  auto const need = [](sentences all, std::string const& path) {
    if (all.empty()) refuse("{}: there is no sentence in it; docs/data.md has the format", path);
    return all;
  };
  if (needs_train) d.train = need(read(files.train), files.train);
  if (!files.dev.empty()) d.tests.push_back({"dev", need(read(files.dev), files.dev)});
  for (auto const& [name, path] : files.tests) d.tests.push_back({name, need(read(path), path)});
  return d;
}

vocabulary vocabulary::of(sentences const& train, int least_count) {
  text::token_counts counts;
  std::map<std::string, int> relations;
  for (auto const& s : train)
    for (auto const& word : s.words) counts.add(word.form), ++relations[word.relation];
  std::vector<std::string> names;
  for (auto const& [name, count] : relations) names.push_back(name);
  return {dictionary::build(counts, least_count), std::move(names)};
}

nlohmann::json to_json(vocabulary const& v) {
  auto json = dictionary_json(v.words());
  json["relations"] = v.relations();
  return json;
}

vocabulary vocabulary::from(nlohmann::json const& json, std::string const& file) {
  std::string reason;
  try {
    auto relations = json.at("relations").get<std::vector<std::string>>();
    if (!relations.empty()) return {dictionary_from(json), std::move(relations)};
  } catch (nlohmann::json::exception const&) {
  } catch (data_error const& e) {
    reason = std::string(": ") + e.what();
  }
  refuse("{}: its vocabulary is not one of this task's{}", file, reason);
}

namespace {

/// Returns whether the dictionary has the word.  Returns false for a word that is spelt like a special token: <s>,
/// <pad>, </s> or <unk>.
bool known(std::string const& word, vocabulary const& v) { return v.words().number(word) >= dictionary::specials; }

}  // namespace

std::vector<attached_token> numbered(conllu_sentence const& s, vocabulary const& v) {
  std::vector<attached_token> result;
  auto const parents = text::parents_of(s);
  for (std::size_t i = 0; i < s.words.size(); ++i)
    result.push_back({known(s.words[i].form, v) ? v.words().number(s.words[i].form) : dictionary::unknown, parents[i],
                      v.relation(s.words[i].relation)});
  return result;
}

void expect_known(conllu_sentence const& s, vocabulary const& v) {
  for (auto const& word : s.words)
    if (!known(word.form, v))
      refuse(
          "\"{}\" is not one of the {} words that the model knows; with --unknown it is read as <unk>, as evaluate "
          "reads it",
          shortened(word.form), v.words().size() - dictionary::specials);
}

std::string unknown_in(sentences const& all, vocabulary const& v) {
  struct unknown {
    long long count = 0;
    std::string first{};

    void add(std::string const& name) {
      if (count++ == 0) first = name;
    }
    std::string told(char const* what) const {
      return count == 0
                 ? std::string()
                 : fmt::format("; {} unknown {}{}, such as '{}'", count, what, count == 1 ? "" : "s", shortened(first));
    }
  };
  unknown words, relations;
  for (auto const& s : all)
    for (auto const& word : s.words) {
      if (!known(word.form, v)) words.add(word.form);
      if (!word.relation.empty() && v.relation(word.relation) < 0) relations.add(word.relation);
    }
  return words.told("word") + (words.count > 0 ? ", read as <unk>" : "") + relations.told("relation");
}

conllu_sentence with_tree(conllu_sentence s, found_tree const& tree, vocabulary const& v) {
  text::set_parents(s, std::vector<index_t>(tree.parent.begin(), tree.parent.end()));
  for (std::size_t i = 0; i < s.words.size(); ++i)
    s.words[i].relation = v.relations()[static_cast<std::size_t>(tree.relation[i])];
  return s;
}

}  // namespace triad::programs::dependencies
