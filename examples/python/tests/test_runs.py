"""Tests runs of triad's programs in Python, and folders that save_pretrained wrote."""
import json
import re
import struct
import subprocess

import numpy as np
import pytest
import torch

import triad_torch
from conftest import PROJECT, built
from triad_torch._safetensors import read_safetensors

OLD_RUNS = PROJECT / "tests" / "data" / "version_0.1"


def write_checkpoint(path, names, words, settings, **more):
    """Writes a checkpoint like triad's programs."""
    header, data = {"__metadata__": {"format": "triad-checkpoint-2", "configuration": json.dumps(settings),
                                     "vocabulary": json.dumps(words), **more}}, b""
    for name, x in names:
        raw = x.detach().numpy().astype(np.float32).tobytes()
        header[name] = {"dtype": "F32", "shape": list(x.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def ours_of(module):
    """Returns every parameter of the module under its name in triad."""
    back = {"norm1.weight": "norm1.gain", "norm1.bias": "norm1.bias", "norm2.weight": "norm2.gain",
            "norm2.bias": "norm2.bias", "linear1.weight": "feed_forward.inner.weight",
            "linear1.bias": "feed_forward.inner.bias", "linear2.weight": "feed_forward.outer.weight",
            "linear2.bias": "feed_forward.outer.bias"}
    attention = {"0": "query", "1": "key", "2": "left_value", "3": "right_value", "5": "output"}
    outside = {"encoder.embedding.weight": "embedding.table", "decoder2vocab.0.weight": "readout.inner.weight",
               "decoder2vocab.0.bias": "readout.inner.bias", "decoder2vocab.3.weight": "readout.outer.weight",
               "decoder2vocab.3.bias": "readout.outer.bias"}
    for name, x in module.named_parameters():
        if name in outside:
            yield outside[name], x
            continue
        layer, rest = re.fullmatch(r"encoder\.layers\.(\d+)\.(.*)", name).groups()
        found = re.fullmatch(r"edge_attention\.linears\.(\d)\.(.*)", rest)
        yield f"layers.{layer}." + (f"attention.{attention[found[1]]}.{found[2]}" if found else back[rest]), x


SETTINGS = {"attention": "full", "form": "released", "heads": 2, "hidden_factor": 4, "layers": 3,
            "model": "edge-transformer", "tied": True, "width": 8}
WORDS = {"edges": ["above", "left"], "targets": ["above", "left", "left-above"]}


def test_a_run_of_the_programs_answers(tmp_path):
    module = triad_torch.EdgeTransformer(4, 3, 8, 2, 3, dropout=0.0)
    path = tmp_path / "model.safetensors"
    write_checkpoint(path, ours_of(module), WORDS, SETTINGS)
    run = triad_torch.load(tmp_path)
    labels = run.labels(3, [(0, "left", 1), (1, "above", 2)])
    assert labels.tolist() == [[0, 2, 0], [0, 0, 1], [0, 0, 0]]
    expected = module(labels[None], torch.tensor([[0, 2]])).softmax(-1)[0]
    answer, probability = run.ask([(0, "left", 1), (1, "above", 2)], 0, 2)
    assert answer == WORDS["targets"][int(expected.argmax())]
    assert abs(probability - float(expected.max().detach())) < 1e-6
    graph = {"nodes": np.int64(3), "edges": [(0, "left", 1), (1, "above", 2)]}
    for nodes in (np.int32(3), np.array(3)):
        assert torch.equal(run.labels(nodes, graph["edges"]), labels)
    p = run.probabilities([{**graph, "query": np.array([0, 2])}] * 3, batch=np.int64(2))
    assert p.shape == (3, 3) and float((p - expected).detach().abs().max()) < 1e-6
    assert run.predict([{**graph, "query": (np.int64(0), 2)}]) == [answer]
    with pytest.raises(ValueError, match="^label: 'below', expected one of above, left; a run knows only"):
        run.ask([(0, "below", 1)], 0, 1)
    for nodes, edges, error, what in (
            (-1, [], ValueError, "^nodes: -1, expected 0 or more; "),
            (2.0, [], TypeError, "^nodes is 2.0, expected a whole number"),
            (2, [(0, "left", 2)], ValueError, r"^edges: \(0, 2\), expected nodes from 0 to 1; ")):
        with pytest.raises(error, match=what):
            run.labels(nodes, edges)
    with pytest.raises(ValueError, match="^nodes: 10000000001, expected fewer, because the labels of all pairs do not"):
        run.ask([(0, "left", 10**10)], 0, 1)
    for edge in ((0, "left"), 0, "0,left,1", (0, 3, 1), None):
        with pytest.raises(TypeError, match=r"^edges: .*, expected \(from, label, to\) with a text as label; number"):
            run.ask([edge], 0, 1)
    for source, edge, what in ((0, ("0", "left", 1), "edges: from is '0'"), (0, (0, "left", True), "edges: to is True"),
                               ("0", (0, "left", 1), "source is '0'"), (0.0, (0, "left", 1), "source is 0.0")):
        with pytest.raises(TypeError, match=f"^{what}, expected a whole number"):
            run.ask([edge], source, 1)
    for graphs, what in ((graph, "a dict, expected a list of dicts"), ([1], "1, expected a dict with nodes,")):
        with pytest.raises(TypeError, match=f"^graphs: {what}"):
            run.predict(graphs)
    for change, batch, what in (({}, 0, "^batch: 0, expected 1 or more; "),
                                ({}, -3, "^batch: -3, expected 1 or more; "),
                                ({"query": (0, 3)}, 1, r"^query: \(0, 3\), expected nodes from 0 to 2; "),
                                ({"query": (0, 1, 2)}, 1, r"^query: \[0, 1, 2\], expected the source and the target; "),
                                ({"query": 1}, 1, "^query: 1, expected the source and the target; ")):
        with pytest.raises(ValueError, match=what):
            run.predict([{**graph, "query": (0, 2), **change}], batch)
    with pytest.raises(ValueError, match="^graphs: a graph without query, expected nodes, edges and query; "):
        run.predict([graph])
    with pytest.raises(ValueError, match="a run of model 'bert', expected one of clutrr or graphs .*; `predict`"):
        write_checkpoint(path, ours_of(module), WORDS, {**SETTINGS, "model": "bert"})
        triad_torch.load(tmp_path)


def test_a_file_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no such file"):
        triad_torch.load(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n")
    with pytest.raises(ValueError, match="a Git LFS pointer"):
        triad_torch.load(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"not one")
    with pytest.raises(ValueError, match="not a safetensors file"):
        triad_torch.load(tmp_path)
    header = json.dumps({"__metadata__": None}).encode()
    (tmp_path / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
    with pytest.raises(ValueError, match="not a checkpoint of triad"):
        triad_torch.load(tmp_path)
    module = triad_torch.EdgeTransformer(4, 3, 8, 2, 3)
    write_checkpoint(tmp_path / "model.safetensors", ours_of(module), WORDS, SETTINGS)
    whole = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(whole[:-100])
    with pytest.raises(ValueError, match=r"model.safetensors: .*: \d+ bytes, expected \d+; the file is cut off"):
        triad_torch.load(tmp_path)
    for words in ({**WORDS, "edges": ["above", 3]}, {**WORDS, "targets": "above"}, {**WORDS, "edges": ["a", "a"]}):
        write_checkpoint(tmp_path / "model.safetensors", ours_of(module), words, SETTINGS)
        with pytest.raises(ValueError, match="(edges|targets) of the vocabulary, expected a list of different texts; "):
            triad_torch.load(tmp_path)
    write_checkpoint(tmp_path / "model.safetensors", ours_of(module), WORDS, {**SETTINGS, "width": 16})
    with pytest.raises(ValueError, match="not as triad's programs write it: RuntimeError: .*size mismatch"):
        triad_torch.load(tmp_path)


FINE = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}


@pytest.mark.parametrize("header, what", [
    ([1], "not a safetensors file: a header of type list, expected an object of JSON; "),
    ({"__metadata__": 3}, "__metadata__ 3, expected an object of JSON; "),
    ({"x": 3}, "x: 3, expected dtype, shape and data_offsets; "),
    ({"x": {"dtype": "F32", "shape": [1]}}, "x: {.*}, expected dtype, shape and data_offsets; "),
    ({"x": {**FINE, "dtype": "F8"}}, "x: dtype 'F8', expected one of F32, F64, .*; save it in "),
    ({"x": {**FINE, "dtype": ["F32"]}}, r"x: dtype \['F32'\], expected one of F32"),
    ({"x": {**FINE, "shape": 1}}, "x: shape 1, expected a list of whole numbers, 0 or more; "),
    ({"x": {**FINE, "shape": [-1, -1]}}, r"x: shape \[-1, -1\], expected a list of whole numbers, 0 or more; "),
    ({"x": {**FINE, "shape": [1.0]}}, r"x: shape \[1.0\], expected a list of whole numbers, 0 or more; "),
    ({"x": {**FINE, "data_offsets": ["0", "4"]}}, r"x: data_offsets \['0', '4'\], expected a list of whole numbers"),
    ({"x": {**FINE, "data_offsets": [0, 4, 8]}}, r"x: data_offsets \[0, 4, 8\], expected the first byte, and "),
    ({"x": {**FINE, "data_offsets": [4, 0]}}, r"x: data_offsets \[4, 0\], expected the first byte, and "),
    ({"x": {**FINE, "data_offsets": [0, 3]}}, "x: 3 bytes, expected 4; the file is cut off")])
def test_a_damaged_header_is_refused(header, what, tmp_path):
    text, path = json.dumps(header).encode(), tmp_path / "model.safetensors"
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(4))
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: {what}"):
        read_safetensors(path)


@pytest.fixture(scope="session")
def clutrr():
    return built("clutrr")


# What `clutrr predict --probabilities` prints for the run in tests/data/version_0.1.
SAID_BY_AN_OLD_RUN = [("ann:mother:bea bea:brother:carl ann:carl", "mother", 0.1207),
                      ("ann:brother:bea bea:father:carl ann:carl", "mother", 0.1198),
                      ("ann:wife:bea bea:son:carl carl:wife:dan ann:dan", "mother", 0.1103),
                      ("ann:wife:bea bea:son:carl carl:wife:dan dan:bea", "niece", 0.1108)]


def asked(run, question):
    """Asks a run a question in the form of `clutrr predict`."""
    *facts, last = (fact.split(":") for fact in question.split())
    people = sorted({person for fact in facts for person in (fact[0], fact[2])})
    edges = [(people.index(a), relation, people.index(b)) for a, relation, b in facts]
    return run.ask(edges, *(people.index(person) for person in last))


@pytest.mark.skipif(not OLD_RUNS.is_dir(), reason="the package lies outside of triad's checkout")
@pytest.mark.parametrize("question, answer, probability", SAID_BY_AN_OLD_RUN)
def test_a_run_of_version_0_1_gives_its_answers(question, answer, probability):
    said = asked(triad_torch.load(OLD_RUNS / "clutrr" / "run"), question)
    assert said[0] == answer and abs(said[1] - probability) < 6e-5


@pytest.mark.skipif(not OLD_RUNS.is_dir(), reason="the package lies outside of triad's checkout")
def test_the_model_of_the_repository_answers_as_its_page_says():
    folder = PROJECT / "examples" / "models"
    run = triad_torch.load(folder / "kinship")
    questions = (folder / "kinship" / "questions.txt").read_text(encoding="utf-8").split("\n")
    answers = [asked(run, question)[0] for question in questions if question]
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert answers and answers == re.findall(r"^\w+ is ann's (\S+)$", page, re.M)


@pytest.mark.skipif(not OLD_RUNS.is_dir(), reason="the package lies outside of triad's checkout")
@pytest.mark.parametrize("name", ["cfq/run"])
def test_a_run_without_a_module_is_refused(name):
    with pytest.raises(ValueError, match="model.safetensors: a run of model '[a-z-]+', expected one of clutrr or graph"
                                         r"s \(edge-transformer, rat, rrat, gat\), of meanings .*; `predict`"):
        triad_torch.load(OLD_RUNS / name)


@pytest.mark.skipif(not OLD_RUNS.is_dir(), reason="the package lies outside of triad's checkout")
def test_runs_of_version_0_1_answer_as_the_programs():
    run = triad_torch.load(OLD_RUNS / "cfq" / "parse")
    sentences = [run.words[:5], run.words[3:6]]
    questions = "".join(json.dumps({"tokens": words}) + "\n" for words in sentences)
    said = subprocess.run([built("cfq"), "predict", OLD_RUNS / "cfq" / "parse"], input=questions, text=True,
                          capture_output=True, check=True).stdout
    theirs = [json.loads(line) for line in said.splitlines()]
    assert [(x["heads"], x["labels"]) for x in run.parse(sentences)] == [(x["heads"], x["labels"]) for x in theirs]
    run = triad_torch.load(OLD_RUNS / "cogs" / "run")
    said = subprocess.run([built("cogs"), "predict", OLD_RUNS / "cogs" / "run", "--probabilities"], text=True,
                          input=" ".join(run.words[:4]) + "\n", capture_output=True, check=True).stdout
    (found,) = run.parse([run.words[:4]])
    assert re.findall(r"0\.\d{4}", said) == [f"{p:.4f}" for p in found["probability"]]
    run = triad_torch.load(OLD_RUNS / "cognition" / "run")
    said = subprocess.run([built("cognition"), "predict", OLD_RUNS / "cognition" / "run", "--beam", "1"], text=True,
                          input=" ".join(run.sources[:3]) + "\n", capture_output=True, check=True).stdout
    assert run.translate([run.sources[:3]]) == [said.split()]
    run = triad_torch.load(OLD_RUNS / "tree-transforms" / "run")
    tree = "( {} {} {} )".format(*run.symbols[1:4])
    said = subprocess.run([built("tree-transforms"), "predict", OLD_RUNS / "tree-transforms" / "run", tree], text=True,
                          capture_output=True, check=True).stdout
    assert run.transform([tree]) == said.splitlines()


@pytest.mark.parametrize("options", ["--relative --norm before --tie-output", "--embedding-scale unscaled --model dlcl",
                                     "--joined-dictionary --share-embedding --tie-output",
                                     "--joined-dictionary --share-embedding --embedding-scale positions-down"])
def test_a_translator_answers_as_the_program(options, tmp_path):
    # 60 updates may be too few to learn, and then the program ends with status 3. The test needs only its checkpoint.
    done = subprocess.run([built("cognition"), "train", "--preset", "smoke", "--updates", "60", "--threads", "1", "--out",
                           str(tmp_path), *options.split()], capture_output=True, text=True)
    assert done.returncode in (0, 3), done.stderr
    run = triad_torch.load(tmp_path)
    sentences = [run.sources[k:k + 3] for k in (0, 3, 6)]
    said = subprocess.run([built("cognition"), "predict", str(tmp_path), "--beam", "1"], capture_output=True, text=True,
                          input="".join(" ".join(words) + "\n" for words in sentences), check=True).stdout
    assert run.translate(sentences) == [line.split() for line in said.splitlines()]


@pytest.mark.parametrize("options", ["", "--attention flat --untied", "--attention value-ablation --paper-form",
                                     "--attention attention-ablation", "--average 0.9", "--dense-loss 0.5",
                                     "--model rat", "--model rat --untied", "--model rrat", "--model rrat --untied",
                                     "--model gat", "--model gat --untied"])
def test_a_run_of_the_program_itself_gives_its_probabilities(clutrr, options, tmp_path):
    train = [clutrr, "train", "--preset", "smoke", "--epochs", "40", "--learning-rate", "0.003", "--threads", "1",
             "--out", str(tmp_path), *options.split()]
    # Status 3: fewer than half of the validation answers are right. The model still answers questions.
    done = subprocess.run(train, capture_output=True, text=True)
    assert done.returncode in (0, 3), done.stderr
    run = triad_torch.load(tmp_path)
    questions = [f"ann:{first}:bea bea:{second}:carl ann:carl" for first in run.edges[:5] for second in run.edges[:5]]
    done = subprocess.run([clutrr, "predict", str(tmp_path), "--probabilities"], input="\n".join(questions) + "\n",
                          capture_output=True, text=True, check=True)
    said = re.findall(r"^carl is ann's (\S+)  (0\.\d{4}|1)", done.stdout, re.M)
    assert len(said) == len(questions), done.stdout
    assert len(set(said)) > 5  # a model that has learned nothing answers all questions in the same way
    for question, (answer, probability) in zip(questions, said):
        ours = asked(run, question)
        assert ours[0] == answer and abs(ours[1] - float(probability)) < 6e-5, (question, answer, probability, ours)


# ---- folders that save_pretrained wrote -----------------------------------------------------------------------------

def a_model(**options):
    return triad_torch.EdgeTransformer(5, 3, 8, 2, 2, **options).eval()


QUESTIONS = torch.tensor([[[0, 2, 1], [4, 0, 3], [0, 0, 0]]]), torch.tensor([[0, 2]])


@pytest.mark.parametrize("options", [{}, {"tied": False, "bias": True, "dropout": 0.3}, {"form": "flat", "hidden": 6},
                                     {"form": "both_ablations", "released": False}])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_saved_model_is_loaded(options, dtype, tmp_path):
    model = a_model(**options).to(dtype)
    model.save_pretrained(tmp_path / "new" / "folder")
    back = triad_torch.EdgeTransformer.from_pretrained(tmp_path / "new" / "folder")
    assert back.config == model.config and not back.training
    assert torch.equal(back(*QUESTIONS), model(*QUESTIONS))
    assert next(back.parameters()).requires_grad and back(*QUESTIONS).dtype == dtype
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == ["config.json", "model.safetensors"]
    back.save_pretrained(tmp_path)
    first, again = (folder / "model.safetensors" for folder in (tmp_path / "new" / "folder", tmp_path))
    assert first.read_bytes() == again.read_bytes()


def test_a_loaded_model_learns_as_the_saved_one(tmp_path):
    model = a_model(dropout=0.0)
    model.save_pretrained(tmp_path)
    back = triad_torch.EdgeTransformer.from_pretrained(tmp_path)
    for each in (model, back):
        optimizer = torch.optim.Adam(each.parameters(), 1e-2)
        for _ in range(3):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(each(*QUESTIONS), torch.tensor([1])).backward()
            optimizer.step()
    assert torch.equal(back(*QUESTIONS), model(*QUESTIONS))


def test_the_package_safetensors_reads_and_writes_the_same(tmp_path):
    theirs = pytest.importorskip("safetensors.torch", reason="the package safetensors is not installed")
    model = a_model()
    model.save_pretrained(tmp_path)
    read = theirs.load_file(tmp_path / "model.safetensors")
    assert read.keys() == model.state_dict().keys()
    assert all(torch.equal(x, read[name]) for name, x in model.state_dict().items())
    changed = {name: x + 1 for name, x in read.items()}
    theirs.save_file(changed, tmp_path / "model.safetensors", {"format": "pt"})
    back = triad_torch.EdgeTransformer.from_pretrained(tmp_path).state_dict()
    assert all(torch.equal(x, back[name]) for name, x in changed.items())


def test_a_model_with_other_tensors_is_not_saved(tmp_path):
    model = a_model()
    torch.nn.utils.parametrizations.weight_norm(model.decoder2vocab[0])
    with pytest.raises(ValueError, match="^state_dict: decoder2vocab.0.param.*, "
                                         "expected those of EdgeTransformer as its config makes it; merge adapters"):
        model.save_pretrained(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_buffer_that_is_not_saved_is_refused(tmp_path):
    class WithPositions(triad_torch.EdgeTransformer):
        def __init__(self):
            super().__init__(5, 3, 8, 2, 2)
            self.config = {}
            self.register_buffer("positions", torch.arange(5), persistent=False)

    WithPositions().save_pretrained(tmp_path)
    with pytest.raises(TypeError, match="^WithPositions: buffers positions, expected persistent ones; register them"):
        WithPositions.from_pretrained(tmp_path)


def test_a_folder_that_is_not_complete_is_refused(tmp_path):
    load = triad_torch.EdgeTransformer.from_pretrained

    def refused(what, **config):
        if config:
            (tmp_path / "config.json").write_text(json.dumps({**json.loads(whole), **config}))
        with pytest.raises(ValueError, match=what):
            load(tmp_path)
        (tmp_path / "config.json").write_text(whole)

    with pytest.raises(ValueError, match="^folder: no .*config.json, expected a folder that save_pretrained wrote; "):
        load(tmp_path)
    a_model().save_pretrained(tmp_path)
    whole = (tmp_path / "config.json").read_text()
    refused(r"config.json: model_type 'Bert', expected 'EdgeTransformer'; ", model_type="Bert")
    refused(r"config.json: rope, expected the arguments of EdgeTransformer; ", rope=1)
    refused(r"model.safetensors: other tensors than config.json says, expected .*; save the model again", width=16)
    refused(r"model.safetensors: other tensors than config.json says", tied=False)
    for config in ({"heads": 3}, {"heads": "2"}, {"labels": "five"}, {"labels": -1}, {"form": "round"}, {"layers": 0}):
        refused("^.*config.json: .*, expected arguments that EdgeTransformer accepts; save the model again", **config)
    (tmp_path / "config.json").write_text("{}")
    refused(r"config.json: model_type None, expected 'EdgeTransformer'")
    (tmp_path / "config.json").write_text("{")
    refused(r"config.json: .*, expected JSON; ")
    (tmp_path / "config.json").write_text(json.dumps({k: v for k, v in json.loads(whole).items() if k != "labels"}))
    refused(r"config.json: labels missing, expected the arguments of EdgeTransformer; ")
    (tmp_path / "model.safetensors").unlink()
    refused(r"model.safetensors: no such file, expected the weights of the model; ")


def test_numbers_of_numpy_are_saved_and_a_failed_save_changes_nothing(tmp_path):
    model = triad_torch.EdgeTransformer(5, 3, width=8, heads=2, layers=np.int64(4), dropout=np.float32(0.5))
    model.save_pretrained(tmp_path)
    assert triad_torch.EdgeTransformer.from_pretrained(tmp_path).config["layers"] == 4
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    odd = triad_torch.EdgeTransformer(5, 3, width=8, heads=2, layers=2)
    odd.config["released"] = object()
    with pytest.raises(ValueError, match="config: <object .*>, expected numbers, texts and lists"):
        odd.save_pretrained(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
