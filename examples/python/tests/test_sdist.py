"""Tests the source distribution: it has every file that a build needs, also outside of triad's checkout."""
import re
import shutil
import subprocess
import sys
import tarfile
from importlib.util import find_spec
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1]


def call_backend(folder, call):
    """Calls a hook of the build backend in a folder, as pip does.  Returns what the hook returns."""
    text = f"import sys; sys.path.insert(0, 'backend'); import carry; print('\\n' + carry.{call})"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """Returns the folder of an unpacked source distribution."""
    if find_spec("scikit_build_core") is None:
        pytest.skip("scikit-build-core is not installed")
    if not (SOURCE / "pyproject.toml").exists():
        pytest.skip("the sources of the package are not here")
    out = tmp_path_factory.mktemp("sdist")
    name = call_backend(SOURCE, f"build_sdist({str(out)!r})")
    with tarfile.open(out / name) as archive:
        archive.extractall(out, filter="data")
    return out / name.removesuffix(".tar.gz")


def headers_of_triad():
    """Returns the folder of triad's headers."""
    places = (SOURCE.parents[1] / "include", SOURCE / "carried" / "include")
    return next(place for place in places if (place / "triad" / "version.hpp").exists())


def files_in(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"}


def test_it_has_all_headers_and_sources(unpacked):
    headers = headers_of_triad()
    assert files_in(unpacked / "carried" / "include") == files_in(headers)
    for path in files_in(headers):
        assert (unpacked / "carried" / "include" / path).read_bytes() == (headers / path).read_bytes(), path
    for folder in ("backend", "python", "src", "tests"):
        assert files_in(unpacked / folder) == files_in(SOURCE / folder)
    assert {"CMakeLists.txt", "README.md", "carried/LICENSE", "pyproject.toml"} <= files_in(unpacked)
    assert not (SOURCE.parents[1] / "include").is_dir() or not (SOURCE / "carried").exists()  # it was removed again


def test_every_included_header_of_triad_is_there(unpacked):
    include, faults, count = unpacked / "carried" / "include", [], 0
    for path in sorted([*(unpacked / "src").rglob("*.*"), *include.rglob("*.*")]):
        for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(encoding="utf-8"), re.M):
            count += 1
            places = (path.parent / name, include / name, unpacked / "src" / name)
            if not any(place.is_file() for place in places):
                faults.append(f"{path.relative_to(unpacked)} includes {name}")
    assert count > 500 and not faults, faults


def test_its_metadata_can_be_built_elsewhere(unpacked, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(unpacked, folder)
    made = tmp_path / "metadata"
    made.mkdir()
    name = call_backend(folder, f"prepare_metadata_for_build_wheel({str(made)!r})")
    text = (made / name / "METADATA").read_text(encoding="utf-8")
    (version,) = re.findall(r'version\[\] = "([0-9.]+)"', (headers_of_triad() / "triad" / "version.hpp").read_text())
    assert f"\nName: triad_torch\nVersion: {version}\n" in text
    assert name == f"triad_torch-{version}.dist-info" and unpacked.name == f"triad_torch-{version}"
    assert [path for path in (made / name).rglob("LICENSE")]


def test_without_headers_the_build_is_refused(unpacked, tmp_path):
    shutil.copytree(unpacked, tmp_path / "copy", ignore=shutil.ignore_patterns("carried"))
    with pytest.raises(AssertionError, match="triad_torch: no headers of triad in .*: build it in triad's own folder"):
        call_backend(tmp_path / "copy", f"build_sdist({str(tmp_path)!r})")


def test_kernels_for_gpus_are_built_on_request_alone(unpacked, tmp_path):
    if not shutil.which("cmake"):
        pytest.skip("cmake is not installed")

    def configured(**options):
        settings = {"Python_EXECUTABLE": sys.executable, **options}
        done = subprocess.run(["cmake", "-S", str(unpacked), "-B", str(tmp_path / "build"), "--fresh",
                               *(f"-D{name}={value}" for name, value in settings.items())], capture_output=True,
                              text=True)
        if "Could not find cccl" in done.stderr:
            pytest.skip("the headers of CCCL are not installed")
        return done

    done = configured()
    assert done.returncode == 0 and "kernels for GPUs left out; TRIAD_TORCH_CUDA=ON builds them" in done.stdout, done
    made = (tmp_path / "build" / "CMakeCache.txt").read_text()
    assert "TRIAD_TORCH_CUDA:STRING=OFF" in made and "CMAKE_CUDA_COMPILER:" not in made
    done = configured(TRIAD_TORCH_CUDA="ON", CMAKE_CUDA_COMPILER="NOTFOUND")
    said = " ".join(done.stderr.split())
    assert done.returncode != 0 and "TRIAD_TORCH_CUDA is ON, and there is no nvcc of CUDA 12 or later" in said
