"""Builds the package with scikit-build-core.  Before that, copies files from outside this folder: triad's headers and
licence.

The files are copied into `carried/`, so that a source distribution contains them.  An unpacked source distribution
already has the folder."""
import shutil
from contextlib import contextmanager
from pathlib import Path

from scikit_build_core import build as _build
from scikit_build_core.build import *  # noqa: F403: the hooks that are unchanged

_here = Path(__file__).resolve().parent.parent
_project = _here.parent.parent
_carried = _here / "carried"


@contextmanager
def _carried_along():
    """Copies the files from outside, and removes the copies afterwards."""
    if _here != _project / "examples" / "python" or not (_project / "include" / "triad").is_dir():
        if not (_carried / "include" / "triad").is_dir():
            raise SystemExit(f"triad_torch: no headers of triad in {_project / 'include'}: "
                             "build it in triad's own folder")
        yield
        return
    shutil.rmtree(_carried, ignore_errors=True)
    try:
        shutil.copytree(_project / "include", _carried / "include")
        shutil.copy(_project / "LICENSE", _carried / "LICENSE")
        yield
    finally:
        shutil.rmtree(_carried, ignore_errors=True)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with _carried_along():
        return _build.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    with _carried_along():
        return _build.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    with _carried_along():
        return _build.build_sdist(sdist_directory, config_settings)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    with _carried_along():
        return _build.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def prepare_metadata_for_build_editable(metadata_directory, config_settings=None):
    with _carried_along():
        return _build.prepare_metadata_for_build_editable(metadata_directory, config_settings)
