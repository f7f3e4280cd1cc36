"""Tests the tree machine: golden files of the released program, runs of the programs, and trees as text."""
import json
import subprocess

import pytest
import torch

import triad_torch
from conftest import built, close
from triad_torch import TreeMachine, _trees_as_text, tree_machine
from triad_torch._safetensors import read_safetensors

pytestmark = pytest.mark.usefixtures("one_thread")


def of_golden(c, tensors, depth):
    """Returns the machine of a golden file."""
    argument = ("softmax" if "in/gumbel_arg_0" not in tensors else
                "gumbel" if c.get("arg_dist_axis") == "trees" else "gumbel-released")
    symbols, fillers = tensors["param/tpr.filler_emb.weight"].shape
    layers = len({n for n in tensors if n.startswith("param/dtm.nta.layers.0.layers.") and n.endswith("norm1.bias")})
    return TreeMachine(symbols, depth, c["steps"], c["d_model"], c["nhead"], layers, c["dim_feedforward"], 0.0, fillers,
                       bool(c["norm_first"]), c["activation"],
                       "gumbel" if "in/gumbel_op_0" in tensors else "softmax", argument,
                       "distribution" if "root_dist" in c else "scores", c.get("empty_tree", False),
                       c["learned_D_E"]).double()


def test_the_released_machine_loads_and_agrees(golden_files, monkeypatch):
    seen = set()
    for path in golden_files("dtm_full"):
        tensors, texts = read_safetensors(path)
        c = json.loads(texts["config"])
        model = of_golden(c, tensors, c["max_depth"])
        seen |= {*model.choices, model.root, c["learned_D_E"], bool(c["norm_first"]), "empty" if c.get("empty_tree")
                 else "none"}
        state = {n.removeprefix("param/"): t for n, t in tensors.items() if n.startswith("param/")}
        model.load_state_dict(state)
        noise = [tensors[f"in/gumbel_{kind}_{k}"] for k in range(c["steps"]) for kind in ("op", "arg")
                 if f"in/gumbel_{kind}_{k}" in tensors]
        monkeypatch.setattr(tree_machine, "_gumbel", lambda like: noise.pop(0))
        heat = c["gumbel_temp"] or 1.0
        scores, steps = model.trace(tensors["in/input"], tuple(heat if choice != "softmax" else 1.0
                                                               for choice in model.choices), c.get("recency", 0.0))
        close(scores, tensors["out/decoded"])
        assert torch.equal(model.symbols(scores), tensors["out/symbols"])
        roles = state["tpr.role_emb.weight"]
        for k, step in enumerate(steps):
            close(step.operations, tensors[f"out/step{k}/op_dist"])
            close(step.arguments, tensors[f"out/step{k}/arg_weights"])
            close(step.root, tensors[f"out/step{k}/root_filler"])
            close(step.tree.transpose(1, 2) @ roles, tensors[f"out/step{k}/new_tree"])
        loss = model.loss(scores, tensors["in/output"])
        close(loss, tensors["out/loss"])
        loss.backward()
        expected = {n.removeprefix("grad/param/"): t for n, t in tensors.items() if n.startswith("grad/param/")}
        scale = max(float(t.abs().max()) for t in expected.values())
        for name, parameter in model.named_parameters():
            gradient = parameter.grad
            if name == "dtm.ctrl_net.weight":  # over roles, as the released program has it
                trees = gradient.unflatten(1, (model.count, -1))
                gradient = torch.einsum("dpf,pr->dfr", trees, roles).flatten(1)
            elif name.startswith("dtm.interpreter."):
                gradient = roles.T @ gradient @ roles
            close(gradient, expected.pop(name), scale)
        assert not expected
    assert {"softmax", "gumbel", "gumbel-released", "scores", "distribution", True, False, "empty", "none"} <= seen


def test_the_released_programs_own_file_loads(golden_files):
    """The released program saves the state_dict of its machine, whose names have no "dtm." in front."""
    for path in golden_files("dtm_full"):
        tensors, texts = read_safetensors(path)
        c = json.loads(texts["config"])
        state = {n.removeprefix("param/"): t for n, t in tensors.items() if n.startswith("param/")}
        one, other = (of_golden(c, tensors, c["max_depth"]) for _ in range(2))
        one.load_state_dict(state)
        other.load_state_dict({n.removeprefix("dtm."): t for n, t in state.items()})
        assert all(torch.equal(x, other.state_dict()[name]) for name, x in one.state_dict().items())


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_other_types_compute_in_their_own(dtype):
    model = TreeMachine(4, 3, 3, 8, 2, dropout=0.0).to(dtype)
    trees = torch.randint(4, (2, 7))
    scores = model(trees, 2.0, recency=0.3)
    assert scores.dtype == dtype
    exact = model.double()(trees, 2.0, recency=0.3)
    assert torch.allclose(scores.double(), exact, atol=1e-12 if dtype == torch.float64 else 0.1)
    many = torch.full((3, 7, 4), 200.0, dtype=dtype)
    assert float(TreeMachine.loss(many, torch.ones(3, 7, dtype=torch.int64))) == pytest.approx(159601.0, rel=0.01)
    assert float(TreeMachine.loss(many[:0], torch.ones(0, 7, dtype=torch.int64))) == 0


TREES = ["( R one ( S four ) )", "R", "( S ( R one two ) five )", "two"]


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Returns a folder with training rows for the program trees."""
    folder = tmp_path_factory.mktemp("rows")
    lines = [json.dumps({"source": f"( R {a} ( S {b} ) )", "target": f"( R ( S {b} ) {a} )"})
             for a in ("one", "two", "three") for b in ("four", "five")]
    for part in ("train", "test"):
        (folder / f"{part}.jsonl").write_text("\n".join(lines) + "\n")
    return folder


@pytest.mark.parametrize("options", ["--interpreter rows", "--interpreter matrices --role-seed 7",
                                     "--interpreter learned", "--empty-tree --root distribution --layers 2",
                                     "--choice gumbel-released"])
def test_runs_of_the_program_answer_alike(options, rows, tmp_path):
    program = built("trees")
    subprocess.run([program, "train", "--preset", "smoke", "--data", rows, "--updates", "40", "--threads", "1",
                    "--learning-rate", "0.01", *options.split(), "--out", tmp_path / "run"], capture_output=True)
    run = triad_torch.load(tmp_path / "run")
    said = subprocess.run([program, "predict", tmp_path / "run"], input="\n".join(TREES) + "\n", text=True,
                          capture_output=True, check=True).stdout.splitlines()
    assert run.transform(TREES, batch=2) == said
    assert run.transform([]) == [] and not run.module.training
    with pytest.raises(TypeError, match=r"^trees: a text, expected a list of texts; pass \[tree\]"):
        run.transform(TREES[0])


def test_trees_are_read_and_refused():
    known = {"A": 1, "B": 2, "C": 3}
    assert _trees_as_text.numbers("( A B ( C A B ) )", known, 3) == [1, 2, 3, 0, 0, 1, 2]
    assert _trees_as_text.numbers("(A(B)(C A))", known, 3) == [1, 2, 3, 0, 0, 1, 0]
    assert _trees_as_text.numbers(" A\n", known, 2) == [1, 0, 0]
    names = ["<empty>", *known]
    for row, text in (([1, 2, 3, 0, 0, 1, 2], "( A B ( C A B ) )"), ([1, 0, 3, 2, 2, 0, 0], "( A C )"),
                      ([1, 0, 0], "( A )"), ([0, 1, 2], "")):
        assert _trees_as_text.written(row, names) == text
    for text, what in (("", "ends before the tree"), ("( A", "ends before the tree"), ("( A B", "ends before"),
                       ("A B", "'B' after the tree, expected nothing"), ("( A ) )", r"'\)' without '\('"),
                       (")", r"'\)' without '\('"), ("( )", r"'\)' after '\('"),
                       ("( ( A ) )", r"'\(' after '\('"), ("( A ) ( B )", r"'\(' after the tree"),
                       ("( A B C A )", "more than 2 children"), ("( A ( B ( C A ) ) )", "more than 3 levels"),
                       ("( A D )", "label 'D', expected one of the 3 labels that the model knows"),
                       ("( A <empty> )", "label '<empty>', expected")):
        with pytest.raises(ValueError, match=f"^trees: .*{what}"):
            _trees_as_text.numbers(text, known, 3)
    white = {"A\u00a0B": 1, "A\x0bB": 2}  # only blanks, tabs and line ends separate labels
    assert _trees_as_text.numbers("( A\u00a0B\tA\x0bB )", white, 2) == [1, 2, 0]
    with pytest.raises(TypeError, match="^trees: 3, expected texts such as"):
        _trees_as_text.numbers(3, known, 3)


def test_it_learns_to_exchange_subtrees_and_is_saved(tmp_path):
    model = TreeMachine(4, 3, 3, width=16, heads=2, dropout=0.0)
    trees = torch.tensor([[3, a, b, c, 0, d, 0] for a in (1, 2) for b in (1, 2) for c in (0, 1) for d in (0, 2)])
    targets = trees[:, [0, 2, 1, 5, 6, 3, 4]]
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    losses = []
    for update in range(200):
        loss = model.loss(model(trees, temperature=max(1.0, 5 - update / 20), recency=0.1), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.2 * losses[0]
    model.eval()
    model.save_pretrained(tmp_path)
    back = TreeMachine.from_pretrained(tmp_path)
    assert torch.equal(back(trees), model(trees))
    assert torch.equal(back.symbols(back(trees)), targets)


def test_wrong_arguments_are_refused():
    for options, what in (({"symbols": 1}, "symbols is 1, expected 2 or more"), ({"steps": 0}, "steps is 0, expec"),
                          ({"depth": 0}, "branching is 2 and depth 0"), ({"fillers": 3}, "fillers is 3, expected 4"),
                          ({"operation_choice": "gumbel-released"}, "operation_choice is .*, expected softmax or gum"),
                          ({"root": "both"}, "root is 'both', expected scores or distribution"),
                          ({"heads": 3}, "width 8 is not a multiple of 3 heads")):
        with pytest.raises(ValueError, match=f"^{what}"):
            TreeMachine(**{"symbols": 4, "depth": 2, "steps": 1, "width": 8, "heads": 2, **options})
    model = TreeMachine(4, 2, 1, 8, 2)
    with pytest.raises(ValueError, match=r"^trees have shape \(2, 4\), expected \(trees, 3\), a symbol for each"):
        model(torch.zeros(2, 4, dtype=torch.int64))
    trees = torch.zeros(2, 3, dtype=torch.int64)
    for temperature in (0.0, float("nan"), (1.0, -1.0), float("inf")):
        with pytest.raises(ValueError, match="^temperature is .*, expected a finite number, above 0"):
            model(trees, temperature)
    for recency in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="^recency is .*, expected a finite number, 0 or more"):
            model(trees, recency=recency)
    for given in ({"temperature": "1"}, {"recency": "1"}, {"temperature": [1, 2]}):
        with pytest.raises(TypeError, match="^(temperature|recency) is .*, expected a number"):
            model(trees, **given)
    with pytest.raises(ValueError, match="^argument_choice is 'gumbel-released' with an empty tree, expected softmax"):
        TreeMachine(4, 2, 1, 8, 2, argument_choice="gumbel-released", empty_tree=True)
    with pytest.raises(ValueError, match="^recency is 1, expected 0 with gumbel-released"):
        TreeMachine(4, 2, 1, 8, 2, argument_choice="gumbel-released")(trees, recency=1)
    for symbol in (4, -1):
        with pytest.raises(ValueError, match=f"^trees: symbol {symbol}, expected 0 to 3; number the symbols"):
            model(torch.full((2, 3), symbol))
        with pytest.raises(ValueError, match=f"^targets: symbol {symbol}, expected 0 to 3"):
            model.loss(torch.zeros(2, 3, 4), torch.full((2, 3), symbol))
    for targets in (torch.zeros(2, 4, dtype=torch.int64), torch.zeros(2, 3, dtype=torch.int32)):
        with pytest.raises(ValueError, match=r"^targets: torch.int.* \(2, .\), expected torch.int64 \(2, 3\)"):
            model.loss(torch.zeros(2, 3, 4), targets)
    with pytest.raises(ValueError, match="^empty_weight is -1, expected 0 or more"):
        model.loss(torch.zeros(2, 3, 4), trees, -1)
    with pytest.raises(TypeError, match=r"^trees are torch.float32, expected int64"):
        model(torch.zeros(2, 3))
    state = {**model.state_dict(), "tpr.role_emb.weight": torch.eye(7)}
    with pytest.raises(ValueError, match=r"^tpr.role_emb.weight has 7 rows, expected 3, the positions of a tree; make"):
        model.load_state_dict(state)
