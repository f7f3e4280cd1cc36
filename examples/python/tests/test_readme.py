"""Tests the line of Python code in the project's README."""
import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[3] / "README.md"


@pytest.mark.skipif(not README.exists(), reason="the package lies outside of triad's checkout")
def test_the_line_of_the_readme_runs():
    (line,) = re.findall(r"`(import torch, triad_torch[^`]*)`", README.read_text(encoding="utf-8"))
    names = {}
    exec(line, names)
    assert names["y"].shape == (8, 20, 20, 64)
