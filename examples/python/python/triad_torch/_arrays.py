"""Arrays in host memory of libraries other than PyTorch. NumPy's arrays are read directly, and those of JAX and others
through DLPack."""
from __future__ import annotations

import ctypes

import numpy as np

from . import _kernels

TYPES = {np.dtype(np.float32): _kernels.FLOAT32, np.dtype(np.float64): _kernels.FLOAT64}
_half = ("float16", "bfloat16")


def is_torch(x) -> bool:
    """Returns whether x is a tensor of PyTorch, without importing PyTorch."""
    return type(x).__module__.split(".")[0] == "torch" or any(
        base.__module__.split(".")[0] == "torch" for base in type(x).__mro__)


def expect_one_kind(given: dict) -> None:
    """Refuses arguments of which some are tensors of PyTorch and others are arrays."""
    (first, x), *others = given.items()
    for name, y in others:
        if is_torch(x) != is_torch(y) and all(hasattr(z, "__dlpack__") for z in (x, y)):
            raise TypeError(f"{name} is {type(y).__name__}, and {first} is {type(x).__name__}: all arguments must be "
                            "tensors, or all must be arrays; convert one of them")


def _type_name(x) -> str:
    """Returns the name of x's element type, such as float32 or bfloat16."""
    return str(getattr(x, "dtype", "")).rpartition(".")[2]


def expect_plain(x, name: str):
    """Returns x. Refuses an array that has a mask or a unit besides its numbers, because the mask or the unit would be
    lost."""
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array, whose mask would be lost; fill it: {name}.filled(0)")
    if isinstance(x, np.ndarray) and type(x) not in (np.ndarray, np.memmap):
        kind = f"{type(x).__module__}.{type(x).__qualname__}"
        raise TypeError(f"{name} is {kind}, expected a plain array; np.asarray({name}) drops what it has beside "
                        "numbers")
    return x


def through_dlpack(x, name: str) -> np.ndarray:
    """Returns x as a NumPy array. Copies it only if DLPack offers no view."""
    if isinstance(x, np.ndarray):
        return expect_plain(x, name)
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"{name} is {type(x).__name__}, expected a tensor of PyTorch, a NumPy array, or an array with "
                        "__dlpack__; pass numpy.asarray(...)")
    if _type_name(x) == "bfloat16" and not is_torch(x):  # NumPy lacks this type, so the library converts it by a copy
        return np.asarray(x)
    try:
        return np.from_dlpack(x)
    except (BufferError, RuntimeError, TypeError) as error:
        raise TypeError(f"{name}: this array does not lie where NumPy can read it ({error}), expected one in host "
                        "memory; copy it there") from error


def read(x, name: str) -> np.ndarray:
    """Returns x, which is no tensor of PyTorch, as a NumPy array of float32, float64, float16 or bfloat16."""
    expected = ("expected float32 or float64, or float16 or bfloat16, which are computed in float32; convert it by "
                "astype")
    # Each library may have its own names for element types. DLPack has the same name for all libraries.
    prints_name = isinstance(getattr(x, "dtype", None), np.dtype)
    if prints_name and hasattr(x, "__dlpack__") and _type_name(x) not in ("float32", "float64", *_half):
        raise TypeError(f"{name} is {x.dtype}, {expected}")
    x = through_dlpack(x, name)
    if x.dtype not in TYPES and _type_name(x) not in _half:
        raise TypeError(f"{name} is {x.dtype}, {expected}")
    return x


def computed(x: np.ndarray) -> np.ndarray:
    """Returns x in the element type for computing, which is float32 if x has a half type."""
    return x if x.dtype in TYPES else x.astype(np.float32)


def give_back(result: np.ndarray, like):
    """Returns the result as an array of the same library and element type as `like`."""
    if isinstance(like, np.ndarray):
        return result.astype(like.dtype, copy=False)
    if type(like).__module__.startswith("jax"):
        import jax.numpy
        return jax.numpy.asarray(result, dtype=like.dtype)
    return result.astype(np.float16) if through_dlpack(like, "like").dtype == np.float16 else result


def address(x: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(x.ctypes.data)


def place() -> _kernels.Place:
    return _kernels.Place(threads=_kernels.threads())


def expect_generator(generator) -> None:
    if generator is not None and not isinstance(generator, np.random.Generator):
        kind = f"{type(generator).__module__}.{type(generator).__qualname__}"
        raise TypeError(f"generator is {kind}, expected numpy.random.Generator for arrays; pass "
                        "numpy.random.default_rng(seed)")


def seed(generator) -> np.ndarray:
    """Draws one number from a NumPy generator, or from a new one."""
    generator = np.random.default_rng() if generator is None else generator
    return generator.integers(0, 2**63, size=1, dtype=np.int64)
