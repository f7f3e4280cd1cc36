"""Compares this project's readers and writers with other tools, on random inputs: compare.py BIN FORMATS [SEED]

BIN: a folder with triad-answers, and possibly cfq. FORMATS: docs/formats.md, which lists each known difference and the
tool. The exit status is 1 if there is a difference that is not on the page, or if a difference on the page no longer
exists.
SPDX-License-Identifier: Apache-2.0"""
import os
import random
import sys
import tempfile
import time

import conllu_files
import parts
import queries
import scores
import trees
import weights
from ours import Failed, Report, answers

FORMATS = {"CoNLL-U": conllu_files, "trees in brackets": trees, "byte-pair encodings": parts, "BLEU and chrF": scores, "safetensors": weights,
           "queries": queries}
LEAST = 500  # least number of comparisons of a format; fewer mean that some were left out


def main(programs, page, seed):
    with open(page, encoding="utf-8") as file:
        rows = [line for line in file if line.startswith("|")]
    failed = False
    for name, module in FORMATS.items():
        begun = time.monotonic()
        report = Report(programs)
        with tempfile.TemporaryDirectory(prefix="triad-compared-") as folder:
            try:
                module.compare(lambda questions: answers(os.path.join(programs, "triad-answers"), questions),
                               random.Random(f"{seed} {name}"), folder, report)
            except Failed as e:
                sys.exit(f"compared: {name}: {e}")
        for tool in report.known:
            if not any(tool in row for row in rows):
                report.different.append(f"no row of {page} names {tool}")
        if report.compared < LEAST:
            report.different.append(f"only {report.compared} comparisons, expected {LEAST} or more")
        print(f"{name}: {report.compared} comparisons, {len(report.different)} differ, {time.monotonic() - begun:.1f} s", flush=True)
        for text in report.different[:5]:
            print("  " + text)
        failed = failed or bool(report.different)
    if failed:
        sys.exit(f"compared: what differs is a mistake of ours, or a row of {page}; seed {seed} draws it again")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1)
