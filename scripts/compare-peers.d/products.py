"""Says which library computes PyTorch's products on this processor, with which kernels, and at which rate.

    products.py

PyTorch calls a library for each product. MKL and oneDNN print a line for each call if MKL_VERBOSE or ONEDNN_VERBOSE is
set. So this program starts itself with these variables, once for each type of the factors, and reads the lines.
SPDX-License-Identifier: Apache-2.0"""
import os
import re
import subprocess
import sys

SIZE = 1024  # rows, columns and inner extent


def run(name):
    """Computes products of this type on one thread, and prints the best rate."""
    import time

    import torch

    torch.set_num_threads(1)
    a, b = (torch.ones(SIZE, SIZE, dtype=getattr(torch, name)) for _ in range(2))
    times = []
    for _ in range(8):
        start = time.perf_counter()
        torch.nn.functional.linear(a, b)
        times.append(time.perf_counter() - start)
    blas = re.search(r"BLAS_INFO=([^,\s]+)", torch.__config__.show())
    print(f"rate {2e-9 * SIZE**3 / min(times):.0f}")
    print(f"blas {blas[1] if blas else 'unknown'}")


def described(said):
    """Returns the library of the calls in this output, with its kernels as the library names them."""
    mkl = re.search(r"MKL_VERBOSE (.*?) Product build \S+ for (.*?)(?:, Lnx|$)", said, re.MULTILINE)
    if "GEMM" in said and mkl:
        sets = re.findall(r"\(Intel\(R\) ([^)]*)\)", mkl[2])  # such as "AVX-512" and "AMX"
        return f"{mkl[1]} with {' and '.join(sets) or mkl[2]}"
    version = re.search(r"info,oneDNN (v[0-9.]+)", said)
    call = re.search(r"exec,cpu,(?:matmul|inner_product),([^,]+),", said)
    if version and call:
        return f"oneDNN {version[1]} with {call[1]}"
    return f"a library that does not name its kernels (BLAS_INFO={re.search('blas (.*)', said)[1]})"


def main():
    for name in ("float32", "bfloat16"):
        child = subprocess.run(
            [sys.executable, __file__, name],
            env=os.environ | {"MKL_VERBOSE": "1", "ONEDNN_VERBOSE": "1"},
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
        rate = re.search("rate (.*)", child.stdout)[1]
        print(f"torch's products of {name}: {rate} GFLOP/s a core, by {described(child.stdout)}")


if sys.argv[1:]:
    run(sys.argv[1])
else:
    main()
