"""Code that make_own.py, own_graphs.py, own_parsers.py, own_sequences.py and own_trees.py share: parts of models over
real or complex numbers, gradients by the complex step, and files."""
# SPDX-License-Identifier: Apache-2.0
import json, struct

import numpy as np

NOTE = "made by tests/golden/make_own.py, numpy " + np.__version__


# ---- parts of models -------------------------------------------------------------------------------------------------
def linear(p, name, x):
    y = x @ p[name + ".weight"].T
    return y + p[name + ".bias"] if name + ".bias" in p else y


def softmax(s, axis):
    e = np.exp(s - s.real.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def relu(x):
    return np.where(x.real > 0, x, 0)


def layer_norm(p, name, x):
    c = x - x.mean(-1, keepdims=True)
    return p[name + ".weight"] * c / np.sqrt((c * c).mean(-1, keepdims=True) + 1e-5) + p[name + ".bias"]


def draw(random, *shape, scale=1.0, around=0.0):
    """Returns random values that float32 stores exactly."""
    return (around + scale * random.standard_normal(shape)).astype(np.float32).astype(np.float64)


# ---- values and gradients -----------------------------------------------------------------------------------------------
def evaluate(run, params, inputs, cotangents, config, real):
    """Returns outputs, loss and gradients, computed in `real` arithmetic (numpy.float64 or float32)."""
    floats = {("param/" + k): v for k, v in params.items()} | {("in/" + k): v for k, v in inputs.items() if v.dtype.kind == "f"}
    complex_type = np.result_type(real, np.complex64)

    def outputs(values):
        p = {k[6:]: v for k, v in values.items() if k.startswith("param/")}
        i = inputs | {k[3:]: v for k, v in values.items() if k.startswith("in/")}
        out = run(p, i, config)
        if "loss" not in out:
            out["loss"] = sum((out[k] * c.astype(real)).sum() for k, c in cotangents.items())
        return out

    values = {k: v.astype(complex_type) for k, v in floats.items()}
    result = {"out/" + k: np.asarray(v if np.asarray(v).dtype.kind == "i" else np.real(v)) for k, v in outputs(values).items()}
    step = 2.0 ** -50 if real is np.float32 else 2.0 ** -150
    for name, v in values.items():
        gradient = np.zeros(v.shape, real)
        for at in np.ndindex(v.shape):
            v[at] += 1j * step
            gradient[at] = outputs(values)["loss"].imag / step
            v[at] = v[at].real
        result["grad/" + name] = gradient
    return result


def largest_error(exact, rough):
    gradients = max([np.abs(v).max() for k, v in exact.items() if k.startswith("grad/")])
    worst = 0.0
    for k, v in exact.items():
        if v.dtype.kind == "f":
            scale = gradients if k.startswith("grad/") else np.abs(v).max()
            worst = max(worst, np.abs(v - rough[k]).max() / scale) if scale > 0 else worst
    return float(worst)


# ---- files ----------------------------------------------------------------------------------------------------------------
def write(path, metadata, tensors):
    codes = {"int64": "I64", "float64": "F64", "float32": "F32"}
    order = sorted(tensors, key=lambda k: (tensors[k].dtype.itemsize != 8, k))
    header, data = {"__metadata__": metadata}, b""
    for k in order:
        raw = np.ascontiguousarray(tensors[k]).tobytes()
        header[k] = {"dtype": codes[tensors[k].dtype.name], "shape": list(tensors[k].shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def save(folder, kind, case, run, params, inputs, cotangents, config, unused=(), constants={}, more={}, search=None):
    """`constants` are parameters without gradients. `more` are inputs that the outputs do not smoothly depend on.
    `search` is a function that computes outputs without gradients."""
    def results(real):
        of = lambda values: {k: v.astype(real) if v.dtype.kind == "f" else v for k, v in values.items()}
        found = search(of(params), of(inputs), config) if search else {}
        return evaluate(run, params, inputs, cotangents, config, real) | {"out/" + k: np.asarray(v) for k, v in found.items()}

    exact, rough = results(np.float64), results(np.float32)
    assert all((v == rough[k]).all() for k, v in exact.items() if v.dtype.kind == "i"), "float32 decides otherwise: draw other numbers"
    error = largest_error(exact, rough)
    for dtype, real in (("f64", np.float64), ("f32", np.float32)):
        tensors = {"param/" + k: v for k, v in (params | constants).items()} | {"in/" + k: v for k, v in (inputs | more).items()}
        tensors |= {"cotangent/" + k: v for k, v in cotangents.items()} | exact
        tensors = {k: v.astype(real) if v.dtype.kind == "f" else v.astype(np.int64) for k, v in tensors.items()}
        metadata = {"kind": kind, "config": json.dumps(config | {"dtype": dtype, "params_with_no_gradient": list(unused)}),
                    "note": NOTE,
                    "torch_f32_vs_f64": json.dumps({"max_abs_err_over_max_abs": error})}
        write(folder / f"{kind}__{case}.{dtype}.safetensors", metadata, tensors)
