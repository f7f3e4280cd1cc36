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


@pytest.fixture(scope="session")
def golden_files():
    """Returns a function of a kind, which returns the float64 files of this kind: those of the repository, and those of
    the folder of golden vectors if it exists. If there are none, skips the test."""
    folders = [PROJECT / "tests" / "data" / "golden",
               Path(os.environ.get("TRIAD_GOLDEN", PROJECT.parent / "shared" / "golden"))]

    def files(kind):
        found = [path for folder in folders for path in sorted(folder.glob(f"{kind}__*.f64.safetensors"))]
        if not found:
            pytest.skip(f"no golden vectors of the kind {kind}: set TRIAD_GOLDEN to their folder")
        return found

    return files
