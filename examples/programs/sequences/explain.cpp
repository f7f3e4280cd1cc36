// The verb `explain` of all sequence-to-sequence programs. It shows the weight with which each layer reads each earlier
// layer, as a table and as pictures, and for one pair the attention between words.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "layers_page.hpp"
#include "program.hpp"
#include "shared/cli/outputs.hpp"
#include "shared/cli/say.hpp"
#include "shared/processes/first_writes.hpp"
#include "shared/report/printed.hpp"
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
  for (auto const token : tokens) all.push_back(printable_name(words.name_of(token)));
  all.push_back(words.name_of(words.end()));
  return all;
}

/// Returns the index of the first pair with at most `most` tokens on each side. If there is no such pair, returns the
/// index of the shortest pair.
std::size_t pair_of_page(std::vector<coded_pair> const& pairs) {
  constexpr std::size_t most = most_words_of_map - 1;  // without the end mark
  std::size_t shortest = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    auto const length = [&](std::size_t at) { return std::max(pairs[at].source.size(), pairs[at].target.size()); };
    if (length(i) <= most) return i;
    if (length(i) < length(shortest)) shortest = i;
  }
  return shortest;
}

/// Returns the sentence of --sentence together with its best translation.
text_pair translated(options const& o) {
  expect_plain_question(o.sentence);
  auto model = trained_translator(o, use::translating, [&](vocabulary& words, options const&) {
    if (auto const missing = words.source.unknown(o.sentence); !missing.empty())
      refuse("\"{}\" is not one of the {} words that the model knows; give a sentence of words of the training set",
             shortened(missing.front()), words.source.ordinary());
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

/// Prints the tables of what layers read, and writes layers.csv and a picture of each side if there is an --out.
void show_layers(options const& o, layer_weights const& weights, std::size_t pairs) {
  fmt::print(
      "mean over tokens and heads of {} pair{}: of a layer, the part of its attention to earlier layers that each of "
      "them gets\n\n",
      pairs, pairs == 1 ? "" : "s");
  std::string csv = "side,layer,reads,weight\n";
  for (auto const& [side, values] :
       {std::pair<std::string, reads const*>("encoder", &weights.encoder), {"decoder", &weights.decoder}}) {
    if (values->empty()) continue;
    fmt::print("{}\n", table_of(side, *values));
    csv += csv_of(side, *values);
    if (!o.out.empty()) write_svg(o.out + "/" + side + ".svg", map_of(side, *values));
  }
  if (!o.out.empty()) first_writes(o.out + "/layers.csv", csv);
}

/// Returns a pair with the weights of its words.
read_pair read_of(translator& net, vocabulary const& words, text_pair const& text, coded_pair const& pair) {
  read_pair one{
      text.source, text.target, words_of_rows(words.source, pair.source), words_of_rows(words.target, pair.target),
      {},          {}};
  net.clear();
  net.add(pair.source, pair.target);
  (void)net.read_weights();
  one.reads = net.reads();
  if (one.has_maps()) one.attention = net.attention();
  return one;
}

/// Prints for each target word the source words with the most attention, as the mean over heads of the last layer.
void show_attention(read_pair const& one) {
  fmt::print("{} -> {}\nof the attention of the last layer to the source, mean over heads:\n\n", one.source,
             one.target);
  text_table table({"written", "reads most", "", ""});
  auto const& map = one.attention.cross.back();
  for (index_t i = 0; i < map.queries; ++i) {
    std::vector<index_t> order(static_cast<std::size_t>(map.keys));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) { return map.mean(i, a) > map.mean(i, b); });
    std::vector<std::string> row{one.target_words[static_cast<std::size_t>(i)]};
    for (std::size_t k = 0; k < 3; ++k)
      row.push_back(k < order.size() ? fmt::format("{} {:.3f}", one.source_words[static_cast<std::size_t>(order[k])],
                                                   map.mean(i, order[k]))
                                     : "");
    table.row(row);
  }
  fmt::print("{}\n", table.text());
}

}  // namespace

int explain(options const& o, program const& p) {
  expect_free_in_folder(o, {"layers.csv", "encoder.svg", "decoder.svg", "attention.svg"});
  if (!o.sentence.empty()) refuse_given(o, {"count", "data"}, "pairs of the data: leave it, or --sentence, out");
  auto const chosen = o.sentence.empty() ? some_pairs(o, p) : std::vector<text_pair>{translated(o)};
  std::vector<coded_pair> pairs;
  auto model = trained_translator(o, use::explaining, [&](vocabulary& words, options const& shape) {
    p.expect_words(words);
    expect_readable(shape, words, "the chosen pairs", chosen);
    pairs = coded(chosen, words);
    return longest_of(pairs);
  });
  if (!o.out.empty()) make_folder(o.out);
  auto const weights = mean_weights(*model.net, pairs);
  bool const looks_back = !weights.encoder.empty() || !weights.decoder.empty();
  if (looks_back)
    show_layers(o, weights, pairs.size());
  else
    fmt::print("no layer of this model has fuse-attention, so there is only its attention between words to show\n\n");
  auto const at = pair_of_page(pairs);
  auto const one = read_of(*model.net, model.words, chosen[at], pairs[at]);
  if (one.has_maps()) {
    if (!looks_back) show_attention(one);
    if (!o.out.empty())
      write_svg(o.out + "/attention.svg",
                picture_of("Attention to the source: last layer, mean of heads", one.attention.cross.back(),
                           {"writes", "source word", one.target_words, one.source_words}));
  } else {
    say("attention between words is left out: a side of the shortest pair has more than {} tokens; --sentence shows a "
        "sentence of your own\n",
        most_words_of_map - 1);
  }
  if (!o.out.empty() && (looks_back || one.has_maps()))
    say("{} in {}\n", looks_back ? "layers.csv and pictures are" : "attention.svg is", o.out);
  if (o.html.empty()) return 0;
  write_page(o.html, layers_page(weights, pairs.size(), one));
  say("a page is in {}\n", o.html);
  return 0;
}

}  // namespace triad::programs::sequences
