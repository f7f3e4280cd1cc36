"""Registers the shapes, derivatives and error checks of the operators with PyTorch.  C++ computes the values."""
from __future__ import annotations

import atexit
import ctypes
from pathlib import Path

try:
    import torch
except ImportError as error:
    raise ImportError("this part of triad_torch needs PyTorch 2.10 or later (pip install torch); the functions for "
                      "NumPy and JAX do without") from error

from . import _kernels, _products
from ._transforms import differentiated_backward
from .attention import has_right


def _load() -> None:
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if version < (2, 10):
        raise ImportError(f"triad_torch needs PyTorch 2.10 or later, and this is {torch.__version__}; upgrade it by "
                          "pip")
    path = str(Path(__file__).parent / "libtriad_torch.so")
    torch.ops.load_library(path)
    operators = ctypes.CDLL(path)
    operators.triad_torch_failure.restype = ctypes.c_char_p
    failure = operators.triad_torch_failure().decode()
    if failure:
        raise ImportError(f"triad_torch: {failure}; is another copy of it loaded in this process?")
    operators.triad_torch_use.argtypes = [ctypes.c_void_p]
    operators.triad_torch_use(_kernels.table())
    operators.triad_torch_use_products.argtypes = [ctypes.c_void_p]
    operators.triad_torch_use_products(_products.load())
    if torch.version.cuda and _kernels.cuda_path().exists():
        _load_cuda(operators)


def _load_cuda(operators) -> None:
    """Loads the kernels for GPUs, if they were built.  The kernels need the CUDA libraries that PyTorch has loaded.
    Does not start the driver, so that the process can still fork."""
    global cuda_refused
    try:
        stream_of = ctypes.CDLL("libtorch_cuda.so").aoti_torch_get_current_cuda_stream
        kernels = ctypes.CDLL(str(_kernels.cuda_path()))
    except (OSError, AttributeError) as error:
        cuda_refused = str(error)
        return
    kernels.triad_cuda_kernels_table.restype = ctypes.c_void_p
    operators.triad_torch_use_cuda.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    operators.triad_torch_use_cuda(kernels.triad_cuda_kernels_table(), ctypes.cast(stream_of, ctypes.c_void_p))
    atexit.register(kernels.triad_cuda_kernels_end)
    cuda_refused = ""


def expect_device(device: torch.device, name: str) -> None:
    """Raises ValueError if there are no kernels for a device."""
    if device.type == "cpu" or device.type == "meta" or (device.type == "cuda" and not cuda_refused):
        return
    why = f" ({cuda_refused})" if device.type == "cuda" else ""
    raise ValueError(f"{name} lies on {device}, and there are no kernels for it{why}; move it to the host by .cpu()")


# Why tensors on a GPU are refused; "" if they are accepted.
cuda_refused = "not built: install the package with -C cmake.define.TRIAD_TORCH_CUDA=ON"
_load()
(triangle, triangle_stacked, attention, fuse, tree_child, tree_graft, _triangle_grad, _triangle_stacked_grad,
 _attention_grad, _fuse_grad) = map(
    differentiated_backward, ("triangle", "triangle_stacked", "attention", "fuse", "tree_child", "tree_graft",
                              "triangle_grad", "triangle_stacked_grad", "attention_grad", "fuse_grad"))


# ---- shapes without data ---------------------------------------------------------------------------------------------

def _of_triangle(rows_by_heads: torch.Tensor):
    rows, heads, width = rows_by_heads.shape[0], rows_by_heads.shape[-2], rows_by_heads.shape[-1]
    new = rows_by_heads.new_empty
    return new(rows, heads, width), new(rows, heads), new(rows, heads)


@torch.library.register_fake("triad::triangle")
def _(query, key, left, right, bias, sizes, masked, sources, seed, nodes, form, fill, dropout):
    return _of_triangle(query)


def _of_bias_gradient(bias, wanted):
    return bias.new_empty(bias.shape if wanted and bias.numel() else (0,))


@torch.library.register_fake("triad::triangle_grad")
def _(d_output, output, maximum, inverse_sum, query, key, left, right, bias, sizes, masked, sources, seed, nodes, form,
      fill, dropout, with_bias):
    new, shape = query.new_empty, query.shape
    return (new(shape), new(shape), new(shape), new(shape if has_right(form) else (0, *shape[1:])),
            _of_bias_gradient(bias, with_bias))


@torch.library.register_fake("triad::triangle_stacked")
def _(projections, bias, sizes, masked, sources, seed, nodes, form, fill, dropout):
    return _of_triangle(projections)


@torch.library.register_fake("triad::triangle_stacked_grad")
def _(d_output, output, maximum, inverse_sum, projections, bias, sizes, masked, sources, seed, nodes, form, fill,
      dropout, with_bias):
    return projections.new_empty(projections.shape), _of_bias_gradient(bias, with_bias)


@torch.library.register_fake("triad::attention")
def _(x, query, key, left, right, output, bias, sizes, masked, sources, seed, nodes, form, fill, dropout, heads,
      rounds):
    rows, width = x.shape
    parts = 4 if has_right(form) else 3
    saved = rows * ((parts + 1) * width + 2 * heads) + parts * width * width + 16  # as triad_attention_saved()
    return (x.new_empty(rows, width, dtype=torch.bfloat16 if rounds else torch.float32),
            x.new_empty(saved, dtype=torch.float32))


@torch.library.register_fake("triad::attention_grad")
def _(dy, saved, x, query, key, left, right, output, bias, sizes, masked, sources, seed, nodes, form, fill, dropout,
      heads, rounds, with_x):
    width = x.shape[1]
    return (x.new_empty(x.shape[0] if with_x else 0, width),
            query.new_empty(5 if has_right(form) else 4, width, width),
            bias.new_empty(bias.shape if bias.numel() else (0, width)))


@torch.library.register_fake("triad::fuse")
def _(u, states, seed, dropout):
    rows, heads, width = u.shape
    return u.new_empty(rows, heads, width), u.new_empty(rows, heads), u.new_empty(rows, heads, states.shape[0])


@torch.library.register_fake("triad::fuse_grad")
def _(d_mixed, d_kept, weights, u, states, seed, dropout):
    return u.new_empty(u.shape), states.new_empty(states.shape)


def _like_trees(trees, child, branching, depth):
    return trees.new_empty(trees.shape)


torch.library.register_fake("triad::tree_child")(_like_trees)
torch.library.register_fake("triad::tree_graft")(_like_trees)


# ---- derivatives -----------------------------------------------------------------------------------------------------

def _keep_triangle(ctx, inputs, output):
    *tensors, ctx.nodes, ctx.form, ctx.fill, ctx.dropout = inputs
    o, maximum, inverse_sum = output
    ctx.mark_non_differentiable(maximum, inverse_sum)
    ctx.save_for_backward(*tensors, o, maximum, inverse_sum)


def _triangle_backward(ctx, d_output, _maximum, _inverse_sum):
    *tensors, o, maximum, inverse_sum = ctx.saved_tensors
    with_bias = ctx.needs_input_grad[4]
    dq, dk, dl, dr, d_bias = _triangle_grad(d_output, o, maximum, inverse_sum, *tensors, ctx.nodes, ctx.form, ctx.fill,
                                            ctx.dropout, int(with_bias))
    return dq, dk, dl, dr if has_right(ctx.form) else None, d_bias if with_bias else None, *[None] * 8


def _triangle_stacked_backward(ctx, d_output, _maximum, _inverse_sum):
    *tensors, o, maximum, inverse_sum = ctx.saved_tensors
    with_bias = ctx.needs_input_grad[1]
    dx, d_bias = _triangle_stacked_grad(d_output, o, maximum, inverse_sum, *tensors, ctx.nodes, ctx.form, ctx.fill,
                                        ctx.dropout, int(with_bias))
    return dx, d_bias if with_bias else None, *[None] * 8


torch.library.register_autograd("triad::triangle", _triangle_backward, setup_context=_keep_triangle)
torch.library.register_autograd("triad::triangle_stacked", _triangle_stacked_backward, setup_context=_keep_triangle)


def _keep_attention(ctx, inputs, output):
    *tensors, ctx.nodes, ctx.form, ctx.fill, ctx.dropout, ctx.heads, ctx.rounds = inputs
    _, saved = output
    ctx.set_materialize_grads(False)  # the gradient of `saved` would be many zeros
    ctx.mark_non_differentiable(saved)
    ctx.save_for_backward(saved, *tensors)


def _attention_backward(ctx, dy, _saved):
    saved, *tensors = ctx.saved_tensors
    dx, dw, db = _attention_grad(dy, saved, *tensors, ctx.nodes, ctx.form, ctx.fill, ctx.dropout, ctx.heads, ctx.rounds,
                                 int(ctx.needs_input_grad[0]))
    projections, output = dw[:-1].unbind(), dw[-1]
    return (dx if ctx.needs_input_grad[0] else None, *projections, *[None] * (4 - len(projections)), output,
            db if tensors[6].numel() else None, *[None] * 10)


torch.library.register_autograd("triad::attention", _attention_backward, setup_context=_keep_attention)


def _keep_fuse(ctx, inputs, output):
    u, states, seed, ctx.dropout = inputs
    _, _, weights = output
    ctx.mark_non_differentiable(weights)
    ctx.save_for_backward(weights, u, states, seed)


def _fuse_backward(ctx, d_mixed, d_kept, _weights):
    return *_fuse_grad(d_mixed, d_kept, *ctx.saved_tensors, ctx.dropout), None, None


torch.library.register_autograd("triad::fuse", _fuse_backward, setup_context=_keep_fuse)


def _keep_shift(ctx, inputs, output):
    _, ctx.child, ctx.branching, ctx.depth = inputs


# tree_child and tree_graft are linear maps, and each is the adjoint of the other.  So the backward
# pass of each calls the other, and both can be differentiated any number of times.
torch.library.register_autograd(
    "triad::tree_child", lambda ctx, dy: (tree_graft(dy, ctx.child, ctx.branching, ctx.depth), None, None, None),
    setup_context=_keep_shift)
torch.library.register_autograd(
    "triad::tree_graft", lambda ctx, dy: (tree_child(dy, ctx.child, ctx.branching, ctx.depth), None, None, None),
    setup_context=_keep_shift)


# ---- refusals --------------------------------------------------------------------------------------------------------

def _refuse_twice(name):
    def backward(ctx, *_):
        raise RuntimeError(f"triad_torch: {name} has no second derivative; leave out create_graph=True")
    torch.library.register_autograd(f"triad::{name}_grad", backward, setup_context=lambda ctx, inputs, output: None)


def _refuse_vmap(name, instead):
    def vmap(info, in_dims, *args):
        raise RuntimeError(f"triad_torch: triad::{name} has no torch.func.vmap; {instead}")
    torch.library.register_vmap(f"triad::{name}", vmap)


for _name in ("triangle", "triangle_stacked", "attention", "fuse"):
    _refuse_twice(_name)
    _refuse_vmap(_name, "its first axis is a batch already")
    _refuse_vmap(f"{_name}_grad", "its first axis is a batch already")
for _name in ("tree_child", "tree_graft"):
    _refuse_vmap(_name, "its first axis is a batch already")


# ---- lower precision -------------------------------------------------------------------------------------------------
# Under autocast, the kernels still compute in float32.  The sums over all middle nodes need this precision.
for _name in ("triangle", "triangle_stacked", "fuse"):
    for _device in ("cpu", "cuda"):
        torch.library.register_autocast(f"triad::{_name}", _device, torch.float32)


def draw_seed(generator: torch.Generator | None, device, rate: float) -> torch.Tensor:
    """Returns one int64 from PyTorch's generator, as a tensor on the data's device.  Python never reads the value.  If
    the dropout rate is 0, draws nothing and returns an empty tensor."""
    if generator is not None and not isinstance(generator, torch.Generator):
        kind = f"{type(generator).__module__}.{type(generator).__qualname__}"
        raise TypeError(f"generator is {kind}, expected torch.Generator for tensors; pass "
                        "torch.Generator().manual_seed(seed)")
    if rate == 0:
        return torch.empty(0, dtype=torch.int64, device=device)
    if generator is None:  # torch.compile can trace this branch
        return torch.randint(2**63 - 1, (1,), device=device)
    return torch.randint(2**63 - 1, (1,), device=device, generator=generator)
