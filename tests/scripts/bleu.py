"""Compares BLEU scores of triad::text with those of sacreBLEU, on random texts:  bleu.py ROOT FOLDER PROGRAM

If sacreBLEU is not installed, prints a sentence and exits with status 77."""
import os
import random
import subprocess
import sys

try:
    import sacrebleu
except ImportError:
    print("bleu: no sacreBLEU for", sys.executable, "so nothing is compared; pip install sacrebleu brings it")
    sys.exit(77)

folder, program = sys.argv[2], sys.argv[3]
os.makedirs(folder, exist_ok=True)

ENGLISH = ["the", "cat", "sat", "on", "a", "mat,", "mat.", "it's", "well-known", "1990-1995", "3.5", "1,000", "(x)", "\"no\"",
           "U.S.", "e.g.,", "$5", "50%", "a/b", "&amp;", "&lt;b&gt;", "wait...", "<skipped>", "naïve", "Straße", "co-op-", "-9"]
CHINESE = list("他有一只很小的白狗啊。，：“”（）") + ["ABC", "3.5", "x-y", "𠀀", " ", "—", "→", "&amp;"]
ODD = ["\u00a0", "\u3000", "\u2003", "\t", "e\u0301", "\u200b", "\ufeff", "🙂", "\u0664", "\u00ad", "\u0085"]


def line(draw, words, between):
    return between.join(draw.choice(words) for _ in range(draw.choice([0, 1, 2, 3, 4, 5, 8, 12, 20])))


def changed(draw, text, words, between):
    """Returns a translation that is partly right: some words are exchanged, omitted or repeated."""
    parts = text.split(between) if between else list(text)
    out = []
    for part in parts:
        chance = draw.random()
        if chance < 0.15:
            out.append(draw.choice(words))
        elif chance < 0.25:
            continue
        elif chance < 0.3:
            out += [part, part]
        else:
            out.append(part)
    return between.join(out)


def write(name, lines):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(line + "\n" for line in lines)
    return path


compared = different = 0
for case in range(60):
    draw = random.Random(case)
    words, between = [(ENGLISH, " "), (CHINESE, ""), (ENGLISH + ODD, " "), (CHINESE + ODD, "")][case % 4]
    count, references = draw.choice([1, 2, 5, 40]), draw.choice([1, 1, 2, 3])
    first = [line(draw, words, between) for _ in range(count)]
    streams = [first] + [[changed(draw, t, words, between) for t in first] for _ in range(references - 1)]
    hypotheses = [changed(draw, t, words, between) for t in first]
    paths = [write("hypotheses", hypotheses)] + [write("references%d" % i, s) for i, s in enumerate(streams)]
    for tokens in "none", "char", "13a", "zh":
        ours = [float(x) for x in subprocess.run([program, tokens] + paths, check=True, capture_output=True, text=True).stdout.split()]
        metric = sacrebleu.metrics.BLEU(tokenize=tokens, force=True)
        theirs = metric.corpus_score(hypotheses, streams)
        # Only the score and the counts are compared. If no word matches, the precisions of sacreBLEU are 0.
        expected = [theirs.score, theirs.bp] + [x for n in range(4) for x in (theirs.precisions[n], theirs.counts[n], theirs.totals[n])]
        compared += 1
        relevant = [0] + [i for n in range(4) for i in (3 * n + 3, 3 * n + 4)]
        if any(abs(ours[i] - expected[i]) > 1e-9 * max(1, abs(expected[i])) for i in relevant):
            different += 1
            if different < 6:
                print("case %d, %s, %d lines, %d references: ours %s, sacreBLEU's %s" % (case, tokens, count, references, ours, expected))
print("sacreBLEU %s: %d comparisons, %d differ" % (sacrebleu.__version__, compared, different))
sys.exit(1 if different or compared != 240 else 0)
