#!/usr/bin/env bash
# conllu drops comments without `=` and the end of a MISC value that has a `=` of its own.
# One would guess: parse(text)[0].serialize() is the text again, where the text is CoNLL-U.
# What happens: `# a note` is gone, and `Link=a?b=c` has become `Link=a?b`; no error, no warning.
# Seen in: conllu 6.0.0.
# Why it matters: a program that changes one column of a treebank loses its notes, addresses and formulas.
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
packages conllu==6.0.0
cat > show.py <<'PYTHON'
import conllu
text = "# a note\n# text = a\n1\ta\ta\tX\t_\t_\t0\troot\t_\tLink=a?b=c\n\n"
print(conllu.parse(text)[0].serialize().replace("\t", " ").strip())
PYTHON
"$python" show.py | expect "# text = a
1 a a X _ _ 0 root _ Link=a?b"
