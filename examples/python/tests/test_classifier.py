"""Tests the classifier in the style of scikit-learn, and answers about many graphs, against the program graphs."""
import json
import random
import subprocess
import warnings

import numpy as np
import pytest

import triad_torch
from conftest import built
from triad_torch import GraphClassifier

OPPOSITE = {"left": "right", "right": "left", "above": "below", "below": "above"}


def stories(count, seed=0, nodes=lambda n: n):
    """Returns graphs of 2 to 4 nodes with an edge each way between neighbours, and what the last edge is."""
    draw, graphs, targets = random.Random(seed), [], []
    for _ in range(count):
        n, edges = draw.randint(2, 4), []
        for i in range(n - 1):
            label = draw.choice(list(OPPOSITE))
            edges += [(i, label, i + 1), (i + 1, OPPOSITE[label], i)]
        graphs.append({"nodes": nodes(n), "edges": edges, "query": (n - 2, n - 1)})
        targets.append(edges[-2][1])
    return graphs, targets


SMALL = {"preset": "smoke", "threads": 1, "learning_rate": 0.01}


@pytest.fixture(scope="module")
def trained():
    graphs, targets = stories(400)
    return GraphClassifier(built("graphs"), epochs=15, **SMALL).fit(graphs, targets)


def test_it_learns(trained):
    graphs, targets = stories(100, seed=1)
    assert trained.score(graphs, targets) > 0.95
    assert list(trained.classes_) == sorted(OPPOSITE)
    p = trained.predict_proba(graphs)
    assert p.shape == (100, 4) and np.allclose(p.sum(-1), 1, atol=1e-5)
    assert (trained.classes_[p.argmax(-1)] == trained.predict(graphs)).all()
    assert trained.run_.predict(graphs) == trained.predict(graphs).tolist()
    assert np.allclose(trained.run_.probabilities(graphs, batch=7), p, atol=1e-5)
    assert trained.predict([{**graph, "nodes": np.int64(graph["nodes"])} for graph in graphs]).tolist() == (
        trained.run_.predict(graphs))
    assert trained.predict([]).shape == (0,) and trained.predict_proba([]).shape == (0, 4)


def test_answers_are_those_of_the_program(tmp_path):
    """Nodes have labels, and some pairs have several edges."""
    draw = random.Random(2)
    graphs, targets = stories(300, nodes=lambda n: [draw.choice(["red", "grün"]) for _ in range(n)])
    for graph in graphs:
        graph["edges"] += [(0, "near", 1)] if draw.random() < 0.5 else []
        graph["edges"] += [(1, "loop", 1)] if draw.random() < 0.5 else []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GraphClassifier(built("graphs"), folder=tmp_path / "run", epochs=4, **SMALL).fit(graphs, targets)
    assert any(" + " in word for word in model.run_.edges) and "node: grün" in model.run_.edges
    predict = [built("graphs"), "predict", str(tmp_path / "run"), "--probabilities"]
    done = subprocess.run(predict, capture_output=True, text=True, check=True,
                          input="\n".join(map(json.dumps, graphs[:60])) + "\n")
    for line, p, answer in zip(done.stdout.splitlines(), model.predict_proba(graphs[:60]), model.predict(graphs[:60]),
                               strict=True):
        said = json.loads(line)
        assert said["target"] == answer
        for name, probability in said["probabilities"].items():
            assert abs(p[list(model.classes_).index(name)] - probability) < 6e-5
    again = triad_torch.load(tmp_path / "run")
    assert again.predict(graphs) == model.predict(graphs).tolist()
    with pytest.raises(ValueError, match="^folder: .*/run has a run, expected a new folder; load the run"):
        model.fit(graphs, targets)


def test_tools_of_scikit_learn_take_it():
    selection = pytest.importorskip("sklearn.model_selection", reason="scikit-learn is not installed")
    graphs, targets = stories(300)
    scores = selection.cross_val_score(GraphClassifier(built("graphs"), epochs=15, **SMALL), graphs, targets, cv=2)
    assert scores.shape == (2,) and scores.min() > 0.8


def test_parameters_are_got_and_set():
    model = GraphClassifier("there", epochs=3)
    assert model.get_params() == {"program": "there", "folder": None, "epochs": 3}
    assert model.set_params(epochs=4, folder="here", tied=False) is model
    assert model.get_params() == {"program": "there", "folder": "here", "epochs": 4, "tied": False}


def test_a_model_that_has_not_learned_warns():
    graphs, targets = stories(60)
    with pytest.warns(UserWarning, match="graphs: seed 1 failed: "):
        GraphClassifier(built("graphs"), epochs=1, **SMALL).fit(graphs, targets)


def test_what_cannot_be_trained_is_refused(trained):
    graphs, targets = stories(4)
    with pytest.raises(FileNotFoundError, match="^program: 'no-graphs' is not there, expected triad's program "):
        GraphClassifier("no-graphs").fit(graphs, targets)
    with pytest.raises(ValueError, match="^targets: 3 for 4 graphs, expected one for each, and 1 or more; "):
        GraphClassifier(built("graphs")).fit(graphs, targets[:3])
    with pytest.raises(ValueError, match="graphs: status [12], expected 0: .*wings"):
        GraphClassifier(built("graphs"), wings=2).fit(graphs, targets)
    for name, value in (("seeds", 2), ("data", "x"), ("out", "x"), ("resume", True), ("config", "x")):
        with pytest.raises(ValueError, match=f"^{name}: .*, expected no such option, because fit.. makes one"):
            GraphClassifier(built("graphs"), **{name: value}).fit(graphs, targets)
    for value in (float("nan"), [1], None):
        with pytest.raises(ValueError, match="^dropout: .*, expected a finite number, a text, or True or False; pass"):
            GraphClassifier(built("graphs"), dropout=value).fit(graphs, targets)
    with pytest.raises(ValueError, match="^graphs: a graph without query, expected nodes, edges and query; "):
        GraphClassifier(built("graphs")).fit([{"nodes": 1, "edges": []}], ["x"])
    with pytest.raises(ValueError, match="^run_: missing, expected a trained classifier; call fit first"):
        GraphClassifier(built("graphs")).predict(graphs)
    with pytest.raises(ValueError, match="^label: 'inside', expected one of above, "):
        trained.predict([{"nodes": 2, "edges": [(0, "inside", 1)], "query": (0, 1)}])
    with pytest.raises(ValueError, match=r"^query: \(0, 2\), expected nodes from 0 to 1; "):
        trained.predict([{"nodes": 2, "edges": [], "query": (0, 2)}])
