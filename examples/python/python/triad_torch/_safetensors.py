"""Reads and writes files of the format safetensors, without the package of this name."""
from __future__ import annotations

import json
import os
import struct
from pathlib import Path
from typing import Any

import torch

_types = {"F32": torch.float32, "F64": torch.float64, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
          "I32": torch.int32, "U8": torch.uint8}


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
        raise ValueError(f"{path}: not a safetensors file: {error}") from None
    if not isinstance(header, dict):
        raise ValueError(f"{path}: not a safetensors file: its header is no object")
    texts = header.pop("__metadata__", None) or {}
    tensors = {}
    for name, entry in header.items():
        try:
            kind, shape, (begin, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"{path}: {name} lacks a type, a shape or two offsets") from None
        if kind not in _types:
            raise ValueError(f"{path}: {name} is {kind}, expected one of {', '.join(_types)}")
        raw = bytearray(data[8 + length + begin:8 + length + end])
        element = torch.empty((), dtype=_types[kind]).element_size()
        count = 1
        for size in shape:
            count *= size
        if len(raw) != count * element:
            raise ValueError(f"{path}: {name} wants {count * element} bytes, and {len(raw)} are there: the file is cut "
                             "off")
        tensors[name] = (torch.frombuffer(raw, dtype=_types[kind]) if raw else torch.empty(0, dtype=_types[kind])
                         ).reshape(shape)
    return tensors, texts


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
