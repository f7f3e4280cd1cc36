"""CFQ's queries are read by rdflib, in raw form and preprocessed as by the authors. The order of the conjuncts must not
change the meaning of a query.
SPDX-License-Identifier: Apache-2.0"""
import collections
import os
import subprocess

from rdflib import BNode, Literal, URIRef, Variable
from rdflib.plugins.sparql import prepareQuery

PREFIX = "PREFIX ns: <http://rdf.freebase.com/ns/>\nPREFIX : <http://entities/>\n"
RELATIONS = ["ns:film.actor.film/ns:film.performance.film", "ns:people.person.gender", "ns:film.director.film",
             "ns:people.person.spouse_s/ns:people.marriage.spouse|ns:fictional_universe.fictional_character.married_to/"
             "ns:fictional_universe.marriage_of_fictional_characters.spouses", "^ns:people.person.parents", "ns:people.person.nationality"]
CLASSES = ["ns:film.actor", "ns:people.person", "ns:film.film"]
VALUES = ["ns:m.05zppz", "ns:m.0f8l9c", "ns:m.02zsn"]


def drawn(draw):
    """Returns the head of a raw query, and a list of distinct conjuncts in CFQ's form."""
    variables = [f"?x{i}" for i in range(draw.randint(1, 4))]
    terms = variables + [f"M{i}" for i in range(draw.randint(1, 4))]
    conjuncts = []
    for _ in range(draw.randint(1, 9)):
        one = draw.choice(terms)
        form = draw.random()
        if form < 0.15:
            conjuncts.append(f"{one} a {draw.choice(CLASSES)}")
        elif form < 0.3:
            conjuncts.append(f"FILTER ( {draw.choice(variables)} != {draw.choice(terms)} )")
        else:
            conjuncts.append(f"{one} {draw.choice(RELATIONS)} {draw.choice(terms + VALUES)}")
    return draw.choice(["SELECT count(*)", "SELECT DISTINCT ?x0"]), sorted(set(conjuncts))


def graph(draw):
    """Returns a question that names entities, and the head and conjuncts of a query that is a graph over the question's
    words: each conjunct is there once, and exactly the spouses have a FILTER."""
    entities = draw.sample([f"M{i}" for i in range(12)], draw.randint(1, 4))
    terms = entities + [f"?x{i}" for i in range(draw.randint(0, 4))]
    conjuncts = set()
    for _ in range(draw.randint(1, 9)):
        one, form = draw.choice(terms), draw.random()
        if form < 0.2:
            conjuncts.add(f"{one} a {draw.choice(CLASSES)}")
        elif form < 0.3:
            conjuncts.add(f"{one} ns:people.person.gender {draw.choice(VALUES)}")
        else:
            conjuncts.add(f"{one} {draw.choice(RELATIONS)} {draw.choice(terms)}")
    for ends in [(c.split()[0], c.split()[-1]) for c in conjuncts if "spouse_s" in c]:
        conjuncts.add("FILTER ( {} != {} )".format(*ends))
    return ("Did " + " and ".join(draw.sample(entities, len(entities))) + " ' s cat sing",
            draw.choice(["SELECT count(*)", "SELECT DISTINCT ?x0"]), draw.sample(sorted(conjuncts), len(conjuncts)))


def raw(head, conjuncts):
    return head + " WHERE {\n" + " .\n".join(conjuncts) + "\n}"


def as_sparql(text):
    """Returns the query in a form that rdflib reads: entities such as M0 get a prefix, names without a prefix get
    `ns:`, and the aggregate of SPARQL 1.1 gets a name."""
    out = []
    text = text.replace("count(*)", "count ( * )").replace("count ( * )", "(count(*)AS?n)")
    for token in text.split():
        paths = []
        for alternative in token.split("|"):
            steps = []
            for step in alternative.split("/"):
                turned, name = ("^", step[1:]) if step.startswith("^") else ("", step)
                dotted = not name.startswith(("ns:", "?", "(")) and ("." in name.strip(".") or name.startswith("m_"))
                steps.append(turned + ("ns:" + name if dotted else ":" + name if name[0] == "M" and name[1:].isdigit() else name))
            paths.append("/".join(steps))
        out.append("|".join(paths))
    return PREFIX + " ".join(out)


def meaning(text):
    """Returns the parts of rdflib's algebra whose order does not matter: triples, filters, and the selected names."""
    found = []

    def walk(node):
        if getattr(node, "name", None) == "BGP":
            found.extend("triple " + " ".join(t.n3() for t in triple) for triple in node.triples)
        elif getattr(node, "name", None) == "RelationalExpression":
            found.append(f"filter {node.expr.n3()} {node.op} {node.other.n3()}")
        elif getattr(node, "name", None) in ("Project", "Distinct", "AggregateJoin"):
            found.append(node.name)
        for part in (node.values() if isinstance(node, dict) else node if isinstance(node, (list, tuple)) else ()):
            if not isinstance(part, (str, BNode, Literal, URIRef, Variable)):
                walk(part)

    walk(prepareQuery(as_sparql(text)).algebra)
    return dict(collections.Counter(found))


def generated(ask, draw, folder, report, program):
    """Returns queries of `cfq generate`, which are already preprocessed."""
    subprocess.run([program, "generate", "--out", folder, "--count", "300", "--seed", str(draw.randrange(10**6))], check=True,
                   capture_output=True, timeout=60)
    with open(os.path.join(folder, "all.tsv"), encoding="utf-8") as file:
        texts = [line.rstrip("\n").split("\t")[1] for line in file][:60]
    for text, mine in zip(texts, ask([{"ask": "query", "text": text} for text in texts])):
        report.same(f"generated, {text}, read again", mine.get("text", mine), text)
        report.same(f"generated, {text}, conjuncts in order", meaning(mine["sorted"]) if "sorted" in mine else mine, meaning(text))


def graphs(ask, draw, report):
    """The graph of a question gives a query that rdflib reads with the same meaning, and whose conjuncts are sorted."""
    drawn_graphs = [graph(draw) for _ in range(200)]
    texts = [raw(head, conjuncts) for _, head, conjuncts in drawn_graphs]
    ours = ask([{"ask": "graph", "question": g[0], "text": text} for g, text in zip(drawn_graphs, texts)])
    for text, mine in zip(texts, ours):
        found = mine.get("text")
        meant = meaning(found.replace(" m_", " ns:m.")) if found else mine
        report.same(f"by way of a graph, {text}", meant, meaning(text))
        body = found[found.index("{") + 2:-2].split(" . ") if found else []
        report.same(f"order after a graph, {text}", body, sorted(body))


def compare(ask, draw, folder, report):
    graphs(ask, draw, report)
    cfq = os.path.join(report.programs, "cfq")
    if os.path.exists(cfq):
        generated(ask, draw, os.path.join(folder, "cfq"), report, cfq)
    queries = [drawn(draw) for _ in range(80)]
    shuffled = [(head, draw.sample(conjuncts, len(conjuncts))) for head, conjuncts in queries]
    fewer = [(head, conjuncts[:-1] or ["M9 a ns:film.film"]) for head, conjuncts in queries]
    texts = [raw(*q) for q in queries + shuffled + fewer]
    ours = ask([{"ask": "query", "text": text} for text in texts])
    meant = [meaning(text) for text in texts]
    for text, mine, there in zip(texts, ours, meant):
        read = mine.get("text", "").replace(" m_", " ns:m.")
        report.same(f"read, {text}", meaning(read) if read else mine, there)
        report.same(f"conjuncts in order, {text}", meaning(mine["sorted"].replace(" m_", " ns:m.")) if read else mine, there)
    n = len(queries)
    pairs = [(i, i + n) for i in range(n)] + [(i, i + 2 * n) for i in range(n)]
    same = ask([{"ask": "same", "first": ours[a].get("text", ""), "second": ours[b].get("text", "")} for a, b in pairs])
    for (a, b), mine in zip(pairs, same):
        report.same(f"the same conjuncts, {texts[a]} and {texts[b]}", mine.get("same", mine), meant[a] == meant[b])
