"""Tests models from sentences to graphs: golden files, padding, and runs of the program `meanings`."""
import json
import subprocess

import pytest
import torch

import triad_torch
from conftest import built, close
from triad_torch import SentenceToGraph
from triad_torch._safetensors import read_safetensors

pytestmark = pytest.mark.usefixtures("one_thread")


def batch_of(tensors):
    """Returns padded tokens, queried tokens, padding, edges and labels of a golden file's sentences."""
    lengths, members = tensors["in/lengths"].tolist(), tensors["in/members"].tolist()
    words, asked = tensors["in/tokens"].split(lengths), tensors["in/queried"].split(members)
    n = max(lengths)
    tokens = torch.stack([torch.nn.functional.pad(row, (0, n - len(row))) for row in words])
    pad = torch.arange(n)[None] >= torch.tensor(lengths)[:, None]
    queried = torch.zeros_like(pad)
    for row, at in zip(queried, asked):
        row[at] = True

    def node(sentence, column):
        return int(asked[sentence][column]) if column < members[sentence] else (
            lengths[sentence] + column - members[sentence])
    edges, labels = [[] for _ in lengths], [[] for _ in lengths]
    for s, a, label, b in tensors["in/edges"].tolist():
        edges[s].append((node(s, a), label, node(s, b)))
    for s, a, label in tensors["in/labels"].tolist():
        labels[s].append((node(s, a), label))
    return tokens, queried, pad, edges, labels


def module_name(name):
    """Returns the module's name of a parameter of a golden file."""
    if name.startswith("encoder."):
        return f"trunk.{name.removeprefix('encoder.')}.weight"
    name = name.replace("linears.4.", "linears.5.")  # the output projection of the released program for CFQ
    return f"trunk.{name}" if name.startswith("layers.") else name + ".weight" * name.endswith(".words")


def test_scores_losses_and_gradients_agree_with_golden_files(golden_files, monkeypatch):
    heads = set()
    for path in golden_files("sentence_to_graph"):
        tensors, texts = read_safetensors(path)
        c = json.loads(texts["config"])
        lists = 0 if c.get("pointer_words") else c["pointers_after"] or None
        anchors, implied = c.get("slot_form") == "anchors", c.get("implied_labels", False)
        heads.add((c["head"], lists, anchors, implied))
        params = {name.removeprefix("param/"): t for name, t in tensors.items() if name.startswith("param/")}
        width = params["norm.weight"].shape[0]
        model = SentenceToGraph(
            c["words"], c["edge_labels"], c["node_labels"], c["graph_labels"], c["slots"], width, c["heads"],
            c["layers"], params["layers.0.linear1.weight"].shape[0], 0.0, tied=c["tied"], max_offset=c["reach"],
            head="edges" if c["head"] == "edge" else "predicates", lists=lists, anchored_slots=anchors,
            implied_labels=implied).double()
        model.load_state_dict({module_name(name): t for name, t in params.items()})
        monkeypatch.setattr(triad_torch._graph_heads, "SQUARINGS", c["squarings"])
        if lists is not None:
            model.head.pointers.distance = c["distance"]
        tokens, queried, pad, edges, labels = batch_of(tensors)
        scores = model(tokens, queried, pad)
        there = scores.columns >= 0
        both = there[:, :, None] & there[:, None]
        close(scores.edges[both].flatten(), tensors["out/edge"])
        close(scores.labels[there].flatten(), tensors["out/node"])
        close(scores.graph.flatten(), tensors["out/graph"])
        if c["head"] == "predicate":
            close(scores.bag.flatten(), tensors["out/bag"])
        if lists is not None:
            close(scores.pointers[both].flatten(), tensors["out/pointers"])
        weights = {"bag": c["bag"] if scores.bag is not None else 0.0,
                   "pointers": c["pointers"] if lists is not None else 0.0}
        loss = model.loss(tokens, edges, labels, tensors["in/graph_label"], queried, pad, **weights)
        close(loss, tensors["out/loss"])
        loss.backward()
        found = dict(model.named_parameters())
        for name, t in tensors.items():
            if name.startswith("grad/param/"):
                close(found[module_name(name.removeprefix("grad/param/"))].grad, t, tolerance=1e-7)
    assert len(heads) == 5


MODELS = {
    "edges": {"head": "edges"},
    "words": {"lists": 0, "implied_labels": True},
    "states": {"lists": 1, "tied": True, "form": "value_ablation"},
    "anchors": {"anchored_slots": True},
    "anchors of lists": {"lists": 1, "anchored_slots": True},
    "transformer": {"trunk": "transformer", "lists": 1, "inner_dropout": 0.0}}


def small(kind, **more):
    return SentenceToGraph(7, 3, 2, 2, 2, **{"width": 8, "heads": 2, "layers": 2, "hidden": 12, **MODELS[kind], **more})


@pytest.mark.parametrize("kind", MODELS)
def test_padding_order_and_folders_change_nothing(kind, tmp_path):
    model = small(kind).eval()
    tokens = torch.tensor([[1, 2, 3, 4], [5, 6, 0, 0]])
    queried = torch.tensor([[True, False, True, True], [False, True, False, False]])
    pad = torch.tensor([[False] * 4, [False, False, True, True]])
    both = model.predict(tokens, queried, pad, 0.0)
    alone = [graph for rows in ((tokens[:1], queried[:1]), (tokens[1:, :2], queried[1:, :2]))
             for graph in model.predict(*rows, None, 0.0)]
    for ours, theirs in zip(both, alone, strict=True):
        assert [edge[:3] for edge in ours.edges] == [edge[:3] for edge in theirs.edges] and ours.edges
        assert [edge[3] for edge in ours.edges] == pytest.approx([edge[3] for edge in theirs.edges], abs=1e-5)
        assert [label[2] for label in ours.labels] == pytest.approx([label[2] for label in theirs.labels], abs=1e-5)
        assert ours.graph[0] == theirs.graph[0] and ours.graph[1] == pytest.approx(theirs.graph[1], abs=1e-5)
    # A sentence of two tokens has its slots at 2 and 3, with and without padding.
    assert {edge[0] for edge in both[1].edges} == {1, 2, 3} and {edge[0] for edge in both[0].edges} == {0, 2, 3, 4, 5}
    edges, labels, graph = [[(0, 1, 4)], [(1, 0, 3)]], [[(2, 1)], []], torch.tensor([1, -1])
    weights = {"bag": 0.5} if kind != "edges" else {}
    weights |= {"pointers": 0.3} if model.config["lists"] is not None else {}
    loss = model.loss(tokens, edges, labels, graph, queried, pad, **weights)
    parts = [model.loss(tokens[:1], edges[:1], labels[:1], graph[:1], queried[:1], **weights),
             model.loss(tokens[1:, :2], edges[1:], labels[1:], None, queried[1:, :2], **weights)]
    graphs = torch.nn.functional.cross_entropy(model(tokens, queried, pad).graph[:1], graph[:1])
    assert loss.item() == pytest.approx(((sum(parts) - graphs) / 2 + graphs).item(), rel=1e-5)
    none = model.loss(tokens, edges, labels, torch.tensor([-1, -1]), queried, pad)
    assert torch.equal(none, model.loss(tokens, edges, labels, None, queried, pad))
    model.save_pretrained(tmp_path)
    again = SentenceToGraph.from_pretrained(tmp_path)
    assert torch.equal(again(tokens, queried, pad).edges, model(tokens, queried, pad).edges)


@pytest.mark.parametrize("kind", [kind for kind in MODELS if "anchors" not in kind])  # they need more sentences
def test_it_learns_graphs(kind):
    model = small(kind, dropout=0.0, width=16)
    tokens, pad = torch.tensor([[1, 2, 3, 4], [5, 6, 3, 0]]), torch.tensor([[False] * 4, [False] * 3 + [True]])
    queried = torch.tensor([[True, False, True, True], [True, True, False, False]])
    edges, labels = [[(0, 1, 4), (2, 0, 3), (2, 2, 3)], [(1, 0, 4), (0, 0, 4)]], [[(2, 1), (4, 0), (4, 1)], [(0, 0)]]
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(400):
        optimizer.zero_grad()
        loss = model.loss(tokens, edges, labels, torch.tensor([1, 0]), queried, pad, 0.0 if kind == "edges" else 0.5)
        loss.backward()
        optimizer.step()
    found = model.eval().predict(tokens, queried, pad)
    for graph, of_edges, of_labels, of_graph in zip(found, edges, labels, (1, 0), strict=True):
        assert sorted(edge[:3] for edge in graph.edges) == sorted(of_edges)
        assert sorted(label[:2] for label in graph.labels) == sorted(of_labels) and graph.graph[0] == of_graph


@pytest.mark.parametrize("kind", [kind for kind in MODELS if kind != "edges"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16, "autocast"])
def test_probabilities_at_their_ends_have_finite_losses_and_gradients(kind, dtype):
    with torch.autocast("cpu", torch.bfloat16, enabled=dtype == "autocast"):
        model = small(kind, implied_labels=True)
        model = model if dtype == "autocast" else model.to(dtype)
        for bias in (-200.0, 200.0):
            for part in (model.head.predicate, model.head.label, model.head.role):
                torch.nn.init.constant_(part.bias, bias)
            torch.nn.init.constant_(model.head.implied, bias / 10)
            model.zero_grad()
            loss = model.loss(torch.tensor([[1, 2, 3], [4, 5, 0]]), [[(0, 1, 2)], []], [[(1, 0)], []],
                              torch.tensor([1, -1]), pad=torch.tensor([[False] * 3, [False, False, True]]), bag=0.5)
            loss.backward()
            assert bool(loss.isfinite())
            assert all(bool(x.grad.isfinite().all()) for x in model.parameters() if x.grad is not None)


def test_wrong_arguments_are_refused():
    tokens = torch.tensor([[1, 2, 3]])
    for more, what in (({"trunk": "gru"}, "trunk: 'gru', expected 'edge-transformer' or 'transformer'; pass"),
                       ({"head": "x"}, "head: 'x', expected 'predicates' or 'edges'"),
                       ({"head": "edges", "lists": 0}, "head: 'edges', expected 'predicates' with lists"),
                       ({"lists": 2}, "lists: 2, expected None, 0, or a layer before the last of 2"),
                       ({"lists": -1}, "lists: -1, expected None, 0, or a layer before"),
                       ({"slots": 0, "anchored_slots": True}, "slots: 0, expected 1 or more with anchored_slots; pass"),
                       ({"implied_labels": True}, "node_labels: 0, expected 1 or more with implied_labels; pass"),
                       ({"node_labels": -1}, "node_labels is -1, expected 0 or more"),
                       ({"inner_dropout": 1.0}, "inner_dropout is 1.0, expected 0 or more, below 1")):
        with pytest.raises(ValueError, match=f"^{what}"):
            SentenceToGraph(7, 3, width=8, heads=2, layers=2, **more)
    model = small("edges")
    with pytest.raises(ValueError, match="^bag: 0.5, expected 0 with the head"):
        model.loss(tokens, [[]], bag=0.5)
    with pytest.raises(ValueError, match="^pointers: 0.5, expected 0 without lists"):
        model.loss(tokens, [[]], pointers=0.5)
    for edges, labels, what in (
            ([], None, "edges: 0 sentences, expected 1; pass one list for each"),
            ([[]], [[], []], "labels: 2 sentences, expected 1; pass one list for each"),
            ([[(0, 1, 5)]], None, "edges: node 5 of sentence 0, expected one of its queried tokens or slots"),
            ([[(0, 1)]], None, r"edges: \(0, 1\) in sentence 0, expected \(from, label, to\); pass a list"),
            ([[]], [[3]], r"labels: 3 in sentence 0, expected \(node, label\); pass a list"),
            ([[(0, 3, 1)]], None, "edges: label 3 in sentence 0, expected 0 to 2; make"),
            ([[]], [[(0, 2)]], "labels: label 2 in sentence 0, expected 0 to 1; make")):
        with pytest.raises(ValueError, match=f"^{what}"):
            model.loss(tokens, edges, labels)
    rows = torch.tensor([[0, 1, 2], [2, 2, 2]])
    assert torch.equal(model.eval().loss(tokens, [rows]), model.loss(tokens, [rows.tolist()]))
    none = SentenceToGraph(7, 3, width=8, heads=2, layers=1)
    assert none.loss(tokens, [[]], queried=torch.zeros(1, 3, dtype=torch.bool), bag=0.5).isfinite()
    for options, what in (({"bag": -1}, "bag is -1, expected 0 or more, and finite; 0 leaves"),
                          ({"pointers": float("nan")}, "pointers is nan, expected 0 or more, and finite")):
        with pytest.raises(ValueError, match=f"^{what}"):
            none.loss(tokens, [[]], **options)
    assert none.loss(tokens, [[]], graph=torch.tensor([-1])).isfinite()
    assert none.predict(tokens, torch.zeros(1, 3, dtype=torch.bool), threshold=0.0) == [([], [], None)]
    with pytest.raises(ValueError, match="^edges: node 1 of sentence 0, expected one of its queried tokens"):
        model.loss(tokens, [[(0, 1, 1)]], queried=torch.tensor([[True, False, True]]))
    for graph, what in ((torch.tensor([2]), "graph: 2, expected a label below 2"),
                        (torch.tensor([1.0]), r"graph: torch.float32 \(1,\), expected int64 \(1,\); pass a label for")):
        with pytest.raises(ValueError, match=f"^{what}"):
            model.loss(tokens, [[]], graph=graph)
    with pytest.raises(ValueError, match="^tokens: 7, expected numbers from 0 to 6; number"):
        model(torch.tensor([[7]]))
    with pytest.raises(ValueError, match=r"^tokens: \(1, 0\) with a sentence of no tokens, expected one token or more"):
        model(torch.zeros(1, 0, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"^tokens: \(1, 3\) with a sentence of no tokens"):
        model(tokens, pad=torch.ones(1, 3, dtype=torch.bool))
    with pytest.raises(TypeError, match="^queried: torch.int64, expected bool"):
        model(tokens, tokens)
    with pytest.raises(ValueError, match="^threshold: 2, expected 0 to 1"):
        model.predict(tokens, threshold=2)


def rows_of(name, folder):
    """Returns the tokens of a part of data."""
    return [json.loads(line)["tokens"] for line in (folder / f"{name}.jsonl").read_text().splitlines()]


VARIANTS = {"predicates": "", "edges": "--head edges", "by words": "--lists --implied-labels --word-labels",
            "by states": "--slot-form anchors --lists --lists-after 1 --tied --attention value-ablation",
            "transformer": "--model transformer --lists", "flat": "--model edge-transformer --attention flat"}


@pytest.mark.parametrize("variant", VARIANTS)
def test_runs_of_the_program_answer_alike(variant, tmp_path):
    program = built("meanings")
    data, run = tmp_path / "data", tmp_path / "run"
    subprocess.run([program, "generate", "--out", data, "--count", "60"], check=True, capture_output=True)
    subprocess.run([program, "train", "--preset", "smoke", "--data", data, "--threads", "1", *VARIANTS[variant].split(),
                    "--out", run], capture_output=True)
    asked = rows_of("test", data)[:20]
    loaded = triad_torch.load(run)
    for threshold in ("0.5", "0.04"):
        said = subprocess.run([program, "predict", run, "--threshold", threshold, "--unknown"], check=True, text=True,
                              input="".join(json.dumps({"tokens": row}) + "\n" for row in asked),
                              capture_output=True).stdout
        theirs = [json.loads(line) for line in said.splitlines()]
        assert loaded.predict(asked, 7, unknown=True, threshold=float(threshold)) == theirs
    assert any(told["edges"] or told.get("node_labels") for told in theirs)


def test_words_that_a_run_does_not_know_are_refused(tmp_path):
    program = built("meanings")
    lines = [{"tokens": ["put", f"M{k}", "away"], "nodes": [0, [0, 1], "slot 0"], "edges": [[0, "theme", 1]],
              "node_labels": [["imperative"], [], []], "label": "command", "slots": 1} for k in range(8)]
    lines += [{"tokens": ["stop"], "nodes": [0], "edges": [], "label": "other"}]
    for part in ("train", "dev", "test"):
        (tmp_path / f"{part}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    run = tmp_path / "run"
    said = subprocess.run([program, "train", "--preset", "smoke", "--data", tmp_path, "--threads", "1", "--updates",
                           "400", "--choose-threshold", "--out", run], capture_output=True, text=True)
    loaded = triad_torch.load(run)
    rows = [line["tokens"] for line in lines]
    told = subprocess.run([program, "predict", run], input="".join(json.dumps({"tokens": row}) + "\n" for row in rows),
                          capture_output=True, text=True, check=True).stdout
    assert loaded.predict(rows) == [json.loads(line) for line in told.splitlines()], said.stderr
    assert loaded.predict([["stop"]]) == [{"tokens": ["stop"], "nodes": [0], "edges": [], "label": "other"}]
    assert loaded.predict(rows[:1])[0]["nodes"][:2] == [0, [0, 1]], "the test has no span"
    with pytest.raises(ValueError, match="^sentences: 'saw' is not one of the .* words that the model knows, expected"):
        loaded.predict([["saw"]])
    assert loaded.predict([["saw"]], unknown=True)[0]["tokens"] == ["saw"]
    with pytest.raises(ValueError, match="^sentences: one without words, expected one word or more"):
        loaded.predict([[]])
    with pytest.raises(TypeError, match="^sentences: 'stop', expected lists of words"):
        loaded.predict(["stop"])
    with pytest.raises(ValueError, match="^batch: 0, expected 1 or more"):
        loaded.predict(rows, batch=0)


def edited(run, folder, **members):
    """Writes a copy of a run whose configuration or vocabulary has other members, and returns its file."""
    data = (run / "model.safetensors").read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    for name, value in members.items():
        for text in ("configuration", "vocabulary"):
            all_members = json.loads(header["__metadata__"][text])
            if name in all_members:
                header["__metadata__"][text] = json.dumps({**all_members, name: value})
    raw = json.dumps(header).encode()
    (folder / "edited.safetensors").write_bytes(len(raw).to_bytes(8, "little") + raw + data[8 + length:])
    return folder / "edited.safetensors"


def test_damaged_runs_are_refused(tmp_path):
    program, run = built("meanings"), tmp_path / "run"
    subprocess.run([program, "generate", "--out", tmp_path / "data", "--count", "60"], check=True, capture_output=True)
    subprocess.run([program, "train", "--preset", "smoke", "--data", tmp_path / "data", "--threads", "1", "--out", run],
                   capture_output=True)
    for members in ({"tied": "no"}, {"head": "x"}, {"attention": "wide"}, {"labels": []}, {"relations": ["a"]},
                    {"queried": ["x"]}, {"queried": [10**20]}, {"spans": [-5, 0]}, {"isolated": 1.5}, {"slots": -1},
                    {"layers": 10**9}, {"layers": 1}, {"lists": None}, {"width": 20}, {"max_offset": 1}):
        with pytest.raises(ValueError, match="edited.safetensors: "):
            triad_torch.load(edited(run, tmp_path, **members))
    assert triad_torch.load(edited(run, tmp_path)).words
