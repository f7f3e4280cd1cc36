"""Tests parsers of COGS: golden files of the released program, and runs of the program `cogs`."""
import gzip
import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import torch

import triad_torch
from conftest import built, close
from triad_torch import EdgeSemanticParser, SemanticParse, TransformerSemanticParser
from triad_torch._safetensors import read_safetensors

pytestmark = pytest.mark.usefixtures("one_thread")
LABELS = ("role", "category", "noun_type", "verb")


@pytest.mark.parametrize("kind", ["et_cogs", "cogs_transformer"])
def test_scores_losses_and_gradients_agree_with_golden_files(kind, golden_files, monkeypatch):
    for path in golden_files(kind):
        tensors, texts = read_safetensors(path)
        c = json.loads(texts["config"])
        sizes = [c["vocab"][name] for name in ("tok", "role", "cat", "nt", "vb")]
        of_all = {"width": c["d"], "heads": c["heads"], "layers": c["layers"], "hidden": c["ff_factor"] * c["d"],
                  "dropout": 0.0}
        if kind == "et_cogs":
            form = next((name for name, given in (("flat", c["flat"]), ("value_ablation", c["value_ablation"]),
                                                  ("attention_ablation", c["attention_ablation"])) if given), "full")
            model = EdgeSemanticParser(*sizes, **of_all, tied=c["layers_tied"], encoding=c["input_encoding"], form=form)
        else:
            model = TransformerSemanticParser(*sizes, **of_all, tied=c["share_layers_flag"])
        model = model.double().eval()
        params = {name.removeprefix("param/"): t for name, t in tensors.items() if name.startswith("param/")}
        if kind == "et_cogs" and c["layers_tied"]:
            params = {name: t for name, t in params.items() if not re.search(r"layers\.[1-9]", name)}
        # The released program also stores buffers.  It has no biases of projections in the flat form.
        model.load_state_dict(params | {name.removeprefix("buffer/"): t for name, t in tensors.items()
                                        if name.startswith("buffer/")})
        tokens, pad = tensors["in/tokens"], tensors["in/mask"] == 1
        # Vectors of positions are float32, whose last bit depends on the version of PyTorch.
        waves = tensors["buffer/encoder.pe.pe"][0]
        assert torch.allclose(triad_torch._sentences.waves(*waves.shape, waves.device).double(), waves, atol=1e-6)
        monkeypatch.setattr(triad_torch.semantic_parsers, "waves", lambda *_, waves=waves: waves)
        # In the released Transformer, tokens attend to padding.
        states = model.states(tokens, pad if kind == "et_cogs" else None)
        scores = model.scores(tokens, states, pad)
        real = ~pad
        close(scores.parents[real[:, :, None] & real[:, None]],
              tensors["out/parent_scores"][real[:, :, None] & real[:, None]])
        for name, logits in zip(LABELS, scores[1:]):
            close(logits[real], tensors[f"out/{name}_logits"][real])
        targets = SemanticParse(tensors["in/parent"].masked_fill(pad, 0), *(tensors[f"in/{name}"] for name in LABELS))
        if kind == "et_cogs":
            loss = model.loss(tokens, targets, pad)
        else:
            model.states = lambda tokens, pad, states=type(model).states, self=model: states(self, tokens, None)
            loss = model.loss(tokens, targets, pad)
        close(loss, tensors["out/loss"])
        loss.backward()
        largest = max(float(t.abs().max()) for name, t in tensors.items() if name.startswith("grad/param/"))
        compared = 0
        for name, parameter in model.named_parameters():
            if (theirs := tensors.get(f"grad/param/{name}")) is not None:
                close(parameter.grad, theirs[:len(parameter)], largest)
                compared += 1
        assert compared > 20
        best = model.parse(tokens, pad, tree=False)[0].parents
        assert torch.equal(best[real], tensors["out/pred_parent"][real])


MODELS = {"edge": lambda **more: EdgeSemanticParser(9, 5, 4, 3, 4, 8, 2, 2, max_offset=2, **more),
          "positional": lambda **more: EdgeSemanticParser(9, 5, 4, 3, 4, 8, 2, 2, encoding="positional",
                                                          from_parent=True, verb_from_word=True, **more),
          "transformer": lambda **more: TransformerSemanticParser(9, 5, 4, 3, 4, 8, 2, 2, **more)}


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("tied", [True, False])
def test_padding_and_folders_change_nothing(kind, tied, tmp_path):
    model = MODELS[kind](tied=tied).eval()
    tokens = torch.randint(2, 9, (2, 4))
    targets = SemanticParse(torch.tensor([[1, 1, 1, 2], [0, 0, 3, 0]]), *(torch.randint(3, (2, 4)) for _ in range(4)))
    pad = torch.tensor([[False] * 4 + [True] * 2] * 2)
    longer = torch.nn.functional.pad(tokens, (0, 2))
    below = SemanticParse(*(torch.nn.functional.pad(x, (0, 2)) for x in targets))
    short, padded = model(tokens), model(longer, pad)
    for name, x, y in zip(short._fields, short, padded):
        y = y[:, :4, :4] if name == "parents" else y[:, :4]
        assert torch.allclose(x, y, atol=1e-5)
    assert bool((padded.parents[:, :, 4:] == -torch.inf).all())
    assert torch.allclose(model.loss(tokens, targets), model.loss(longer, below, pad), atol=1e-5)
    for tree in (True, False):
        (parse, p), (padded, q) = model.parse(tokens, tree=tree), model.parse(longer, pad, tree)
        assert torch.allclose(p, q[:, :4], atol=1e-5) and not q[:, 4:].any()
        assert all(torch.equal(x, y[:, :4]) and not y[:, 4:].any() for x, y in zip(parse, padded))
    model.save_pretrained(tmp_path)
    assert torch.equal(type(model).from_pretrained(tmp_path)(tokens).parents, model(tokens).parents)


@pytest.mark.parametrize("kind", MODELS)
def test_it_learns_a_graph(kind):
    model = MODELS[kind](dropout=0.0, positional_dropout=0.0)
    tokens = torch.tensor([[2, 3, 4, 5], [4, 3, 2, 6]])
    targets = SemanticParse(torch.tensor([[1, 1, 1, 2], [1, 1, 1, 0]]), *(tokens % k for k in (5, 4, 3, 4)))
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(200):
        optimizer.zero_grad()
        loss = model.loss(tokens, targets)
        loss.backward()
        optimizer.step()
    assert loss.item() < 1
    found = model.parse(tokens)[0]
    assert all(torch.equal(x, y) for x, y in zip(found, targets))
    assert not model.word_emb.weight[1].any(), "the vector of word 1 has changed"


def test_wrong_arguments_are_refused():
    model, tokens = MODELS["edge"](), torch.tensor([[2, 3]])
    zeros = torch.zeros_like(tokens)
    with pytest.raises(ValueError, match="^encoding: 'x', expected 'relational' or 'positional'; pass"):
        EdgeSemanticParser(9, 5, 4, 3, 4, encoding="x")
    with pytest.raises(ValueError, match="^tokens: 9, expected numbers from 0 to 8; number"):
        model(torch.tensor([[9]]))
    with pytest.raises(ValueError, match="^verbs: 4, expected numbers from 0 to 3"):
        model.loss(tokens, SemanticParse(zeros, zeros, zeros, zeros, zeros + 4))
    with pytest.raises(ValueError, match=r"^roles: shape \(1, 1\), expected"):
        model.loss(tokens, SemanticParse(zeros, zeros[:, :1], zeros, zeros, zeros))
    with pytest.raises(ValueError, match="^parents: 1, which is padding, expected a token of the sentence; number"):
        model.loss(tokens, SemanticParse(zeros + 1, zeros, zeros, zeros, zeros), torch.tensor([[False, True]]))
    assert model(torch.tensor([[2, -1]]), torch.tensor([[False, True]])).roles.shape == (1, 2, 5)
    for shape in ((0, 3), (2, 0)):
        parse, p = model.parse(torch.zeros(shape, dtype=torch.int64))
        assert parse.roles.shape == p.shape == shape
    with pytest.raises(RuntimeError, match="size mismatch for encoder.spatial_relations_builder"):
        model.load_state_dict(EdgeSemanticParser(9, 5, 4, 3, 4, 8, 2, 2).state_dict())
    with pytest.raises(ValueError, match="^verbs is 0, expected 1 or more"):
        TransformerSemanticParser(9, 5, 4, 3, 0)


RUNS = {"edge": "", "positional": "--positional --from-parent --attention value-ablation --tied",
        "paper form": "--paper-form --verb-from-word --max-offset 2 --learn-all", "transformer": "--model transformer",
        "universal": "--model universal-transformer --verb-from-word --layers 2"}


@pytest.mark.parametrize("variant", RUNS)
def test_runs_of_the_program_answer_alike(variant, tmp_path):
    program, run = built("cogs"), tmp_path / "run"
    subprocess.run([program, "train", "--preset", "smoke", "--threads", "1", "--epochs", "12", "--out", run,
                    *RUNS[variant].split()], capture_output=True)
    loaded = triad_torch.load(run)
    sentences = [loaded.words[k:k + 3 + k % 5] for k in range(0, 40, 3)]
    for options in ([], ["--argmax"]):
        said = subprocess.run([program, "predict", run, "--probabilities", *options], text=True, check=True,
                              input="".join(" ".join(words) + "\n" for words in sentences), capture_output=True).stdout
        tables = re.split(r"(?m)^token.*\n-+\n", said)[1:]
        for ours, table in zip(loaded.parse(sentences, 5, not options), tables, strict=True):
            *rows, form = table.split("\n")[:len(ours["tokens"]) + 1]
            for i, row in enumerate(rows):
                token, place, parent, role, category, noun_type, verb, p = row.split()
                assert (token, int(place)) == (ours["tokens"][i], i)
                assert (-1 if parent == "-" else int(parent)) == ours["parent"][i]
                names = ("role", "category", "noun_type", "verb_name")
                assert (role, category, noun_type, verb) == tuple(ours[name][i] or "-" for name in names)
                assert float(p) == pytest.approx(ours["probability"][i], abs=6e-5)
            none = ours["logical_form"] is None
            assert form == ("(this graph has no logical form)" if none else ours["logical_form"])
    assert loaded.parse([[]])[0]["logical_form"] is None
    with pytest.raises(ValueError, match="^sentences: 'wug' is not one of the .* words that the model knows, expected"):
        loaded.parse([["wug"]])
    with pytest.raises(TypeError, match="^sentences: 'A wug', expected lists of words"):
        loaded.parse(["A wug"])


def test_logical_forms():
    tags = {"tokens": "The girl in TV wished to see Emma".split(), "parent": [-1, 4, 1, 2, -1, -1, 4, 6],
            "role": ["", "agent", "PREP", "PP_NOUN", "", "", "xcomp", "theme"],
            "category": ["", "CNOUN", "", "CNOUN", "VERB", "", "VERB", "PNOUN"],
            "noun_type": ["", "DEF", "", "INDEF", "", "", "", ""], "verb_name": ["", "", "", "", "wish", "", "see", ""]}
    form = ("* girl ( x _ 1 ) ; girl . nmod . in ( x _ 1 , x _ 3 ) AND tv ( x _ 3 ) AND wish . agent ( x _ 4 , x _ 1 ) "
            "AND wish . xcomp ( x _ 4 , x _ 6 ) AND see . agent ( x _ 6 , x _ 1 ) AND see . theme ( x _ 6 , Emma )")
    assert triad_torch.logical_form(tags) == form
    assert triad_torch.logical_form({**tags, "noun_type": [""] * 8, "role": [""] * 8}) == ""
    for name, i, value in (("parent", 1, -1), ("parent", 2, -1), ("parent", 1, 8), ("parent", 2, 8),
                           ("role", 1, "CAUSE"), ("verb_name", 6, ""),
                           ("role", 1, "theme")):
        wrong = [value if k == i else x for k, x in enumerate(tags[name])]
        assert triad_torch.logical_form({**tags, name: wrong}) is None


@pytest.mark.skipif("TRIAD_DATA" not in os.environ, reason="TRIAD_DATA names no folder with the data of COGS")
def test_logical_forms_are_those_of_cogs():
    folder, compared = Path(os.environ["TRIAD_DATA"]) / "cogs", 0
    for part in ("train", "dev", "test", "gen"):
        with (gzip.open(folder / f"{part}_seqtag.jsonl.gz", "rt") as tags,
              gzip.open(folder / f"{part}.tsv.gz", "rt") as rows):
            for line, row in zip(tags, rows, strict=True):
                _, form, kind = row.rstrip("\n").split("\t")
                if kind != "primitive":  # a word alone, whose form is a lambda expression
                    assert triad_torch.logical_form(json.loads(line)) == form
                    compared += 1
    assert compared == 51012
