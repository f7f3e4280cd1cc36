import os
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]


def built(name):
    """Returns the path of a program of triad. If it is not built, skips the test."""
    variable = f"TRIAD_{name.upper().replace('-', '_')}"
    if variable in os.environ:
        return os.environ[variable]
    for build in ("release", "ci"):
        path = PROJECT / "build" / build / "bin" / name
        if os.access(path, os.X_OK):
            return str(path)
    pytest.skip(f"no build/release/bin/{name}: build it, or set {variable} to the path of the program {name}")


def close(ours, theirs, scale=None, tolerance=1e-9):
    """Compares tensors, with a tolerance relative to `scale`, by default the largest value."""
    scale = float(theirs.detach().abs().max()) if scale is None else scale
    assert float((ours - theirs).detach().abs().max()) <= tolerance * max(scale, 1e-30)


def losses_of(model, logits, steps):
    """Trains a model by Adam on one batch of four questions, whose answers are 0, 1, 2 and 0. logits() returns their
    logits. Returns the losses."""
    import torch
    optimizer, losses = torch.optim.Adam(model.parameters(), 1e-2), []
    for _ in range(steps):
        now = logits()
        loss = torch.nn.functional.cross_entropy(now, torch.tensor([0, 1, 2, 0], device=now.device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses


@pytest.fixture(autouse=True)
def _seeded():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)


@pytest.fixture
def one_thread():
    """The models of a test are small, and other tests may use the other processors."""
    import torch
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


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
