"""Reads and writes files of the format safetensors, without the package of this name."""
from __future__ import annotations

import json
import math
import os
import struct
from pathlib import Path
from typing import Any

import torch

_types = {"F32": torch.float32, "F64": torch.float64, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
          "I32": torch.int32, "U8": torch.uint8}
_again = "write the file again"


def read_safetensors(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """Returns the tensors and the texts of a safetensors file.  Raises a ValueError that names the file and the
    error."""
    data = path.read_bytes()
    if data.startswith(b"version https://git-lfs.github.com/spec/"):
        raise ValueError(f"{path}: a Git LFS pointer, expected the file that it stands for; run `git lfs pull` where "
                         "it was cloned")
    try:
        (length,) = struct.unpack_from("<Q", data)
        header = json.loads(data[8:8 + length])
    except (struct.error, ValueError) as error:
        raise ValueError(f"{path}: not a safetensors file: {error}, expected the length of a header, and a header in "
                         f"JSON; {_again}") from None
    if not isinstance(header, dict):
        raise ValueError(f"{path}: not a safetensors file: a header of type {type(header).__name__}, expected an "
                         f"object of JSON; {_again}")
    texts = header.pop("__metadata__", None) or {}
    if not isinstance(texts, dict):
        raise ValueError(f"{path}: __metadata__ {texts!r}, expected an object of JSON; {_again}")
    tensors = {}
    for name, entry in header.items():
        kind, shape, begin, end = _entry(path, name, entry)
        raw = bytearray(data[8 + length + begin:8 + length + end])
        wanted = math.prod(shape) * torch.empty((), dtype=_types[kind]).element_size()
        if len(raw) != wanted:
            raise ValueError(f"{path}: {name}: {len(raw)} bytes, expected {wanted}; the file is cut off, so copy it "
                             "again")
        tensors[name] = (torch.frombuffer(raw, dtype=_types[kind]) if raw else torch.empty(0, dtype=_types[kind])
                         ).reshape(shape)
    return tensors, texts


def _entry(path: Path, name: str, entry: Any) -> tuple[str, list[int], int, int]:
    """Returns type, shape, and the offsets of the first byte and behind the last one, of a tensor in the header."""
    if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= entry.keys():
        raise ValueError(f"{path}: {name}: {entry!r}, expected dtype, shape and data_offsets; {_again}")
    kind, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(kind, str) or kind not in _types:
        raise ValueError(f"{path}: {name}: dtype {kind!r}, expected one of {', '.join(_types)}; save it in one of "
                         "these types")
    for what, numbers in (("shape", shape), ("data_offsets", offsets)):
        if not isinstance(numbers, list) or not all(type(x) is int and x >= 0 for x in numbers):
            raise ValueError(f"{path}: {name}: {what} {numbers!r}, expected a list of whole numbers, 0 or more; "
                             f"{_again}")
    if len(offsets) != 2 or offsets[0] > offsets[1]:
        raise ValueError(f"{path}: {name}: data_offsets {offsets}, expected the first byte, and the one behind the "
                         f"last; {_again}")
    return kind, shape, offsets[0], offsets[1]


def write_safetensors(path: Path, tensors: dict[str, torch.Tensor], texts: dict[str, str]) -> None:
    """Writes tensors and texts to a file, which replaces an older file only when it is complete.  Tensors of other
    devices are copied.  Raises a TypeError for an element type that read_safetensors() does not know."""
    names = {kind: name for name, kind in _types.items()}
    header: dict[str, Any] = {"__metadata__": texts}
    begin, raw = 0, []
    for name, x in tensors.items():
        if x.dtype not in names:
            raise TypeError(f"{name} is {x.dtype}, expected one of {', '.join(str(kind) for kind in names)}; convert "
                            "the module first")
        x = x.detach().cpu().contiguous()
        raw.append(x.reshape(-1).view(torch.uint8))
        header[name] = {"dtype": names[x.dtype], "shape": list(x.shape), "data_offsets": [begin, begin + x.nbytes]}
        begin += x.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # the data begin at a multiple of 8 bytes
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with beside.open("wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            for x in raw:
                file.write(x.numpy().data)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
