// Tests sequence-to-sequence tasks: the dictionaries of a training set, pairs that are left out, unknown words,
// translations in batches, and scores.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "sequences/models.hpp"
#include "sequences/score.hpp"
#include "sequences/trained.hpp"
#include "sequences/translate.hpp"
#include "shared/report/svg_heat_map.hpp"
#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"

namespace programs_seq2seq_task_tests {

using namespace triad::programs::sequences;
using triad::hypothesis, triad::index_t, triad::programs::figure, triad::programs::sample;
using triad::test::contains;
using triad::test::WithinAbs;
using list = std::vector<std::string>;

data_set small() {
  data_set d;
  d.train = {{"a b", "X Y X", ""}, {"b a a", "Y", ""}, {"c", "Z Z Z Z", ""}};
  d.tests = {{"test", {{"a d c", "X W", ""}}}};
  return d;
}

options few_tokens() {
  options o;
  o.tokens = 8;
  return o;
}

/// Reads a vocabulary from a checkpoint's JSON. Checks that the vocabulary is written as the same JSON.
vocabulary reread(nlohmann::json const& json) {
  auto back = vocabulary::from(json, "file");
  CHECK(to_json(back) == json);
  return back;
}

TEST_CASE("words of the training set are numbered, the most frequent first, and texts come back") {
  task work(few_tokens(), small());
  auto& words = work.words();
  CHECK(words.source.words().size() == 4 + 3);
  CHECK(words.target.words().size() == 4 + 3);
  CHECK(words.source.encode("a b c") == std::vector<index_t>{4, 5, 6});
  CHECK(words.target.encode("Z X Y") == std::vector<index_t>{4, 5, 6});
  CHECK(words.target.decode({4, 5, 6}) == "Z X Y");
  CHECK(words.longest_source == 3);
  CHECK(words.longest_target == 4);
  CHECK(work.unknown().empty());
  CHECK(unknown_in(small().tests[0].pairs, words) ==
        "; 1 unknown source words, such as 'd'; 1 unknown target words, such as 'W'");
}

TEST_CASE("long targets are left out of training, not of its words; nothing left is an error") {
  auto o = few_tokens();
  o.longest_training = 3;
  task work(o, small());
  CHECK(work.pairs() == 2);
  CHECK(work.left_out() == 1);
  CHECK(work.words().target.words().contains("Z"));
  CHECK(work.words().longest_target == 3);
  o.longest_training = 0;
  o.tokens = 4;
  CHECK_THROWS_WITH(task(o, small()), contains("--tokens"));
  CHECK_THROWS_WITH(task(o, data_set{}), contains("no pair"));
  data_set marked = small();
  marked.train[1].target = "X </s> Y";
  CHECK_THROWS_WITH(task(few_tokens(), marked),
                    contains("pair 2: the target has the word </s>, which is the model's own"));
}

TEST_CASE("a word that is written as a mark of the dictionary is unknown in a question, and none of a training pair") {
  task work(few_tokens(), small());
  auto& source = work.words().source;
  for (auto const* mark : {"<s>", "<pad>", "</s>", "<unk>"}) {
    CAPTURE(mark);
    CHECK(source.unknown(std::string("a ") + mark) == std::vector<std::string>{mark});
    CHECK(source.encode(mark) == std::vector<index_t>{dictionary::unknown});
  }
  CHECK(source.unknown("a").empty());
  data_set marked = small();
  marked.train[2].source = "a <pad>";
  CHECK_THROWS_WITH(task(few_tokens(), marked),
                    contains("pair 3: the source has the word <pad>, which is the model's own mark"));
  marked.train[2].source = "a <unk>";
  CHECK(task(few_tokens(), marked).unknown() == "; 1 unknown source words, such as '<unk>'");
}

TEST_CASE("updates are counted, or follow from epochs; a batch gives each pair by its numbers") {
  auto o = few_tokens();
  o.updates = 11;
  task work(o, small());
  CHECK(work.updates() == 11);
  o.epochs = 3;
  task epochs(o, small());
  CHECK(epochs.updates() >= 3 * 2);  // 3 + 1, 1 + 1 and 4 + 1 target tokens do not fit into 8
  std::size_t seen = 0;
  for (std::int64_t u = 0; u < epochs.updates(); ++u)
    epochs.batch(u, [&](coded_pair const& p) { seen += p.target.size(); });
  CHECK(seen == 3 * 8);
}

TEST_CASE("files give dictionaries and merges; unknown words of a given dictionary are counted") {
  triad::test::scratch_folder const folder;
  std::ofstream(folder / "dict") << "X 10\nY 9\n";
  std::ofstream(folder / "code") << "#version: 0.2\na b</w>\n";
  auto o = few_tokens();
  o.target_dictionary = folder / "dict";
  o.source_bpe = folder / "code";
  data_set d;
  d.train = {{"ab cab", "X Y", ""}, {"ab", "Z", ""}};
  task work(o, d);
  auto& words = work.words();
  CHECK(words.source.words().contains("c@@"));
  CHECK(words.source.encode("ab cab").size() == 3);
  CHECK(words.source.decode(words.source.encode("ab cab")) == "ab cab");
  CHECK(words.target.words().size() == 6);
  CHECK(work.unknown() == "; 1 unknown target words, such as 'Z'");

  auto const json = to_json(words);
  auto back = reread(json);
  CHECK(back.source.encode("cab ab") == words.source.encode("cab ab"));
  auto broken = json;
  broken["source"]["counts"].erase(0);
  CHECK_THROWS_WITH(vocabulary::from(broken, "file"), contains("file: its vocabulary"));
  broken = json;
  broken["target"]["tokens"][1] = "X";
  CHECK_THROWS_WITH(vocabulary::from(broken, "file"), contains("'X' is twice"));
  broken = json;
  broken.erase("longest_target");
  CHECK_THROWS_WITH(vocabulary::from(broken, "file"), contains("file: its vocabulary"));
}

TEST_CASE("plain text is cut into words and marks, on the sides that are said to be plain") {
  auto o = few_tokens();
  o.tokenise = "target";
  data_set d;
  d.train = {{"it's", "It's a cat.", ""}, {"it's so", "No.", ""}};
  task work(o, d);
  auto& words = work.words();
  CHECK(words.source.encode("it's so").size() == 2);
  CHECK(words.source.tokens("it's so") == "it's so");
  CHECK(words.target.encode("It's a cat.").size() == 5);
  CHECK(words.target.decode(words.target.encode("It's a cat.")) == "It 's a cat .");
  CHECK(with_tokens(d.train, words.target)[0].target == "It 's a cat .");
  CHECK(words.target.unknown("a dog.") == list{"dog"});
  auto const back = reread(to_json(words));
  CHECK((!back.source.plain() && back.target.plain()));
  o.tokenise = "both", o.joint = true;
  CHECK(task(o, d).words().source.plain());
}

TEST_CASE("a pre-trained encoder brings the tokens of sources, which a checkpoint keeps") {
  triad::test::scratch_folder const folder;
  nlohmann::json tokens{{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3}};
  for (auto const* token : {"a", "b", "ab", "\u0120", "\u0120a"}) tokens[token] = tokens.size();
  std::ofstream(folder / "vocab.json") << tokens.dump();
  std::ofstream(folder / "merges.txt") << "a b\n\u0120 a\n";
  auto o = few_tokens();
  o.encoder = folder / "";
  data_set d;
  d.train = {{"ab aab", "X Y", ""}, {"abc", "Y", ""}};
  task work(o, d);
  auto& words = work.words();
  CHECK(words.source.size() == 9);
  CHECK(words.source.ordinary() == 5);
  CHECK(words.source.encode("ab aab") == std::vector<index_t>{0, 6, 8, 6});
  CHECK(words.source.decode({0, 6, 8, 6}) == "ab aab");
  CHECK(words.source.encode(" ").empty());
  CHECK(words.longest_source == 4);
  CHECK(words.target.words().contains("X"));
  CHECK(work.unknown() == "; 1 unknown source words, such as 'c'");

  auto const json = to_json(words);
  auto back = reread(json);
  CHECK(back.source.encode("ab aab") == words.source.encode("ab aab"));
  auto broken = json;
  broken["source"]["merges"][0] = "ab";
  CHECK_THROWS_WITH(
      vocabulary::from(broken, "file"),
      contains("file: its vocabulary is not one of this program's: a merge is \"ab\", expected two parts"));
  broken = json;
  broken["longest_source"] = 4.5;
  CHECK_THROWS_WITH(vocabulary::from(broken, "file"),
                    contains("its longest sentences have 4.5 and 2 tokens, expected whole numbers from 1 to 1048576"));
  broken = json;
  broken["target"]["counts"][0] = 1e300;
  CHECK_THROWS_WITH(vocabulary::from(broken, "file"),
                    contains("counts: expected an integer") && contains("found 1e+300"));
  auto shape =
      to_json(triad::encoder_config{.width = 8, .layers = 1, .heads = 1, .hidden = 8, .tokens = 8, .positions = 8});
  CHECK(published_from(shape, "file").width == 8);
  shape["width"] = 8.5;
  CHECK_THROWS_WITH(published_from(shape, "file"),
                    contains("file: its encoder's width is 8.5, expected a whole number from 1 to 2147483647"));

  tokens["</s>"] = 9;
  tokens["c"] = 2;
  std::ofstream(folder / "vocab.json") << tokens.dump();
  CHECK_THROWS_WITH(task(o, d), contains("the number of </s> is 9, and 2 is expected"));
}

TEST_CASE("the sources of a BERT are cut into its WordPiece, which a checkpoint keeps with its options") {
  triad::test::scratch_folder const folder;
  std::ofstream(folder / "vocab.txt") << "[PAD]\n[UNK]\n[MASK]\n[CLS]\na\n[SEP]\n##b\nx\n";
  auto o = few_tokens();
  o.encoder = folder / "";
  o.published = triad::encoder_config{.width = 8, .layers = 1, .heads = 1, .hidden = 8, .tokens = 8, .positions = 8};
  o.published->kind = triad::encoder_kind::bert;
  data_set d;
  d.train = {{"Ab abb", "X Y", ""}, {"A c", "Y", ""}};
  task work(o, d);
  auto& words = work.words();
  CHECK(words.source.size() == 8);
  CHECK(words.source.end() == 5);
  CHECK(words.target.end() == dictionary::end);
  CHECK(words.source.encode("Ab abb") == std::vector<index_t>{3, 4, 6, 4, 6, 6});
  CHECK(words.source.encode("").empty());
  CHECK(words.source.decode({3, 4, 6, 4}) == "ab a");
  CHECK(words.source.name_of(3) == "[CLS]");
  CHECK(words.source.name_of(6) == "##b");
  CHECK(words.source.name_of(words.source.end()) == "[SEP]");
  CHECK(words.target.name_of(words.target.end()) == "</s>");
  CHECK(words.target.name_of(words.target.encode("Y").front()) == "Y");
  CHECK(words.longest_source == 6);
  CHECK(words.source.unknown("a c B a") == std::vector<std::string>{"c", "b"});
  auto const json = to_json(words);
  auto again = vocabulary::from(json, "file");
  CHECK(again.source.encode("Ab c") == words.source.encode("Ab c"));
  CHECK(to_json(again) == json);
  auto broken = json;
  broken["source"]["wordpiece"].erase("lower");
  CHECK_THROWS_WITH(vocabulary::from(broken, "file"), contains("file: its vocabulary is not one of this program's"));
  broken = json;
  broken["source"]["wordpiece"]["end"] = "</s>";
  CHECK_THROWS_WITH(vocabulary::from(broken, "file"), contains("the token </s> is expected, found none"));
  auto shape = to_json(*o.published);
  CHECK(published_from(shape, "file").kind == triad::encoder_kind::bert);
  shape["kind"] = "GPT";
  CHECK_THROWS_WITH(published_from(shape, "file"),
                    contains("file: its encoder's kind is \"GPT\", expected RoBERTa, BERT or MPNet"));
}

TEST_CASE("first values are as wide as a matrix's own sides ask for, under a wider encoder too") {
  options o;
  o.published = triad::encoder_config{.width = 48, .layers = 2, .heads = 4, .hidden = 64, .tokens = 9, .positions = 20};
  o.encoder_layers = 2, o.width = 16;
  translator_options const z{9, 7, 64, 0, 8, 8, 8, 0, use::learning};
  auto const m = triad::roberta_under_decoder<float>(*o.published, model_of(o, z));
  int seen = 0;
  triad::arena measure;
  triad::walk(m.plan_params(measure), [&](std::string const& path, auto view) {
    if (!path.ends_with(".query.weight") && !path.ends_with(".key.weight") && !path.ends_with(".value.weight")) return;
    CAPTURE(path);
    // The initial values are Xavier uniform with gain 2^(-1/2), as in fairseq. The heads are stored side by side, and
    // count as one matrix.
    double const values = static_cast<double>(view.size()), out = path.starts_with("encoder.") ? 48 : 16,
                 in = values / out;
    auto const rule = first_values_of(m, path);
    CHECK_THAT(rule.high, WithinAbs(std::sqrt(3 / (in + out)), 1e-12));
    CHECK(rule.low == -rule.high);
    ++seen;
  });
  CHECK(seen == 2 * 2 * 3 + 3 * 3 * 3);
}

TEST_CASE(
    "options that do not go together are refused, and the model in a checkpoint's options is the one that was "
    "written") {
  auto const refused = [](auto&& change, char const* reason) {
    options o;
    apply_preset(o);
    change(o);
    CHECK_THROWS_WITH(o.settle(), contains(reason));
  };
  refused([](options& o) { o.model = "transformer"; }, "--fuse both is about --model lrf");
  refused([](options& o) { o.only_top = o.accumulate = true; }, "give one");
  refused([](options& o) { o.fuse = "none", o.accumulate = true; }, "layers that look back");
  refused([](options& o) { o.heads = 3; }, "no multiple of --heads 3");
  refused([](options& o) { o.joint = true, o.tokenise = "source"; }, "give --tokenise both");
  refused([](options& o) { o.roberta = "folder", o.tokenise = "both"; }, "--encoder cuts sources itself");
  refused([](options& o) { o.given = {"length-penalty"}; }, "of which --beam 1 keeps one: give a larger --beam");
  refused(
      [](options& o) {
        o.given = {"min-count"}, o.least_count = 2, o.source_dictionary = o.target_dictionary = "file";
      },
      "--min-count is about dictionaries of the training set's words");
  refused([](options& o) { o.given = {"dropout-until"}, o.dropout = 0, o.dropout_until = 0.5; },
          "--dropout is 0: leave one of the two out");
  options searches;
  searches.given = {"length-penalty"}, searches.beam = 2, searches.least_count = 2;
  searches.source_dictionary = "file";
  CHECK_NOTHROW(searches.settle());
  auto const refused_of_edges = [&](auto&& change, char const* reason) {
    options o;
    o.model = "edge-transformer";
    apply_preset(o);
    CHECK_NOTHROW(o.settle());
    change(o);
    CHECK_THROWS_WITH(o.settle(), contains(reason));
  };
  refused([](options& o) { o.tied = false; }, "are about --model edge-transformer");
  refused([](options& o) { o.joint = true, o.target_bpe = "file"; },
          "--source-dictionary and --source-bpe name the files of both");
  refused_of_edges([](options& o) { o.relative = true; }, "states of tokens");
  refused_of_edges([](options& o) { o.decoder_layers = 5; }, "as many layers on either side");
  refused_of_edges([](options& o) { o.attention = triad::triangle_form::flat; }, "is not causal");
  refused_of_edges([](options& o) { o.joint = false; }, "one table for the words of both sides");
  refused([](options& o) { o.given = {"updates", "epochs"}, o.epochs = 2; }, "two ways to say how long the run is");
  options lasting;
  lasting.epochs = 5;
  lasting.settle();
  CHECK(lasting.epochs == 5);
  lasting.given = {"updates"};  // --updates replaces the epochs of a preset
  lasting.settle();
  CHECK(lasting.epochs == 0);
  options plain;
  plain.model = "transformer";
  apply_preset(plain);
  CHECK(plain.fuse == "none");
  CHECK_NOTHROW(plain.settle());
  auto other = plain;
  other.updates = 7, other.beam = 9, other.threads = 2;  // a resumed run may change these
  auto const settings = [](options const& o) { return training_settings(o); };
  CHECK(settings(other) == settings(plain));
  other.rate = 1;
  CHECK(settings(other) != settings(plain));
  for (auto const change : {+[](options& o) { o.schedule = "linear"; }, +[](options& o) { o.pairs = 3; },
                            +[](options& o) { o.train_size = 3; }, +[](options& o) { o.joint = true; }}) {
    auto changed = plain;
    change(changed);
    CHECK(settings(changed) != settings(plain));
  }
  auto linear = plain, longer = plain;
  // With a linear schedule, runs of different lengths have different learning rates from the first update on.
  linear.schedule = longer.schedule = "linear", longer.updates = 7;
  CHECK(settings(linear) != settings(longer));
}

/// A translator that returns two hypotheses: the reversed source and, with a lower score, the source. A batch has at
/// most `most` sentences of up to 4 tokens.
class backwards final : public translator {
 public:
  explicit backwards(std::size_t most) : room_(most) {}
  std::vector<std::size_t> batches;

  void clear() override { sources_.clear(), targets_.clear(); }
  bool add(std::span<index_t const> source) override {
    if (sources_.size() == room_ || source.size() > 4) return false;
    sources_.emplace_back(source.begin(), source.end());
    return true;
  }
  bool add(std::span<index_t const> source, std::span<index_t const> target) override {
    if (!add(source)) return false;
    targets_.emplace_back(target.begin(), target.end());
    return true;
  }
  index_t tokens() const override { return 8; }
  double loss() override { return static_cast<double>(targets_.front().size()); }
  layer_reads reads() override { return {}; }
  pair_attention attention() override { return {}; }
  layer_weights read_weights() override {
    auto const source = static_cast<double>(sources_.front().size()),
               target = static_cast<double>(targets_.front().size());
    return {{{source}, {0.25, 0.75}}, {{target}}};
  }
  std::vector<std::vector<hypothesis>> const& translate(search const&) override {
    batches.push_back(sources_.size());
    found_.clear();
    for (auto const& s : sources_) found_.push_back({{{s.rbegin(), s.rend()}, -1, -1}, {{s.begin(), s.end()}, -2, -2}});
    return found_;
  }

  void update(double) override {}
  void accumulate(double) override {}
  triad::share_range shares() const override { return {}; }
  void begin_share(index_t) override {}
  std::string digest() const override { return {}; }
  void finish(double) override {}
  void rehearse() override {}
  std::vector<triad::update_record> const& records() override { return records_; }
  int patience() const override { return 1; }
  void initialize(std::uint64_t) override {}
  void keep_averages(double) override {}
  void set_dropout(bool) override {}
  void begin_anew(std::uint64_t) override {}
  void save(std::string const&, triad::programs::run_record const&) override {}
  std::string load(triad::checkpoint const&, triad::programs::run_record const&) override { return {}; }
  std::uint64_t step() const override { return 0; }
  triad::trainer_bytes bytes() const override { return {}; }
  index_t parameters() const override { return 0; }
  std::string not_finite() const override { return {}; }

 private:
  std::size_t room_;
  std::vector<std::vector<index_t>> sources_, targets_;
  std::vector<std::vector<hypothesis>> found_;
  std::vector<triad::update_record> records_;
};

TEST_CASE("translations come in batches of sentences of like length, and each to its own source") {
  backwards net(2);
  std::vector<std::vector<index_t>> const sources{{4}, {5, 6, 7}, {8, 9}, {4, 5, 6, 7}, {9}};
  std::map<std::size_t, std::vector<hypothesis>> found;
  translate_all(net, sources, {}, [&](std::size_t i, auto const& h) { found[i] = h; });
  REQUIRE(found.size() == 5);
  CHECK(net.batches == std::vector<std::size_t>{2, 2, 1});
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(found[i][0].tokens == std::vector<index_t>(sources[i].rbegin(), sources[i].rend()));
  CHECK_THROWS_WITH(translate_all(net, {{4}, {4, 5, 6, 7, 8}}, {}, [](std::size_t, auto const&) {}),
                    contains("sentence 2 has more tokens"));
}

TEST_CASE("losses of batches are averaged by their target tokens, weights by the tokens of their side, ends included") {
  backwards net(2);
  std::vector<coded_pair> const pairs{
      {{4, 5, 6}, {4, 4, 4}}, {{4}, {4}}, {{4, 4}, {}}};  // batches of 4 + 2 and 3 source, 4 + 2 and 1 target tokens
  CHECK_THAT(mean_loss(net, pairs), WithinAbs((3 * 6 + 0 * 1) / 7.0, 1e-12));
  auto const w = mean_weights(net, pairs);
  CHECK_THAT(w.encoder[0][0], WithinAbs((3 * 6 + 2 * 3) / 9.0, 1e-12));
  CHECK_THAT(w.encoder[1][1], WithinAbs(0.75, 1e-12));
  CHECK_THAT(w.decoder[0][0], WithinAbs(18 / 7.0, 1e-12));
}

TEST_CASE("scores are reported by kind, and as means over seeds") {
  program p;
  p.figures = [](test_part const&, list const& found) {
    return std::vector<figure>{{"words", static_cast<double>(found.size())}};
  };
  test_part const part{"gen", {{"a", "A", "one"}, {"b", "B", "one"}, {"c", "C", "two"}, {"d", "D", "two"}}};
  auto const first = score(p, part, {"A", "B", "C", "X"}), second = score(p, part, {"A", "X", "X", "X"});
  CHECK_THAT(first.figures[0].value, WithinAbs(75, 1e-12));
  CHECK_THAT(first.kinds[0].value, WithinAbs(100, 1e-12));
  CHECK_THAT(first.kinds[1].value, WithinAbs(50, 1e-12));
  CHECK_THAT(told(first), contains("gen  exact match 75.0  words 4.0\n") && contains("two") && contains("50.0"));
  triad::programs::scored_run one, other;
  one.seed = 3, one.parts = {first}, other.seed = 5, other.parts = {second};
  CHECK_THAT(means_of({one, other}), contains("gen  exact match") && contains("50.0") && contains("25.00"));
  CHECK_THAT(scores_csv({one, other}), contains("3,gen,exact match,75\n") && contains("5,gen,exact match of two,0\n"));
  p.right = [](std::string const&, std::string const&) { return true; };
  CHECK_THAT(score(p, part, {"", "", "", ""}).figures[0].value, WithinAbs(100, 1e-12));
  test_part const alike{"test", {{"a", "A", "one"}}};
  CHECK(score(p, alike, {"A"}).kinds.empty());
}

TEST_CASE("a sample is spread evenly, and is everything where nothing is asked for") {
  std::vector<int> const numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  CHECK(sample(numbers, 3) == std::vector<int>{0, 3, 6});
  CHECK(sample(numbers, 0) == numbers);
  CHECK(sample(numbers, 20) == numbers);
}

TEST_CASE("a heat map has a cell for each value, darker where it is larger") {
  using namespace triad::programs;
  auto const svg = to_svg(
      heat_map{"reads <x>", "layer", "from", {"layer 1", "layer 2"}, {"embedding", "layer 1"}, {{1}, {0.25, 0}}});
  CHECK_THAT(svg, contains("fill=\"rgb(0,62,120)\"") && contains("fill=\"rgb(255,255,255)\"") && contains(">0.25<") &&
                      contains("reads &lt;x&gt;"));
  std::size_t cells = 0;
  for (auto at = svg.find("stroke=\"#ccc\""); at != std::string::npos; at = svg.find("stroke=\"#ccc\"", at + 1))
    ++cells;
  CHECK(cells == 3);
}

}  // namespace programs_seq2seq_task_tests
