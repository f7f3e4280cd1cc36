"""Prints which kernels and libraries were found, and compares triangular attention with PyTorch's own operations, in
forward and backward passes.

    python -m triad_torch                 prints both; takes one to several minutes
    python -m triad_torch --found         prints which kernels and libraries were found, and ends
    python -m triad_torch --memory        also measures the memory of each, in processes of their own
    python -m triad_torch --shapes 1x128,1x64,1x32,400x5    batch x nodes
    python -m triad_torch --memory --svg FILE --shapes 1x16,1x32,1x64,1x128    also draws a figure
    python -m triad_torch --overhead --shapes 1x32    measures the cost of calls through PyTorch

The times mean nothing if other programs use the processor.
"""
from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

from . import __version__, _kernels

WIDTH, HEADS = 200, 4
KINDS = ("ours", "eager", "compiled")


def found() -> None:
    print(f"triad_torch {__version__}, kernels {_kernels.description()} of {', '.join(_kernels.built())}")
    try:
        import torch
    except ImportError:
        print("PyTorch: none; the functions for NumPy and JAX work without it")
        return
    try:
        from . import _operators
    except ImportError as error:
        print(f"PyTorch {torch.__version__}: {error}")
        return
    gpu = ("none that PyTorch finds" if not torch.cuda.is_available()
           else f"{torch.cuda.get_device_name()}, " + (f"no kernels for it ({_operators.cuda_refused})"
                                                       if _operators.cuda_refused else "with kernels"))
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads; GPU: {gpu}")
    print(products())


def products() -> str:
    """Returns what computes matrix products, with its rate and the processor's peak rate on one thread: PyTorch, and
    oneDNN if it computes projections."""
    import torch

    from . import _products
    blas = re.search(r"BLAS_INFO=(\w+)", torch.__config__.show())
    library = {"mkl": "MKL", "open": "OpenBLAS"}.get(blas[1], blas[1]) if blas else "an unknown BLAS"
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    rows, columns, inner = 384, 256, 256
    a, b, c = torch.ones(rows, inner), torch.ones(inner, columns), torch.empty(rows, columns)
    times = []
    for _ in range(8):
        start = time.perf_counter()
        torch.mm(a, b, out=c)
        times.append(time.perf_counter() - start)
    torch.set_num_threads(threads)
    rate, peak = rows * columns * inner / min(times), _kernels.multiply_adds_a_second()
    of_peak = f"of {2e-9 * peak:.0f} GFLOP/s a core"
    text = f"products by {library}, {torch.backends.cpu.get_cpu_capability()}: {2e-9 * rate:.0f} {of_peak}"
    if _products.refused:
        return f"{text}\nprojections by PyTorch, without oneDNN: {_products.refused}"
    rate = _products.multiply_adds_a_second()
    return (f"{text}\nprojections by {_products.description()}: {2e-9 * rate:.0f} {of_peak}, "
            f"{'bfloat16' if _products.rounds() else 'no bfloat16'}")


def module_of(kind: str):
    import torch

    from . import TriangularAttention
    from ._formulas import Formulas, by_broadcast, by_einsum
    if kind == "ours":
        return TriangularAttention(WIDTH, HEADS)
    if kind == "eager":
        return Formulas(WIDTH, HEADS, by_einsum)
    return torch.compile(Formulas(WIDTH, HEADS, by_broadcast))


def steps(kind: str, batch: int, n: int):
    """Returns a function that makes one step, forward and backward."""
    import torch
    torch.manual_seed(0)
    module = module_of(kind)
    x = torch.randn(batch, n, n, WIDTH, requires_grad=True)
    gradient = torch.randn(batch, n, n, WIDTH)

    def step():
        module(x).backward(gradient)
    return step


def attention_by_pytorch(batch: int, n: int):
    """Returns a function that makes one step, forward and backward, through PyTorch's operators, without
    projections."""
    import torch

    from . import _operators
    from ._torch_attention import batch_arguments, no_bias
    x = torch.randn(batch * n * n, 4, HEADS, WIDTH // HEADS, requires_grad=True)
    gradient = torch.randn(batch * n * n, HEADS, WIDTH // HEADS)
    how = batch_arguments(x.device, batch, n, None, None, None, 0.0, None, -1e9, 0)

    def step():
        x.grad = None
        _operators.triangle_stacked(x, no_bias(x), *how)[0].backward(gradient)
    return step


def attention_by_kernels(batch: int, n: int):
    """Returns a function that makes this step by direct calls of the kernels, on one thread, in memory that is
    allocated once."""
    import numpy as np
    rows = batch * n * n
    draw = np.random.default_rng(0).standard_normal
    x, gradient = draw((rows, 4, WIDTH), np.float32), draw((rows, WIDTH), np.float32)
    dx, output, statistics = np.empty_like(x), np.empty_like(gradient), np.empty((2, rows, HEADS), np.float32)
    call = _kernels.TriangleCall(place=_kernels.Place(threads=1), graphs=batch, nodes=n, rows=rows, heads=HEADS,
                                 width=WIDTH // HEADS, output=_kernels.Rows(output.ctypes.data, WIDTH),
                                 d_output=_kernels.Rows(gradient.ctypes.data, WIDTH),
                                 maximum=statistics[0].ctypes.data, inverse_sum=statistics[1].ctypes.data)
    for part, name in enumerate(("query", "key", "left", "right")):
        setattr(call, name, _kernels.Rows(x[:, part].ctypes.data, 4 * WIDTH))
        setattr(call, f"d_{name}", _kernels.Rows(dx[:, part].ctypes.data, 4 * WIDTH))
    call.arrays = (x, gradient, dx, output, statistics)  # keeps the arrays alive: the call has only addresses

    def step():
        _kernels.run_call("triad_triangle", call)
        _kernels.run_call("triad_triangle_grad", call)
    return step


def overhead(shapes, seconds: float) -> None:
    """Measures a step by the module, by the operators and by the kernels, in turn. Each runs on one thread."""
    import torch
    torch.set_num_threads(1)
    print(f"triangular attention, width {WIDTH}, {HEADS} heads, float32, forward and backward, 1 thread; medians")
    for batch, n in shapes:
        ways = (attention_by_kernels(batch, n), attention_by_pytorch(batch, n), steps("ours", batch, n))
        for way in 3 * ways:
            way()
        times: tuple[list[float], ...] = ([], [], [])
        began = time.perf_counter()
        while len(times[0]) < 10 or time.perf_counter() - began < seconds:
            for way, found in zip(ways, times):
                start = time.perf_counter()
                way()
                found.append(time.perf_counter() - start)
        kernels, pytorch, step = (sorted(found)[len(found) // 2] * 1e3 for found in times)
        more = pytorch - kernels
        print(f"n={n}  batch={batch}  kernels {kernels:.3g} ms  through PyTorch {pytorch:.3g} ms, {more:.2f} ms more: "
              f"{100 * more / step:.1f} % of a step with projections, {step:.3g} ms", flush=True)


def median_ms(step, seconds: float) -> float:
    step()
    times: list[float] = []
    began = time.perf_counter()
    while len(times) < 3 or (time.perf_counter() - began < seconds and len(times) < 100):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2] * 1e3


def peak_of(kind: str, batch: int, n: int) -> float:
    """Returns how much a step raises the peak memory of a process (MiB). Measures in a new process."""
    answer = subprocess.run([sys.executable, "-m", "triad_torch", "--peak-of", kind, "--shapes", f"{batch}x{n}"],
                            capture_output=True, text=True, check=True)
    return float(answer.stdout)


def print_peak(kind: str, batch: int, n: int) -> None:
    from ._memory import forget_peak, peak_mib
    step, small = steps(kind, batch, n), steps(kind, 1, 2)
    small()  # before the measurement: PyTorch allocates memory on first use
    if kind == "compiled":
        step()  # before the measurement: the compiler allocates memory
    forget_peak()
    before = peak_mib()
    step()
    print(peak_mib() - before)


def compare(shapes, memory: bool, seconds: float) -> dict[str, list[tuple[int, float, float]]]:
    """Prints a line for each shape, and returns (n, milliseconds, MiB) for each kind."""
    import torch
    print(f"triangular attention with its projections, width {WIDTH}, {HEADS} heads, float32, forward and backward, "
          f"{torch.get_num_threads()} threads; medians")
    print("  eager: the paper's equations by einsum; compiled: torch.compile over a product that it can fuse, without "
          "the time of compiling")
    results: dict[str, list] = {kind: [] for kind in KINDS}
    for batch, n in shapes:
        texts = []
        for kind in KINDS:
            try:
                ms = median_ms(steps(kind, batch, n), seconds)
            except Exception as error:  # torch.compile needs an installed compiler
                texts.append(f"{kind} failed ({type(error).__name__})")
                continue
            mib = peak_of(kind, batch, n) if memory else 0.0
            time_text = f"{ms:.0f}" if ms >= 100 else f"{ms:.3g}"
            texts.append(f"{kind} {time_text} ms" + (f" {mib:.0f} MiB" if memory else ""))
            results[kind].append((n, ms, mib))
        print("  ".join([f"n={n}", *([f"batch={batch}"] if batch > 1 else []), *texts]), flush=True)
    return results


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m triad_torch", description=__doc__.split("\n\n")[0])
    parser.add_argument("--found", action="store_true", help="print what was found, and end, without the comparison")
    parser.add_argument("--memory", action="store_true", help="also measure the memory of a step")
    parser.add_argument("--shapes", default="400x5,1x32,1x64,1x128",
                        help="batch x nodes, with commas between them (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=3, help="time for each measurement (default: 3)")
    parser.add_argument("--svg", help="draw time and memory into this file; of one batch size, with --memory")
    parser.add_argument("--overhead", action="store_true",
                        help="what calls through PyTorch take beyond the kernels as they are, and what part of a step that is")
    parser.add_argument("--peak-of", choices=KINDS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    try:
        shapes = [tuple(int(part) for part in shape.split("x")) for shape in given.shapes.split(",")]
        if any(len(shape) != 2 or min(shape) < 1 for shape in shapes):
            raise ValueError
    except ValueError:
        parser.error(f"--shapes is {given.shapes!r}, expected for example 1x128,400x5")
    if given.peak_of:
        print_peak(given.peak_of, *shapes[0])
        return 0
    found()
    if given.found:
        return 0
    try:
        import torch  # noqa: F401
    except ImportError:
        return 0
    if given.svg and (not given.memory or len({batch for batch, _ in shapes}) > 1 or len(shapes) < 2):
        parser.error("--svg wants --memory, and two or more --shapes of one batch size")
    if given.overhead and (given.memory or given.svg):
        parser.error("--overhead measures time alone: leave --memory and --svg out")
    if given.overhead:
        overhead(shapes, given.seconds)
        return 0
    results = compare(sorted(shapes, key=lambda shape: shape[1]), given.memory, given.seconds)
    if given.svg:
        import torch

        from ._plot import draw
        title = (f"forward and backward, width {WIDTH}, {HEADS} heads, batch {shapes[0][0]}, "
                 f"PyTorch {torch.__version__.split('+')[0]}, {torch.get_num_threads()} threads")
        Path(given.svg).write_text(draw(results, title))
    return 0


if __name__ == "__main__":
    sys.exit(main())
