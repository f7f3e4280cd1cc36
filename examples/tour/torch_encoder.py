#!/usr/bin/env python3
"""Writes a safetensors file for torch_encoder.cpp: PyTorch's nn.TransformerEncoder, an input, and PyTorch's answer.
  python3 torch_encoder.py FILE           (needs torch and safetensors; torch 2.15 made the file in this folder)
SPDX-License-Identifier: Apache-2.0"""
import sys

import torch
from safetensors.torch import save_file
from torch import nn

WIDTH, HEADS, HIDDEN, LAYERS = 16, 4, 32, 2
SIZES = [5, 3]  # numbers of tokens in two sequences

torch.manual_seed(1)
layer = nn.TransformerEncoderLayer(WIDTH, HEADS, HIDDEN, dropout=0, batch_first=True)
encoder = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False).eval()
with torch.no_grad():
    for parameter in encoder.parameters():  # biases and gains too, so that a wrong parameter changes the answer
        parameter.add_(0.2 * torch.randn_like(parameter))
    x = torch.randn(len(SIZES), max(SIZES), WIDTH)
    padding = torch.arange(max(SIZES)) >= torch.tensor(SIZES)[:, None]
    y = encoder(x, src_key_padding_mask=padding)

tensors = dict(encoder.state_dict())
tensors["example.x"] = x[~padding]  # without padding: the rows of the second sequence follow those of the first
tensors["example.y"] = y[~padding]
save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, sys.argv[1])
