"""What a user of PyTorch would run on a GPU in place of triad: triangular attention and the Edge Transformer's layer from the paper's
equations, by einsum, the value of every triangle in memory.  Prints a line for each shape of triad-bench-cuda that it is compared
with: name, milliseconds eager and compiled (the better of torch.compile's default and its mode with CUDA graphs; `-` where it
failed), peak MiB of the eager one beyond its module and input.  Products are float32, without TF32, unless the argument `tf32` is given."""
import sys
import time

import torch
from torch import nn


class TriangularAttention(nn.Module):
    """o(i, j) = sum over l of softmax_l(q(i, l) k(l, j) / sqrt(k)) v1(i, l) v2(l, j), then a projection."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.stacked = nn.Linear(width, 4 * width, bias=False)
        self.output = nn.Linear(width, width, bias=False)

    def forward(self, x):
        b, n, _, d = x.shape
        query, key, left, right = self.stacked(x).view(b, n, n, 4, self.heads, d // self.heads).unbind(3)
        score = torch.einsum("bilhc,bljhc->bhilj", query, key) * (d // self.heads) ** -0.5
        weight = score.softmax(3)
        value = torch.einsum("bilhc,bljhc->bhiljc", left, right)
        mixed = torch.einsum("bhilj,bhiljc->bijhc", weight, value)
        return self.output(mixed.reshape(b, n, n, d))


class EdgeTransformerLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = TriangularAttention(width, heads)
        self.feed_forward = nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = self.norm(x)
        x = self.after(x + self.attention(x))
        return x + self.feed_forward(x)


def median_milliseconds(step):
    for _ in range(4):
        step()
    torch.cuda.synchronize()
    times, began = [], time.time()
    while len(times) < 5 or (time.time() - began < 1 and len(times) < 200):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        step()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return sorted(times)[len(times) // 2]


def measure(kind, train, b, n, d, h):
    torch.manual_seed(0)
    module = (EdgeTransformerLayer if kind == "edge_transformer_layer" else TriangularAttention)(d, h).cuda()
    x = torch.randn(b, n, n, d, device="cuda", requires_grad=train)
    gradient = torch.randn_like(x)

    def run(forward):
        def step():
            if train:
                forward(x).backward(gradient)
            else:
                with torch.no_grad():
                    forward(x)
        return median_milliseconds(step)

    name = f"{kind}/{'train' if train else 'forward'}/b:{b}/n:{n}/d:{d}/h:{h}"
    try:
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        eager, peak = f"{run(module):.3f}", f"{(torch.cuda.max_memory_allocated() - before) / 2**20:.0f}"
    except torch.cuda.OutOfMemoryError:
        eager, peak = "-", "-"
    best = None
    for mode in (None, "reduce-overhead"):
        try:
            torch._dynamo.reset()
            found = run(torch.compile(module, mode=mode, dynamic=False))
            best = found if best is None else min(best, found)
        except Exception as error:
            print(f"# {name}: torch.compile, mode {mode}: {str(error).splitlines()[0] if str(error) else type(error).__name__}", flush=True)
    print(name, eager, "-" if best is None else f"{best:.3f}", peak, flush=True)
    torch.cuda.empty_cache()


torch.backends.cuda.matmul.allow_tf32 = "tf32" in sys.argv[1:]
print(f"# PyTorch {torch.__version__} on {torch.cuda.get_device_name()}, TF32 {'on' if torch.backends.cuda.matmul.allow_tf32 else 'off'}")
print("name eager compiled MiB")
for shape in (
    ("triangular_attention", True, 1, 128, 200, 4),
    ("edge_transformer_layer", True, 400, 5, 200, 4),
    ("triangular_attention", True, 1, 256, 200, 4),
    ("triangular_attention", True, 1, 64, 200, 4),
    ("triangular_attention", True, 400, 5, 200, 4),
    ("triangular_attention", False, 1, 128, 200, 4),
    ("edge_transformer_layer", True, 1, 128, 200, 4),
    ("triangular_attention", True, 10, 32, 200, 4),
    ("triangular_attention", True, 8, 128, 200, 4),
    ("triangular_attention", True, 1, 512, 128, 4),
):
    measure(*shape)
