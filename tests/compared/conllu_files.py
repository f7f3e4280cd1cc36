"""CoNLL-U: every reader must read the sentences in the same way, and write them again byte for byte.
SPDX-License-Identifier: Apache-2.0"""
import importlib.metadata
import os

import conllu
import draws
import pyconll
from udapi.core.document import Document

UPOS = ["NOUN", "VERB", "ADJ", "PUNCT", "X", "_"]
RELATIONS = ["nsubj", "obj", "nmod:poss", "conj", "punct", "obl:agent", "flat"]
FEATURES = ["_", "Case=Nom|Number=Sing", "Abbr=Yes", "Gender=Fem,Masc|Number=Plur"]
NOTES = ["SpaceAfter=No", "_", "Gloss=a|Ref=3", "Translit=x"]  # the first belongs to a range and not to the words in it


def heads(draw, n):
    """Returns a random tree: each word except the root is attached to a word that is already in the tree."""
    order = draw.sample(range(1, n + 1), n)
    found = {order[0]: 0}
    for at in range(1, n):
        found[order[at]] = draw.choice(order[:at])
    return [found[i] for i in range(1, n + 1)]


def field(draw):
    return draws.word(draw, "|=#:_")


def sentence(draw, number, enhanced):
    n = draw.randint(1, 12)
    lines = [f"# sent_id = s{number}", f"# text = {' '.join(field(draw) for _ in range(n))}"]
    if draw.random() < 0.3:
        lines.append(f"# note = {field(draw)}")
    parents, range_ends = heads(draw, n), 0
    empty = enhanced and draw.random() < 0.3
    for i in range(1, n + 1):
        if i > range_ends and i < n and draw.random() < 0.15:
            range_ends = draw.randint(i + 1, min(n, i + 2))
            lines.append("\t".join([f"{i}-{range_ends}", field(draw)] + ["_"] * 7 + [draw.choice(NOTES)]))
        form = field(draw) + (" " + field(draw) if draw.random() < 0.05 else "")
        relation = "root" if parents[i - 1] == 0 else draw.choice(RELATIONS)
        deps = f"{parents[i - 1]}:{relation}" if enhanced else "_"
        lines.append("\t".join([str(i), form, field(draw), draw.choice(UPOS), draw.choice(["_", "NN", "$,"]), draw.choice(FEATURES),
                                str(parents[i - 1]), relation, deps, draw.choice(NOTES[i <= range_ends:])]))
        if empty and i == 1:
            lines.append("\t".join(["1.1", field(draw), field(draw), "VERB", "_", "_", "_", "_", "1:conj", "_"]))
    return "\n".join(lines) + "\n\n"


def with_several_heads(draw, text):
    """Returns the sentences with further heads in DEPS, sorted as the format requires. An empty node may be a head."""
    def order(dependency):
        return [int(i) for i in dependency[0].split(".")], dependency[1]

    out = []
    for block in text.split("\n\n")[:-1]:
        rows = [line.split("\t") for line in block.split("\n")]
        ids = [r[0] for r in rows if len(r) == 10 and "-" not in r[0]]
        for r in rows:
            if len(r) == 10 and "-" not in r[0]:
                heads_of = {(h, relation) for h, relation in (one.split(":", 1) for one in r[8].split("|"))}
                heads_of |= {(draw.choice(ids), draw.choice(RELATIONS)) for _ in range(draw.randint(0, 3))}
                r[8] = "|".join(f"{h}:{relation}" for h, relation in sorted(heads_of, key=order))
        out.append("\n".join("\t".join(r) for r in rows) + "\n\n")
    return "".join(out)


def deps_by_conllu(text):
    """Returns the enhanced dependencies of each sentence as the tool conllu reads them: (head, relation, node)."""
    def id_of(i):
        return f"{i[0]}.{i[2]}" if isinstance(i, tuple) else str(i)
    return [sorted([id_of(head), relation, id_of(t["id"])] for t in s if isinstance(t["id"], int) or t["id"][1] == "."
                   for relation, head in t["deps"] or []) for s in conllu.parse(text)]


def enhanced(ask, draw, folder, report):
    texts = [with_several_heads(draw, "".join(sentence(draw, n, True) for n in range(20))) for _ in range(15)]
    files = [write(folder, f"enhanced{k}.conllu", text) for k, text in enumerate(texts)]
    ours = ask([{"ask": "enhanced", "file": file} for file in files])
    for k, (text, mine) in enumerate(zip(texts, ours)):
        report.same(f"enhanced{k}.conllu, written again", mine.get("text", mine), text)
        for s, theirs in enumerate(deps_by_conllu(text)):
            found = sorted(mine["sentences"][s]) if "sentences" in mine else mine
            report.same(f"enhanced{k}.conllu, sentence {s}", found, theirs)


def by_conllu(text):
    parsed = conllu.parse(text)
    return ([[[t["form"], t["head"], t["deprel"]] for t in s if isinstance(t["id"], int)] for s in parsed],
            "".join(s.serialize() for s in parsed))


def by_pyconll(text):
    parsed = pyconll.load_from_string(text)
    return ([[[t.form, int(t.head), t.deprel] for t in s if t.id.isdigit()] for s in parsed], parsed.conll())


def by_udapi(text):
    document = Document()
    document.from_conllu_string(text)
    return ([[[n.form, n.parent.ord, n.deprel] for n in b.get_tree().descendants] for b in document.bundles], document.to_conllu_string())


TOOLS = {"conllu": by_conllu, "pyconll": by_pyconll, "udapi": by_udapi}


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return path


def row(number, relation, deps="_", misc="_"):
    return "\t".join([str(number), "ab"[number - 1], "_", "X", "_", "_", str(number - 1), relation, deps, misc]) + "\n"


COMMENTS = "# sent_id = s\n# text = a b\n"
A, B = row(1, "root"), row(2, "obj")
KNOWN = [  # tool, subject, a text that triad writes unchanged, what the tool writes
    ("conllu", "a comment without =", "# a note\n" + COMMENTS + A + B, COMMENTS + A + B),
    ("conllu", "a second = in MISC", COMMENTS + row(1, "root", misc="A=b=c") + B, COMMENTS + row(1, "root", misc="A=b") + B),
    ("conllu", "a name twice in MISC", COMMENTS + row(1, "root", misc="A=b|A=c") + B, COMMENTS + row(1, "root", misc="A=c") + B),
    ("pyconll", "a name twice in MISC", COMMENTS + row(1, "root", misc="A=b|A=c") + B, COMMENTS + row(1, "root", misc="A=c") + B),
    ("pyconll", "MISC that is not sorted", COMMENTS + row(1, "root", misc="B=c|A=d") + B, COMMENTS + row(1, "root", misc="A=d|B=c") + B),
    ("pyconll", "two relations to one head in DEPS", COMMENTS + A + row(2, "obj", deps="1:nsubj|1:obj"),
     COMMENTS + A + row(2, "obj", deps="1:obj")),
    ("udapi", "SpaceAfter=No of words in a range", COMMENTS + "1-2\tab" + "\t_" * 8 + "\n" + row(1, "root", misc="SpaceAfter=No") + B,
     COMMENTS + "1-2\tab" + "\t_" * 8 + "\n" + A + B),
]


def compare(ask, draw, folder, report):
    enhanced(ask, draw, folder, report)
    texts = ["".join(sentence(draw, n, k % 2 == 1) for n in range(20)) for k in range(30)]
    ours = ask([{"ask": "conllu", "file": write(folder, f"{k}.conllu", text)} for k, text in enumerate(texts)])
    for k, (text, mine) in enumerate(zip(texts, ours)):
        report.same(f"{k}.conllu, written again", mine.get("text", mine), text)
        for name, read in TOOLS.items():
            words, again = read(text)
            for s, theirs in enumerate(words):
                report.same(f"{k}.conllu, sentence {s}, {name}", mine["sentences"][s] if "sentences" in mine else mine, theirs)
            report.same(f"{k}.conllu, written by {name}", text, again)

    mine = ask([{"ask": "conllu", "file": write(folder, f"known{k}.conllu", text + "\n")} for k, (_, _, text, _) in enumerate(KNOWN)])
    for answer, (name, what, text, theirs) in zip(mine, KNOWN):
        report.differs_as_written(f"{name} {importlib.metadata.version(name)}", what, answer.get("text", answer), TOOLS[name](text + "\n")[1],
                                  text + "\n", theirs + "\n")
