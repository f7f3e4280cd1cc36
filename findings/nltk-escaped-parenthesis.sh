#!/usr/bin/env bash
# nltk reads a backslash and the parenthesis behind it as a part of a word.
# One would guess: brackets of a tree are brackets, whatever stands before them; Penn Treebank files write -LRB-.
# What happens: of `(S (A C:\) b)`, whose word is `C:\`, it misses a bracket; `(S (A x\) b))` is a tree with the word `x\)`.
# Seen in: nltk 3.10.4.
# Why it matters: words that end with a backslash, as in LaTeX or names of folders, swallow the bracket behind them, and
# the tree has another shape, or none.
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
packages nltk==3.10.4
cat > show.py <<'PYTHON'
from nltk.tree import Tree
for text in r"(S (A C:\) b)", r"(S (A x\) b))":
    try:
        print(f"{text}: {Tree.fromstring(text)!r}")
    except ValueError as error:
        print(f"{text}: {str(error).splitlines()[0]}")
PYTHON
"$python" show.py | expect "(S (A C:\\) b): Tree.read(): expected ')' but got 'end-of-string'
(S (A x\\) b)): Tree('S', [Tree('A', ['x\\\\)', 'b'])])"
