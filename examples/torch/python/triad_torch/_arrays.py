"""Arrays that are not PyTorch's: NumPy's, and through DLPack those of JAX and others, on the host."""
from __future__ import annotations

import ctypes

import numpy as np

from . import _kernels

TYPES = {np.dtype(np.float32): _kernels.FLOAT32, np.dtype(np.float64): _kernels.FLOAT64}


def is_torch(x) -> bool:
    """Whether x is a tensor of PyTorch, without importing it."""
    return type(x).__module__.split(".")[0] == "torch" or any(
        base.__module__.split(".")[0] == "torch" for base in type(x).__mro__)


def read(x, name: str) -> np.ndarray:
    """x as NumPy sees it, without a copy where DLPack gives none: float32 or float64."""
    if not isinstance(x, np.ndarray):
        if hasattr(x, "__dlpack__"):
            try:
                x = np.from_dlpack(x)
            except (BufferError, RuntimeError, TypeError) as error:
                raise TypeError(f"{name}: this array does not lie where NumPy can read it ({error})") from error
        else:
            raise TypeError(f"{name} is {type(x).__name__}, expected a tensor of PyTorch, a NumPy array, or an array "
                            "with __dlpack__")
    if x.dtype not in TYPES:
        raise TypeError(f"{name} is {x.dtype}, expected float32 or float64")
    return x


def give_back(result: np.ndarray, like):
    """The result as an array of the kind of `like`."""
    if isinstance(like, np.ndarray):
        return result
    if type(like).__module__.startswith("jax"):
        import jax.numpy
        return jax.numpy.asarray(result)
    return result


def address(x: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(x.ctypes.data)


def place() -> _kernels.Place:
    return _kernels.Place(threads=_kernels.threads())


def seed(generator) -> np.ndarray:
    """One number from a NumPy generator, or from a new one."""
    if generator is None:
        generator = np.random.default_rng()
    if not isinstance(generator, np.random.Generator):
        raise TypeError(f"generator is {type(generator).__name__}, expected numpy.random.Generator for arrays")
    return generator.integers(0, 2**63, size=1, dtype=np.int64)
