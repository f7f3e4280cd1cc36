import os
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def _seeded():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def golden():
    """Returns the folder of golden vectors. If the folder does not exist, skips the test."""
    folder = Path(os.environ.get("TRIAD_GOLDEN", PROJECT.parent / "shared" / "golden"))
    if not folder.is_dir():
        pytest.skip("no golden vectors: set TRIAD_GOLDEN to their folder")
    return folder
