"""Tests that a process without Python answers with an exported model, as the module does."""
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import triad_torch

SOURCE = Path(__file__).resolve().parents[1] / "without_python"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Returns the path of the program, built by CMake."""
    if not all(map(shutil.which, ("cmake", "g++"))):
        pytest.skip("no CMake or no C++ compiler")
    build = tmp_path_factory.mktemp("answer")
    for step in (["cmake", "-S", SOURCE, "-B", build, "-D", "CMAKE_BUILD_TYPE=Debug", "-D",
                  f"TORCH={torch.__path__[0]}"], ["cmake", "--build", build]):
        done = subprocess.run(step, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return build / "answer"


def test_an_exported_model_answers_without_python(program, tmp_path, one_thread):
    sys.path.insert(0, str(SOURCE))
    from export import export
    model = triad_torch.EdgeTransformer(7, 5, 16, 2, 3, dropout=0.0).eval()
    package = export(SimpleNamespace(module=model), tmp_path / "model.pt2")
    graphs = [(torch.randint(7, (n, n)), torch.tensor([0, n - 1])) for n in (2, 3, 9, 40)]
    text = "\n".join(" ".join(map(str, [len(labels), *labels.flatten().tolist(), *query.tolist()]))
                     for labels, query in graphs) + "\n"

    def answer(*arguments, **more):
        return subprocess.run([program, *arguments], text=True, capture_output=True, **more)

    done = answer(triad_torch.__path__[0], package, input=text)
    assert done.returncode == 0, done.stderr
    found = torch.tensor([[float(x) for x in line.split()] for line in done.stdout.splitlines()])
    with torch.no_grad():
        expected = torch.cat([model(labels[None], query[None]) for labels, query in graphs])
    assert found.shape == expected.shape and torch.allclose(found, expected, atol=1e-5)
    for arguments, text, what in (((tmp_path, package), "", "PACKAGE: no kernels in .*, expected the folder of triad"),
                                  ((triad_torch.__path__[0], package), "3 1 2\n", "standard input: no number, expec"),
                                  ((triad_torch.__path__[0], package), "1 0 0 0\n", "nodes: 1, expected 2 to 4096"),
                                  ((package,), "", "expected 2 arguments")):
        done = answer(*arguments, input=text)
        assert done.returncode == 1 and done.stdout == ""
        assert re.match(f"answer: {what}", done.stderr), done.stderr
