#!/usr/bin/env bash
# sacreBLEU scores lists of different lengths to the end of the shorter one.
# One would guess: two hypotheses and one reference are an error, as they are on its command line.
# What happens: BLEU and chrF are 100, as if the second hypothesis were not there; no error, no warning.
# Seen in: sacrebleu 2.6.0.
# Why it matters: a reference file that ends early gives a score of the first lines, often a better one.
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
packages sacrebleu==2.6.0
cat > show.py <<'PYTHON'
from sacrebleu.metrics import BLEU, CHRF
for metric in BLEU(), CHRF():
    print(f"{type(metric).__name__}: {metric.corpus_score(['a b c d', 'wrong'], [['a b c d']]).score:.1f}")
PYTHON
"$python" show.py | expect "BLEU: 100.0
CHRF: 100.0"
