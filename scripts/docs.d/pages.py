"""The written pages of the site: their list, their order, and the targets of their links.

    pages = Pages(root, tracked, reference)
    pages.places             "docs/quickstart.md" -> "quickstart.md", its place in the site
    pages.text(path)         its Markdown, with links to pages, the API reference and sources of the site
    pages.sources            files that are linked to and are not pages: the site has a copy of each
    pages.navigation()       [("Guide", [("Begin", ["quickstart.md", ...]), ...]), ...]
SPDX-License-Identifier: Apache-2.0"""
import posixpath
import re

from reference import SOURCES, SUFFIXES, Reference

# Groups of pages and their sections, in the order of the menu, with prefixes of the pages' paths. A page belongs to the
# entry with its longest matching prefix. The section "" is before the others.
MENU = {
    "Home": {"": ["README.md"]},
    "Guide": {
        "Begin": ["docs/quickstart.md", "docs/programs.md", "docs/data.md", "docs/building.md",
                  "cmake/packaging/"],
        "Python": ["docs/python/README.md", "docs/python/install.md", "docs/python/models.md", "docs/python/"],
        "The library": ["docs/guide/"],
        "Tasks": ["docs/trees.md", "docs/sequences.md", "docs/text.md"],
        "Backends": ["docs/backends.md", "docs/cuda.md", "docs/hooks.md", "docs/writing_a_backend.md"],
        "To look up": ["docs/architecture.md", "docs/names.md", "docs/formats.md", "docs/*.md"],
    },
    "Examples": {
        "": ["examples/README.md", "examples/tour/", "examples/python/", "examples/"],
        "Programs": ["examples/programs/"],
        "Embedding": ["examples/embed/"],
    },
    "Results": {"": ["docs/results/", "docs/benchmarks.md", "docs/runs/"]},
    "Operations": {"": ["docs/operations/"]},
    "API": {},
    "Notes": {"": ["docs/notes/"], "Derivations": ["docs/derivations/"], "Findings": ["findings/"]},
    "Project": {"": ["CONTRIBUTING.md", "CHANGELOG.md", "tests/"]},
}
# Settings of pages, by the beginning of their path.
SETTINGS = {
    "README.md": "hide: [navigation]\n",  # a single page needs no menu
    **dict.fromkeys(["docs/notes/", "docs/runs/", "findings/", "CHANGELOG.md"], "search: {boost: 0.5}\n"),
}
NOT_PAGES = ("build/", "runs/")
HEADER_ROOT = "include/triad/"
PICTURE = re.compile(r"\.(svg|png|jpg|gif)$")
LINK = re.compile(r"(?P<before>!?\[(?:[^\[\]`]|`[^`]*`|\[[^\]]*\])*\]\()(?P<target>[^()\s]+)(?P<after>\))|"
                  r"(?P<tag><(?:a|img)\b[^>]*?\b(?:href|src)=\")(?P<url>[^\"]+)(?P<end>\")")


def place_of(path):
    """The place of a page in the site."""
    if path == "README.md":
        return "index.md"
    path = path.removeprefix("docs/")
    folder, name = posixpath.split(path)
    return posixpath.join(folder, {"README.md": "index.md"}.get(name, name if folder else name.lower()))


def standing_of(path):
    """Group, section and order of a page in the menu, or None."""
    found = None
    for group, sections in MENU.items():
        for section, beginnings in sections.items():
            for i, b in enumerate(beginnings):
                folder = b.removesuffix("*.md")
                fits = posixpath.dirname(path) + "/" == folder if b.endswith("*.md") else path.startswith(b)
                if fits and (found is None or len(folder) > found[0]):
                    found = len(folder), group, section, i
    return found and found[1:]


def outside_code(text, change):
    """Applies change() to the parts of a page that are not code."""
    parts = re.split(r"(^(?P<fence>`{3,}|~{3,})[^\n]*\n.*?^(?P=fence)[ \t]*$)", text, flags=re.MULTILINE | re.DOTALL)
    out, i = [], 0
    while i < len(parts):
        out.append(change(parts[i]))
        if i + 1 < len(parts):
            out.append(parts[i + 1])
        i += 3
    return "".join(out)


class Pages:
    def __init__(self, root, tracked, reference):
        self.root, self.reference = root, reference
        self.tracked = set(tracked)
        self.folders = {parent for path in tracked for parent in self.parents(path)}
        self.paths = [x for x in tracked if x.endswith(".md") and not x.startswith(NOT_PAGES)]
        without = [x for x in self.paths if standing_of(x) is None]
        if without:
            raise ValueError(f"pages.py: {without[0]} is in no group of the site's menu (MENU)")
        self.places = {x: place_of(x) for x in self.paths}
        self.titles = {x: self.title(x) for x in self.paths}
        self.sources, self.broken, self.external = set(), [], set()

    @staticmethod
    def parents(path):
        while path := posixpath.dirname(path):
            yield path

    def read(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    def title(self, path):
        found = []
        outside_code(self.read(path), lambda part: found.extend(re.findall(r"^# +(.+?) *$", part, re.MULTILINE)) or part)
        if not found:
            raise ValueError(f"pages.py: {path} has no title (a line '# ...')")
        return re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", found[0])

    # ---- links

    def target(self, page, link):
        """The target of a page's link in the site, as a path from the site's root; None if it leads nowhere."""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
        if path in self.places:
            return self.places[path]
        if path.startswith(HEADER_ROOT) and path.removeprefix(HEADER_ROOT) in self.reference.headers:
            return Reference.page_of(path.removeprefix(HEADER_ROOT))
        if path == HEADER_ROOT.rstrip("/"):
            return "api/index.md"
        if path.startswith(HEADER_ROOT) and path in self.folders:
            return Reference.folder_page(path.removeprefix(HEADER_ROOT))
        if path in self.folders:
            if path + "/README.md" in self.places:
                return self.places[path + "/README.md"]
            self.sources.add(path)
            return f"{SOURCES}/{path}/index.html"
        if path in self.tracked:
            if PICTURE.search(path):
                return path.removeprefix("docs/")
            self.sources.add(path)
            return f"{SOURCES}/{path}.html"
        return None

    def rewritten(self, page, link):
        if re.match(r"[a-z]+:", link):
            self.external.add(link)
            return link
        path, _, anchor = link.partition("#")
        if not path:
            return link
        target = self.target(page, path)
        if target is None:
            self.broken.append(f"{page}: links to {link}, which does not exist")
            return link
        return posixpath.relpath(target, posixpath.dirname(self.places[page])) + (f"#{anchor}" if anchor else "")

    def text(self, page):
        def change(part):
            codes = []

            def keep(m):  # `f[](int)` is not a link
                codes.append(m[0])
                return f"\0{len(codes) - 1}\0"

            def link(m):
                if m["target"]:
                    return m["before"] + self.rewritten(page, m["target"]) + m["after"]
                return m["tag"] + self.rewritten(page, m["url"]) + m["end"]

            part = re.sub(r"(`+)(?!`)(?:(?!\n\n).)+?(?<!`)\1(?!`)", keep, part, flags=re.DOTALL)
            part = LINK.sub(link, part)
            # <a name="x"> marks an anchor on GitHub; HTML needs an id.
            part = re.sub(r'<a name="([\w-]+)"></a>', r'<a id="\1"></a>', part)
            while "\0" in part:
                part = re.sub("\0(\\d+)\0", lambda m: codes[int(m[1])], part)
            return part

        text = as_python_markdown(outside_code(self.read(page), change))
        settings = "".join(line for beginning, line in SETTINGS.items() if page.startswith(beginning))
        return f"---\n{settings}---\n{text}" if settings else text

    # ---- order

    def navigation(self):
        def rank(path):
            folder, name = posixpath.split(path)
            return standing_of(path)[2], folder, name != "README.md", name

        menu = [(group, [(section, []) for section in sections]) for group, sections in MENU.items()]
        places = {(group, section): pages for group, sections in menu for section, pages in sections}
        for path in sorted(self.paths, key=rank):
            places[standing_of(path)[:2]].append(self.places[path])
        return [(group, [x for x in sections if x[1]]) for group, sections in menu]


def as_python_markdown(text):
    """GitHub starts a list directly below a paragraph, and a nested list at 2 columns; Python-Markdown requires an
    empty line and 4 columns."""
    def change(part):
        lines, out = part.split("\n"), []
        in_list = False
        for line in lines:
            item = re.match(r"( *)([-*+]|\d+\.) ", line)
            if item and not in_list and out and out[-1].strip() and not item[1]:
                out.append("")
            if item:
                in_list = True
            elif line.strip() and not line.startswith(" "):
                in_list = in_list and bool(out and out[-1].strip())
            out.append(line)
        return "\n".join(out)

    return outside_code(text, change)
