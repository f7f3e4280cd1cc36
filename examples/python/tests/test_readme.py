"""Tests Python code in the project's README and in docs/python."""
import re
from pathlib import Path

import pytest
import torch

README = Path(__file__).resolve().parents[3] / "README.md"
PAGES = README.parent / "docs" / "python"


@pytest.mark.skipif(not README.exists(), reason="the package lies outside of triad's checkout")
def test_the_line_of_the_readme_runs():
    (line,) = re.findall(r"`(import torch, triad_torch[^`]*)`", README.read_text(encoding="utf-8"))
    names = {}
    exec(line, names)
    assert names["y"].shape == (8, 20, 20, 64)


def code_below(page, heading):
    """Returns the first block of Python code below a heading of a page of docs/python."""
    below = (PAGES / page).read_text(encoding="utf-8").split(f"\n## {heading}\n")[1]
    return below.split("```python\n")[1].split("```")[0]


@pytest.mark.skipif(not PAGES.exists(), reason="the package lies outside of triad's checkout")
def test_the_training_loop_of_the_page_learns():
    names, threads = {}, torch.get_num_threads()
    torch.set_num_threads(1)  # the model is small, and other tests may use the other processors
    try:
        exec(code_below("README.md", "A training loop"), names)
    finally:
        torch.set_num_threads(threads)
    assert names["loss"].item() < 0.01


@pytest.mark.skipif(not PAGES.exists(), reason="the package lies outside of triad's checkout")
def test_the_tree_of_the_page_is_swapped():
    names = {}
    exec(code_below("functions.md", "Trees"), names)
    assert (names["swapped"][:3] == names["fillers"][[0, 2, 1]]).all() and not names["swapped"][3:].any()
