"""Reads and writes binary trees of symbols as text: ( A B ( C D ) ).  A single child is the left child."""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence


def numbers(text: str, known: Mapping[str, int], depth: int) -> list[int]:
    """Returns the number of the symbol at each position of a tree of this depth; 0 is an empty position."""
    if not isinstance(text, str):
        raise TypeError(f"trees: {text!r}, expected texts such as '( A B ( C D ) )'; pass a list of them")
    row = [0] * (2 ** depth - 1)
    words = re.findall(r"[()]|[^() \t\n\r]+", text)  # other white space is part of a label

    def fail(what: str) -> ValueError:
        return ValueError(f"trees: {text[:80]!r}: {what}; write a binary tree as '( A B ( C D ) )'")

    stack: list[list[int]] = []     # open nodes: [position, number of children]
    ended, labelled = False, True   # labelled: the innermost open node has its label
    for word in words:
        if word == ")":
            if not stack or not labelled:
                raise fail("')' after '(', expected a label" if stack else "')' without '(' before it")
            stack.pop()
            ended = not stack
            continue
        if ended:
            raise fail(f"{word!r} after the tree, expected nothing")
        if word == "(" and labelled:
            position = _next(stack)
            stack.append([position, 0])
            labelled = False
            continue
        if word == "(":
            raise fail("'(' after '(', expected a label")
        position = _next(stack) if labelled else stack[-1][0]
        if position < 0:
            raise fail("a node with more than 2 children")
        if position >= len(row):
            raise fail(f"more than {depth} levels, which is the depth of the run")
        if word not in known:
            raise ValueError(f"trees: label {word!r}, expected one of the {len(known)} labels that the model knows; a "
                             "run knows only the labels that it was trained on")
        row[position], labelled = known[word], True
        ended = not stack
    if not ended:
        raise fail("the text ends before the tree, expected more")
    return row


def _next(stack: list[list[int]]) -> int:
    """Returns the position of the next child of the innermost open node; -1 if it has two children."""
    if not stack:
        return 0
    parent = stack[-1]
    parent[1] += 1
    return 2 * parent[0] + parent[1] if parent[1] <= 2 and parent[0] >= 0 else -1


def written(row: Sequence[int], symbols: Sequence[str]) -> str:
    """Returns the text of a tree; the text of an empty tree is empty.  An empty node has no children."""
    def text(position: int) -> str:
        if position >= len(row) or row[position] == 0:
            return ""
        children = " ".join(filter(None, (text(2 * position + 1), text(2 * position + 2))))
        label = symbols[row[position]]
        return f"( {label} {children} )" if children else label
    found = text(0)
    return found if not found or found.startswith("(") else f"( {found} )"
