"""Exports the model of a run as a package that a process without Python can load.

    python export.py RUN MODEL.pt2

One package answers questions about graphs of 2 to 4096 nodes, one graph at a time.  torch.export records the model, and
AOTInductor compiles it, for which it calls a C++ compiler.
"""
import sys

import torch

import triad_torch


def export(run, path):
    """Writes the package to the file `path`, whose name ends with .pt2.  Returns the path."""
    labels, query = torch.zeros(1, 5, 5, dtype=torch.int64), torch.tensor([[0, 1]])
    n = torch.export.Dim("n", min=2, max=4096)
    with torch.no_grad():
        program = torch.export.export(run.module, (labels, query), dynamic_shapes=({1: n, 2: n}, None))
    return torch._inductor.aoti_compile_and_package(program, package_path=str(path))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("export: expected 2 arguments: the folder of a run of clutrr or graphs, and the new file MODEL.pt2")
    print(export(triad_torch.load(sys.argv[1]), sys.argv[2]))
