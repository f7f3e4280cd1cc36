"""Calls triad-answers, counts the comparisons, and collects the differences.
SPDX-License-Identifier: Apache-2.0"""
import json
import subprocess


class Failed(Exception):
    """The comparison itself has failed."""


def answers(program, questions):
    """Returns the answers to the questions, in order. An answer may be {"error": ...}."""
    said = subprocess.run([program], input="".join(json.dumps(q) + "\n" for q in questions), capture_output=True,
                          encoding="utf-8", timeout=300, check=False)
    lines = said.stdout.split("\n")[:-1]
    if said.returncode or len(lines) != len(questions):
        raise Failed(f"{program}: status {said.returncode}, {len(lines)} answers to {len(questions)} questions: {said.stderr}")
    return [json.loads(line) for line in lines]


class Report:
    """The result of the comparison of one format."""

    def __init__(self, programs):
        self.programs, self.compared, self.different, self.known = programs, 0, [], []

    def same(self, what, ours, theirs):
        self.compared += 1
        if ours != theirs:
            self.different.append(f"{ascii(what[:100])}\n    here:  {near(ours, theirs)}\n    there: {near(theirs, ours)}")

    def differs_as_written(self, tool, what, ours, theirs, expected_ours, expected_theirs):
        """Checks a row of docs/formats.md: both tools must still behave as the row states."""
        self.known.append(tool)
        self.same(f"{what}, which docs/formats.md says, here", ours, expected_ours)
        self.same(f"{what}, which docs/formats.md says, by {tool}", theirs, expected_theirs)


def near(value, other, most=200):
    """Returns the value as text. The text begins shortly before the difference."""
    text, other = (v if isinstance(v, str) else repr(v) for v in (value, other))
    first = next((i for i, (a, b) in enumerate(zip(text, other)) if a != b), min(len(text), len(other)))
    begin = max(0, first - most // 4)
    return "..." * (begin > 0) + ascii(text[begin:begin + most]) + "..." * (begin + most < len(text))
