#!/usr/bin/env bash
# pyconll keeps one of two enhanced dependencies on one head, and sorts MISC.
# One would guess: load_from_string(text).conll() is the text again, where the text is CoNLL-U.
# What happens: DEPS `1:nsubj|1:obj` has become `1:obj`, and MISC `B=c|A=d` `A=d|B=c`; no error, no warning.
# Seen in: pyconll 3.3.1.
# Why it matters: enhanced graphs have two relations between two words (a controlled subject that is also an object), and
# one is lost in a file that was only read and written.
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
packages pyconll==3.3.1
cat > show.py <<'PYTHON'
import pyconll
text = "1\ta\ta\tX\t_\t_\t0\troot\t0:root\t_\n2\tb\tb\tX\t_\t_\t1\tobj\t1:nsubj|1:obj\tB=c|A=d\n\n"
print(pyconll.load_from_string(text).conll().replace("\t", " ").strip())
PYTHON
"$python" show.py | expect "1 a a X _ _ 0 root 0:root _
2 b b X _ _ 1 obj 1:obj A=d|B=c"
