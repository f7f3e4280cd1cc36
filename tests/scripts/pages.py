"""Lines of the pages are at most 120 columns.  Only rows of tables, which Markdown cannot break, are longer; in README.md,
docs/ and examples/ what one reads of a row, links without their targets, is at most 200.  Each picture of docs/pictures
is shown on a page, and each picture that a page shows has a text in its place.
pages.py ROOT: prints what is not so and ends with 1.
SPDX-License-Identifier: Apache-2.0"""
import pathlib
import re
import sys

LONGEST = 120
LONGEST_ROW = 200
root = pathlib.Path(sys.argv[1])
pages = sorted({*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("examples/**/*.md"), *root.glob("tests/**/*.md")})
if len(pages) < 10:
    sys.exit(f"pages: {len(pages)} pages below {root}: this looks in the wrong place")
found = []
shown = set()
for page in pages:
    name, text = page.relative_to(root), page.read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        row = line.startswith("| ")
        length = len(re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line) if row else line)
        most = LONGEST_ROW if row else LONGEST
        if length > most and not (row and name.parts[0] not in ("README.md", "docs", "examples")):
            found.append(f"{name}:{number}: {length} columns, at most {most}: {line[:60]}...")
    for said, target in re.findall(r"!\[([^]]*)\]\(([^)]*)\)", text):
        shown.add((page.parent / target).resolve())
        if not said.strip():
            found.append(f"{name}: the picture {target} has no text in its place")
for picture in sorted(root.glob("docs/pictures/*")):
    if picture.resolve() not in shown:
        found.append(f"{picture.relative_to(root)}: no page shows this picture")
if found:
    sys.exit("\n".join(found))
print(f"{len(pages)} pages, no line is too long, {len(shown)} pictures")
