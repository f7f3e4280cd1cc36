"""Tests the package: its libraries, exported symbols and requirements, and the example."""
import os
import re
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


def test_the_version_is_that_of_the_kernels():
    assert triad_torch.__version__ == _kernels.description().split()[0]


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
