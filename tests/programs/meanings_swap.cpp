// Tests the replacement of phrases by phrases of other training sentences, for labelled graphs of any format.  Also
// uses the published sentences of SLOG if they are next to the checkout.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "meanings/cogs/grammar.hpp"
#include "meanings/commands.hpp"
#include "meanings/data.hpp"
#include "meanings/swap.hpp"
#include "meanings/variable_free.hpp"
#include "tests/catch.hpp"
#include "tests/published.hpp"
#include "triad/io/text/characters.hpp"

namespace programs_meanings_swap_tests {

using namespace triad::programs::meanings;
using triad::programs::most_swap_draws;
using triad::programs::stream_of_swap;
using texts = std::vector<std::string>;
using graphs = std::vector<meaning>;

std::string text_of(meaning const& m) { return triad::text::joined(m.tokens); }
std::string text_of(meaning const& m, phrase const& p) { return name_of(m, node::span(p.first, p.last)); }
texts phrases_in(meaning const& m, swap_words const& words = {}) {
  texts all;
  for (auto const& p : phrases_of(m, words)) all.push_back(text_of(m, p));
  return all;
}
/// Returns the phrase with these words.
phrase find(meaning const& m, std::string const& words) {
  for (auto const& p : phrases_of(m, {}))
    if (text_of(m, p) == words) return p;
  FAIL("\"" << text_of(m) << "\" has no phrase \"" << words << "\"");
  return {};
}
meaning swapped(meaning const& m, std::string const& place, meaning const& other, std::string const& given) {
  return with_phrase(m, find(m, place), other, find(other, given), {});
}

meaning liked() {
  return graph_of_form("The fox liked a cup that Ada cleaned .",
                       "like ( agent = * fox , theme = cup ( nmod = clean ( agent = Ada , theme = cup ) ) )", "clause");
}
meaning wanted() {
  return graph_of_form(
      "A cat on the roof wanted to sing .",
      "want ( agent = cat ( nmod . on = * roof ) , xcomp = sing ( agent = cat ( nmod . on = * roof ) ) )",
      "infinitive");
}
meaning given_to_bo() {
  return graph_of_form("A fox gave the pear to Bo .", "give ( agent = fox , theme = * pear , recipient = Bo )",
                       "dative");
}
meaning asked() { return graph_of_form("What did Bo see ?", "see ( agent = Bo , theme = ? )", "question"); }

graphs commands(int count) {
  command_generator random(5);
  graphs all;
  for (int i = 0; i < count; ++i) all.push_back(random.next(1 + i % 3));
  return all;
}
swap_words words_of_commands() { return {{"a", "the", "red", "blue", "green", "white"}, {}}; }

graphs tagged(int count) {
  triad::programs::cogs::sentence_generator random(7);
  graphs all;
  for (int i = 0; i < count; ++i) all.push_back(graph_of_tags(random.next()));
  return all;
}

/// Swaps of a list, with its own vocabulary.
struct swapping {
  std::vector<given_row> rows;
  vocabulary words;
  phrase_swaps swaps;

  explicit swapping(graphs const& all, swap_words const& language = {}, int least_count = 1)
      : rows(rows_of(all)),
        words(vocabulary::of(rows, least_count)),
        swaps(pointers(), language, words, most_slots_of(all)) {}
  swapping(swapping const&) = delete;

  std::optional<swapped_sentence> of(std::size_t i, std::uint64_t epoch = 0) const {
    return swaps(i, *stream_of_swap(1, 1.0, i, epoch));
  }

 private:
  static std::vector<given_row> rows_of(graphs const& all) {
    std::vector<given_row> rows;
    for (auto const& m : all) rows.push_back({m, {}, {}});
    return rows;
  }
  static int most_slots_of(graphs const& all) {
    int most = 0;
    for (auto const& m : all) most = std::max(most, slots_of(m));
    return most;
  }
  std::vector<meaning const*> pointers() const {
    std::vector<meaning const*> all;
    for (auto const& row : rows) all.push_back(&row.graph);
    return all;
  }
};

TEST_CASE("a phrase is a node with all that it reaches, and with the phrase words before it") {
  CHECK(phrases_in(liked()) == texts{"The fox", "a cup that Ada cleaned", "Ada"});
  CHECK(phrases_in(liked(), {{}, {}}) == texts{"fox", "cup that Ada cleaned", "Ada"});
  CHECK(phrases_in(liked(), {{"a", "fox"}, {}}) == texts{"fox", "a cup that Ada cleaned", "Ada"});
  CHECK(phrases_in(liked(), {{"a", "liked"}, {}}) == texts{"fox", "Ada"});  // the verb is a node outside
  // An agent of two verbs has two edges from outside, and they enter the same node.
  CHECK(phrases_in(wanted()) == texts{"A cat on the roof", "the roof"});
  CHECK(phrases_in(asked()) == texts{"Bo"});
  CHECK(phrases_in(asked(), {{}, {}}) == texts{"What", "Bo"});
  // No edge from outside enters the only noun.
  CHECK(phrases_in(graph_of_form("fox", "fox", "")).empty());
  CHECK(phrases_in(graph_of_form("The fox that sang", "* fox ( nmod = sing ( agent = * fox ) )", "")).empty());

  auto const p = find(liked(), "a cup that Ada cleaned");
  CHECK(p == phrase{2, 3, 7, {2, 3, 4}});
}

TEST_CASE("a node whose words or edges do not keep to themselves has no phrase") {
  auto const with = [](auto const& change) {
    auto m = liked();  // nodes: fox, liked, cup, Ada, cleaned
    change(m);
    return phrases_in(canonical(m));
  };
  // An edge from outside enters the inside of the relative clause, here at Ada.
  CHECK(with([](meaning& m) { m.edges.push_back({1, "recipient", 3}); }) == texts{"The fox", "Ada"});
  // The phrase has an edge to a slot, or to a word before it.
  CHECK(with([](meaning& m) { m.edges.push_back({4, "place", m.add(node::slot(0))}); }) == texts{"The fox", "Ada"});
  CHECK(with([](meaning& m) { m.edges.push_back({4, "place", 0}); }) == texts{"The fox", "Ada"});
  // A node of another phrase stands between: the words are not contiguous.
  CHECK(with([](meaning& m) { m.edges.push_back({1, "mark", m.add(node::token(5))}); }) ==
        texts{"The fox", "that", "Ada"});
  // The article is a node of its own, which the noun does not reach, or which it reaches.
  CHECK(with([](meaning& m) { m.edges.push_back({1, "det", m.add(node::token(0))}); }) ==
        texts{"The", "a cup that Ada cleaned", "Ada"});
  CHECK(with([](meaning& m) { m.edges.push_back({0, "det", m.add(node::token(0))}); }) ==
        texts{"The", "The fox", "a cup that Ada cleaned", "Ada"});
  // A slot is no phrase, and an edge from a slot is one from outside.
  meaning slots;
  slots.tokens = {"wash", "cups"};
  slots.nodes = {node::token(0), node::token(1), node::slot(0)};
  slots.node_labels.resize(3);
  slots.edges = {{2, "does", 0}, {0, "theme", 1}};
  CHECK(phrases_in(slots) == texts{"wash cups", "cups"});
  // A span is one node.
  auto spans = slots;
  spans.tokens = {"wash", "the", "red", "cup"};
  spans.nodes[1] = node::span(2, 3);
  CHECK(phrases_in(spans) == texts{"wash the red cup", "the red cup"});
}

TEST_CASE("words, nodes, labels and edges of a phrase take another's place, and the new head gets the outer edges") {
  CHECK(swapped(given_to_bo(), "the pear", liked(), "a cup that Ada cleaned") ==
        graph_of_form(
            "A fox gave a cup that Ada cleaned to Bo .",
            "give ( agent = fox , theme = cup ( nmod = clean ( agent = Ada , theme = cup ) ) , recipient = Bo )",
            "dative"));
  CHECK(swapped(liked(), "a cup that Ada cleaned", given_to_bo(), "the pear") ==
        graph_of_form("The fox liked the pear .", "like ( agent = * fox , theme = * pear )", "clause"));
  // Both edges that enter the old head enter the new one.
  CHECK(
      swapped(wanted(), "A cat on the roof", liked(), "a cup that Ada cleaned") ==
      graph_of_form("A cup that Ada cleaned wanted to sing .",
                    "want ( agent = cup ( nmod = clean ( agent = Ada , theme = cup ) ) , xcomp = sing ( agent = cup ( "
                    "nmod = clean ( agent = Ada , theme = cup ) ) ) )",
                    "infinitive"));
  // A phrase inside another phrase.
  CHECK(
      swapped(liked(), "Ada", wanted(), "A cat on the roof") ==
      graph_of_form("The fox liked a cup that a cat on the roof cleaned .",
                    "like ( agent = * fox , theme = cup ( nmod = clean ( agent = cat ( nmod . on = * roof ) , theme = "
                    "cup ) ) )",
                    "clause"));
  for (auto const& m : {liked(), wanted(), given_to_bo(), asked()})
    for (auto const& p : phrases_of(m, {})) CHECK(with_phrase(m, p, m, p, {}) == m);
  // The label of the whole graph, slots and spans stay.
  meaning m;
  m.tokens = {"wash", "it", "in", "New", "York"};
  m.nodes = {node::token(0), node::token(1), node::span(3, 4), node::slot(0)};
  m.node_labels = {{"verb"}, {}, {"place"}, {"person"}};
  m.edges = {{0, "theme", 1}, {0, "in", 2}, {3, "does", 0}};
  m.label = "command";
  auto const r = swapped(m, "it", liked(), "a cup that Ada cleaned");
  CHECK(text_of(r) == "wash a cup that Ada cleaned in New York");
  CHECK(r.label == "command");
  CHECK(r.nodes ==
        std::vector{node::token(0), node::token(2), node::token(4), node::token(5), node::span(7, 8), node::slot(0)});
  CHECK(r.node_labels == std::vector<texts>{{"verb"}, {}, {}, {"verb clean"}, {"place"}, {"person"}});
  CHECK(r.edges ==
        std::vector<edge>{
            {0, "theme", 1}, {0, "in", 4}, {1, "nmod", 3}, {3, "theme", 1}, {3, "agent", 2}, {5, "does", 0}});
}

TEST_CASE("a phrase word is capitalised only as the first word of the sentence, and a name keeps its case") {
  struct example {
    meaning of;
    char const* place;
    meaning from;
    char const *given, *text;
  };
  auto lower = liked();
  lower.tokens[0] = "the";
  auto inside = given_to_bo();  // a capitalised phrase word that does not begin its sentence, as in a title
  inside.tokens[3] = "The";
  for (auto const& e : {example{given_to_bo(), "the pear", liked(), "The fox", "A fox gave the fox to Bo ."},
                        example{given_to_bo(), "A fox", liked(), "a cup that Ada cleaned",
                                "A cup that Ada cleaned gave the pear to Bo ."},
                        example{given_to_bo(), "A fox", liked(), "Ada", "Ada gave the pear to Bo ."},
                        example{liked(), "Ada", given_to_bo(), "A fox", "The fox liked a cup that a fox cleaned ."},
                        example{lower, "the fox", given_to_bo(), "the pear", "the pear liked a cup that Ada cleaned ."},
                        example{lower, "the fox", given_to_bo(), "A fox", "a fox liked a cup that Ada cleaned ."},
                        example{lower, "the fox", given_to_bo(), "Bo", "Bo liked a cup that Ada cleaned ."},
                        example{liked(), "Ada", inside, "The pear", "The fox liked a cup that The pear cleaned ."}}) {
    CAPTURE(e.text);
    CHECK(text_of(swapped(e.of, e.place, e.from, e.given)) == e.text);
  }
  // A name at the beginning gives its capital to an article that takes its place.
  auto const ada = graph_of_form("Ada sang .", "sing ( agent = Ada )", "");
  CHECK(text_of(swapped(ada, "Ada", given_to_bo(), "the pear")) == "The pear sang .");
}

TEST_CASE("no swap makes a sentence that is too large, or that has an unknown word or graph") {
  auto const every = [](swapping const& s, auto const& f) {
    int count = 0;
    for (std::uint64_t epoch = 0; epoch < 200; ++epoch)
      for (std::size_t i = 0; i < s.rows.size(); ++i)
        if (auto const made = s.of(i, epoch)) f(made->graph), ++count;
    return count;
  };
  // No sentence has "a" or "The".
  auto const fox = graph_of_form("A fox saw Bo .", "see ( agent = fox , theme = Bo )", ""),
             bo = graph_of_form("Bo saw the fox .", "see ( agent = Bo , theme = * fox )", "");
  meaning filler;  // so that no swap is too long
  filler.tokens = texts(9, ".");
  std::set<std::string> made;
  CHECK(every(swapping({fox, bo, filler}), [&](meaning const& m) { made.insert(text_of(m)); }) > 300);
  CHECK(made == std::set<std::string>{"Bo saw Bo .", "A fox saw Bo .", "A fox saw the fox .", "Bo saw the fox ."});

  swapping const sizes({liked(), given_to_bo(), wanted()});
  CHECK(sizes.swaps.longest() == 9);
  std::size_t most = 0;
  CHECK(every(sizes, [&](meaning const& m) { most = std::max(most, m.tokens.size()); }) > 300);
  CHECK(most == 9);

  // The first sentence has four nodes, as many as any.  With `r s` in the place of q or s it would have five.
  meaning four, three;
  four.tokens = {"p", "q", "r", "s", "."};
  three.tokens = {"p", "r", "s", ".", ".", ".", ".", "."};
  for (int i = 0; i < 4; ++i) four.add(node::token(i));
  for (int i = 0; i < 3; ++i) three.add(node::token(i));
  four.edges = {{0, "x", 1}, {0, "x", 2}, {2, "x", 3}};
  three.edges = {{0, "x", 1}, {1, "x", 2}};
  REQUIRE(phrases_in(four) == texts{"q", "r s", "s"});
  swapping const nodes({four, three});
  CHECK(nodes.words.by_word());
  CHECK(nodes.swaps.longest() == 8);
  CHECK(nodes.swaps.most_queried() == 4);
  std::set<std::string> of_four;
  for (std::uint64_t epoch = 0; epoch < 200; ++epoch)
    if (auto const one = nodes.of(0, epoch)) of_four.insert(text_of(one->graph));
  CHECK(of_four == std::set<std::string>{"p s r s .", "p q r s .", "p q s ."});

  // With words that occur once left out of the dictionary, no new phrase has an unknown word.
  int rare = 0;
  swapping const frequent({liked(), given_to_bo(), given_to_bo()}, {}, 2);
  CHECK(every(frequent, [&](meaning const& m) {
          rare += std::count(m.tokens.begin(), m.tokens.end(), "cup") > 1 ? 1 : 0;
          rare += text_of(m).find("gave a cup") != std::string::npos ? 1 : 0;
        }) > 100);
  CHECK(rare == 0);
}

TEST_CASE("a sentence without a phrase, or without another one, keeps its phrases") {
  swapping const one({liked()}), two({liked(), graph_of_form("sing", "sing", "")});
  CHECK(one.swaps.sentences() == 0);
  CHECK(one.swaps.phrases() == 3);
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    CHECK_FALSE(one.of(0, epoch));
    CHECK_FALSE(two.of(0, epoch));  // the other sentence has no phrase
    CHECK_FALSE(two.of(1, epoch));
  }
}

TEST_CASE("labels are of one kind if they enter a phrase with the same words, and a phrase stays with its kind") {
  using kinds = std::vector<texts>;
  // "Bo" is an agent and a recipient, and "the pear" and "The pear" are a theme and an agent.
  auto const pear = graph_of_form("The pear fell .", "fall ( agent = * pear )", "");
  CHECK(swapping({given_to_bo(), asked()}).swaps.kinds() == kinds{{"agent", "recipient"}, {"theme"}});
  CHECK(swapping({given_to_bo(), asked(), pear}).swaps.kinds() == kinds{{"agent", "recipient", "theme"}});
  // Two edges of one phrase are of one kind, too: the cat wants, and it sings.
  auto other = wanted();  // nodes: cat, roof, wanted, sing
  for (auto& e : other.edges)
    if (e.from == 3) e.label = "singer";
  CHECK(swapping({other}).swaps.kinds() == kinds{{"agent", "singer"}, {"nmod . on"}});
  // The only other phrase is of another kind.
  auto const sang = graph_of_form("Ada sang .", "sing ( agent = Ada )", ""),
             seen = graph_of_form("Bo was seen .", "see ( theme = Bo )", "");
  swapping const apart({sang, seen});
  CHECK(apart.swaps.kinds() == kinds{{"agent"}, {"theme"}});
  CHECK(apart.swaps.phrases() == 2);
  CHECK(apart.swaps.sentences() == 0);
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) CHECK_FALSE(apart.of(0, epoch));
  swapping const together({sang, seen, graph_of_form("Ada was seen .", "see ( theme = Ada )", "")});
  CHECK(together.swaps.kinds() == kinds{{"agent", "theme"}});
  CHECK(together.swaps.sentences() == 3);

  // In graphs of COGS, a preposition is the head of a phrase.  It takes the place of no noun.  Our grammar has nouns
  // for places alone.
  swapping const of_cogs(tagged(300));
  CHECK(of_cogs.swaps.kinds() == kinds{{"PP_NOUN"}, {"PREP"}, {"agent", "recipient", "theme"}, {"xcomp"}});
  for (std::size_t i = 0; i < 300; ++i)
    if (auto const one = of_cogs.of(i))
      for (auto const& e : one->graph.edges) {
        auto const& to = one->graph.node_labels[static_cast<std::size_t>(e.to)];
        auto const is = [&](char const* label) { return std::find(to.begin(), to.end(), label) != to.end(); };
        if (e.label == "PREP") CHECK(to.empty());
        if (e.label == "agent" || e.label == "PP_NOUN") CHECK((is("PNOUN") || is("CNOUN")));
        if (e.label == "xcomp") CHECK((!is("PNOUN") && !is("CNOUN") && !to.empty()));
      }
}

TEST_CASE("the same seed, epoch and sentence give the same swap, and others give others") {
  auto const all = tagged(60);
  swapping const first(all), second(all);
  std::set<std::string> made;
  int others = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto const a = first.of(i, 3), b = second.of(i, 3), later = first.of(i, 4);
    REQUIRE(a.has_value() == b.has_value());
    if (!a || !later) continue;
    CHECK(a->graph == b->graph);
    CHECK(a->numbers == b->numbers);
    others += a->graph == later->graph ? 0 : 1;
  }
  CHECK(others > 40);
  int changed = 0;
  for (std::size_t i = 0; i < 2000; ++i) {
    auto const random = stream_of_swap(9, 0.25, i, 2);
    changed += random ? 1 : 0;
    CHECK(random.has_value() == stream_of_swap(9, 0.25, i, 2).has_value());
  }
  CHECK(changed > 420);  // 500 expected, and four standard deviations are 77
  CHECK(changed < 580);
  CHECK_FALSE(stream_of_swap(9, 0, 1, 1));
}

/// Counts labels of edges and of nodes, of the whole graph and of its phrase.
struct inventory {
  std::map<std::string, int> outer, inner, labels_outside, labels_inside;

  inventory(meaning const& m, std::vector<int> const& nodes) {
    auto const inside = [&](int i) { return std::binary_search(nodes.begin(), nodes.end(), i); };
    for (auto const& e : m.edges) ++(inside(e.from) && inside(e.to) ? inner : outer)[e.label];
    for (std::size_t i = 0; i < m.nodes.size(); ++i)
      for (auto const& label : m.node_labels[i])
        ++(inside(static_cast<int>(i)) ? labels_inside : labels_outside)[label];
  }
};

/// Checks a swap of every phrase of a list with some phrase of the list.  Returns the number of swaps.
int expect_invariants(graphs const& all, swap_words const& words) {
  std::vector<std::pair<meaning const*, phrase>> pool;
  for (auto const& m : all)
    for (auto const& p : phrases_of(m, words)) pool.emplace_back(&m, p);
  long long wrong = 0;
  for (std::size_t k = 0; k < pool.size(); ++k) {
    auto const& [m, place] = pool[k];
    auto const& [other, given] = pool[(k * 7919 + 13) % pool.size()];
    auto const r = with_phrase(*m, place, *other, given, words);
    // The nodes of the new phrase are those that lie in its tokens.
    int const last = place.first + given.size() - 1;
    std::vector<int> nodes;
    for (int i = 0; i < static_cast<int>(r.nodes.size()); ++i) {
      auto const& n = r.nodes[static_cast<std::size_t>(i)];
      if (!n.is_slot && n.first >= place.first && n.last <= last) nodes.push_back(i);
    }
    inventory const found(r, nodes), of_place(*m, place.nodes), of_given(*other, given.nodes);
    bool right = checked(r) == r && r.tokens.size() + static_cast<std::size_t>(place.size()) ==
                                        m->tokens.size() + static_cast<std::size_t>(given.size());
    right = right && nodes.size() == given.nodes.size() && found.inner == of_given.inner &&
            found.outer == of_place.outer && found.labels_inside == of_given.labels_inside &&
            found.labels_outside == of_place.labels_outside;
    // The new phrase is a phrase, and swapped back it gives the sentence again, except for the case of first words.
    auto const phrases = phrases_of(r, words);
    auto const back = std::find_if(phrases.begin(), phrases.end(), [&](phrase const& p) { return p.nodes == nodes; });
    right = right && back != phrases.end();
    if (right) right = same_graph(with_phrase(r, *back, *m, place, words), *m);
    if (right || ++wrong > 3) continue;
    CAPTURE(text_of(*m), text_of(*m, place), text_of(*other, given), text_of(r));
    CHECK(right);
  }
  CHECK(wrong == 0);
  return static_cast<int>(pool.size());
}

TEST_CASE("a swap keeps the edges from outside, and the graph of the new phrase") {
  CHECK(expect_invariants(commands(200), words_of_commands()) > 300);
  CHECK(expect_invariants(tagged(300), {}) > 500);
  CHECK(expect_invariants({liked(), wanted(), given_to_bo(), asked()}, {}) == 9);
}

TEST_CASE("the swapped sentences of a list can be learned") {
  for (auto const& [all, words] : {std::pair(commands(80), words_of_commands()), {tagged(80), swap_words()}}) {
    swapping const s(all, words);
    int made = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto const one = s.of(i);
      if (!one) continue;
      ++made;
      CHECK(same_graph(graph_of(one->graph.tokens, one->numbers, s.words), one->graph));
      CHECK(one->graph.tokens.size() <= s.swaps.longest());
      CHECK(one->numbers.queried.size() <= s.swaps.most_queried());
      CHECK(one->graph.kind == all[i].kind);
    }
    CHECK(made > 70);
  }
}

TEST_CASE("the published sentences of SLOG have phrases by the counts of the program's page, and swap consistently") {
  auto const path = triad::test::published("slog/varfree_train.tsv.gz");
  if (triad::test::is_missing(path, "sentences of SLOG")) return;
  graphs all;
  for (auto const& row : read_rows(path.string())) all.push_back(row.graph);
  CHECK(expect_invariants(all, {}) == 80592);
  swapping const s(all);
  CHECK(s.swaps.sentences() == 32557);
  CHECK(s.swaps.kinds().size() == 1);
  std::size_t made = 0, forms = 0;
  for (std::size_t i = 0; i < all.size(); i += 7)
    if (auto const one = s.of(i)) {
      ++made;
      forms += variable_free_form(one->graph).empty() ? 0U : 1U;
    }
  CHECK(made > all.size() / 7 * 98 / 100);
  CHECK(forms == made);
}

}  // namespace programs_meanings_swap_tests
