"""safetensors: files of NumPy arrays are read by triad, and files of triad are read by NumPy. Files are compared byte
for byte if the format defines their bytes.
SPDX-License-Identifier: Apache-2.0"""
import os

import draws
import numpy
import safetensors
from safetensors.numpy import load_file, save_file

TYPES = {"F64": "f8", "F32": "f4", "F16": "f2", "I64": "i8", "I32": "i4", "I16": "i2", "I8": "i1", "U64": "u8", "U32": "u4", "U16": "u2",
         "U8": "u1", "BOOL": "?"}
WIDE = ["F64", "F32", "F16", "U8"]  # one type of each width: the format does not order types of equal width

A = b'"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}'
HEADERS = [  # a description, a header before a byte 7, the result of triad and that of the tool
    ("a name twice", b"{" + A + b"," + A + b"}", "refused", {"a": [7]}),
    ("a space before the header", b" {" + A + b"}", "refused", {"a": [7]}),
    ("a type that is not known", b"{" + A.replace(b"U8", b"U9") + b"}", {"a": ["U9", [1]]}, "refused"),
]


def array(draw, numbers, kind):
    shape = tuple(draw.randint(0, 4) if draw.random() < 0.1 else draw.randint(1, 5) for _ in range(draw.randint(0, 4)))
    size = numpy.dtype(TYPES[kind]).itemsize
    raw = numbers.integers(0, 2 if kind == "BOOL" else 256, size=int(numpy.prod(shape)) * size, dtype="u1")
    return raw.view(TYPES[kind]).reshape(shape)


def compare(ask, draw, folder, report):
    numbers = numpy.random.default_rng(draw.randrange(2**32))
    questions, files = [], []
    for k in range(300):
        kinds = WIDE if k % 2 else list(TYPES)
        tensors = {draws.word(draw) + str(i): (kind, array(draw, numbers, kind))
                   for i, kind in enumerate(draw.choices(kinds, k=draw.randint(0, 8)))}
        metadata = {draws.word(draw): draws.line(draw) for _ in range(draw.choice([0, 1, 3]))} or None
        path = os.path.join(folder, f"{k}.safetensors")
        save_file({name: values for name, (_, values) in tensors.items()}, path, metadata)
        questions.append({"ask": "safetensors", "file": path, "out": os.path.join(folder, f"{k}.again.safetensors")})
        files.append((tensors, metadata or {}, kinds is WIDE))
    for q, mine, (tensors, metadata, one_order) in zip(questions, ask(questions), files):
        name = os.path.basename(q["file"])
        expected = {"tensors": {n: [kind, list(values.shape)] for n, (kind, values) in tensors.items()}, "metadata": metadata}
        report.same(f"{name}, types, shapes and strings", mine, expected)
        if "error" in mine:
            continue
        again = load_file(q["out"])
        report.same(f"{name}, names written again", sorted(again), sorted(tensors))
        for n, (kind, values) in tensors.items():
            report.same(f"{name}, the bytes of {n}", [str(again[n].dtype), again[n].shape, again[n].tobytes()],
                        [str(values.dtype), values.shape, values.tobytes()])
        with open(q["file"], "rb") as there, open(q["out"], "rb") as here:
            if one_order and len(metadata) < 2:  # a tool may order several strings differently in each process
                report.same(f"{name}, all bytes", here.read(), there.read())

    tool = f"safetensors {safetensors.__version__}"
    for what, header, here, there in HEADERS:
        path = os.path.join(folder, "header.safetensors")
        with open(path, "wb") as file:
            file.write(len(header).to_bytes(8, "little") + header + b"\x07")
        mine = ask([{"ask": "safetensors", "file": path, "out": path + ".again"}])[0]
        try:
            theirs = {n: v.tolist() for n, v in load_file(path).items()}
        except safetensors.SafetensorError:
            theirs = "refused"
        report.differs_as_written(tool, what, "refused" if "error" in mine else mine["tensors"], theirs, here, there)
