"""Finds the library of kernels that suits this processor, and calls it through ctypes."""
from __future__ import annotations

import ctypes
import os
import platform
from functools import lru_cache
from pathlib import Path
from typing import Any

FLOAT32, FLOAT64 = 0, 1
_message_room = 1024

# The processor features that each instruction set requires, as Linux names them. The best instruction set comes first.
_wanted = {
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "x86-64-v3": {"avx2", "fma", "bmi1", "bmi2", "f16c", "movbe", "abm"},
    "x86-64-v2": {"sse4_2", "ssse3", "popcnt"},
}


class Place(ctypes.Structure):
    _fields_ = [("device", ctypes.c_int64), ("stream", ctypes.c_void_p), ("threads", ctypes.c_int64),
                ("borrowed", ctypes.c_void_p), ("memory", ctypes.c_void_p), ("memory_context", ctypes.c_void_p)]


class Rows(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("stride", ctypes.c_int64)]


def _fields(**types):
    short = {"i": ctypes.c_int64, "f": ctypes.c_double, "p": ctypes.c_void_p, "place": Place, "rows": Rows}
    return [(name, short[kind]) for name, kind in types.items()]


class TriangleCall(ctypes.Structure):
    _fields_ = _fields(
        place="place", type="i", form="i", graphs="i", nodes="i", sizes="p", rows="i", heads="i", width="i", masked="p",
        masks="i", fill="f", sources="p", dropout="f", seed="p", query="rows", key="rows", left="rows", right="rows",
        output="rows", maximum="p", inverse_sum="p", d_output="rows", d_query="rows", d_key="rows", d_left="rows",
        d_right="rows", bias="p", biases="i", bias_axes="i", d_bias="p")


class FuseCall(ctypes.Structure):
    _fields_ = _fields(
        place="place", type="i", layers="i", rows="i", heads="i", width="i", dropout="f", seed="p", u="p", states="p",
        weights="p", mixed="p", kept="p", d_mixed="p", d_kept="p", d_u="p", d_states="p")


class TreeCall(ctypes.Structure):
    _fields_ = _fields(place="place", type="i", trees="i", branching="i", depth="i", filler="i", child="i", source="p",
                       to="p")


def _processor_has() -> set[str]:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return set()
    for line in text.splitlines():
        if line.startswith("flags"):
            return set(line.split(":", 1)[1].split())
    return set()


def built() -> list[str]:
    """Returns the instruction sets for which this package has kernels."""
    found = Path(__file__).parent.glob("libtriad_kernels-*.so")
    return sorted({path.stem.removeprefix("libtriad_kernels-") for path in found} - {"cuda"})


def cuda_path() -> Path:
    """Returns the path of the kernels for GPUs. The file may be missing."""
    return Path(__file__).parent / "libtriad_kernels-cuda.so"


@lru_cache(maxsize=None)
def chosen() -> str:
    """Returns the instruction set whose kernels are used."""
    names = built()
    forced = os.environ.get("TRIAD_TORCH_INSTRUCTIONS")
    if forced:
        if forced not in names:
            raise ImportError(f"triad_torch: TRIAD_TORCH_INSTRUCTIONS is {forced!r}, and there are "
                              f"{', '.join(names)}; set one of them, or none")
        return forced
    others = [name for name in names if name not in _wanted]
    if others:  # "native", or an instruction set of another processor architecture
        return others[0]
    has = _processor_has()
    for name, wanted in _wanted.items():
        if name in names and wanted <= has:
            return name
    raise ImportError(
        f"triad_torch: no kernels for this processor ({platform.machine()}): there are {', '.join(names) or 'none'}; "
        "build the package here, with -C cmake.define.TRIAD_TORCH_LEVELS=native")


@lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """Returns the library of kernels. The first call loads it."""
    lib = ctypes.CDLL(str(Path(__file__).parent / f"libtriad_kernels-{chosen()}.so"))
    lib.triad_kernels_description.restype = ctypes.c_char_p
    lib.triad_kernels_table.restype = ctypes.c_void_p
    lib.triad_multiply_adds_a_second.restype = ctypes.c_double
    for name in ("triad_triangle", "triad_triangle_grad", "triad_fuse", "triad_fuse_grad", "triad_tree_child",
                 "triad_tree_graft"):
        getattr(lib, name).argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64]
    lib.triad_arborescence.argtypes = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p,
                                       ctypes.c_char_p, ctypes.c_int64]
    maps: list[Any] = [ctypes.c_int64] * 3
    end: list[Any] = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64]
    lib.triad_make_roles.argtypes = [*maps, ctypes.c_uint64, *end]
    lib.triad_make_shifts.argtypes = [*maps, ctypes.c_int64, *end]
    return lib


def description() -> str:
    """Returns the version of triad and the instruction set, such as '0.2.0 x86-64-v3'."""
    return library().triad_kernels_description().decode()


def multiply_adds_a_second() -> float:
    """Returns the peak rate of float32 multiply-adds on one thread, measured without access to memory. No matrix
    product is faster."""
    return library().triad_multiply_adds_a_second()


def table() -> int:
    """Returns the address of the table of kernels, which PyTorch's operators call."""
    return library().triad_kernels_table()


def run(name: str, *arguments) -> None:
    """Calls a kernel function.  If the kernel refuses its arguments, raises ValueError with the kernel's message."""
    message = ctypes.create_string_buffer(_message_room)
    if getattr(library(), name)(*arguments, message, _message_room) != 0:
        raise ValueError(message.value.decode(errors="replace"))


def run_call(name: str, call: ctypes.Structure) -> None:
    run(name, ctypes.byref(call))


def threads() -> int:
    """Returns the number of threads for arrays other than PyTorch's: OMP_NUM_THREADS, or one for each processor."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
