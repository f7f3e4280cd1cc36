"""Lines of the pages are at most 120 columns; only rows of tables, which Markdown cannot break, are longer.
pages.py ROOT: prints the longer ones and ends with 1.
SPDX-License-Identifier: Apache-2.0"""
import pathlib
import sys

LONGEST = 120
root = pathlib.Path(sys.argv[1])
pages = sorted({*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("examples/**/*.md"), *root.glob("tests/**/*.md")})
if len(pages) < 10:
    sys.exit(f"pages: {len(pages)} pages below {root}: this looks in the wrong place")
found = []
for page in pages:
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if len(line) > LONGEST and not line.startswith("| "):
            found.append(f"{page.relative_to(root)}:{number}: {len(line)} columns, at most {LONGEST}: {line[:60]}...")
if found:
    sys.exit("\n".join(found))
print(f"{len(pages)} pages, no line is too long")
