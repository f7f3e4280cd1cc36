"""Tests dependency parsers: golden files of their heads, PyTorch's own operations, and runs of the program."""
import itertools
import json
import subprocess

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import triad_torch
from conftest import built, close
from triad_torch import BiaffineDependencyParser, EdgeDependencyParser, maximum_arborescence
from triad_torch._safetensors import read_safetensors

pytestmark = pytest.mark.usefixtures("one_thread")
MODELS = {"edge": lambda **more: EdgeDependencyParser(9, 3, 8, 2, 2, max_offset=2, **more),
          "biaffine": lambda **more: BiaffineDependencyParser(9, 3, 8, 2, 2, **more)}


def test_heads_agree_with_golden_files(golden_files):
    kinds = set()
    for path in golden_files("dep_heads"):
        tensors, texts = read_safetensors(path)
        c = json.loads(texts["config"])
        n, width = c["n"], c["d"]
        kind = EdgeDependencyParser if c["heads"] == "edge" else BiaffineDependencyParser
        kinds.add(kind)
        model = kind(5, c["relations"], width, 1, 1, dropout=0.0).double()
        if kind is BiaffineDependencyParser:
            for name in model.ends:
                model.ends[name] = torch.nn.Linear(width, c["inner"])
        for name, t in tensors.items():
            if name.startswith("param/"):
                end, _, part = name.removeprefix("param/").partition(".")
                owner = model.ends[end] if end in getattr(model, "ends", ()) else getattr(model, end)
                setattr(owner, part, torch.nn.Parameter(t))
        x = tensors["in/x"].clone().requires_grad_()
        states = x.reshape(c["B"], n, n, width) if c["heads"] == "edge" else x.reshape(c["B"], n, width)
        arcs = model.arcs(states)
        close(arcs.flatten(), tensors["out/arc"])
        child, parent = tensors["in/child"], tensors["in/parent"]
        logits = []
        for i, j in zip(child.tolist(), parent.tolist()):
            heads = torch.zeros(c["B"], n, dtype=torch.int64)
            heads[i // n, i % n] = j % n
            logits.append(model.relations(states, heads)[i // n, i % n])
        logits = torch.stack(logits)
        close(logits, tensors["out/relation"])
        ((arcs.flatten() * tensors["cotangent/arc"]).sum() + (logits * tensors["cotangent/relation"]).sum()).backward()
        close(x.grad, tensors["grad/in/x"])
    assert len(kinds) == 2


def test_an_arborescence_is_the_best_of_all_trees():
    for n in (1, 2, 3, 4):
        scores = torch.randn(n, n, dtype=torch.float64)
        best, most = {"one": None, "any": None}, dict.fromkeys(("one", "any"), -float("inf"))
        for heads in itertools.product(range(n), repeat=n):
            at = [i for i in range(n) if heads[i] == i]
            reached = set(at)
            for _ in range(n):
                reached |= {i for i in range(n) if heads[i] in reached}
            total = sum(float(scores[i, heads[i]]) for i in range(n))
            for roots in ("one", "any") if len(at) == 1 else ("any",):
                if len(reached) == n and total > most[roots]:
                    best[roots], most[roots] = list(heads), total
        for roots in ("one", "any"):
            assert maximum_arborescence(scores, roots).tolist() == best[roots]
        assert maximum_arborescence(scores.float().numpy()).tolist() == best["one"]
    assert maximum_arborescence(np.zeros((0, 0))).tolist() == []
    with pytest.raises(ValueError, match=r"^scores have shape \(2, 3\), expected \(n, n\)"):
        maximum_arborescence(np.zeros((2, 3)))
    for scores in (torch.eye(2, dtype=torch.complex64), torch.eye(2, dtype=torch.bool)):
        with pytest.raises(TypeError, match="^scores are torch.*, expected real numbers"):
            maximum_arborescence(scores)
    with pytest.raises(TypeError, match="^scores are complex128, expected real numbers"):
        maximum_arborescence(np.eye(2) * 1j)
    with pytest.raises(ValueError, match="^roots: 'two', expected 'one' or 'any'; leave"):
        maximum_arborescence(np.eye(2), "two")
    with pytest.raises(ValueError, match="expected a finite number"):
        maximum_arborescence(np.array([[0, np.nan], [0, 0]]))


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("tied", [True, False])
def test_padding_and_folders_change_nothing(kind, tied, tmp_path):
    model = MODELS[kind](tied=tied).eval()
    tokens, heads = torch.randint(4, 9, (2, 4)), torch.tensor([[1, 1, 1, 2], [0, 0, 3, 0]])
    labels, pad = torch.randint(3, (2, 4)), torch.zeros(2, 6, dtype=torch.bool)
    pad[:, 4:] = True
    longer, below = F.pad(tokens, (0, 2), value=1), F.pad(heads, (0, 2))
    short, padded = model(tokens, heads), model(longer, below, pad)
    assert torch.allclose(short.arcs, padded.arcs[:, :4, :4], atol=1e-5)
    assert bool((padded.arcs[:, :, 4:] == -torch.inf).all())
    assert torch.allclose(short.relations, padded.relations[:, :4], atol=1e-5)
    loss = model.loss(tokens, heads, labels)
    by_hand = (F.cross_entropy(short.arcs.flatten(0, 1), heads.flatten())
               + F.cross_entropy(short.relations.flatten(0, 1), labels.flatten()))
    assert torch.allclose(loss, by_hand) and torch.allclose(loss, model.loss(longer, below, F.pad(labels, (0, 2)), pad))
    found = model.parse(longer, pad)
    for x, y in zip(model.parse(tokens), found):
        assert torch.allclose(x, y[:, :4], atol=1e-5) and not y[:, 4:].any()
    again = model(tokens, found[0][:, :4])
    assert torch.allclose(again.relations.softmax(-1).max(-1).values, found[3][:, :4], atol=1e-5)
    model.save_pretrained(tmp_path)
    back = type(model).from_pretrained(tmp_path)
    assert torch.equal(back(tokens).arcs, model(tokens).arcs)
    assert model(tokens).relations is None


@pytest.mark.parametrize("kind", MODELS)
def test_it_learns_a_tree(kind):
    model = MODELS[kind](dropout=0.0)
    tokens = torch.tensor([[4, 5, 6, 7], [6, 5, 4, 8]])
    heads, labels = torch.tensor([[1, 1, 1, 2], [1, 1, 1, 0]]), torch.tensor([[0, 1, 2, 2], [2, 1, 0, 0]])
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(150):
        optimizer.zero_grad()
        loss = model.loss(tokens, heads, labels)
        loss.backward()
        optimizer.step()
    assert float(loss.detach()) < 0.1
    found = model.eval().parse(tokens)
    assert torch.equal(found[0], heads) and torch.equal(found[1], labels)


@pytest.mark.parametrize("kind", MODELS)
def test_wrong_tensors_are_refused(kind):
    model = MODELS[kind]()
    tokens = torch.full((2, 3), 4)
    with pytest.raises(ValueError, match=r"^heads: shape \(2, 2\), expected \(sentences, tokens\), that of tok"):
        model(tokens, tokens[:, :2])
    with pytest.raises(ValueError, match=r"^tokens: shape \(3,\), expected"):
        model(tokens[0])
    with pytest.raises(TypeError, match=r"^pad: torch.int64, expected bool"):
        model(tokens, pad=tokens)
    for heads in (7, -1):
        with pytest.raises(ValueError, match=f"^heads: {heads}, expected numbers from 0 to 2; number them"):
            model(tokens, torch.full((2, 3), heads))
    with pytest.raises(ValueError, match="^pad: padding before a token, expected it after all tokens"):
        model.parse(tokens, torch.tensor([[True, False, False], [False, False, True]]))
    late = torch.tensor([[False, False, True], [False, False, False]])
    with pytest.raises(ValueError, match="^heads: 2, which is padding, expected a token of the sentence"):
        model(tokens, torch.full((2, 3), 2), late)
    for relations, what in ((torch.full((2, 3), 3), "relations: 3, expected numbers from 0 to 2; number them"),
                            (torch.full((2, 3), -100), "relations: -100, expected numbers from 0 to 2"),
                            (torch.zeros(2, 2, dtype=torch.int64), r"relations: shape \(2, 2\), expected")):
        with pytest.raises(ValueError, match=f"^{what}"):
            model.loss(tokens, torch.zeros_like(tokens), relations)
    with pytest.raises(TypeError, match="^relations: list, expected a tensor"):
        model.loss(tokens, torch.zeros_like(tokens), [[0, 0, 0]])
    with pytest.raises(TypeError, match="^heads: NoneType, expected a tensor"):
        model.loss(tokens, None, torch.zeros_like(tokens))
    with pytest.raises(ValueError, match="^tokens: 9, expected numbers from 0 to 8"):
        model(torch.full((1, 2), 9))
    with pytest.raises(ValueError, match="^width 9 is not a multiple of 2 heads"):
        type(model)(9, 3, 9, 2)
    for shape in ((0, 3), (2, 0)):
        empty, none = torch.zeros(shape, dtype=torch.int64), torch.zeros(shape, dtype=torch.bool)
        assert model.eval().parse(empty, none)[0].shape == shape and model(empty, pad=none).arcs.shape[:2] == shape
    for given, what in (((9, 3, 8, 2, 0), "layers"), ((0, 3, 8), "tokens"), ((9, 0, 8), "relations")):
        with pytest.raises(ValueError, match=f"^{what} is 0, expected 1 or more"):
            type(model)(*given)
    with pytest.raises(ValueError, match="^hidden is 0, expected 1 or more"):
        type(model)(9, 3, 8, 2, hidden=0)


def test_runs_of_the_program_answer_alike(tmp_path):
    program = built("dependencies")
    lines = [json.dumps({"tokens": [f"M{m}", "met", f"M{n}"], "heads": [2, 0, 2], "labels": ["subj", "root", "obj"]})
             for m in range(4) for n in range(4)]
    for part in ("train", "dev", "test"):
        (tmp_path / f"{part}.jsonl").write_text("\n".join(lines) + "\n")
    sentences = ["M3 met M0".split(), "M1 met M2 met M3".split(), ["M0"], []]
    asked = "".join(json.dumps({"tokens": words}) + "\n" for words in sentences)
    for k, options in enumerate(("", "--max-offset 1 --attention value-ablation", "--model transformer --layers 2",
                                 "--model universal-transformer --layers 2")):
        run = tmp_path / f"run{k}"
        subprocess.run([program, "train", "--preset", "smoke", "--data", tmp_path, "--threads", "1", *options.split(),
                        "--out", run], capture_output=True)
        loaded = triad_torch.load(run)
        said = subprocess.run([program, "predict", "--probabilities", run], input=asked, text=True,
                              capture_output=True, check=True).stdout
        theirs = [json.loads(line) for line in said.splitlines()]
        for ours, told in zip(loaded.parse(sentences, batch=3), theirs, strict=True):
            assert ours.keys() == told.keys()
            for member, value in told.items():
                if member.endswith("probabilities"):
                    assert np.allclose(ours[member], value, atol=6e-5)
                else:
                    assert ours[member] == value
    assert loaded.parse([["M0", "saw", "M1"]], unknown=True)[0]["tokens"] == ["M0", "saw", "M1"]
    with pytest.raises(ValueError, match="^sentences: 'saw' is not one of the 5 words that the model knows, expected"):
        loaded.parse([["M0", "saw", "M1"]])
    with pytest.raises(TypeError, match=r"^sentences: 'M0 met M1', expected lists of words; pass \[sentence.split"):
        loaded.parse(["M0 met M1"])
    with pytest.raises(ValueError, match="^batch: 0, expected 1 or more; "):
        loaded.parse(sentences, batch=0)
