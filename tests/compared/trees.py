"""Trees in brackets. Both tools read the same trees, and each tool reads what the other tool has written.
SPDX-License-Identifier: Apache-2.0"""
import draws
import nltk
from nltk.tree import Tree

NO_LABEL_HAS = "()\\|^"  # nltk treats these specially: a backslash before a parenthesis; | and ^ in its own labels


def drawn(draw, depth, branching):
    label = draws.word(draw, NO_LABEL_HAS)
    children = draw.randint(1, branching) if depth and draw.random() < 0.8 else 0
    return Tree(label, [drawn(draw, depth - 1, branching) for _ in range(children)]) if children else label


def nodes(tree, level=0):
    """Returns [level, label] of all nodes. A leaf is a text, or a tree without children, as from (X)."""
    if isinstance(tree, str):
        return [[level, tree]]
    return [[level, tree.label()]] + [n for child in tree for n in nodes(child, level + 1)]


def in_one_line(tree):
    return " ".join(str(tree).split()) if isinstance(tree, Tree) else f"({tree})"


def spaced(text):
    return text.replace("(", " ( ").replace(")", " ) ").split()


def compare(ask, draw, _folder, report):
    sizes = [2] * 1000 + [5] * 200
    trees = [drawn(draw, draw.randint(1, 6), branching) for branching in sizes]
    texts = [in_one_line(tree) for tree in trees]
    ours = ask([{"ask": "tree", "text": text, "branching": branching} for text, branching in zip(texts, sizes)])
    for tree, text, mine in zip(trees, texts, ours):
        report.same(f"the tree {text}", mine.get("nodes", mine), nodes(tree))
        if "text" in mine:
            report.same(f"the tree {text}, written again", mine["text"].split(), spaced(text))
            report.same(f"the tree {text}, as nltk reads what is written here", nodes(Tree.fromstring(mine["text"])), nodes(tree))

    # nltk converts nodes with any number of children to binary nodes. triad reads and writes the results. nltk then
    # restores the original trees from the text that triad has written.
    wide = [t for t in trees[1000:] if isinstance(t, Tree)]
    for horizontal in (None, 1):
        binary = [t.copy(deep=True) for t in wide]
        for t in binary:
            t.chomsky_normal_form(horzMarkov=horizontal)
        ours = ask([{"ask": "tree", "text": in_one_line(t), "branching": 2} for t in binary])
        for before, mine in zip(wide, ours):
            after = Tree.fromstring(mine["text"]) if "text" in mine else Tree(str(mine), [])
            after.un_chomsky_normal_form(expandUnary=False)
            report.same(f"made binary and wide again, {in_one_line(before)}", nodes(after), nodes(before))

    tool = f"nltk {nltk.__version__}"
    for text in ("(A (b|c d) e)", "(A (b^c d) e)"):
        after = Tree.fromstring(text)
        after.un_chomsky_normal_form(expandUnary=False)
        report.differs_as_written(tool, f"{text} made wide, where nothing was made binary", text, in_one_line(after), text,
                                  "(A d e)" if "|" in text else "(A (b d) e)")
    escaped, wide_space, one = ask([{"ask": "tree", "text": text, "branching": 2} for text in ("(A \\( b)", "(A b\u00a0c)", "(A (B))")])
    report.differs_as_written(tool, "a backslash before a parenthesis", "error" in escaped, nodes(Tree.fromstring("(A \\( b)")), True,
                              [[0, "A"], [1, "\\("], [1, "b"]])
    report.differs_as_written(tool, "a no-break space in a label", wide_space.get("nodes"), nodes(Tree.fromstring("(A b\u00a0c)")),
                              [[0, "A"], [1, "b\u00a0c"]], [[0, "A"], [1, "b"], [1, "c"]])
    report.differs_as_written(tool, "a leaf in parentheses, written again", one.get("text"), in_one_line(Tree.fromstring("(A (B))")),
                              "( A B )", "(A (B ))")
