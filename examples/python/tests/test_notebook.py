"""Runs the notebook: with few steps as plain code, and as it is if nbconvert is installed."""
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "family_relations.ipynb"
pytestmark = pytest.mark.skipif(not NOTEBOOK.exists(), reason="the package lies outside of triad's checkout")


def cells(kind):
    return ["".join(cell["source"]) for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
            if cell["cell_type"] == kind]


def test_the_notebook_runs_and_learns():
    names, threads = {}, torch.get_num_threads()
    try:
        for code in cells("code"):
            exec(code.replace("STEPS, SIZE = 600, 64", "STEPS, SIZE = 120, 64"), names)
    finally:
        torch.set_num_threads(threads)
    assert names["STEPS"] == 120
    assert names["loss"].item() < 1  # 22 answers: 3.1 without training
    assert names["accuracy"][3] > 0.6
    assert names["difference"] < 1e-4
    # Each step combines two edges that are facts, or earlier steps.  The last step is the question.
    known = {(i, i + 1) for i in range(4)}
    for first, middle, last, weight in names["steps"]:
        assert {(first, middle), (middle, last)} <= known and 0 < weight <= 1
        known.add((first, last))
    assert (0, 4) in known
    assert names["picture"]._repr_svg_().count("<path") == len(names["steps"])


def test_a_chain_of_facts_gives_the_relation_of_its_ends():
    names = {}
    for code in cells("code"):
        if "def follow(" in code:
            exec("import torch\n" + code.split("generator =")[0], names)
    follow = names["follow"]
    assert follow(*follow(0, 0, "parent"), "sibling") == (2, 1)  # a parent's sibling is an aunt or an uncle
    assert follow(*follow(0, 0, "sibling"), "child") == (1, 2)   # a sibling's child is a niece or a nephew
    assert follow(*follow(0, 0, "child"), "sibling") == (0, 1)   # a child's sibling is a child
    assert follow(2, 1, "child") == (2, 2)                       # a cousin


def test_nbconvert_executes_the_notebook(tmp_path):
    pytest.importorskip("nbconvert", reason="nbconvert is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir", tmp_path,
                    NOTEBOOK], check=True)
    outputs = [output for cell in json.loads((tmp_path / NOTEBOOK.name).read_text(encoding="utf-8"))["cells"]
               for output in cell.get("outputs", [])]
    assert any("image/svg+xml" in output.get("data", {}) for output in outputs)
