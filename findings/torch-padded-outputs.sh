#!/usr/bin/env bash
# torch.no_grad() changes what PyTorch's TransformerEncoder returns at the positions of padding (with batch_first, its
# default norms, and padding at the end).
# One would guess: no_grad() leaves values as they are, and in evaluation mode without dropout nothing else differs.
# What happens: in evaluation mode and without gradients, the module leaves padding out of the computation and fills its
#   places with 0.  With gradients, or after train(), it computes them.  Other positions are equal up to rounding.
# Seen in: torch 2.15.0, on a CPU.
# Why it matters: a mean, a maximum or a norm over all positions of a batch is one value while a model is trained, and
#   another one when it is used.  The two also depend on the longest sentence of the batch.
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
# The wheel of PyPI for Linux brings the libraries for GPUs: some gigabytes.
packages torch==2.15.0 numpy==2.4.6
cat > show.py <<'PYTHON'
import warnings

import torch

warnings.simplefilter("ignore")  # nested tensors, which the module uses, are called a prototype
torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
model = torch.nn.TransformerEncoder(layer, 2).eval()
x, lengths = torch.randn(2, 5, 8), torch.tensor([3, 2])
padding = torch.arange(5) >= lengths[:, None]
with torch.no_grad():
    without = model(x, src_key_padding_mask=padding)
known = model(x, src_key_padding_mask=padding).detach()
trained = model.train()(x, src_key_padding_mask=padding).detach()

def shown(y):
    return [["0" if row.abs().max() == 0 else "values" for row in sentence] for sentence in y]

print("evaluation, no_grad:      ", *shown(without))
print("evaluation, with gradients:", *shown(known))
print("training, dropout 0:      ", *shown(trained))
print("words alike:", torch.allclose(without[~padding], known[~padding], atol=1e-5))
print("means over all positions alike:", torch.allclose(without.mean((0, 1)), known.mean((0, 1)), atol=1e-2))
print("training as with gradients:", torch.allclose(trained, known, atol=1e-5))
PYTHON
"$python" show.py | expect "evaluation, no_grad:       ['values', 'values', 'values', '0', '0'] ['values', 'values', '0', '0', '0']
evaluation, with gradients: ['values', 'values', 'values', 'values', 'values'] ['values', 'values', 'values', 'values', 'values']
training, dropout 0:       ['values', 'values', 'values', 'values', 'values'] ['values', 'values', 'values', 'values', 'values']
words alike: True
means over all positions alike: False
training as with gradients: True"
