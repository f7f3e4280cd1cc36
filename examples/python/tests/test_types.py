"""Tests the types of the package: every public name has a docstring and types, and mypy finds no mistake."""
import ast
import inspect
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import triad_torch

SOURCE = Path(__file__).resolve().parents[1]
PACKAGE = Path(triad_torch.__file__).parent


def public_functions():
    """Yields the names and functions of the package's public functions, and of the methods of its public classes."""
    for name in triad_torch.__all__:
        of = getattr(triad_torch, name)
        if not inspect.isclass(of):
            yield name, of
            continue
        for key, member in vars(of).items():
            member = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            if inspect.isfunction(member) and (key == "__init__" or not key.startswith("_")):
                yield f"{name}.{key}", member


@pytest.mark.parametrize("name, function", list(public_functions()))
def test_a_public_function_has_a_docstring_and_types(name, function):
    signature = inspect.signature(function)
    if not name.endswith(".__init__"):  # the docstring of the class describes the arguments
        assert inspect.getdoc(function), f"{name} has no docstring"
    untyped = [p.name for p in signature.parameters.values() if p.annotation is p.empty]
    assert not set(untyped) - {"self", "cls"}, f"{name} has no types of {untyped}"
    assert signature.return_annotation is not signature.empty, f"{name} has no type of its result"


def test_a_public_class_has_a_docstring():
    classes = [getattr(triad_torch, name) for name in triad_torch.__all__]
    classes = [of for of in classes if inspect.isclass(of)]
    assert len(classes) > 5
    for of in classes:  # the docstring that a dataclass makes is its signature
        assert of.__doc__ and not of.__doc__.startswith(of.__name__ + "("), of


def test_the_stub_has_the_names_of_the_package():
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    imported = {alias.asname for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert imported == set(triad_torch.__all__)
    assert (PACKAGE / "py.typed").exists()


def test_mypy_finds_no_mistake_and_every_wrong_line(tmp_path):
    if find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    if not (SOURCE / "python" / "triad_torch").is_dir():
        pytest.skip("the sources of the package are not here")
    check = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path), "--warn-unused-ignores", "python/triad_torch",
             "tests/typed_program.py"]
    done = subprocess.run(check, capture_output=True, text=True, cwd=SOURCE, env={**os.environ, "MYPYPATH": "python"})
    assert done.returncode == 0, done.stdout + done.stderr
