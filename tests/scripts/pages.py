"""Checks the pages. Their lines may have at most 120 columns, except for rows of tables, which Markdown cannot break.
In README.md, docs/ and examples/, the visible text of a row (with links, without their targets) may have at most 200
columns. Each picture of docs/pictures must be shown on a page, and each picture on a page must have an
alternative text. Each page must have one title, a heading of the first level, and each link must lead to an existing
file and heading. A heading below a table needs an empty line before it, without which the site takes it for a row.
pages.py ROOT: prints the errors and ends with 1.
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


def prose(text):
    """Yields the lines outside of code blocks, with their numbers."""
    fence = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fence = not fence
        elif not fence:
            yield number, line


def anchors(path):
    """Returns the valid `#...` of a page, which are GitHub's names of its headings."""
    names = {}
    for _, line in prose(path.read_text(encoding="utf-8")):
        if match := re.match(r"#{1,6} (.*)", line):
            title = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", match[1]).replace("`", "")
            slug = re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
            names[slug] = names.get(slug, -1) + 1
    return {f"{slug}-{n}" if n else slug for slug, most in names.items() for n in range(most + 1)}


links = 0
known = {}
for page in pages:
    name, text = page.relative_to(root), page.read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        row = line.startswith("| ")
        length = len(re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line) if row else line)
        most = LONGEST_ROW if row else LONGEST
        if length > most and not (row and name.parts[0] not in ("README.md", "docs", "examples")):
            found.append(f"{name}:{number}: {length} columns, at most {most}: {line[:60]}...")
    titles = [number for number, line in prose(text) if line.startswith("# ")]
    if len(titles) != 1:
        found.append(f"{name}: {len(titles)} headings of the first level, expected 1")
    previous = ""
    for number, line in prose(text):
        if re.match(r"#{1,6} ", line) and previous.startswith("|"):
            found.append(f"{name}:{number}: a heading directly below a table; put an empty line before it: {line[:60]}")
        previous = line
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
            path, _, anchor = target.partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            links += 1
            file = (page.parent / path).resolve() if path else page.resolve()
            if not file.exists():
                found.append(f"{name}:{number}: links to {path}, which does not exist")
            elif anchor and file.suffix == ".md":
                if file not in known:
                    known[file] = anchors(file)
                if anchor not in known[file]:
                    found.append(f"{name}:{number}: {path or name} has no heading #{anchor}")
    for said, target in re.findall(r"!\[([^]]*)\]\(([^)]*)\)", text):
        shown.add((page.parent / target).resolve())
        if not said.strip():
            found.append(f"{name}: the picture {target} has no text in its place")
for picture in sorted(root.glob("docs/pictures/*")):
    if picture.resolve() not in shown:
        found.append(f"{picture.relative_to(root)}: no page shows this picture")
if found:
    sys.exit("\n".join(found))
if links < 500:
    sys.exit(f"pages: {links} links on {len(pages)} pages: this does not see them")
print(f"{len(pages)} pages, no line is too long, {links} links, {len(shown)} pictures")
