"""Byte-pair encodings: merges are learned and applied as in subword-nmt, and byte-level merges and WordPiece as in
tokenizers.
SPDX-License-Identifier: Apache-2.0"""
import collections
import contextlib
import importlib.metadata
import io
import json
import os
import re
import unicodedata

import draws
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
SPACES = [" ", "  ", "\t", "\n", "\n\n", "\u00a0", "\u3000", "\r\n", "   ", "\u2003"]

IN_WORDS = ["\t", "\u00a0", "\u2003", "\u3000"]


def text_with_spaces(draw):
    return "".join(draws.word(draw) + (draw.choice(SPACES) if draw.random() < 0.3 else " ") for _ in range(draw.randint(0, 12)))


def undone(line):
    """Joins the parts with sed, as subword-nmt's page recommends."""
    return re.sub("(@@ )|(@@ ?$)", "", line)


def word_with_spaces(draw):
    """Returns a word as subword-nmt defines it: only U+0020 ends a word."""
    return draws.word(draw) + (draw.choice(IN_WORDS) + draws.word(draw) if draw.random() < 0.2 else "")


def words_and_parts(ask, draw, folder, report):
    questions, merges, texts = [], [], []
    for k in range(40):
        words = [word_with_spaces(draw) for _ in range(draw.randint(5, 60))]
        counted = sorted(collections.Counter(draw.choice(words) for _ in range(draw.randint(20, 400))).items())
        most, least = draw.choice([5, 30, 200]), draw.choice([1, 2, 3])
        learned = io.StringIO()
        with contextlib.redirect_stderr(io.StringIO()):  # hides the progress bar
            learn_bpe(["%s %d\n" % w for w in counted], learned, most, least, is_dict=True)
        path = os.path.join(folder, f"{k}.merges")
        questions.append({"ask": "learn", "words": counted, "most": most, "least": least, "file": path})
        merges.append(learned.getvalue())
        texts.append([draw.choice([" ", "  "]).join(draw.choice(words + [word_with_spaces(draw)]) for _ in range(draw.randint(1, 15))) for _ in range(25)])
    ask(questions)
    for q, theirs in zip(questions, merges):
        with open(q["file"], encoding="utf-8", newline="") as file:
            report.same(f"{q['most']} merges, of pairs with {q['least']}", file.read(), theirs)
        with open(q["file"], "w", encoding="utf-8", newline="") as file:
            file.write(theirs)
    ours = ask([{"ask": "cut", "file": q["file"], "lines": lines} for q, lines in zip(questions, texts)])
    for mine, theirs, lines in zip(ours, merges, texts):
        bpe = BPE(io.StringIO(theirs))
        cut = [bpe.process_line(line) for line in lines]
        for i, line in enumerate(lines):
            report.same(f"parts of {line!r}", mine["lines"][i] if "lines" in mine else mine, cut[i])
            report.same(f"undone, {line!r}", mine["undone"][i] if "undone" in mine else mine, undone(cut[i]))


def bytes_and_parts(ask, draw, folder, report):
    questions, expected = [], []
    for k, merges in enumerate([50, 200, 500]):
        trained = Tokenizer(models.BPE())
        trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trained.train_from_iterator([text_with_spaces(draw) for _ in range(200)], trainers.BpeTrainer(
            vocab_size=260 + merges, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
        under = os.path.join(folder, f"bytes{k}")
        os.makedirs(under)
        trained.model.save(under)
        # The special tokens are only in the vocabulary, as in published files. Texts are not searched for them.
        there = Tokenizer(models.BPE.from_file(os.path.join(under, "vocab.json"), os.path.join(under, "merges.txt")))
        there.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        there.decoder = decoders.ByteLevel()
        texts = [text_with_spaces(draw) for _ in range(500)]
        questions.append({"ask": "bytes", "folder": under, "texts": texts})
        expected.append([there.encode(text).ids for text in texts])
    for q, mine, theirs in zip(questions, ask(questions), expected):
        for i, text in enumerate(q["texts"]):
            report.same(f"numbers of {text!r}", mine["numbers"][i] if "numbers" in mine else mine, theirs[i])
            report.same(f"the text of the numbers of {text!r}", mine["texts"][i] if "texts" in mine else mine, text)


def words_and_pieces(ask, draw, folder, report):
    """WordPiece of BERT, with and without lower case, accents and the division of Chinese text."""
    questions, expected = [], []
    forms = [(True, None, True), (False, None, True), (True, False, False), (False, True, True)]
    for k, (lower, strip, chinese) in enumerate(forms):
        there = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        there.normalizer = normalizers.BertNormalizer(
            lowercase=lower, strip_accents=strip, handle_chinese_chars=chinese)
        there.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        there.train_from_iterator([text_with_spaces(draw) for _ in range(300)], trainers.WordPieceTrainer(
            vocab_size=1500, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"], show_progress=False))
        under = os.path.join(folder, f"pieces{k}")
        os.makedirs(under)
        there.save(os.path.join(under, "tokenizer.json"))
        texts = [text_with_spaces(draw) for _ in range(500)]
        codes = (c for c in range(1, 0x110000, 61) if not 0xd800 <= c < 0xe000)
        texts += [f"a{chr(c)}b" for c in codes if unicodedata.category(chr(c)) != "Cn"]
        questions.append({"ask": "wordpiece", "folder": under, "texts": texts})
        expected.append([there.encode(text).ids for text in texts])
    for q, mine, theirs in zip(questions, ask(questions), expected):
        for i, text in enumerate(q["texts"]):
            report.same(f"pieces of {text!r}", mine["numbers"][i] if "numbers" in mine else mine, theirs[i])


def special_in_text(ask, folder, report):
    under = os.path.join(folder, "special")
    os.makedirs(under)
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[", "sep", "]", "a"]
    there = Tokenizer(models.WordPiece({token: i for i, token in enumerate(tokens)}, unk_token="[UNK]"))
    there.normalizer, there.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    there.add_special_tokens(["[SEP]"])
    there.save(os.path.join(under, "tokenizer.json"))
    mine = ask([{"ask": "wordpiece", "folder": under, "texts": ["a [SEP]"]}])[0]
    report.differs_as_written(f"tokenizers {importlib.metadata.version('tokenizers')}",
                              "the name of a special token in a text", mine.get("numbers"), [there.encode("a [SEP]").ids], [[7, 4, 5, 6]], [[7, 3]])


def pair_twice(ask, folder, report):
    under = os.path.join(folder, "twice")
    os.makedirs(under)
    vocabulary = {token: i for i, token in enumerate(SPECIAL + ["a", "b", "c", "ab", "bc"])}
    merges = ["a b", "b c", "a b"]
    with open(os.path.join(under, "vocab.json"), "w", encoding="utf-8") as file:
        json.dump(vocabulary, file)
    with open(os.path.join(under, "merges.txt"), "w", encoding="utf-8") as file:
        file.write("".join(m + "\n" for m in merges))
    mine = ask([{"ask": "bytes", "folder": under, "texts": ["abc"]}])[0]
    there = Tokenizer(models.BPE(vocabulary, [tuple(m.split()) for m in merges]))
    report.differs_as_written(f"tokenizers {importlib.metadata.version('tokenizers')}", "a pair of merges twice",
                              mine.get("numbers"), [there.encode("abc").ids], [[7, 6]], [[4, 8]])


def part_with_mark(ask, folder, report):
    path = os.path.join(folder, "mark.merges")
    merges = "#version: 0.2\na @\na@ @</w>\n"
    with open(path, "w", encoding="utf-8") as file:
        file.write(merges)
    mine = ask([{"ask": "cut", "file": path, "lines": ["a@@ c"]}])[0]
    cut = BPE(io.StringIO(merges)).process_line("a@@ c")
    report.differs_as_written(f"subword-nmt {importlib.metadata.version('subword-nmt')}", "a last part that ends in @@",
                              [mine.get("lines"), mine.get("undone")], [cut, undone(cut)], [["a@@ @@ c"], ["a@@ c"]], ["a@@ c", "ac"])


def compare(ask, draw, folder, report):
    words_and_parts(ask, draw, folder, report)
    bytes_and_parts(ask, draw, folder, report)
    words_and_pieces(ask, draw, folder, report)
    special_in_text(ask, folder, report)
    part_with_mark(ask, folder, report)
    pair_twice(ask, folder, report)
