#!/usr/bin/env bash
# pyoxigraph counts what two alternatives of a property path both find once.
# One would guess: `?x :p|:q ?y` is the union of `?x :p ?y` and `?x :q ?y`, with its duplicates: so SPARQL 1.1 evaluates
# alternatives (section 18.4), and a union keeps what both sides have twice.
# What happens: where both hold, the path counts 1 and the union that is written out counts 2.  rdflib says 2 twice.
# Seen in: pyoxigraph 0.5.13, rdflib 7.6.0.
# Why it matters: `SELECT count(*)` of a query with alternatives has another answer in another store.
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
packages pyoxigraph==0.5.13 rdflib==7.6.0
cat > show.py <<'PYTHON'
import pyoxigraph
import rdflib
data = "@prefix : <http://example.org/> . :a :p :b ; :q :b ."
graph = rdflib.Graph()
graph.parse(data=data)
store = pyoxigraph.Store()
store.load(data.encode(), format=pyoxigraph.RdfFormat.TURTLE)
for where in "?x :p|:q ?y", "{ ?x :p ?y } UNION { ?x :q ?y }":
    query = f"PREFIX : <http://example.org/> SELECT (count(*) AS ?n) WHERE {{ {where} }}"
    print(f"{where}: rdflib {[int(row[0]) for row in graph.query(query)]}, "
          f"pyoxigraph {[int(row[0].value) for row in store.query(query)]}")
PYTHON
"$python" show.py | expect "?x :p|:q ?y: rdflib [2], pyoxigraph [1]
{ ?x :p ?y } UNION { ?x :q ?y }: rdflib [2], pyoxigraph [2]"
