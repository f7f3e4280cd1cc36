"""Tests scripts/same-weights on small files that the test makes:  same_weights.py ROOT FOLDER"""

import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path

root, folder = Path(sys.argv[1]), Path(sys.argv[2])
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)


def write(name, tensors, metadata=None):
    """Writes a safetensors file with {name: (dtype, shape, bytes)}, in that order."""
    header, body = {"__metadata__": metadata or {}}, b""
    for tensor, (dtype, shape, data) in tensors.items():
        header[tensor] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)
    return path


def floats(*values):
    return "F32", [len(values)], struct.pack(f"<{len(values)}f", *values)


def expect(status, texts, *arguments):
    run = subprocess.run([sys.executable, root / "scripts/same-weights", *arguments], capture_output=True, text=True)
    said = run.stdout + run.stderr
    if run.returncode != status or not all(text in said for text in texts) or "Traceback" in said:
        sys.exit(f"same-weights {arguments}: status {run.returncode}, expected {status} and {texts}:\n{said}")


old = write("old.safetensors", {"a.0.q": floats(1, 2, 3), "a.1.q": floats(4, 5), "steps": ("I64", [1], struct.pack("<q", 7))})

# The order of tensors, and the settings of the file, do not count.
other = write("other.safetensors", {"steps": ("I64", [1], struct.pack("<q", 7)), "a.1.q": floats(4, 5), "a.0.q": floats(1, 2, 3)}, {"written": "later"})
expect(0, ["the same: 3 tensors in 1 file"], old, other)

# One element differs slightly, and another element differs more. The sign of a zero is a difference, and so is a NaN.
other = write("differs.safetensors", {"a.0.q": floats(1, 2.5, 2.75), "a.1.q": floats(4, 5), "steps": ("I64", [1], struct.pack("<q", 7))})
expect(1, ["a.0.q: 2 of 3 elements differ, the largest absolute difference is 0.5, at element 1: 2.0 and 2.5", "1 of 1 files differ"], old, other)
zero, minus_zero = write("zero.safetensors", {"z": floats(0.0)}), write("minus_zero.safetensors", {"z": floats(-0.0)})
expect(1, ["z: 1 of 1 elements differ, the largest absolute difference is 0,"], zero, minus_zero)
nan = write("nan.safetensors", {"z": floats(float("nan"))})
expect(1, ["the largest absolute difference is inf"], zero, nan)
expect(0, ["the same"], nan, nan)

# All other types of numbers.
for dtype, one, two, gap in [("F64", "<d1.0", "<d1.5", "0.5"), ("F16", "<e1.0", "<e1.5", "0.5"), ("U8", "<B1", "<B4", "3"), ("I32", "<i-1", "<i4", "5")]:
    a, b = (struct.pack(text[:2], float(text[2:]) if text[1] in "de" else int(text[2:])) for text in (one, two))
    expect(1, [f"difference is {gap},"], write("one.safetensors", {"x": (dtype, [1], a)}), write("two.safetensors", {"x": (dtype, [1], b)}))
bf16 = [write(f"bf16_{i}.safetensors", {"x": ("BF16", [1], struct.pack("<f", v)[2:])}) for i, v in enumerate((1.0, 1.5))]
expect(1, ["difference is 0.5,"], *bf16)
unknown = [write(f"unknown_{i}.safetensors", {"x": ("F8_E4M3", [1], bytes([i]))}) for i in range(2)]
expect(1, ["x: other bytes"], *unknown)

# A tensor is missing, there is one more, or its type or shape differs.
other = write("other.safetensors", {"a.0.q": floats(1, 2, 3), "b": floats(1), "steps": ("I64", [1], struct.pack("<q", 7))})
expect(1, ["2 differences", "a.1.q is missing in NEW", "b is in NEW only"], old, other)
other = write("other.safetensors", {"a.0.q": ("F32", [3, 1], floats(1, 2, 3)[2]), "a.1.q": floats(4, 5), "steps": ("F64", [1], bytes(8))})
expect(1, ["a.0.q has shape [3] in OLD and [3, 1] in NEW", "steps is I64 in OLD and F64 in NEW"], old, other)

# Tensors that were renamed.
new = write("renamed.safetensors", {"b.0.query.0": floats(1, 2, 3), "b.1.query.1": floats(4, 5), "updates": ("I64", [1], struct.pack("<q", 7))})
table = folder / "renames"
table.write_text("# of all layers\n\na.0.q b.0.query.0\na.*.* b.*.*uery.1\nsteps updates\n")
expect(0, ["the same: 3 tensors"], old, new, table)
expect(1, ["a.0.q is missing", "updates is in NEW only"], old, new)
table.write_text("a.* b.*\nsteps updates\nnothing something\n")
expect(2, ["renames:3: no tensor of"], old, new, table)
table.write_text("a.* b\n")
expect(2, ["renames:1: expected OLD_NAME NEW_NAME with as many * in both"], old, new, table)
table.write_text("a.0.q x\na.1.q x\n")
expect(2, ["two tensors would be called x"], old, new, table)

# Folders of runs, and folders with several folders of runs.
for run in ("before", "after"):
    write(f"{run}/first/model.safetensors", {"w": floats(1)})
    write(f"{run}/second/seed-1/model.safetensors", {"w": floats(2)})
expect(0, ["the same: 1 tensors in 1 file"], folder / "before/first", folder / "after/first")
expect(0, ["the same: 2 tensors in 2 files"], folder / "before", folder / "after")
write("after/second/seed-1/model.safetensors", {"w": floats(3)})
write("after/third/model.safetensors", {"w": floats(3)})
expect(1, ["second/seed-1/model.safetensors: 1 difference", "third/model.safetensors: 1 difference\n  missing in OLD", "2 of 3 files differ"], folder / "before", folder / "after")

# Inputs that cannot be compared.
expect(2, ["one is a file and the other a folder"], old, folder / "after")
expect(2, ["neither a safetensors file nor a folder"], old, folder / "nothing")
(folder / "empty").mkdir()
expect(2, ["no *.safetensors below"], folder / "before", folder / "empty")
expect(2, ["Exit status"])
good = old.read_bytes()
for bad in (b"", b"short", struct.pack("<Q", 2**60) + b"{}", struct.pack("<Q", 2) + b"[]", struct.pack("<Q", 3) + b"{]}", good[:-1]):
    (folder / "bad.safetensors").write_bytes(bad)
    expect(2, ["bad.safetensors: "], folder / "bad.safetensors", old)
expect(2, ["has 4 bytes: the file is damaged"], write("bad.safetensors", {"x": ("F32", [2], bytes(4))}), old)
