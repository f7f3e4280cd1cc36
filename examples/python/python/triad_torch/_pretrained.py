"""Saves modules as folders in the style of Hugging Face, and loads them: config.json has the arguments of the module's
class, and model.safetensors has the tensors of its state_dict."""
from __future__ import annotations

import inspect
import json
import os
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from ._safetensors import read_safetensors, write_safetensors

_Module = TypeVar("_Module", bound=nn.Module)
_Saved = TypeVar("_Saved", bound="Pretrained")


def _arguments(kind: type[nn.Module]) -> dict[str, inspect.Parameter]:
    return {name: p for name, p in inspect.signature(kind.__init__).parameters.items() if name != "self"}


def _list(names) -> str:
    names = sorted(names)
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _plain(value: Any) -> Any:
    """Returns a number of NumPy or PyTorch as a number of Python."""
    if hasattr(value, "item"):
        return value.item()
    raise ValueError(f"config: {value!r}, expected numbers, texts and lists; make the module with these")


def save(module: nn.Module, config: dict[str, Any], folder: str | os.PathLike) -> None:
    """Writes the arguments of its class and the tensors of a module into a folder, which is made if it is missing."""
    state = module.state_dict()
    with torch.device("meta"):
        plain = type(module)(**config).state_dict()
    other = {name for name in state.keys() | plain.keys() if name not in state or name not in plain
             or state[name].shape != plain[name].shape}
    if other:
        raise ValueError(f"state_dict: {_list(other)} by name or shape, expected those of {type(module).__name__} as "
                         "its config makes it; merge adapters and remove parametrisations first")
    texts = {"model_type": type(module).__name__, "library_name": "triad_torch", **config}
    text = json.dumps(texts, indent=2, default=_plain) + "\n"  # before anything is written
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    beside = folder / f"config.json.{os.getpid()}"
    try:
        beside.write_text(text, encoding="utf-8")
        write_safetensors(folder / "model.safetensors", state, {"format": "pt"})
        beside.replace(folder / "config.json")
    finally:
        beside.unlink(missing_ok=True)


def load(kind: type[_Module], folder: str | os.PathLike) -> _Module:
    """Returns the module of this class that save() wrote, in evaluation mode and with the types of the file."""
    path = Path(folder) / "config.json"
    if not path.is_file():
        raise ValueError(f"folder: no {path}, expected a folder that save_pretrained wrote; load a run of triad's "
                         "programs by triad_torch.load")
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: {error}, expected JSON; save the model again") from None
    if not isinstance(config, dict) or config.get("model_type") != kind.__name__:
        got = config.get("model_type") if isinstance(config, dict) else config
        raise ValueError(f"{path}: model_type {got!r}, expected {kind.__name__!r}; load the folder by the class that "
                         "saved it")
    arguments = _arguments(kind)
    given = {name: value for name, value in config.items() if name not in ("model_type", "library_name")}
    missing = {name for name, p in arguments.items() if p.default is p.empty} - given.keys()
    if missing or given.keys() - arguments.keys():
        raise ValueError(f"{path}: {_list(missing) + ' missing' if missing else _list(given.keys() - arguments.keys())}"
                         f", expected the arguments of {kind.__name__}; load it with the version that saved it")
    weights = path.with_name("model.safetensors")
    if not weights.is_file():
        raise ValueError(f"{weights}: no such file, expected the weights of the model; copy it next to config.json")
    tensors, _ = read_safetensors(weights)
    with torch.device("meta"):
        try:
            module = kind(**given)
        except (TypeError, ValueError, RuntimeError) as error:
            raise ValueError(f"{path}: {error}, expected arguments that {kind.__name__} accepts; save the model "
                             "again") from error
    try:
        module.load_state_dict(tensors, assign=True)
    except RuntimeError as error:
        raise ValueError(f"{weights}: other tensors than config.json says, expected those of one save_pretrained; save "
                         f"the model again ({error})") from None
    # A buffer that is not saved would stay without memory, and PyTorch computes with it without an error.
    if unsaved := [name for name, buffer in module.named_buffers() if buffer.is_meta]:
        raise TypeError(f"{kind.__name__}: buffers {_list(unsaved)}, expected persistent ones; register them with "
                        "persistent=True, or make them in forward()")
    return module.eval()


class Pretrained(nn.Module):
    """A module that can be saved as a folder.  It has a dict `config`, the arguments of its class."""
    config: dict[str, Any]

    def save_pretrained(self, folder: str | os.PathLike) -> None:
        """Writes config.json and model.safetensors into a folder, which is made if it is missing.

        The package safetensors, and Hugging Face's libraries, can read the second file.  Raises a ValueError if the
        model has other tensors than a new one, as with adapters and parametrisations."""
        save(self, self.config, folder)

    @classmethod
    def from_pretrained(cls: type[_Saved], folder: str | os.PathLike) -> _Saved:
        """Returns the model that save_pretrained() wrote, in evaluation mode, on the host, in the types of the file.

        Raises a ValueError that names the file if it is missing, or not as save_pretrained() writes it."""
        return load(cls, folder)
