#!/usr/bin/env python3
"""Checks that words which only this project uses do not occur in the library's names, options, comments and messages.
The glossary has the exceptions:
  words.py ROOT FOLDER
Names inside kernels are not checked."""

import re
import sys
from pathlib import Path

LEFT_OUT = {"shut", "reads", "reading", "slab", "tall", "note", "notes", "identity", "middles", "own",
            "said", "told", "untold", "asked", "judge", "judgement", "begun", "climb", "whoever", "nobody"}
ENDINGS = ("_settings", "_sizes", "settings")  # such structs are called options instead
FOLDERS = ("core", "ops", "tree", "layers", "models", "batches", "decoding", "train", "io", "reference")
OLD_OPTIONS = "examples/programs/shared/cli/renames.hpp"
LONGEST_GLOSSARY = 8
# Comments and texts write "no process", "the caller", "this number of rows" and "your own" instead.
ODD_PROSE = re.compile(r"\b(nobody|somebody|anybody|whoever|so (?:many|often)|one's own)\b", re.IGNORECASE)
PROSE = ("include", "examples", "tests", "bench")


def code(text):
    """Returns the source without comments and strings."""
    text = re.sub(r'R"\((.|\n)*?\)"', '""', text)
    return re.sub(r'//[^\n]*|"(\\.|[^"\\\n])*"', lambda m: '""' if m[0][0] == '"' else "", text)


def prose(text):
    """Yields the comments and strings of a source, each in one line with its number."""
    for found in re.finditer(r'//[^\n]*|"(?:\\.|[^"\\\n])*"', text):
        yield text.count("\n", 0, found.start()) + 1, found[0]


def words_of(name):
    return set(name.strip("_").lower().split("_"))


def main(root):
    wrong = []
    names = 0
    for folder in FOLDERS:
        for path in sorted((root / "include/triad" / folder).rglob("*.hpp")):
            for number, line in enumerate(code(path.read_text()).splitlines(), 1):
                for name in re.findall(r"[A-Za-z_]\w*", line):
                    names += 1
                    if (words_of(name) & LEFT_OUT and "own_key" not in name) or (name.endswith(ENDINGS) and not name.startswith("expect_")):
                        wrong.append(f"{path.relative_to(root)}:{number}: {name}")
    was = re.findall(r'\{"([a-z-]+)", "([a-z-]+)"', (root / OLD_OPTIONS).read_text())
    old = {option for option, _ in was}
    options = 0
    for path in sorted((root / "examples").rglob("*.hpp")) + sorted((root / "examples").rglob("*.cpp")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for option in re.findall(r'(?:add_(?:option|flag)\("--|^ *(?:of\([^"]*|auto& [a-z]+ = )?f(?:\.seldom)?\(")([a-z0-9-]+)', line):
                options += 1
                if option in old:
                    wrong.append(f"{path.relative_to(root)}:{number}: --{option} has another name now ({OLD_OPTIONS})")
    rows = re.findall(r"(?m)^\| (?!word |---)", (root / "docs/glossary.md").read_text())
    if not 1 <= len(rows) <= LONGEST_GLOSSARY:
        wrong.append(f"docs/glossary.md: {len(rows)} words, at most {LONGEST_GLOSSARY}")
    lines = 0
    for folder in PROSE:
        for path in sorted(p for p in (root / folder).rglob("*") if p.suffix in (".hpp", ".cuh", ".cpp", ".cu")):
            for number, line in prose(path.read_text()):
                lines += 1
                if odd := ODD_PROSE.search(line):
                    wrong.append(f"{path.relative_to(root)}:{number}: \"{odd[0]}\": name the thing, or give its number")
    if lines < 20000:
        wrong.append(f"words.py looked at {lines} comments and strings: it looks in the wrong place")
    if names < 10000 or options < 200 or len(old) < 10:
        wrong.append(f"words.py looked at {names} names, {options} options, {len(old)} old ones: it looks in the wrong place")
    print("\n".join(wrong) if wrong else f"{names} names and {options} options, none of the old words")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
