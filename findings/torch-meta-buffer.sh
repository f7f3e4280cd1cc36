#!/usr/bin/env bash
# PyTorch computes with a tensor that has no memory, and the result is whatever was in the result's memory.
# One would guess: an operation of a tensor on the host and one on the device "meta" is an error, as for + and where.
# What happens: indexing, gather, take, embedding and matmul return a tensor on the host that nothing was written to.
#   A module made under torch.device("meta") and filled by load_state_dict(assign=True) keeps its non-persistent buffers
#   on "meta". load_state_dict reports that all keys matched, and forward() returns such a tensor.
# Seen in: torch 2.15.0, on a CPU.
# Why it matters: this is how large models are loaded without memory for first values. A table of positions or of
#   indices that is not saved makes a model of nonsense, without an error or a warning, and with other values each time.
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
# The wheel of PyPI for Linux brings the libraries for GPUs: some gigabytes.
packages torch==2.15.0 numpy==2.4.6
cat > show.py <<'PYTHON'
import torch

class Reorder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("order", torch.tensor([2, 0, 1]), persistent=False)
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, x):
        return x[:, self.order] * self.weight

x = torch.arange(6.).reshape(2, 3)
first = Reorder()
with torch.device("meta"):
    second = Reorder()
print("load_state_dict:", second.load_state_dict(first.state_dict(), assign=True))
print("first:", first(x).tolist())
torch.full((1000, 1000), 7.)  # memory that the allocator has used before
y = second(x)
print(f"second: a {tuple(y.shape)} on {y.device}, equal to first: {torch.equal(first(x), y)}")
none, ones = torch.tensor([0, 2], device="meta"), torch.ones(3, 2, device="meta")
for name, call in {"x[:, i]": lambda: x[:, none], "x.take(i)": lambda: x.take(none), "x @ w": lambda: x @ ones,
                   "embedding(i, x)": lambda: torch.nn.functional.embedding(none, x),
                   "x + b": lambda: x + ones[:, 0]}.items():
    try:
        print(f"{name}: a tensor on {call().device}")
    except RuntimeError as error:
        print(f"{name}: {str(error).splitlines()[0]}")
PYTHON
"$python" show.py 2>/dev/null | expect "load_state_dict: <All keys matched successfully>
first: [[2.0, 0.0, 1.0], [5.0, 3.0, 4.0]]
second: a (2, 3) on cpu, equal to first: False
x[:, i]: a tensor on cpu
x.take(i): a tensor on cpu
x @ w: a tensor on cpu
embedding(i, x): a tensor on cpu
x + b: Tensor on device meta is not on the expected device cpu!"
