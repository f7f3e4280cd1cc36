"""BLEU and chrF: compares the tokens of lines, and the scores of corpora, with sacreBLEU.
SPDX-License-Identifier: Apache-2.0"""
import draws
import sacrebleu
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_char import TokenizerChar
from sacrebleu.tokenizers.tokenizer_none import NoneTokenizer
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

KINDS = {"none": NoneTokenizer(), "char": TokenizerChar(), "13a": Tokenizer13a(), "zh": TokenizerZh()}
ODD = ["\u00a0", "\u3000", "\t", "\u200b", "\ufeff", "\u0085", "-", ".", ",", "&quot;", "<skipped>"]


def odd_line(draw):
    return "".join(draws.word(draw) + draw.choice([" ", " ", " ", "", draw.choice(ODD)]) for _ in range(draw.randint(0, 12)))


def compare(ask, draw, _folder, report):
    lines = [odd_line(draw) for _ in range(500)]
    for (kind, tool), mine in zip(KINDS.items(), ask([{"ask": "tokens", "kind": k, "lines": lines} for k in KINDS])):
        for i, line in enumerate(lines):
            report.same(f"tokens {kind} of {line!r}", mine["tokens"][i] if "tokens" in mine else mine, tool(line).split())

    questions, theirs = [], []
    for k in range(200):
        first = [draws.line(draw) for _ in range(draw.choice([1, 2, 10]))]
        hypotheses = [draws.changed(draw, text) for text in first]
        streams = [first] + [[draws.changed(draw, text) for text in first] for _ in range(draw.choice([0, 0, 1, 2]))]
        kind = list(KINDS)[k % 4]
        questions.append({"ask": "bleu", "kind": kind, "hypotheses": hypotheses, "references": [list(r) for r in zip(*streams)]})
        theirs.append(BLEU(tokenize=kind, force=True).corpus_score(hypotheses, streams))
    for q, mine, s in zip(questions, ask(questions), theirs):
        what = f"BLEU, {q['kind']}, of {q['hypotheses']!r}"
        if "error" in mine:
            report.same(what, mine, s.score)
            continue
        report.same(what + ", n-grams matched and possible", [mine["matched"], mine["possible"]], [list(s.counts), list(s.totals)])
        close = abs(mine["score"] - s.score) < 1e-9 and abs(mine["brevity"] - s.bp) < 1e-12
        report.same(what, "the same" if close else [mine["score"], mine["brevity"]], "the same" if close else [s.score, s.bp])

    for q, mine in zip(questions, ask([{**q, "ask": "chrf"} for q in questions])):
        what = f"chrF of {q['hypotheses']!r} and {q['references']!r}"
        by_tool = CHRF().corpus_score(q["hypotheses"], [list(r) for r in zip(*q["references"])]).score
        close = "score" in mine and abs(mine["score"] - by_tool) < 1e-9
        report.same(what, "the same" if close else mine, "the same" if close else by_tool)

    # triad refuses lists of different lengths, because a missing line is a mistake.
    short = ask([{"ask": "bleu", "kind": "13a", "hypotheses": ["a b c d", "e"], "references": [["a b c d"]]}])[0]
    by_tool = BLEU(tokenize="13a").corpus_score(["a b c d", "e"], [["a b c d"]])
    report.differs_as_written(f"sacrebleu {sacrebleu.__version__}", "fewer references than hypotheses",
                              "give one line each" in short.get("error", ""),
                              round(by_tool.score, 6), True, 100)
