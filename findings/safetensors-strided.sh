#!/usr/bin/env bash
# safetensors writes a transposed or strided NumPy array with its values in the wrong places.
# One would guess: load(save(x)) is x, as with safetensors 0.7.0.
# What happens: the shape is right, the bytes are those of the memory in its own order; no error, no warning.
# Seen in: safetensors 0.8.0 with numpy 2.4.6.
# Why it matters: whoever converts weights writes `w.T`, and gets a model that loads and computes something else.
# numpy.ascontiguousarray(w.T) is written as it should be.
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
packages safetensors==0.8.0 numpy==2.4.6
cat > show.py <<'PYTHON'
import numpy
from safetensors.numpy import load, save
w = numpy.arange(6, dtype="f4").reshape(2, 3)
for name, x in ("transposed", w.T), ("every second column", w[:, ::2]), ("contiguous", numpy.ascontiguousarray(w.T)):
    print(f"{name}: wrote {x.tolist()}, read {load(save({'x': x}))['x'].tolist()}")
PYTHON
"$python" show.py | expect "transposed: wrote [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]], read [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
every second column: wrote [[0.0, 2.0], [3.0, 5.0]], read [[0.0, 1.0], [2.0, 3.0]]
contiguous: wrote [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]], read [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]"
