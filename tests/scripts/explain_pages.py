#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the pages of `explain --html` in a browser, with pointer, finger and keyboard. Without a browser, the script of
a page runs under node. Without a browser and node, only the contents of the files are checked:
  explain_pages.py ROOT FOLDER BUILD"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

import browser

root, folder, build = (pathlib.Path(a) for a in sys.argv[1:4])
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
HOSTILE = ["</script><script>document.title='taken'</script>", "\"&amp;'<!--", "plain"]


def expect(true, text):
    if not true:
        sys.exit(f"explain-pages: {text}")


def run(program, *arguments, allowed=(0,)):
    command = [str(build / "bin" / program), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    expect(done.returncode in allowed, f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def page_data(path):
    """Returns the data in the page. Checks that no other part of the page needs a network."""
    text = path.read_text()
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text)
    expect(len(found) == 1, f"{path} has {len(found)} blocks of data")
    expect(text.count("<script") == 2 and text.count("</script") == 2, f"{path}: data became script")
    expect("default-src 'none'" in text, f"{path} may load something")
    addresses = set(re.findall(r"https?://[^\"' )]*", text)) - {"http://www.w3.org/2000/svg"}
    expect(not addresses, f"{path} names {addresses}")
    return json.loads(found[0])


# ---- the pages ----
models = root / "examples" / "models"
pages = {name: folder / f"{name}.html" for name in
         ("kinship", "tree", "training", "hostile", "dependencies", "cogs", "meanings", "layers")}
told = run("clutrr", "explain", models / "kinship", "--facts", "ann:mother:bea bea:brother:carl carl:daughter:dora",
           "--ask", "ann:dora", "--html", pages["kinship"])
run("trees", "explain", models / "de-morgan", "--tree", "( NOT ( OR ( AND p q ) ( NOT r ) ) )", "--html", pages["tree"])
swapped = [{"source": f"( X {a} {b} )", "target": f"( X {b} {a} )"} for a in "pqr" for b in "pqr"]
for part in ("train", "test"):
    lines(folder / "swap" / f"{part}.jsonl", swapped)
run("trees", "train", "--preset", "smoke", "--data", folder / "swap", "--out", folder / "swap-run", allowed=(0, 3))
run("trees", "explain", folder / "swap-run", "--training", "--html", pages["training"])

graphs = [{"nodes": [HOSTILE[1], "b", "c"], "edges": [[0, HOSTILE[0], 1], [1, HOSTILE[i % 2], 2]], "query": [0, 2],
           "target": HOSTILE[i % 3]} for i in range(12)]
lines(folder / "graphs" / "train.jsonl", graphs)
lines(folder / "graphs" / "test.jsonl", graphs)
run("graphs", "train", "--preset", "smoke", "--data", folder / "graphs", "--out", folder / "graphs-run", allowed=(0, 3))
run("graphs", "explain", folder / "graphs-run", "--file", folder / "graphs" / "test.jsonl", "--row", 1, "--html",
    pages["hostile"])

words = ["M0", "M1", "M2"]
parsed = [{"tokens": [a, "met", b], "heads": [2, 0, 2], "labels": ["subj", "root", "obj"]} for a in words for b in words]
for part in ("train", "dev", "test"):
    lines(folder / "parses" / f"{part}.jsonl", parsed)
run("dependencies", "train", "--preset", "smoke", "--data", folder / "parses", "--out", folder / "parser",
    allowed=(0, 3))
run("dependencies", "explain", folder / "parser", "--sentence", "M1 met M0", "--html", pages["dependencies"])
run("cogs", "train", "--preset", "smoke", "--out", folder / "cogs", allowed=(0, 3))
run("cogs", "explain", folder / "cogs", "--sentence", "The fox saw Ada .", "--html", pages["cogs"])
graphs = [{"tokens": ["the", a, HOSTILE[2], b], "nodes": [[0, 1], 2, 3, "slot 0"],
           "edges": [[1, HOSTILE[0], 0], [1, "of", 2], [1, "too", 2], [3, "by", 1]],
           "node_labels": [[], [HOSTILE[1]], [], ["who"]]} for a in ("x", HOSTILE[0]) for b in "yz"]
for part in ("train", "dev", "test"):
    lines(folder / "meanings-data" / f"{part}.jsonl", graphs)
run("meanings", "train", "--preset", "small", "--updates", 400, "--warmup", 40, "--width", 32, "--head", "predicates",
    "--lists", "--data", folder / "meanings-data", "--out", folder / "meanings", allowed=(0, 3))
told_graph = run("meanings", "explain", folder / "meanings", "--sentence", f"the x {HOSTILE[2]} y", "--html",
                 pages["meanings"])
run("cognition", "train", "--preset", "smoke", "--out", folder / "cognition", allowed=(0, 3))
run("cognition", "explain", folder / "cognition", "--count", 5, "--html", pages["layers"])
data = {name: page_data(path) for name, path in pages.items()}

# An existing page is not overwritten, and a page that would overwrite an input is refused.
again = ["dependencies", "explain", folder / "parser", "--sentence", "M1 met M0", "--html"]
run(*again, pages["dependencies"], allowed=(1,))
run(*again, pages["dependencies"], "--force")
run(*again, folder / "parser" / "model.safetensors", "--force", allowed=(1,))

# If the page of a graph would be too large, it is refused before anything is computed.
large = json.dumps({"nodes": 49, "edges": [[0, HOSTILE[0], 1]], "query": [0, 1]})
done = subprocess.run([build / "bin" / "graphs", "explain", folder / "graphs-run", large, "--html", folder / "large.html"],
                      capture_output=True, text=True, check=False)
expect(done.returncode == 1 and "49 nodes, and a page shows at most 48" in done.stderr, f"49 nodes: {done.stderr}")
expect(not (folder / "large.html").exists(), "a refused page is written")

# ---- the page has the numbers that the programs print ----
view = data["kinship"]["views"][0]
expect(data["kinship"]["title"] == told.split(", because")[0], f"the page says {data['kinship']['title']}: {told}")
step = re.search(r"by way of (\w+)  \(layer (\d+), weight ([0-9.]+)", told)
middle, layer, weight = view["names"].index(step[1]), int(step[2]), float(step[3])
n = len(view["names"])
at = (view["from"] * n + view["to"]) * n
heads = view["attention"]["weights"][layer - 1]
mean = sum(head[at + middle] for head in heads) / len(heads) / 1000
expect(abs(mean - weight) < 0.006, f"the mean of heads is {mean}, printed is {weight}")
for name in ("kinship", "hostile", "dependencies", "cogs"):
    for of_layer in data[name]["views"][0]["attention"]["weights"]:
        for head in of_layer:
            n = data[name]["views"][0]["attention"]["nodes"]
            expect(len(head) == n**3, f"{name}: a head has {len(head)} weights of {n} nodes")
            for first in range(0, n**3, n):
                expect(abs(sum(head[first : first + n]) - 1000) <= n, f"{name}: weights do not sum to 1")
steps = data["tree"]["views"][0]["steps"]
for one in steps:
    expect(abs(sum(one["operations"].values()) - 1) < 1e-3, "operations do not sum to 1")
    for node in one["blended"]:
        expect(node["score"] >= 0, f"a negative score is shown: {node}")
for maps in data["layers"]["views"]:
    for one in maps["maps"]:
        for choice in one["choices"]:
            for row in choice["values"]:
                expect(abs(sum(w for w in row if w is not None) - 1) < 0.01, f"{maps['title']}: a row is {row}")

# A labelled graph: the page has the rows that explain prints. The probability of an edge is a noisy or of its words.
view = data["meanings"]["views"][0]
expect(len(view["edges"]) == 4, f"the small model has not learned its graphs: {told_graph}")
for e in view["edges"]:
    names = [re.escape(view["nodes"][e[end]]["name"]) for end in ("from", "to")]
    row = re.search(rf"^{names[0]} +{re.escape(e['label'])} +{names[1]} +([0-9.]+) ", told_graph, re.MULTILINE)
    expect(row and abs(float(row[1]) - e["weight"]) < 0.001, f"{e}: {told_graph}")
    misses = 1.0
    for by in e["by"]:
        misses *= 1 - by["weight"]
    expect(abs(1 - misses - e["weight"]) < 0.03, f"the words of {e} do not make its probability")

program = browser.find_browser()
if not program:
    node = shutil.which("node")
    if not node:
        print("explain-pages: the files are right; there is neither a browser nor node to open them")
        sys.exit(77)
    for name, path in pages.items():
        done = subprocess.run([node, root / "tests/scripts/page_in_node.js", path], capture_output=True, text=True)
        expect(done.returncode == 0, f"{name}: {done.stdout}{done.stderr}")
        print(done.stdout, end="")
    sys.exit(0)

# ---- use of the pages ----
PANEL = "document.querySelector('div:not([hidden]) > .view .panel').textContent"
STEP = "document.querySelector('div:not([hidden]) > .view .controls output').textContent"
with browser.Browser(program) as b:

    def opened(name, **how):
        b.open(pages[name], **how)
        expect(not b.said, f"{name}: the page says {b.said}")
        expect(b.asked == [pages[name].resolve().as_uri()], f"{name}: the page asked for {b.asked}")
        expect(b.run("document.title") == data[name]["title"], f"{name}: the title is {b.run('document.title')}")

    for name in pages:  # at any size, only figures scroll sideways
        for width, height, phone in ((1440, 900, False), (390, 844, True)):
            for dark in (False, True):
                opened(name, width=width, height=height, phone=phone, dark=dark)
                wide = b.run("document.documentElement.scrollWidth")
                expect(wide <= width, f"{name}: the page is {wide} wide, the window {width}")
                ground = b.run("getComputedStyle(document.body).backgroundColor")
                expect((sum(map(int, re.findall(r"\d+", ground)[:3])) < 200) == dark, f"{name}: {ground} where dark is {dark}")

    # Graphs: when the pointer is over an edge, its weights are shown, and a click keeps them visible. Layers and heads
    # can be changed step by step.
    opened("kinship")
    view, names = data["kinship"]["views"][0], data["kinship"]["views"][0]["names"]
    count, of_heads = view["attention"]["layers"], view["attention"]["heads"]

    def weights_of(layer, head, i, j):
        size = len(names)
        begin = (i * size + j) * size
        chosen = view["attention"]["weights"][layer]
        chosen = chosen if head is None else [chosen[head]]
        return [sum(one[begin + k] for one in chosen) / len(chosen) / 1000 for k in range(size)]

    def expect_weights(layer, head, i, j, when):
        panel = b.run(PANEL)
        expect(f"{names[i]} \u2192 {names[j]}" in panel and f"Layer {layer + 1}," in panel, f"{when}: {panel}")
        for k, w in enumerate(weights_of(layer, head, i, j)):
            shown = [f"{w + d:.2f}" for d in (-1e-9, 1e-9)]  # halves may be rounded up or down
            itself = " (the edge itself)" if k in (i, j) else ""
            expect(any(f"{names[k]}{itself}{s}" in panel for s in shown), f"{when}: {names[k]} {shown}: {panel}")

    expect(b.run(STEP) == f"{count} of {count}", f"the page begins at layer {b.run(STEP)}")
    expect_weights(count - 1, None, view["from"], view["to"], "at first")
    b.hover('[data-key="0-1"]')
    expect_weights(count - 1, None, 0, 1, "pointed at")
    b.hover("h1")
    expect_weights(count - 1, None, view["from"], view["to"], "no longer pointed at")
    b.click('[data-key="1-2"]')
    b.hover("h1")
    expect_weights(count - 1, None, 1, 2, "clicked")
    b.click('button[aria-label="previous layer"]')
    expect_weights(count - 2, None, 1, 2, "a layer back")
    b.run("document.activeElement.blur()")
    b.key("ArrowLeft")
    expect_weights(count - 3, None, 1, 2, "another layer back, by key")
    b.key("ArrowDown")
    expect_weights(count - 3, 0, 1, 2, "the first head, by key")
    expect(b.run("document.querySelector('select').selectedIndex") == 1, "the head is not chosen")
    for _ in range(of_heads + 3):
        b.key("ArrowDown")
    expect_weights(count - 3, of_heads - 1, 1, 2, "no head behind the last")
    b.click('[data-key="node-1"]')
    expect(b.run(PANEL).count("layer") >= count, f"a node shows no layers: {b.run(PANEL)}")
    if view["steps"]:
        b.click(".steps button")
        first = view["steps"][0]
        expect_weights(first["layer"] - 1, of_heads - 1, first["from"], first["to"], "a step of the proof")
    # The Tab key stops once at the table of edges; arrow keys move within the table.
    b.run("document.querySelector('td[tabindex=\"0\"]').focus()")
    b.key("ArrowDown")
    b.key("ArrowRight")
    focused = b.run("document.activeElement.getAttribute('data-key')")
    expect(focused == "1-1", f"the cell with the focus is {focused}")
    b.key("Enter")
    expect(f"{names[1]} \u2192 {names[1]}" in b.run(PANEL), f"Enter shows {b.run(PANEL)}")
    # The Tab key alone can reach an edge, and the focus is visible.
    b.run("document.activeElement.blur(); window.scrollTo(0, 0)")
    for _ in range(60):
        b.key("Tab")
        if b.run("document.activeElement.getAttribute('data-key')") == "0-1":
            break
    expect(f"{names[0]} \u2192 {names[1]}" in b.run(PANEL), f"Tab shows {b.run(PANEL)}")

    opened("kinship", width=390, height=844, phone=True)
    b.tap('[data-key="0-1"]')
    expect(f"{names[0]} \u2192 {names[1]}" in b.run(PANEL), f"a tap shows {b.run(PANEL)}")

    # Labels are shown as text, whatever they contain.
    opened("hostile")
    expect(b.run("document.querySelectorAll('script').length") == 2, "a label became script")
    texts = b.run("document.body.textContent")
    for label in HOSTILE[:2]:
        expect(label in texts, f"{label} is not on the page")

    # Trees: steps, mixtures of trees, and nodes.
    opened("tree")
    last = len(steps)
    expect(b.run(STEP) == f"T{last} of {last}", f"the page begins at {b.run(STEP)}")
    for k in range(last - 1, -1, -1):
        b.key("ArrowLeft")
        head = b.run("document.querySelector('.main h2').textContent")
        expect(head == (f"T{k} = {steps[k - 1]['instruction']}" if k else "T0, the input"), f"step {k}: {head}")
        if k:
            panel = b.run(PANEL)
            for name, value in steps[k - 1]["operations"].items():
                expect(name + f"{value:.2f}" in panel, f"step {k}: {name} {value}: {panel}")
    b.hover('[data-key="0/0"]')
    expect(b.run(PANEL) == "NOTA node of T0, the input: root.", f"the root shows {b.run(PANEL)}")
    b.key("ArrowRight")
    b.key("ArrowDown")
    best = steps[0]["blended"][0]
    b.hover('[data-key="1/0"]')
    expect(f"{best['label']}{best['score']:.2f}" in b.run(PANEL), f"the blend shows {b.run(PANEL)}")

    # A training: one map for each kind of value.
    opened("training")
    maps = data["training"]["views"][0]["maps"]
    for k, one in enumerate(maps):
        expect(b.run(STEP) == one["name"], f"map {k} is {b.run(STEP)}")
        last_row = len(one["rows"]) - 1
        b.click(f'[data-key="{last_row}-0"]')
        value = one["choices"][0]["values"][last_row][0]
        expect(f"{one['columns'][0]}{value:.2f}" in b.run(PANEL), f"{one['name']}: {value}: {b.run(PANEL)}")
        b.run("document.activeElement.blur()")
        b.key("ArrowRight")

    # Sentences: a click on a word shows its heads.
    for name, word in (("dependencies", "M0"), ("cogs", "fox")):
        opened(name)
        view = data[name]["views"][0]
        texts = [w["text"] for w in view["words"]]
        i = texts.index(word)
        b.hover(f'[data-key="word-{i}"]')
        panel = b.run(PANEL)
        for j, w in enumerate(view["heads"][i]):
            expect(f"{'(root)' if i == j else texts[j]}{w / 1000:.2f}" in panel, f"{name}: {texts[j]} {w}: {panel}")
        if view["words"][i]["parent"] >= 0:
            expect("by way of" in panel, f"{name}: no attention: {panel}")
    expect(data["cogs"]["views"][0]["form"]["text"] in b.run("document.body.textContent"), "no logical form")

    # Labelled graphs: an arc shows its edges with the words that make them, and a node shows its labels.
    opened("meanings")
    view = data["meanings"]["views"][0]
    names = [node["name"] for node in view["nodes"]]
    pairs = list(dict.fromkeys((e["from"], e["to"]) for e in view["edges"]))
    for k, (i, j) in enumerate(pairs):
        b.hover(f'[data-key="arc-{k}"]')
        panel = b.run(PANEL)
        expect(panel.startswith(f"{names[i]} \u2192 {names[j]}"), f"arc {k}: {panel}")
        for e in view["edges"]:
            if (e["from"], e["to"]) != (i, j):
                continue
            expect(f"{e['label']} {e['weight']:.2f}" in panel, f"arc {k}: {e}: {panel}")
            for by in e["by"]:
                expect(f"{view['words'][by['word']]}{by['weight']:.2f}" in panel, f"arc {k}: {by}: {panel}")
    b.click('[data-key="node-1"]')
    b.hover("h1")
    panel = b.run(PANEL)
    for label in view["nodes"][1]["labels"]:
        expect(f"{label['name']} {label['weight']:.2f}" in panel, f"node 1: {label}: {panel}")
    expect(b.run("document.querySelectorAll('script').length") == 2, "a label of a graph became script")

    # Layers: tabs, maps, and cells.
    opened("layers")
    titles = [v["title"] for v in data["layers"]["views"]]
    expect(len(titles) == 4, f"the views are {titles}")
    for k, view in enumerate(data["layers"]["views"]):
        b.click(f"#tab-{k}")
        shown = view["maps"][view.get("initial", 0)]
        i, j = len(shown["rows"]) - 1, 0
        b.click(f'#view-{k} [data-key="{i}-{j}"]')
        panel, value = b.run(PANEL), shown["choices"][0]["values"][i][j]
        expect(shown["rows"][i] in panel and f"{shown['columns'][j]}{value:.2f}" in panel, f"{titles[k]}: {panel}")
        if len(shown["choices"]) > 1:
            b.run("document.activeElement.blur()")
            b.key("ArrowDown")
            value = shown["choices"][1]["values"][i][j]
            expect(f"{shown['columns'][j]}{value:.2f}" in b.run(PANEL), f"{titles[k]}, head 1: {b.run(PANEL)}")
    expect(not b.said, f"the page says {b.said}")
print(f"explain-pages: {len(pages)} pages, used in {program}")
