#!/usr/bin/env bash
# nltk's un_chomsky_normal_form changes trees that were never made binary, by characters of their labels.
# One would guess: it undoes chomsky_normal_form, so that a tree comes back from both as it was.
# What happens: a node whose label has a `|` is dissolved, a label is cut at `^`, and `X+Y` becomes two nodes.
# Seen in: nltk 3.10.4.
# Why it matters: `|`, `^` and `+` are in labels of treebanks (NP|ADJP of ambiguous phrases, joined tags), and scores of
# parses are of other trees.
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
packages nltk==3.10.4
cat > show.py <<'PYTHON'
from nltk.tree import Tree
for text in "(S (NP|ADJP a b) c)", "(S (A^B a b) c)", "(S (X+Y a b) c)", "(S (NP a b) c)":
    tree = Tree.fromstring(text)
    tree.chomsky_normal_form()
    tree.un_chomsky_normal_form()
    print(f"{text}: {' '.join(str(tree).split())}")
PYTHON
"$python" show.py | expect "(S (NP|ADJP a b) c): (S a b c)
(S (A^B a b) c): (S (A a b) c)
(S (X+Y a b) c): (S (X (Y a b)) c)
(S (NP a b) c): (S (NP a b) c)"
