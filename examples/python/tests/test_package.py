"""Tests the package: its libraries, exported symbols and requirements, runs of triad's programs, and the example."""
import itertools
import json
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import triad_torch
from triad_torch import _kernels

SOURCE = Path(__file__).resolve().parents[1]
PACKAGE = Path(triad_torch.__file__).parent


def python(text, **environment):
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True,
                          env={**os.environ, **environment})


def test_numpy_needs_no_pytorch():
    text = """
import sys
sys.modules["torch"] = None
import numpy as np
import triad_torch
x = np.ones((1, 3, 3, 1, 2), np.float32)
assert triad_torch.triangular_attention(x, x, x, x).shape == x.shape
roles = triad_torch.Roles.gather(3)
triad_torch.car(roles, np.ones((7, 2)))
try:
    triad_torch.TriangularAttention
except ImportError as error:
    print(error)
"""
    done = python(text)
    assert done.returncode == 0, done.stderr
    assert "needs PyTorch 2.10 or later" in done.stdout


@pytest.mark.parametrize("level", _kernels.built())
def test_kernels_of_every_instruction_set_that_runs_here_agree(level):
    if not _kernels._wanted.get(level, set()) <= _kernels._processor_has():
        pytest.skip(f"this processor has no {level}")
    text = """
import numpy as np, triad_torch
rng = np.random.default_rng(0)
x = [rng.standard_normal((2, 15, 15, 2, 10), dtype=np.float32) for _ in range(4)]
exact = triad_torch.triangular_attention(*[a.astype(np.float64) for a in x])
print(float(np.abs(triad_torch.triangular_attention(*x) - exact).max()))
"""
    done = python(text, TRIAD_TORCH_INSTRUCTIONS=level)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1e-5


def test_versions_agree():
    from importlib.metadata import version
    assert triad_torch.__version__ == version("triad_torch") == _kernels.description().split()[0]


def test_an_instruction_set_that_is_not_there_is_refused():
    done = python("import triad_torch._kernels as k; k.library()", TRIAD_TORCH_INSTRUCTIONS="x86-64-v9")
    assert done.returncode != 0 and "TRIAD_TORCH_INSTRUCTIONS is 'x86-64-v9'" in done.stderr


def test_the_operators_use_no_other_function_of_pytorch_than_declared():
    declared = set(re.findall(r"\b((?:aoti_)?torch_\w+)\(", (SOURCE / "src" / "stable_abi.h").read_text()))
    done = subprocess.run(["nm", "-D", "--undefined-only", str(PACKAGE / "libtriad_torch.so")], capture_output=True,
                          text=True)
    if done.returncode != 0:
        pytest.skip("no nm")
    used = {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}
    assert {name for name in used if "torch" in name} <= declared
    assert not [name for name in used if "Py" in name[:2] or "c10" in name]


def test_declarations_are_pytorchs(tmp_path):
    """Compiles our declarations and PyTorch's in one file. The compiler refuses any difference."""
    include = Path(torch.__file__).parent / "include"
    if not (include / "torch/csrc/stable/c/shim.h").exists():
        pytest.skip("this PyTorch came without headers")
    ours = (SOURCE / "src" / "stable_abi.h").read_text()
    ours = re.sub(r"^(using|struct) .*;.*$", "", ours, flags=re.M)  # PyTorch's own types
    unit = tmp_path / "both.cpp"
    unit.write_text("#define TORCH_TARGET_VERSION (((0ULL + 2) << 56) | ((0ULL + 10) << 48))\n"
                    "#include <torch/csrc/stable/c/shim.h>\n" + ours.replace("#pragma once", ""))
    done = subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", f"-I{include}", str(unit)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def write_checkpoint(path, module, names, words, settings, **more):
    """Writes a checkpoint like triad's programs."""
    header, data = {"__metadata__": {"format": "triad-checkpoint-2", "configuration": json.dumps(settings),
                                     "vocabulary": json.dumps(words), **more}}, b""
    for name, x in names:
        raw = x.detach().numpy().astype(np.float32).tobytes()
        header[name] = {"dtype": "F32", "shape": list(x.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def ours_of(module, settings):
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
    write_checkpoint(path, module, ours_of(module, SETTINGS), WORDS, SETTINGS)
    run = triad_torch.load(tmp_path)
    labels = run.labels(3, [(0, "left", 1), (1, "above", 2)])
    assert labels.tolist() == [[0, 2, 0], [0, 0, 1], [0, 0, 0]]
    expected = module(labels[None], torch.tensor([[0, 2]])).softmax(-1)[0]
    answer, probability = run.ask([(0, "left", 1), (1, "above", 2)], 0, 2)
    assert answer == WORDS["targets"][int(expected.argmax())]
    assert abs(probability - float(expected.max().detach())) < 1e-6
    with pytest.raises(ValueError, match="no label 'below'"):
        run.ask([(0, "below", 1)], 0, 1)
    with pytest.raises(ValueError, match="no module here|there is a module"):
        write_checkpoint(path, module, ours_of(module, SETTINGS), WORDS, {**SETTINGS, "model": "rat"})
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
    write_checkpoint(tmp_path / "model.safetensors", module, ours_of(module, SETTINGS), WORDS, SETTINGS)
    whole = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(whole[:-100])
    with pytest.raises(ValueError, match="cut off"):
        triad_torch.load(tmp_path)


def test_a_run_of_the_program_itself_gives_its_answers(tmp_path):
    """Runs only if the environment variable TRIAD_CLUTRR has the path of the program clutrr."""
    program = os.environ.get("TRIAD_CLUTRR")
    if not program:
        pytest.skip("TRIAD_CLUTRR names no program")
    out = tmp_path / "run"
    train = [program, "train", "--preset", "smoke", "--epochs", "8", "--out", str(out)]
    # Status 3 means that the model has not learned its task. The model can still answer.
    assert subprocess.run(train, capture_output=True).returncode in (0, 3)
    run = triad_torch.load(out)
    for first, second in itertools.product(run.edges[:6], run.edges[:6]):
        question = f"ann:{first}:bea bea:{second}:carl ann:carl\n"
        said = subprocess.run([program, "predict", str(out)], input=question, capture_output=True, text=True,
                              check=True).stdout
        answer, _ = run.ask([(0, first, 1), (1, second, 2)], 0, 2)
        assert re.search(rf"\b{re.escape(answer)}\b", said.replace(question.strip(), "")), (question, answer, said)


def test_the_example_compares_and_trains(tmp_path):
    pairs = {("father", "mother"): "grandmother", ("father", "brother"): "uncle", ("son", "son"): "grandson"}
    lines = ["task_name,story_edges,edge_types,query_edge,target"]
    for (a, b), answer in list(pairs.items()) * 6:
        lines.append(f'task_1.2,"[(0, 1), (1, 2)]","[\'{a}\', \'{b}\']","(0, 2)",{answer}')
    for name in ("1.2_train.csv", "1.2_test.csv"):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    example = [sys.executable, str(SOURCE / "edge_transformer.py"), "--data", str(tmp_path), "--batch", "6"]
    done = subprocess.run([*example, "--steps", "5"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "largest difference of losses" in done.stdout
    done = subprocess.run([*example, "--epochs", "2"], capture_output=True, text=True)
    assert done.returncode == 0 and "1.2_test.csv  k=2" in done.stdout, done.stdout + done.stderr
    done = subprocess.run([sys.executable, str(SOURCE / "edge_transformer.py"), "--data", str(tmp_path / "none")],
                          capture_output=True, text=True)
    assert done.returncode != 0 and "expected one" in done.stderr


def test_the_module_says_what_it_found():
    done = subprocess.run([sys.executable, "-m", "triad_torch", "--found"], capture_output=True, text=True)
    assert done.returncode == 0 and _kernels.description() in done.stdout
    assert re.search(r"^products by \w.*, \w+: [1-9]\d* of [1-9]\d* GFLOP/s a core$", done.stdout, re.M)
    if triad_torch.products("auto") == "onednn":
        line = r"^projections by oneDNN [2-9].*, AVX-512.* kernels: [1-9]\d* of [1-9]\d* GFLOP/s a core, .*bfloat16$"
    else:
        line = r"^projections by PyTorch, without oneDNN: \w.*$"
    assert re.search(line, done.stdout, re.M)
    done = subprocess.run([sys.executable, "-m", "triad_torch", "--help"], capture_output=True, text=True)
    told = " ".join(done.stdout.split())
    assert "in forward and backward passes." in told and "(default: 400x5,1x32,1x64,1x128)" in told
    done = subprocess.run([sys.executable, "-m", "triad_torch", "--shapes", "5"], capture_output=True, text=True)
    assert done.returncode == 2 and "--shapes is '5'" in done.stderr
    overhead = [sys.executable, "-m", "triad_torch", "--overhead", "--shapes", "1x5", "--seconds", "0"]
    done = subprocess.run(overhead, capture_output=True, text=True)
    assert done.returncode == 0 and "n=5  batch=1  kernels" in done.stdout, done.stdout + done.stderr
    done = subprocess.run([*overhead, "--memory"], capture_output=True, text=True)
    assert done.returncode == 2 and "leave --memory and --svg out" in done.stderr
