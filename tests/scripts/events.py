#!/usr/bin/env python3
"""Compares the event files of train --tensorboard with metrics.csv. A reader in this file checks every record. If
TensorBoard is installed, its reader reads the files, too:
  events.py ROOT FOLDER BUILD
"""
import csv
import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path

folder, build = Path(sys.argv[2]), Path(sys.argv[3])
shutil.rmtree(folder, ignore_errors=True)
(folder / "data").mkdir(parents=True)


def failed(text):
    print("events:", text, file=sys.stderr)
    sys.exit(1)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def expect_check(data, check):
    crc = crc32c(data)
    if ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF != struct.unpack("<I", check)[0]:
        failed(f"a record's check is wrong: {data[:40]!r}")


def records(path):
    data = path.read_bytes()
    at = 0
    while at < len(data):
        length = struct.unpack("<Q", data[at:at + 8])[0]
        expect_check(data[at:at + 8], data[at + 8:at + 12])
        event = data[at + 12:at + 12 + length]
        expect_check(event, data[at + 12 + length:at + 16 + length])
        if len(event) != length:
            failed(f"{path}: the last record is not whole")
        yield event
        at += 16 + length


def fields(message):
    """Yields (number, value) for each field of a protocol buffer. The value is an integer, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
            continue
        size = {1: 8, 5: 4}.get(kind) or varint()
        yield key >> 3, message[at:at + size]
        at += size


def read(paths):
    """Returns {tag: {step: value}}. As in TensorBoard, the start of a session drops the values of its step and of later
    steps."""
    found = {}
    for path in paths:
        for number, record in enumerate(records(path)):
            event = dict(fields(record))
            step = event.get(2, 0)
            if number == 0 and event.get(3) != b"brain.Event:2":
                failed(f"{path} does not begin with its version")
            if 7 in event:
                for values in found.values():
                    for later in [s for s in values if s >= step]:
                        del values[later]
            for _, value in fields(event.get(5, b"")):
                scalar = dict(fields(value))
                found.setdefault(scalar[1].decode(), {})[step] = struct.unpack("<f", scalar[2])[0]
    return found


def train(*options):
    command = [build / "bin/dependencies", "train", "--preset", "smoke", "--data", folder / "data", "--learning-rate", "0.01",
               "--out", folder / "run", "--tensorboard", folder / "events", *options]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        failed(f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}")


def near(a, b):
    return abs(a - b) <= 2e-5 * max(1, abs(b))


sentence = {"tokens": ["M0", "met", "M1"], "heads": [2, 0, 2], "labels": ["subj", "root", "obj"]}
lines = "".join(json.dumps({**sentence, "tokens": [f"M{m}", "met", f"M{n}"]}) + "\n" for m in range(4) for n in range(4))
for part in ("train", "dev"):
    (folder / "data" / f"{part}.jsonl").write_text(lines)

train("--updates", "20")
train("--updates", "30", "--resume")
paths = sorted((folder / "events").glob("events.out.tfevents.*"))
if len(paths) != 2:
    failed(f"a run and its continuation leave {len(paths)} files, expected 2")
found = read(paths)
if sorted(found) != ["train/learning_rate", "train/loss", "train/norm", "validation/LAS"]:
    failed(f"other tags: {sorted(found)}")
with open(folder / "run/metrics.csv", newline="") as file:
    rows = list(csv.DictReader(file))
if [int(row["step"]) for row in rows] != [10, 20, 30]:
    failed(f"metrics.csv has other checkpoints: {rows}")
for tag in ("train/loss", "train/learning_rate", "train/norm"):
    if list(found[tag]) != list(range(1, 31)):
        failed(f"{tag} has other steps: {list(found[tag])}")
begin = 0
for row in rows:
    step = int(row["step"])
    loss = sum(found["train/loss"][s] for s in range(begin + 1, step + 1)) / (step - begin)
    for name, got in (("loss", loss), ("rate", found["train/learning_rate"][step]), ("norm", found["train/norm"][step]),
                      ("validation", found["validation/LAS"][step])):
        if not (near(got, float(row[name])) or (name == "validation" and abs(got - float(row[name])) < 1e-4)):
            failed(f"update {step}: {name} is {got} in the event files, {row[name]} in metrics.csv")
    begin = step
if found["train/learning_rate"][21] <= found["train/learning_rate"][20]:
    failed("the learning rate does not begin again where the run goes on")

try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
except ImportError:
    print("events: 30 updates in two files are those of metrics.csv; no tensorboard for", sys.executable)
    sys.exit(0)
reader = EventAccumulator(str(folder / "events"))
reader.Reload()
if sorted(reader.Tags()["scalars"]) != sorted(found):
    failed(f"TensorBoard finds other tags: {reader.Tags()['scalars']}")
for tag, values in found.items():
    theirs = {event.step: event.value for event in reader.Scalars(tag)}
    if theirs != values:
        failed(f"TensorBoard reads other values of {tag}: {theirs}")
print("events: 30 updates in two files are those of metrics.csv, and TensorBoard reads them")
