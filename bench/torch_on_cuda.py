"""Times what a user of PyTorch would run on a GPU instead of triad: triangular attention and the Edge Transformer's
layer, by the paper's equations.  Prints a line for each shape.  The shapes are those of triad-bench-cuda.  Times are in
milliseconds.  `-` means that a computation failed.  The columns are:

    eager       einsum, which stores the value of every triangle; MiB is the peak memory, without module and input
    compiled    the best of torch.compile: over einsum, in its default mode and in its mode with CUDA graphs, and over
                products that it can fuse into the sum; `by` names the best
    python      triad_torch's module, if that package is installed and has kernels for the GPU
    graphs      the same module in a CUDA graph (torch.cuda.make_graphed_callables)

Matrix products are in float32 without TF32.  The argument `tf32` allows TF32.  With the argument `bf16`, everything
runs under autocast to bfloat16.  An argument that is a number limits the number of shapes."""
import contextlib
import sys
import time

import torch
from torch import nn


class TriangularAttention(nn.Module):
    """Triangular attention with a projection of its output: o(i, j) = sum over l of softmax_l(q(i, l) k(l, j) /
    sqrt(k)) v1(i, l) v2(l, j)."""

    def __init__(self, width, heads, fused=False):
        super().__init__()
        self.heads, self.fused = heads, fused
        self.stacked = nn.Linear(width, 4 * width, bias=False)
        self.output = nn.Linear(width, width, bias=False)

    def forward(self, x):
        b, n, _, d = x.shape
        query, key, left, right = self.stacked(x).view(b, n, n, 4, self.heads, d // self.heads).unbind(3)
        if self.fused:
            score = torch.matmul(query.permute(0, 2, 3, 1, 4), key.permute(0, 1, 3, 4, 2)) * (d // self.heads) ** -0.5
            weight = score.softmax(1).permute(0, 3, 4, 1, 2).unsqueeze(-1)
            mixed = (weight * left.unsqueeze(2) * right.transpose(1, 2).unsqueeze(1)).sum(3)
            return self.output(mixed.reshape(b, n, n, d))
        score = torch.einsum("bilhc,bljhc->bhilj", query, key) * (d // self.heads) ** -0.5
        weight = score.softmax(3)
        value = torch.einsum("bilhc,bljhc->bhiljc", left, right)
        mixed = torch.einsum("bhilj,bhiljc->bijhc", weight, value)
        return self.output(mixed.reshape(b, n, n, d))


class EdgeTransformerLayer(nn.Module):
    def __init__(self, width, heads, fused=False):
        super().__init__()
        self.norm, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = TriangularAttention(width, heads, fused)
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


def ours(kind, d, h):
    import triad_torch
    from triad_torch import _operators
    if _operators.cuda_refused:
        raise ImportError(_operators.cuda_refused)
    module = triad_torch.EdgeTransformerLayer if kind == "edge_transformer_layer" else triad_torch.TriangularAttention
    return module(d, h).cuda()


def measure(kind, train, b, n, d, h):
    torch.manual_seed(0)
    kind_of = EdgeTransformerLayer if kind == "edge_transformer_layer" else TriangularAttention
    x = torch.randn(b, n, n, d, device="cuda", requires_grad=train)
    gradient = torch.randn_like(x)
    name = f"{kind}/{'train' if train else 'forward'}/b:{b}/n:{n}/d:{d}/h:{h}"
    half = contextlib.nullcontext()
    if "bf16" in sys.argv[1:]:
        half = torch.autocast("cuda", torch.bfloat16, cache_enabled=False)  # a CUDA graph cannot use the cache

    def run(forward):
        def step():
            with contextlib.nullcontext() if train else torch.no_grad():
                with half:
                    y = forward(x)
                if train:
                    y.backward(gradient.to(y.dtype))
        return median_milliseconds(step)

    def tried(what, forward):
        try:
            found = run(forward())
            print(f"# {name}: {what}: {found:.3f} ms", flush=True)  # printed now, because a time limit may end the run
            return found
        except Exception as error:
            text = str(error).splitlines()[0] if str(error) else type(error).__name__
            print(f"# {name}: {what}: {text}", flush=True)
            torch.cuda.empty_cache()
            return None

    eager = kind_of(d, h).cuda()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    found = {"eager": tried("eager", lambda: eager)}
    peak = f"{(torch.cuda.max_memory_allocated() - before) / 2**20:.0f}" if found["eager"] else "-"
    found["python"] = tried("triad_torch", lambda: ours(kind, d, h))

    def ours_graphed():
        with half:
            return torch.cuda.make_graphed_callables(ours(kind, d, h).requires_grad_(train),
                                                     (x.detach().clone().requires_grad_(train),))

    found["graphs"] = tried("triad_torch in a CUDA graph", ours_graphed)
    for what, module, mode in (("einsum", eager, None), ("fused", kind_of(d, h, True).cuda(), None),
                               ("einsum,graphs", eager, "reduce-overhead")):
        torch._dynamo.reset()
        found[what] = tried(f"torch.compile, {what}", lambda: torch.compile(module, mode=mode, dynamic=False))
    compiled = {what: found[what] for what in ("einsum", "fused", "einsum,graphs") if found[what]}
    best = min(compiled, key=compiled.get) if compiled else None
    text = lambda ms: f"{ms:.3f}" if ms else "-"
    print(name, text(found["eager"]), text(compiled.get(best)), peak, text(found["python"]), text(found["graphs"]),
          best or "-",
          *[f"{what}:{text(ms)}" for what, ms in compiled.items()], flush=True)
    torch.cuda.empty_cache()


torch.backends.cuda.matmul.allow_tf32 = "tf32" in sys.argv[1:]
print(f"# PyTorch {torch.__version__} on {torch.cuda.get_device_name()}, "
      f"TF32 {'on' if torch.backends.cuda.matmul.allow_tf32 else 'off'}{', autocast to bfloat16' if 'bf16' in sys.argv[1:] else ''}")
print("name eager compiled MiB python graphs by")
shapes = (
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
)
count = next((int(a) for a in sys.argv[1:] if a.isdigit()), len(shapes))
for shape in shapes[:count]:
    measure(*shape)
