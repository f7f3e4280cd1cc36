"""Chooses what computes the projections of TriangularAttention: oneDNN, in one call with the triangles, or PyTorch."""
from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

from . import _kernels

refused = "not loaded"   # why oneDNN cannot compute; "" if it can
by_onednn = False        # whether oneDNN computes
_library: Any = None


def load() -> int | None:
    """Loads the library that calls oneDNN, if it was built.  Returns the address of its table of kernels, or None."""
    global refused, by_onednn, _library
    path = Path(__file__).parent / "libtriad_products-onednn.so"
    if not path.exists():
        refused = "the package was built without oneDNN"
        return None
    if _kernels.chosen() not in ("x86-64-v4", "native"):
        refused = f"the kernels are for {_kernels.chosen()}, and oneDNN is used with AVX-512"
        return None
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        refused = str(error)
        return None
    library.triad_products_refused.restype = ctypes.c_char_p
    library.triad_products_description.restype = ctypes.c_char_p
    library.triad_products_table.restype = ctypes.c_void_p
    library.triad_products_multiply_adds_a_second.restype = ctypes.c_double
    refused = library.triad_products_refused().decode()
    if refused:
        return None
    by_onednn, _library = True, library
    return library.triad_products_table()


def products(by: str | None = None) -> str:
    """Returns what computes the projections of TriangularAttention, and of the modules that contain it, on a host:
    "onednn" or "pytorch".

    by   "onednn", "pytorch", or "auto" sets this for the process.  "auto", the default, is "onednn" if the package was
         built with oneDNN and the processor has AVX-512, and "pytorch" otherwise.  ValueError: oneDNN cannot compute
         here.

    oneDNN computes modules of float32 and of bfloat16, and modules under autocast to bfloat16.  The projections, the
    triangles and the output projection are then one call.  PyTorch computes all other modules: of other types, on
    GPUs, with hooks or adapters on a projection, and under torch.export."""
    global by_onednn
    if by not in (None, "auto", "onednn", "pytorch"):
        raise ValueError(f"by is {by!r}, expected 'auto', 'onednn' or 'pytorch'; leave it out to see who computes")
    if by == "onednn" and refused:
        raise ValueError(f"by is 'onednn', and oneDNN cannot compute here: {refused}; pass 'auto'")
    if by is not None:
        by_onednn = by != "pytorch" and not refused
    return "onednn" if by_onednn else "pytorch"


def description() -> str:
    """Returns the name of oneDNN, its version and its kernels, such as 'oneDNN 2.6.3, AVX-512 kernels'."""
    return _library.triad_products_description().decode()


def rounds() -> bool:
    """Returns whether oneDNN multiplies in bfloat16 where results are bfloat16.  If not, it multiplies in float32."""
    return bool(_library.triad_products_round())


def multiply_adds_a_second() -> float:
    """Returns the rate of oneDNN's products of float32 on one thread."""
    return _library.triad_products_multiply_adds_a_second()
