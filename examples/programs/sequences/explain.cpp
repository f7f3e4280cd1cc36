// The verb `explain` of all sequence-to-sequence programs. It shows the weight with which each layer reads each earlier
// layer, as a table and as pictures.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "layers_page.hpp"
#include "program.hpp"
#include "shared/cli/outputs.hpp"
#include "shared/cli/say.hpp"
#include "shared/processes/first_writes.hpp"
#include "shared/report/refuse.hpp"
#include "shared/report/svg_heat_map.hpp"
#include "shared/report/table.hpp"
#include "trained.hpp"
#include "translate.hpp"

namespace triad::programs::sequences {
namespace {

using reads = std::vector<std::vector<double>>;

std::string table_of(std::string const& side, reads const& weights) {
  std::vector<std::string> header{side};
  for (std::size_t j = 0; j < weights.size(); ++j) header.push_back(layer_name(j));
  text_table table(header);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    std::vector<std::string> row{layer_name(i + 1)};
    for (double const w : weights[i]) row.push_back(fmt::format("{:.3f}", w));
    table.row(row);
  }
  return table.text();
}

heat_map map_of(std::string const& side, reads const& weights) {
  heat_map map{"What " + side + " layers read", "layer", "reads from", {}, {}, weights};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    map.rows.push_back(layer_name(i + 1));
    map.columns.push_back(layer_name(i));
  }
  return map;
}

std::string csv_of(std::string const& side, reads const& weights) {
  std::string text;
  for (std::size_t i = 0; i < weights.size(); ++i)
    for (std::size_t j = 0; j < weights[i].size(); ++j)
      text += side + "," + std::to_string(i + 1) + "," + std::to_string(j) + "," +
              fmt::format("{:.6f}", weights[i][j]) + "\n";
  return text;
}

/// Returns the names of the rows of one side, which are the tokens and the end.
std::vector<std::string> words_of_rows(language const& words, std::vector<index_t> const& tokens) {
  std::vector<std::string> all;
  for (auto const token : tokens) all.push_back(words.decode({token}));
  all.push_back("</s>");
  return all;
}

/// Returns the index of the first pair with at most `most` tokens on each side. If there is no such pair, returns the
/// index of the shortest pair.
std::size_t pair_of_page(std::vector<coded_pair> const& pairs) {
  constexpr std::size_t most = 60;
  std::size_t shortest = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    auto const length = [&](std::size_t at) { return std::max(pairs[at].source.size(), pairs[at].target.size()); };
    if (length(i) <= most) return i;
    if (length(i) < length(shortest)) shortest = i;
  }
  return shortest;
}

}  // namespace

namespace {

/// Returns the sentence of --sentence together with its best translation.
text_pair translated(options const& o) {
  expect_plain_question(o.sentence);
  auto model = trained_translator(o, use::translating, [&](vocabulary& words, options const&) {
    if (auto const missing = words.source.unknown(o.sentence); !missing.empty())
      refuse("\"{}\" is not one of the {} words that the model knows", shortened(missing.front()),
             words.source.ordinary());
    return pair_length{std::max<index_t>(1, static_cast<index_t>(words.source.encode(o.sentence).size())), 0};
  });
  text_pair pair{o.sentence, {}, {}};
  pair.target = translations(*model.net, {pair}, model.words, search_of(o, model.words)).front();
  say("{}\n{}\n\n", pair.source, pair.target);
  return pair;
}

/// Returns up to o.count pairs of the data.
std::vector<text_pair> some_pairs(options const& o, program const& p) {
  expect_tests(p);
  std::vector<text_pair> all;
  for (auto const& part : p.data.tests) all.insert(all.end(), part.pairs.begin(), part.pairs.end());
  return sample(all, o.count);
}

}  // namespace

int explain(options const& o, program const& p) {
  expect_free_in_folder(o, {"layers.csv", "encoder.svg", "decoder.svg"});
  if (!o.sentence.empty()) refuse_given(o, {"count", "data"}, "pairs of the data: leave it, or --sentence, out");
  auto const chosen = o.sentence.empty() ? some_pairs(o, p) : std::vector<text_pair>{translated(o)};
  std::vector<coded_pair> pairs;
  auto model = trained_translator(o, use::explaining, [&](vocabulary& words, options const& shape) {
    p.expect_words(words);
    expect_readable(shape, words, "the chosen pairs", chosen);
    pairs = coded(chosen, words);
    return longest_of(pairs);
  });
  auto const weights = mean_weights(*model.net, pairs);
  if (weights.encoder.empty() && weights.decoder.empty())
    refuse(
        "{}: no layer of this model has fuse-attention, which is what explain shows: train --model lrf has it, without "
        "--fuse none and --accumulate",
        o.run);
  fmt::print(
      "mean over tokens and heads of {} pair{}: of a layer, the part of its attention to earlier layers that each of "
      "them gets\n\n",
      pairs.size(), pairs.size() == 1 ? "" : "s");
  if (!o.out.empty()) make_folder(o.out);
  std::string csv = "side,layer,reads,weight\n";
  for (auto const& [side, values] :
       {std::pair<std::string, reads const*>("encoder", &weights.encoder), {"decoder", &weights.decoder}}) {
    if (values->empty()) continue;
    fmt::print("{}\n", table_of(side, *values));
    csv += csv_of(side, *values);
    if (!o.out.empty()) write_svg(o.out + "/" + side + ".svg", map_of(side, *values));
  }
  if (!o.out.empty()) {
    first_writes(o.out + "/layers.csv", csv);
    say("layers.csv and a picture of each side are in {}\n", o.out);
  }
  if (o.html.empty()) return 0;
  auto const at = pair_of_page(pairs);
  auto const& pair = pairs[at];
  model.net->clear();
  model.net->add(pair.source, pair.target);
  (void)model.net->read_weights();
  write_page(o.html, layers_page(weights, pairs.size(),
                                 {chosen[at].source, chosen[at].target, words_of_rows(model.words.source, pair.source),
                                  words_of_rows(model.words.target, pair.target), model.net->reads()}));
  say("a page is in {}\n", o.html);
  return 0;
}

}  // namespace triad::programs::sequences
