"""The names of parameters in checkpoints of triad's programs, and in PyTorch's modules."""
from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch
from torch import nn

from .attention import FORMS

rest_of_layer = {"norm1.gain": "norm1.weight", "norm1.bias": "norm1.bias", "norm2.gain": "norm2.weight",
                 "norm2.bias": "norm2.bias", "feed_forward.inner.weight": "linear1.weight",
                 "feed_forward.inner.bias": "linear1.bias", "feed_forward.outer.weight": "linear2.weight",
                 "feed_forward.outer.bias": "linear2.bias"}
# The names of PyTorch's nn.TransformerEncoderLayer.
of_transformer_layer = {**rest_of_layer, "attention.stacked.weight": "self_attn.in_proj_weight",
                        "attention.stacked.bias": "self_attn.in_proj_bias",
                        "attention.output.weight": "self_attn.out_proj.weight",
                        "attention.output.bias": "self_attn.out_proj.bias"}


def both(ours: str, theirs: str) -> dict[str, str]:
    """Returns the names of the weight and of the bias of a linear map."""
    return {f"{ours}.{kind}": f"{theirs}.{kind}" for kind in ("weight", "bias")}


def of_edge_layer(form: str) -> dict[str, str]:
    """Returns the names of the parameters of an Edge Transformer layer: from triad's name to that in the released
    program."""
    numbers = ({"key": 0, "left_value": 1, "query": 2, "output": 3} if form == "flat"
               else {"query": 0, "key": 1, "left_value": 2, "right_value": 3, "output": 5})
    names = dict(rest_of_layer)
    for part, number in numbers.items():
        names |= both(f"attention.{part}", f"edge_attention.linears.{number}")
    return names


def setting(settings: dict, name: str, known: tuple, path: Path, default: object = None) -> Any:
    """Returns a setting of a run, which must be one of the known values.  Without a default, it must be there."""
    value = settings.get(name, default)
    if not any(type(value) is type(each) and value == each for each in known):
        raise ValueError(f"{path}: {name} {value!r}, expected {' or '.join(map(repr, known))}; the file is damaged, so "
                         "train again")
    return value


def flag(settings: dict, name: str, path: Path, default: bool | None = None) -> bool:
    """Returns a setting of a run, which must be true or false."""
    return setting(settings, name, (True, False), path, default)


def form_of(settings: dict, path: Path) -> str:
    """Returns the form of triangular attention of a run, as triangular_attention() names it."""
    known = tuple(name.replace("_", "-") for name in FORMS)
    return setting(settings, "attention", known, path, "full").replace("-", "_")


def fill(module: nn.Module, state: dict[str, torch.Tensor], path: Path) -> None:
    """Sets the parameters of a new module, which must be those of a checkpoint.  A checkpoint has no tensors without
    elements, such as those of a map to no labels."""
    own = {name: tuple(x.shape) for name, x in module.state_dict().items()}
    for name, x in state.items():
        if own.get(name) != tuple(x.shape):
            raise ValueError(f"{path}: a tensor for {name} of shape {tuple(x.shape)}, expected {own.get(name, 'none')} "
                             "by the settings of the run; the file is damaged, so train again")
    for name, shape in own.items():
        if name not in state and 0 not in shape:
            raise ValueError(f"{path}: no tensor for {name}, expected one of shape {shape}; the file is damaged, so "
                             "train again")
    module.load_state_dict(state | {name: x for name, x in module.state_dict().items() if name not in state})


def expect_texts(value: object, name: str, path: Path, different: bool = True) -> None:
    """Refuses a vocabulary that is not a list of different texts."""
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value) or (
            different and len(set(value)) < len(value)):
        raise ValueError(f"{path}: {name} of the vocabulary, expected a list of different texts; the file is damaged, "
                         "so train again")


def stacked(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Returns the tensors with the maps to queries, keys and values of each attention as one tensor, as PyTorch
    has them."""
    result = {}
    for name, x in weights.items():
        start, found, kind = name.partition(".attention.query.")
        if found:
            parts = (weights[f"{start}.attention.{part}.{kind}"] for part in ("query", "key", "value"))
            result[f"{start}.attention.stacked.{kind}"] = torch.cat(list(parts))
        elif not re.search(r"\.attention\.(key|value)\.", name):
            result[name] = x
    return result


def renamed(name: str, names: tuple[dict[str, str], dict[str, str]], path: Path, layers: str = "encoder.layers",
             whole: str = "") -> str:
    """Returns the module's name of a parameter.  `names` are those outside of layers, and those of a layer.  `whole` is
    the name in the file, if it is longer."""
    outside, layer = names
    if name in outside:
        return outside[name]
    start, _, rest = name.partition(".")
    number, _, rest = rest.partition(".")
    if start == "layers" and rest in layer:
        return f"{layers}.{number}.{layer[rest]}"
    raise no_place(whole or name, path)


def no_place(name: str, path: Path) -> ValueError:
    """Returns the error for a tensor that the module does not have."""
    return ValueError(f"{path}: a tensor {name!r} has no place in the module, expected those of a checkpoint of this "
                      "version; answer with `predict` of the program that trained it")
