// Tests WordPiece: words, parts and numbers that tokenizers 0.23.3 gives, the options of a vocabulary's files, and
// invalid files.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/text/wordpiece.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"

namespace io_wordpiece_tests {

using namespace triad::text;
using triad::index_t;
using triad::test::contains;
using triad::test::scratch_folder;
using list = std::vector<std::string>;
using numbers = std::vector<index_t>;

void save(scratch_folder const& folder, char const* name, std::string const& content) {
  std::ofstream(folder / name, std::ios::binary) << content;
}

TEST_CASE("a text is cut at white space and at punctuation, without accents and in lower case") {
  wordpiece_options const o;
  CHECK(bert_words("", o).empty());
  CHECK(bert_words(" \t\n\u3000", o).empty());
  CHECK(bert_words("Did M0's director-general win?", o) ==
        list{"did", "m0", "'", "s", "director", "-", "general", "win", "?"});
  CHECK(bert_words("$5 a+b <x> ~`^|", o) == list{"$", "5", "a", "+", "b", "<", "x", ">", "~", "`", "^", "|"});
  CHECK(bert_words("Na\u00efve \u00c9T\u00c9 e\u0301", o) == list{"naive", "ete", "e"});
  CHECK(bert_words("\u0130 \u01c4 \u1e9e \u03a3", o) == list{"i", "\u01c6", "\u00df", "\u03c3"});
  CHECK(bert_words("\u037e\u1fef", o) == list{";", "`"});  // decomposed to ASCII, and cut there
  CHECK(bert_words("\ud55c", o) == list{"\u1112\u1161\u11ab"});
  CHECK(bert_words("a\u65e5\u672cb", o) == list{"a", "\u65e5", "\u672c", "b"});
  CHECK(bert_words("a\u3042\u3044b", o) == list{"a\u3042\u3044b"});  // kana are not cut
  CHECK(bert_words(std::string("a\0b\x7f\xc2\x85 \xff c", 10), o) == list{"ab", "c"});
  CHECK(bert_words("a\u200bb\u00adc\u00a0d", o) == list{"abc", "d"});
  CHECK(bert_words("\u2014x\u2026", o) == list{"\u2014", "x", "\u2026"});
}

TEST_CASE("options keep case, accents, control characters or Chinese words") {
  auto const with = [](bool lower, bool strip, bool clean, bool chinese) {
    wordpiece_options o;
    o.lower = lower, o.strip = strip, o.clean = clean, o.split_chinese = chinese;
    return bert_words("\u00c9\u0130a\x01\u4e00\u4e01", o);
  };
  CHECK(with(true, true, true, true) == list{"eia", "\u4e00", "\u4e01"});
  CHECK(with(false, true, true, true) == list{"EIa", "\u4e00", "\u4e01"});
  CHECK(with(true, false, true, true) == list{"\u00e9i\u0307a", "\u4e00", "\u4e01"});
  CHECK(with(false, false, true, false) == list{"\u00c9\u0130a\u4e00\u4e01"});
  CHECK(with(true, true, false, true) == list{"eia\x01", "\u4e00", "\u4e01"});
}

std::string const bert = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n";

TEST_CASE("a word is cut into the longest tokens from its beginning on, or is unknown") {
  scratch_folder const folder;
  save(folder, "vocab.txt", bert + "un\naff\n##aff\n##able\n##a\n##ffable\nunaff\n?\n\nc\u00e9\n\u65e5\n");
  save(folder, "tokenizer_config.json", "{}");
  auto code = wordpiece::read(folder / "");
  CHECK(code.size() == 15);
  CHECK((code.padding() == 0 && code.unknown() == 1 && code.begin() == 2 && code.end() == 3));
  CHECK(code.parts("Unaffable?") == list{"unaff", "##able", "?"});
  CHECK(code.encode("unaffable?") == numbers{2, 10, 7, 11, 3});
  CHECK(code.numbers("unaffable unaffabl") == numbers{10, 7, 1});  // the longest parts do not reach the end
  CHECK(code.numbers("unaffable unaffabl") == numbers{10, 7, 1});  // both words are stored now
  CHECK(code.numbers("unaaff aff \u65e5aff") == numbers{4, 8, 6, 5, 14, 5});
  CHECK(code.numbers("able [SEP]") == numbers{1, 1, 1, 1});  // no token begins with able; [ and ] are unknown
  CHECK(code.unknown_words("un able [ un") == list{"able", "["});
  CHECK(code.numbers("c\u00e9") == numbers{1});  // its accent is removed
  CHECK(code.encode("") == numbers{2, 3});
  CHECK(code.decode(numbers{2, 10, 7, 11, 3, 0}) == "unaffable ?");
  CHECK(code.decode(numbers{7, 1}) == "able [UNK]");
  for (index_t const n : {index_t{-1}, index_t{12}, index_t{15}})
    CHECK_THROWS_WITH(code.decode(numbers{n}), contains("there is no token " + std::to_string(n)));

  auto same = wordpiece::of(code.tokens(), code.options(), "file");
  CHECK(same.numbers("Unaffable ?") == code.numbers("Unaffable ?"));
  CHECK((same.contains("##aff") && !same.contains("##un") && same.options() == code.options()));
  auto twice = code.tokens();
  twice[12] = "aff";
  CHECK_THROWS_WITH(wordpiece::of(twice, {}, "file"), contains("file: the token 'aff' has two numbers"));
  CHECK_THROWS_WITH(wordpiece::of({"a"}, {}, "file"), contains("file: the token [CLS] is expected, found none"));
}

TEST_CASE("a word of more than 100 characters is unknown, however many bytes it has") {
  wordpiece_options o;
  o.strip = false;
  auto code = wordpiece::of({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "\u00e9", "##\u00e9"}, o, "file");
  std::string word;
  for (int i = 0; i < 100; ++i) word += "\u00e9";
  CHECK(code.numbers(word).size() == 100);
  CHECK(code.numbers(word + "\u00e9") == numbers{1});
  CHECK(code.numbers(word + " \u00e9") == [&] {
    auto all = code.numbers(word);
    all.push_back(4);
    return all;
  }());
}

std::string json(std::string const& normalizer, std::string const& model) {
  return R"({"normalizer": {"type": "BertNormalizer", )" + normalizer +
         R"(}, "pre_tokenizer": {"type": "BertPreTokenizer"}, "model": {"type": "WordPiece", )" + model + "}}";
}
std::string const model =
    R"("unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 7,
  "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "a": 5, "A": 6})";
std::string const usual =
    R"("clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true)";

TEST_CASE("the vocabulary and its options are read from tokenizer.json, and must agree with the other files") {
  scratch_folder const folder;
  save(folder, "tokenizer.json", json(usual, model));
  auto code = wordpiece::read(folder / "");
  CHECK(code.size() == 7);
  CHECK(code.numbers("A \u00e1 aaaaaaaa") == numbers{5, 5, 1});
  wordpiece_options expected;
  expected.longest = 7;
  CHECK(code.options() == expected);
  CHECK_THROWS_WITH(code.decode(numbers{4}), contains("no token 4"));

  save(folder, "tokenizer.json",
       json(R"("clean_text": false, "handle_chinese_chars": false, "strip_accents": null, "lowercase": false)", model));
  code = wordpiece::read(folder / "");
  CHECK(code.numbers("A a") == numbers{6, 5});
  CHECK((!code.options().lower && !code.options().strip && !code.options().clean && !code.options().split_chinese));

  save(folder, "tokenizer_config.json", R"({"do_lower_case": false, "strip_accents": true, "never_split": []})");
  CHECK((wordpiece::read(folder / "").options().strip && !wordpiece::read(folder / "").options().lower));
  save(folder, "tokenizer_config.json", R"({"do_lower_case": true})");
  CHECK_THROWS_WITH(wordpiece::read(folder / ""),
                    contains("tokenizer_config.json: do_lower_case is true, and ") &&
                        contains("tokenizer.json says the opposite; correct the wrong one"));
  std::filesystem::remove(folder / "tokenizer_config.json");
  save(folder, "vocab.txt", bert + "\na\nA\n");
  CHECK(wordpiece::read(folder / "").size() == 7);
  save(folder, "vocab.txt", bert + "a\nA\n");
  CHECK_THROWS_WITH(wordpiece::read(folder / ""),
                    contains("vocab.txt: its tokens are not those of the tokenizer.json"));
}

TEST_CASE("the files of one tokeniser name one unknown token, and keep control characters or remove them") {
  scratch_folder const folder;
  auto const with_added = [](std::string const& special) {
    auto text = json(usual, model);
    text.pop_back();
    return text + R"(, "added_tokens": [{"id": 0, "content": "[PAD]", "special": )" + special + "}]}";
  };
  save(folder, "tokenizer.json", with_added("true"));
  CHECK(wordpiece::read(folder / "").size() == 7);
  save(folder, "tokenizer.json", with_added("false"));
  CHECK_THROWS_WITH(wordpiece::read(folder / ""),
                    contains("tokenizer.json: found the added token \"[PAD]\", expected special tokens only"));
  save(folder, "tokenizer.json", json(usual, model));
  save(folder, "tokenizer_config.json", R"({"unk_token": "a"})");
  CHECK_THROWS_WITH(wordpiece::read(folder / ""),
                    contains("tokenizer_config.json: unk_token is 'a', expected '[UNK]', as in tokenizer.json"));
  save(folder, "tokenizer_config.json", R"({"unk_token": "[UNK]", "clean_text": false})");
  CHECK_THROWS_WITH(wordpiece::read(folder / ""), contains("clean_text is false, and ") && contains("the opposite"));
  std::filesystem::remove(folder / "tokenizer.json");
  save(folder, "vocab.txt", bert + "a\n");
  CHECK_FALSE(wordpiece::read(folder / "").options().clean);
}

TEST_CASE("a vocabulary in upper case does not say by itself whether texts are lower-cased") {
  scratch_folder const folder;
  save(folder, "vocab.txt", bert + "The\n");
  CHECK_THROWS_WITH(wordpiece::read(folder / ""),
                    contains("vocab.txt: found the token 'The' in upper case, expected a tokenizer_config.json"));
  save(folder, "tokenizer_config.json", R"({"do_lower_case": false})");
  CHECK(wordpiece::read(folder / "").numbers("The the") == numbers{4, 1});
}

TEST_CASE("MPNet's special tokens are given, or named by tokenizer_config.json") {
  scratch_folder const folder;
  save(folder, "vocab.txt", "<s>\n<pad>\n</s>\n<unk>\n[UNK]\na\n");
  CHECK_THROWS_WITH(wordpiece::read(folder / ""), contains("vocab.txt: the token [CLS] is expected, found none"));
  CHECK(wordpiece::read(folder / "", wordpiece_marks::mpnet()).encode("a b") == numbers{0, 5, 4, 2});
  save(folder, "tokenizer_config.json",
       R"({"cls_token": {"content": "<s>"}, "sep_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"})");
  CHECK(wordpiece::read(folder / "").encode("a b") == numbers{0, 5, 3, 2});
}

TEST_CASE("files that are damaged, or of another kind of tokens, are refused with what was found") {
  scratch_folder const folder;
  CHECK_THROWS_WITH(wordpiece::read(folder / ""),
                    contains(": found neither vocab.txt nor a vocabulary in tokenizer.json, expected one"));
  auto const refused = [&](std::string const& tokenizer, std::string const& message) {
    CAPTURE(message);
    save(folder, "tokenizer.json", tokenizer);
    CHECK_THROWS_WITH(wordpiece::read(folder / ""), contains("tokenizer.json") && contains(message));
  };
  auto const with_vocabulary = [](std::string const& v) {
    return R"("continuing_subword_prefix": "##", "vocab": )" + v;
  };
  refused("{", ":1: expected JSON");
  refused("[]", "the type of its model is null, expected \"WordPiece\"");
  refused(R"({"model": {"type": "BPE"}})", "the type of its model is \"BPE\", expected \"WordPiece\"");
  refused(R"({"model": {"type": "WordPiece"}, "normalizer": {"type": "NFC"}})",
          "the type of its normalizer is \"NFC\"");
  refused(R"({"model": {"type": "WordPiece"}, "normalizer": {"type": "BertNormalizer"}})",
          "the type of its pre_tokenizer is null");
  refused(json(R"("lowercase": 1)", model), "lowercase is 1, expected true, false or null");
  refused(json(usual, R"("vocab": {})"), "continuing_subword_prefix is null, expected \"##\"");
  refused(json(usual, with_vocabulary("{}")), "its model.vocab is {}, expected {token: number ...}");
  refused(json(usual, with_vocabulary(R"(["a"])")), "its model.vocab is [\"a\"]");
  refused(json(usual, with_vocabulary(R"({"a": -1})")), "token 'a': a token with a number from 0");
  refused(json(usual, with_vocabulary(R"({"a": 1e2})")), "token 'a': a token with a number from 0");
  refused(json(usual, with_vocabulary(R"({"": 1})")), "token '': a token with a number from 0");
  refused(json(usual, with_vocabulary(R"({"a": 1, "b": 1})")), "token 'b': its number 1 is that of 'a' already");
  refused(json(usual, with_vocabulary(R"({"a": 1})")),
          "the token [CLS] is expected, found none; give the vocabulary of a BERT");
  refused(json(usual, R"("continuing_subword_prefix": "##", "max_input_chars_per_word": 1.5, "vocab": {"a": 1})"),
          "max_input_chars_per_word: expected an integer");
  refused(json(usual, R"("continuing_subword_prefix": "##", "max_input_chars_per_word": 0, "vocab": {"a": 1})"),
          "max_input_chars_per_word is 0, expected 1 or more");
  std::filesystem::remove(folder / "tokenizer.json");
  save(folder, "vocab.txt", bert);
  auto const unlike = [&](std::string const& config, std::string const& message) {
    CAPTURE(message);
    save(folder, "tokenizer_config.json", config);
    CHECK_THROWS_WITH(wordpiece::read(folder / ""), contains("tokenizer_config.json: ") && contains(message));
  };
  unlike("3", "found 3, expected an object");
  unlike(R"({"do_lower_case": "yes"})", "do_lower_case is \"yes\", expected true, false or null");
  unlike(R"({"do_basic_tokenize": false})", "do_basic_tokenize is false, expected true");
  unlike(R"({"never_split": ["x"]})", "never_split is [\"x\"], expected none");
  unlike(R"({"cls_token": 3})", "cls_token is 3, expected a token");
  unlike(R"({"clean_text": 3})", "clean_text is 3, expected true, false or null");
  unlike(R"({"added_tokens_decoder": {"0": {"content": "[PAD]", "special": true},
             "9": {"content": "new york", "special": false}}})",
         "found the added token \"new york\", expected special tokens only");
}

}  // namespace io_wordpiece_tests
