#!/usr/bin/env bash
# safetensors files of the same tensors and strings differ from process to process.
# One would guess: the same content gives the same bytes, so that files can be compared by their checksum.
# What happens: strings of __metadata__ are in another order in each process; with one string, or none, bytes agree.
# Seen in: safetensors 0.8.0 with numpy 2.4.6.
# Why it matters: checksums of weights in a build, a cache or a test differ where nothing has changed.
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
packages safetensors==0.8.0 numpy==2.4.6
cat > show.py <<'PYTHON'
import hashlib
import sys
import numpy
from safetensors.numpy import save
metadata = {f"name{i}": "text" for i in range(int(sys.argv[1]))}
print(hashlib.sha256(save({"x": numpy.zeros(2)}, metadata)).hexdigest())
PYTHON
for strings in 1 12; do
  files=$(for process in 1 2 3 4; do "$python" show.py "$strings" "$process"; done | sort -u | wc -l)
  echo "$strings strings, four processes: $( ((files == 1)) && echo one file || echo several files)"
done | expect "1 strings, four processes: one file
12 strings, four processes: several files"
