"""Builds the site:  build.py ROOT OUT
Writes Markdown and sources to OUT/pages and the site to OUT/site. scripts/docs runs it in an environment that has
mkdocs.
Ends with 1 if a page is in no group, a link is broken, anything would be loaded from a network, or the search does
not find an expected page.
SPDX-License-Identifier: Apache-2.0"""
import html
import json
import logging
import os
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

os.environ["NO_MKDOCS_2_WARNING"] = "1"
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from pages import PICTURE, Pages
from reference import SOURCES, SUFFIXES, Reference

HERE = pathlib.Path(__file__).resolve().parent
LARGEST_SOURCE = 400_000  # bytes; only the beginning of a larger file is shown
# Queries, each with the page that must be among the first results.
SEARCHES = {
    "triangular attention": "api/layers/triangular_attention.html",
    "fit": "api/train/fit.html",
    "graph_loader": "api/batches/graph_loader.html",
}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SOURCE_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{name} - triad</title>
<link rel="stylesheet" href="{up}assets/source.css">
<script src="{up}assets/source.js" data-base="{up}"></script>
</head>
<body>
<header><a href="{up}index.html">triad</a> / {crumbs}{beside}</header>
<main>{body}</main>
</body>
</html>
"""


def tracked_files(root):
    git = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
                         capture_output=True, text=True)
    if git.returncode == 0:
        return sorted(x for x in git.stdout.split("\0") if x and (root / x).is_file())
    return sorted(p.relative_to(root).as_posix() for p in root.rglob("*")
                  if p.is_file() and not p.relative_to(root).parts[0].startswith((".", "build", "runs")))


# ---- sources


class Sources:
    """Copies of files, coloured and with line numbers, and listings of folders."""

    def __init__(self, root, tracked, pages, out):
        from pygments.formatters import HtmlFormatter
        self.root, self.tracked, self.pages, self.out = root, tracked, pages, out
        self.formatter = HtmlFormatter(nowrap=True)
        self.made = set()

    def write(self, path):
        if path in self.made:
            return
        self.made.add(path)
        if (self.root / path).is_dir():
            self.write_folder(path)
        else:
            self.write_file(path)

    def put(self, place, path, body, beside=""):
        target = self.out / SOURCES / place
        target.parent.mkdir(parents=True, exist_ok=True)
        parts = path.split("/")
        up = "../" * (place.count("/") + 1)
        crumbs = " / ".join([html.escape(x) for x in parts[:-1]] + [f"<b>{html.escape(parts[-1])}</b>"])
        target.write_text(SOURCE_PAGE.format(name=html.escape(path), up=up, crumbs=crumbs, beside=beside, body=body),
                          encoding="utf-8")

    def write_folder(self, folder):
        inside = [x.removeprefix(folder + "/") for x in self.tracked if x.startswith(folder + "/")]
        rows = []
        for name in sorted({x.split("/")[0] for x in inside}, key=lambda x: ((self.root / folder / x).is_file(), x)):
            path = f"{folder}/{name}"
            place = self.pages.target(folder + "/_", name)
            for source in sorted(self.pages.sources - self.made):
                self.write(source)
            rows.append(f'<li><a href="{posixpath.relpath(site_url(place), f"{SOURCES}/{folder}")}">{html.escape(name)}'
                        f'{"/" if (self.root / path).is_dir() else ""}</a></li>')
        self.put(f"{folder}/index.html", folder, f"<ul>{''.join(rows)}</ul>")

    def write_file(self, path):
        from pygments import highlight
        from pygments.lexers import TextLexer, get_lexer_for_filename
        from pygments.util import ClassNotFound
        data = (self.root / path).read_bytes()
        text = data[:LARGEST_SOURCE].decode("utf-8", errors="replace")
        try:
            name = "x.cpp" if path.endswith(SUFFIXES) or path.endswith(".cu") else posixpath.basename(path)
            lexer = get_lexer_for_filename(name, text, stripnl=False)
        except ClassNotFound:
            lexer = TextLexer(stripnl=False)
        lines = highlight(text, lexer, self.formatter).rstrip("\n").split("\n")
        body = "".join(f'<span id="L{i}"><a href="#L{i}"></a>{line}\n</span>' for i, line in enumerate(lines, 1))
        if len(data) > LARGEST_SOURCE:
            body += f"<p>... {len(data):,} bytes in all</p>"

        def included(m):
            header = f"include/{m[1]}"
            known = header.removeprefix("include/triad/") in self.pages.reference.headers
            there = f"{SOURCES}/{header}.html"
            at = posixpath.relpath(there, posixpath.dirname(f"{SOURCES}/{path}"))
            return f'&quot;<a href="{at}">{m[1]}</a>&quot;' if known else m[0]

        body = re.sub(r"&quot;(triad/[\w/.]+)&quot;", included, body)
        beside = ""
        if path.startswith("include/triad/") and path.removeprefix("include/triad/") in self.pages.reference.headers:
            page = site_url(Reference.page_of(path.removeprefix("include/triad/")))
            beside = f' · <a href="{posixpath.relpath(page, posixpath.dirname(f"{SOURCES}/{path}"))}">reference</a>'
        self.put(f"{path}.html", path, f'<pre class="highlight"><code>{body}</code></pre>', beside)


def source_css():
    from pygments.formatters import HtmlFormatter
    text = (HERE / "source.css").read_text(encoding="utf-8")
    for scheme, style in (("light", "friendly"), ("dark", "github-dark")):
        rules = HtmlFormatter(style=style).get_style_defs(f"html[data-scheme={scheme}] .highlight")
        text += "\n".join(x for x in rules.split("\n") if not x.startswith(("pre", "td", "span")) and "background" not in x) + "\n"
    return text


def site_url(page):
    """The page that mkdocs makes of a Markdown page."""
    return re.sub(r"\.md$", ".html", page)


# ---- the whole site


def navigation(pages, reference):
    titles = {place: pages.titles[path] for path, place in pages.places.items()}
    nav = []
    for group, sections in pages.navigation():
        if group == "API":
            nav.append({group: api_navigation(reference)})
        elif group == "Home":
            nav.append({group: sections[0][1][0]})
        elif sections:
            entries = []
            for section, places in sections:
                inside = [x if posixpath.basename(x) == "index.md" and i == 0 else {titles[x]: x} for i, x in enumerate(places)]
                entries += [{section: inside}] if section else inside
            nav.append({group: entries})
    return nav


def api_navigation(reference):
    def of(folder):
        entries = [Reference.folder_page(folder)]
        entries += [{posixpath.basename(x): Reference.page_of(x)} for x in reference.in_folder(folder)]
        for inner in reference.folders:
            if inner and posixpath.dirname(inner) == folder:
                entries.append({posixpath.basename(inner): of(inner)})
        return entries

    return of("")


def write_pages(root, out):
    """Writes everything that mkdocs reads. Returns the pages and the reference."""
    shutil.rmtree(out, ignore_errors=True)
    tracked = tracked_files(root)
    reference = Reference(root)
    pages = Pages(root, tracked, reference)
    texts = {place: pages.text(path) for path, place in pages.places.items()}
    texts.update(reference.pages())
    for place, text in texts.items():
        target = out / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    for path in tracked:
        if PICTURE.search(path) and not path.startswith("tests/"):
            target = out / path.removeprefix("docs/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / path, target)
    linked = set(re.findall(rf"\]\((?:\.\./)*{SOURCES}/([^)#]+)\.html", "".join(reference.pages().values())))
    sources = Sources(root, tracked, pages, out)
    for path in sorted(pages.sources | linked | {f"include/triad/{x}" for x in reference.headers}):
        sources.write(path)
    assets = out / "assets"
    assets.mkdir(exist_ok=True)
    for name in ("triad.css", "iframe-worker.js", "source.js"):
        shutil.copyfile(HERE / name, assets / name)
    (assets / "source.css").write_text(source_css(), encoding="utf-8")
    return pages, reference, sources


def run_mkdocs(nav, pages, site):
    from mkdocs.commands.build import build
    from mkdocs.config import load_config
    said = []

    class Collect(logging.Handler):
        def emit(self, record):
            said.append(record.getMessage())

    logger = logging.getLogger("mkdocs")
    logger.addHandler(Collect(logging.WARNING))
    config = load_config(str(HERE / "mkdocs.yml"), docs_dir=str(pages), site_dir=str(site), nav=nav)
    config.plugins.on_startup(command="build", dirty=False)
    build(config)
    for name in ("404.html", "sitemap.xml", "sitemap.xml.gz"):  # only a web server needs them
        (site / name).unlink(missing_ok=True)
    return said


LONGEST_WORD = 28  # characters of code that stay on one line


def link_names(text, page, reference):
    """Links names of the library in a page's C++, and names and headers in its prose, to the reference."""
    own = page.startswith("api/")

    def to(target, anchor=""):
        path = "" if site_url(target) == page else posixpath.relpath(site_url(target), posixpath.dirname(page))
        return path + (f"#{anchor}" if anchor else "")

    def in_block(block):
        def name(m):
            known = reference.names.get(m["name"])
            if not known:
                return m[0]
            target, anchor, kind = known
            after, before = block[0][m.end():m.end() + 40], block[0][max(0, m.start() - 24):m.start()]
            member = before.endswith((".</span>", "-&gt;</span>"))
            called, template = after.startswith('<span class="p">('), after.startswith('<span class="o">&lt;')
            if member or (reference.is_backends(target) and not page.startswith(posixpath.dirname(target))):
                return m[0]
            if not (template or "_" in m["name"] and kind != "function" or called and kind == "function" and not own):
                return m[0]
            return f'<span class="{m["class"]}"><a class="name" href="{to(target, anchor)}">{m["name"]}</a></span>'

        return re.sub(r'<span class="(?P<class>n[a-z]?)">(?P<name>\w+)</span>', name, block[0])

    def in_prose(m):
        inner = m["code"]
        code = f'<code class="word">{inner}</code>' if len(inner) <= LONGEST_WORD and " " not in inner else f"<code>{inner}</code>"
        if m["link"]:
            return m["link"] + code
        header = reference.header_named(inner) if re.fullmatch(r"[\w/]+\.(?:hpp|cuh|inc)", inner) else None
        folder = inner.removeprefix("include/triad/").rstrip("/") if inner.startswith("include/triad/") else None
        bare = inner.removesuffix("()").removeprefix("triad::")
        known = reference.names.get(bare) if not own and ("_" in bare or inner.endswith("()")) else None
        if known and "_" not in bare and reference.is_backends(known[0]):  # prose does not mean size() of a kernel's part
            known = None
        if header:
            return f'<a href="{to(reference.page_of(header))}">{code}</a>'
        if folder in reference.folders:
            return f'<a href="{to(reference.folder_page(folder))}">{code}</a>'
        return f'<a href="{to(*known[:2])}">{code}</a>' if known else code

    begin = text.find("<article")
    end = text.find("</article>")
    article = re.sub(r'<div class="language-(?:cpp|c\+\+|cuda)[^"]*">.*?</div>', in_block, text[begin:end], flags=re.DOTALL)
    article = re.sub(r"(?P<link><a\b[^>]*>(?:(?!</a>)[^<]|<(?!/a>|code>)[^>]*>)*)?<code>(?P<code>[^<]*)</code>", in_prose, article)
    return text[:begin] + article + text[end:]


def check(site, reference):
    """Links names in code. Returns the errors of links, and the number of links."""
    files = {p.relative_to(site).as_posix(): p for p in site.rglob("*") if p.is_file()}
    ids, links, wrong = {}, {}, []
    for name, path in files.items():
        if not name.endswith(".html"):
            continue
        text = path.read_text(encoding="utf-8")
        if not name.startswith(SOURCES + "/"):
            linked = link_names(text, name, reference)
            if linked != text:
                path.write_text(linked, encoding="utf-8")
            text = linked
        ids[name] = set(re.findall(r'\bid="([^"]+)"', text))
        links[name] = [html.unescape(x) for x in re.findall(r'<(?:a|img|script|link|iframe|source)\b[^>]*?\b(?:href|src)="([^"]*)"', text)]
        fetched = re.findall(r'<(?:img|script|iframe|source)\b[^>]*?\bsrc="(https?:[^"]*)"|'
                             r'<link\b(?=[^>]*rel="(?:stylesheet|icon|preload|preconnect)")[^>]*?href="(https?:[^"]*)"', text)
        wrong += [f"{name}: would fetch {a or b} from a network" for a, b in fetched]
    count = 0
    for name, targets in links.items():
        for link in targets:
            if re.match(r"(https?|mailto|javascript|data):", link):
                continue
            count += 1
            path, _, anchor = link.partition("#")
            path = urllib.parse.unquote(path.split("?")[0])
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
            if target not in files:
                index = posixpath.normpath(posixpath.join(target, "index.html"))
                if index not in files:
                    wrong.append(f"{name}: {link} leads to nothing")
                    continue
                target = index
            if anchor and target in ids and urllib.parse.unquote(anchor) not in ids[target] and anchor != "__skip":
                wrong.append(f"{name}: {link}: the page has no such place")
    for name, path in files.items():
        if name.endswith(".css"):
            for url in re.findall(r"(?:url\(|@import )[\"']?(https?:[^\"')]+)", path.read_text(encoding="utf-8")):
                wrong.append(f"{name}: would fetch {url} from a network")
    return sorted(set(wrong)), count


def check_search(site):
    """Tests the search in a browser, from the file system, if there is one; otherwise checks the search's index."""
    browser = next((x for x in map(shutil.which, BROWSERS) if x), None)
    index = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))
    indexed = {x["location"].split("#")[0] for x in index["docs"]}
    wrong = [f"search: {page} is not in its index" for page in SEARCHES.values() if page not in indexed]
    if browser is None or wrong:
        return wrong, "its index has what it should; there is no Chromium to try it in"
    for query, page in SEARCHES.items():
        with tempfile.TemporaryDirectory() as profile:
            command = [browser, "--headless", "--disable-gpu", f"--user-data-dir={profile}", "--virtual-time-budget=30000",
                       "--dump-dom", f"{(site / 'index.html').as_uri()}?q={urllib.parse.quote(query)}"]
            if os.geteuid() == 0:  # Chromium has no sandbox for root
                command.insert(1, "--no-sandbox")
            try:
                ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
            except subprocess.TimeoutExpired:
                wrong.append(f"search: {browser} did not end within two minutes")
                break
        hits = re.findall(r'href="([^"]*)" class="md-search-result__link', ran.stdout)
        if not any(x.split("?")[0].endswith("/" + page) for x in hits[:5]):
            wrong.append(f"search: {query} does not find {page} first, but {hits[:5]}; {browser} ended with {ran.returncode}: "
                         f"{ran.stderr[-200:]}")
    return wrong, f"it finds what it should in {posixpath.basename(browser)}"


def main(root, out):
    pages, reference, sources = write_pages(root, out / "pages")
    wrong = list(pages.broken)
    shutil.rmtree(out / "site", ignore_errors=True)
    wrong += run_mkdocs(navigation(pages, reference), out / "pages", out / "site")
    found, count = check(out / "site", reference)
    wrong += found
    found, searched = check_search(out / "site")
    wrong += found
    bare, hooks = reference.without_comment()
    declared = sum(len(h.declarations) for h in reference.headers.values())
    print(f"docs: {len(pages.paths)} pages, {len(reference.headers)} headers, {len(sources.made)} sources; "
          f"{count} links lead somewhere, {len(pages.external)} that leave the site were not followed")
    print(f"docs: {declared} public declarations, {declared - len(bare)} described by a comment; of the other {len(bare)}, "
          f"{hooks} are hooks, whose operation's page describes them")
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
        return 1
    print(f"docs: the search: {searched}")
    print(f"docs: open {out / 'site/index.html'}, or ./scripts/docs --serve")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()))
    except ValueError as error:
        sys.exit(str(error))
