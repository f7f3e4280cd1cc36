#!/usr/bin/env bash
# chrF does not count a hypothesis whose reference is an empty line.
# One would guess: words that no reference asks for lower chrF, as they lower BLEU.
# What happens: chrF and chrF++ are 100, because n-grams of a hypothesis count only if its reference has n-grams of this
#   length. For the same reason, a long hypothesis of a very short reference costs little. BLEU falls.
# Seen in: sacrebleu 2.6.0.
# Why it matters: a model that writes text where nothing is due is not punished by chrF, only by BLEU.
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
packages sacrebleu==2.6.0
cat > show.py <<'PYTHON'
from sacrebleu.metrics import BLEU, CHRF
right = "the cat sat on the mat"
for reference in "", "no":
    for name, metric in ("chrF", CHRF()), ("chrF++", CHRF(word_order=2)), ("BLEU", BLEU()):
        score = metric.corpus_score([right, "no, no, no and no"], [[right, reference]]).score
        print(f"reference {reference!r}: {name} {score:.1f}")
PYTHON
"$python" show.py | expect "reference '': chrF 100.0
reference '': chrF++ 100.0
reference '': BLEU 44.7
reference 'no': chrF 97.2
reference 'no': chrF++ 96.5
reference 'no': BLEU 46.5"
