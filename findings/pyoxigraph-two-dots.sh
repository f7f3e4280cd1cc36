#!/usr/bin/env bash
# pyoxigraph refuses a prefixed name with two dots in a query.
# One would guess: `ns:people.person.gender` is read, since SPARQL 1.1 (PN_LOCAL) allows dots inside of a local name.
# What happens: a syntax error at the second dot; with one dot it is read.  rdflib reads both.
# Seen in: pyoxigraph 0.5.13, rdflib 7.6.0.
# Why it matters: names of Freebase have two dots, so nearly every query of CFQ is refused.
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
packages pyoxigraph==0.5.13 rdflib==7.6.0
cat > show.py <<'PYTHON'
import pyoxigraph
import rdflib
for name in "people.gender", "people.person.gender":
    query = f"PREFIX ns: <http://rdf.freebase.com/ns/> SELECT ?x WHERE {{ ?x ns:{name} ?y }}"
    for tool, ask in ("rdflib", rdflib.Graph().query), ("pyoxigraph", pyoxigraph.Store().query):
        try:
            ask(query)
            print(f"{tool}, ns:{name}: read")
        except SyntaxError:
            print(f"{tool}, ns:{name}: a syntax error")
PYTHON
"$python" show.py | expect "rdflib, ns:people.gender: read
pyoxigraph, ns:people.gender: read
rdflib, ns:people.person.gender: read
pyoxigraph, ns:people.person.gender: a syntax error"
