"""Writes the pages of the API reference as Markdown: one for each header, one for each folder.

    reference = Reference(root)
    reference.headers                "ops/softmax.hpp" -> headers.Header
    reference.page_of(path)          "api/ops/softmax.md"
    reference.pages()                that -> its text
    reference.names                  "softmax" -> (page, anchor, kind), for unambiguous names
SPDX-License-Identifier: Apache-2.0"""
import posixpath
import re

import headers

LIST_OF_FOLDERS = "cmake/header_table.cmake"
BACKENDS = ("reference", "cpu", "cuda")  # folders that follow the others
SUFFIXES = (".hpp", ".cuh", ".inc")
SOURCES = "source"  # the site's folder of sources
LONGEST_VALUE = 12  # the most lines of a variable's value that are shown


# Finds in prose: code, file names, and names, which are calls(), a::b and words of two parts, but not x_i of an
# equation.
WORDS = re.compile(r"""
    (?P<code>`[^`]+`)
  | (?P<header>(?:\w+/)*\w+\.(?:hpp|cuh|inc|cpp|md|py)\b)
  | (?P<name>\b(?:[A-Za-z_]\w*(?:\.|::))*(?:[A-Za-z_]\w+\(\) | (?:(?<=::)\w+ | [A-Za-z]\w+(?:_[A-Za-z0-9]{2,})+)\b(?!\{)))
""", re.VERBOSE)


def escaped(text):
    return re.sub(r"([\\`*_{}\[\]<>#|])", lambda m: {"<": "&lt;", ">": "&gt;"}.get(m[1], "\\" + m[1]), text)


def fenced(text, language):
    fence = "````" if "```" in text else "```"
    return f"{fence}{language}\n{text}\n{fence}\n"


def dedented(lines):
    least = min((len(x) - len(x.lstrip()) for x in lines if x.strip()), default=0)
    return "\n".join(x[least:].rstrip() for x in lines)


class Reference:
    def __init__(self, root):
        self.root = root
        self.include = root / "include/triad"
        self.headers = {}
        for path in sorted(self.include.rglob("*")):
            if path.suffix in SUFFIXES:
                name = path.relative_to(self.include).as_posix()
                self.headers[name] = headers.read(path.read_text(encoding="utf-8"), name)
        listed = re.findall(r'^  "([\w./]+)\|([^"]+)"\)?$', (root / LIST_OF_FOLDERS).read_text(encoding="utf-8"), re.MULTILINE)
        self.folders = {folder.strip("."): what for folder, what in
                        sorted(listed, key=lambda x: x[0].split("/")[0] in BACKENDS)}
        unknown = sorted({posixpath.dirname(x) for x in self.headers} - set(self.folders))
        if unknown:
            raise ValueError(f"{LIST_OF_FOLDERS} does not say what include/triad/{unknown[0]} is")
        of_page = {}
        for path in self.headers:
            other = of_page.setdefault(self.page_of(path), path)
            if other != path:
                raise ValueError(f"reference.py: {path} and {other} would have one page")
        self.names = self.clear_names()
        self.checkers = {}
        for header in self.headers.values():
            for name, checker in header.checkers.items():
                self.checkers.setdefault(name, []).append(checker)

    @staticmethod
    def page_of(path):
        return "api/" + posixpath.splitext(path)[0] + ".md"

    @staticmethod
    def folder_page(folder):
        return posixpath.normpath(f"api/{folder}/index.md")

    def in_folder(self, folder):
        return [x for x in self.headers if posixpath.dirname(x) == folder]

    def clear_names(self):
        """Names that exactly one header outside of the backends declares, or, without such a header, exactly one
        header."""
        owners = {}
        for path, header in self.headers.items():
            for d in header.declarations:
                if re.fullmatch(r"[A-Za-z_]\w*", d.name):
                    owners.setdefault(d.name, {}).setdefault(path, d.kind)
        clear = {}
        for name, paths in owners.items():
            general = {x: kind for x, kind in paths.items() if x.split("/")[0] not in BACKENDS} or paths
            if len(general) == 1:
                (path, kind), = general.items()
                clear[name] = (self.page_of(path), name, kind)
        return clear

    # ---- comments

    def link(self, page, target, anchor=""):
        if page == target and anchor:
            return f"#{anchor}"
        return posixpath.relpath(target, posixpath.dirname(page)) + (f"#{anchor}" if anchor else "")

    def header_named(self, text):
        """The header that a comment calls core/fields.hpp or fields.hpp."""
        text = text.removeprefix("include/").removeprefix("triad/")
        if text in self.headers:
            return text
        found = [x for x in self.headers if x.endswith("/" + text)]
        return found[0] if len(found) == 1 else None

    def words(self, text, page):
        """Prose as Markdown: names become code, known names and headers links."""
        def named(m):
            if m["code"]:
                inner = m["code"][1:-1].removeprefix("triad::")
                known = self.names.get(inner.removesuffix("()"))
                # A single word may equally be a parameter, so it gets no link.
                if known and (inner.endswith("()") or "_" in inner or (known[2] != "function" and not self.is_backends(known[0]))):
                    return f"[{m['code']}]({self.link(page, *known[:2])})"
                return m["code"]
            if m["header"]:
                header = self.header_named(m["header"])
                code = f"`{m['header']}`"
                return f"[{code}]({self.link(page, self.page_of(header))})" if header else code
            bare = m["name"].removesuffix("()").removeprefix("triad::")
            known = self.names.get(bare)
            if known and "_" not in bare and self.is_backends(known[0]) and not self.is_backends(page):
                known = None  # prose does not mean size() of a kernel's part
            return f"[`{m['name']}`]({self.link(page, *known[:2])})" if known else f"`{m['name']}`"

        out, at = [], 0
        for m in WORDS.finditer(text):
            out += [escaped(text[at:m.start()]), named(m)]
            at = m.end()
        return "".join(out + [escaped(text[at:])])

    @staticmethod
    def is_backends(page):
        return page.split("/")[1] in BACKENDS

    def prose(self, lines, page):
        """A comment as Markdown. Lines indented by more than a space, or in columns, are kept unchanged: equations,
        tables, code."""
        blocks, kept = [], None
        for line in lines + [""]:
            if not line.strip():
                if blocks:
                    blocks[-1][1].append("")
                kept = None
                continue
            is_kept = line.startswith("  ") or bool(re.search(r"\S {3,}\S", line))  # a line with columns
            if kept is None and is_kept and blocks and blocks[-1][0] and blocks[-1][1][-1] == "":
                kept = True  # an empty line between two parts of one listing
            if kept != is_kept or not blocks:
                if not (kept and is_kept):
                    blocks.append((is_kept, []))
            elif kept is None:
                blocks.append((is_kept, []))
            kept = is_kept
            blocks[-1][1].append(line)
        out = []
        for is_kept, block in blocks:
            while block and not block[-1]:
                block.pop()
            if is_kept:
                text = dedented(block)
                code = re.search(r"(;|\{|\)|})( *//.*)?$", block[-1]) and re.search(r"(;|\{)( *//.*)?$", text, re.MULTILINE) and \
                    re.search(r"^(struct|class|template|auto|for|return|#include|[\w:<>, ]+ [\w.]+\()|\);$", text, re.MULTILINE)
                out.append(fenced(text, "cpp" if code else "text"))
                continue
            paragraphs = "\n".join(x.strip() for x in block).split("\n\n")
            out += [re.sub(r"^(\s*)([-+]|\d+\.)(\s)", r"\1\\\2\3", self.words(x, page), flags=re.MULTILINE) + "\n"
                    for x in paragraphs if x.strip()]
        return "\n".join(out)

    def first_sentence(self, path):
        lines = []
        for line in self.headers[path].about:
            if not line.strip() or line.startswith("  "):
                break
            lines.append(line.strip())
        return " ".join(lines)

    # ---- pages

    def pages(self):
        made = {"api/index.md": self.top_page()}
        for folder in self.folders:
            if folder:
                made[self.folder_page(folder)] = self.folder_text(folder)
        for path in self.headers:
            made[self.page_of(path)] = self.header_text(path)
        return made

    def table(self, page, paths):
        rows = [f"| [{posixpath.basename(x)}]({self.link(page, self.page_of(x))}) | {self.words(self.first_sentence(x), page)} |"
                for x in paths]
        return "| header | what it is |\n| --- | --- |\n" + "\n".join(rows) + "\n"

    def top_page(self):
        page = "api/index.md"
        rows = [f"| [{folder}]({self.link(page, self.folder_page(folder))}) | {what} | {len(self.in_folder(folder))} |"
                for folder, what in self.folders.items() if folder]
        return ("# API reference\n\nEach header has a page, made from its comments: what the header is for, the equations of value "
                "and gradient, and the public declarations. The comment next to a member has its shape, unit and range. "
                "Checks are read from the body of a function: those of an optional operand are made where it is given. "
                "Names are in namespace `triad`, unless a page says otherwise.\n\n"
                "| folder | what it has | headers |\n| --- | --- | ---: |\n" + "\n".join(rows) + "\n\n"
                "Headers of the folder itself:\n\n" + self.table(page, self.in_folder("")))

    def folder_text(self, folder):
        page = self.folder_page(folder)
        what = self.folders[folder]
        text = f"# {folder}\n\n{what[0].upper() + what[1:]}.\n\n" + self.table(page, self.in_folder(folder))
        inner = [x for x in self.folders if posixpath.dirname(x) == folder and x != folder and x]
        if inner:
            text += "\nFolders:\n\n" + "".join(
                f"- [{x}]({self.link(page, self.folder_page(x))}): {self.folders[x]}\n" for x in inner)
        return text

    def related(self, path, page):
        """The same operation in the other folders, and the test of the header."""
        folder, file = posixpath.split(path)
        stem = posixpath.splitext(file)[0]
        links = []
        if folder in ("ops", *BACKENDS):
            for other in ("ops", *BACKENDS):
                found = [x for x in self.headers if posixpath.dirname(x) == other and
                         posixpath.splitext(posixpath.basename(x))[0] == stem and x != path]
                links += [f"[{other}]({self.link(page, self.page_of(x))})" for x in found if stem != "backend"]
        test = f"tests/{posixpath.splitext(path)[0]}.cpp"
        if not (self.root / test).exists() and folder in BACKENDS:
            test = f"tests/ops/{stem}.cpp"
        if (self.root / test).exists():
            links.append(f"[test]({self.link(page, f'{SOURCES}/{test}.html')})")
        return links

    def header_text(self, path):
        page = self.page_of(path)
        header = self.headers[path]
        source = self.link(page, f"{SOURCES}/include/triad/{path}.html")
        text = f"---\ntitle: {path}\n---\n\n# {path}\n\n"
        about = header.about
        first = next((i for i, x in enumerate(about) if not x.strip() or x.startswith("  ")), len(about))
        text += self.prose(about[:first], page) + "\n"
        text += fenced(f'#include "triad/{path}"', "cpp") + "\n"
        text += " · ".join([f"[source]({source})", *self.related(path, page)]) + "\n{ .triad-links }\n\n"
        text += self.prose(about[first:], page) + "\n"
        groups = {}
        for d in header.declarations:
            groups.setdefault((d.scope, d.name), []).append(d)
        for (scope, name), group in groups.items():
            section = next((d.section for d in group if d.section), "")
            if section:
                text += f"\n{section[0].upper() + section[1:]}\n{{ .triad-section }}\n"
            within = scope.removeprefix("triad").removeprefix("::")
            shown = f"{within}::{name}" if within else name
            anchor = f" {{ #{name} }}" if re.fullmatch(r"[A-Za-z_]\w*", name) else ""
            text += f"\n## {escaped(shown)}{anchor}\n\n"
            for d in group:
                for note in d.notes:
                    text += self.prose(note, page) + "\n"
                text += self.declaration_text(d, header, page, source)
        if not header.declarations:
            included = re.findall(r'#include "triad/([^"]+)"', (self.include / path).read_text(encoding="utf-8"))
            included = [x for x in included if x in self.headers]
            if included:
                text += "\n## Includes\n\n" + self.table(page, included)
        return text

    def declaration_text(self, d, header, page, source):
        lines = d.text.split("\n")
        if d.kind in ("variable", "alias") and len(lines) > LONGEST_VALUE:
            lines = lines[:LONGEST_VALUE] + ["..."]
        text = self.prose(d.comment, page) + "\n" if d.comment else ""
        text += fenced("\n".join(lines), "cpp") + "\n"
        checks = []
        for member, check, given in d.checks:
            of = f"`{member}`: " if member else ""
            for x in self.expected(check, given, header, page):
                # A private condition tells a caller nothing.
                private = member and re.search(r"\w_\b|\bexpect_\w+\(\)", x)
                if not private and of + x not in checks:
                    checks.append(of + x)
        notes = []
        if checks:
            text += "Checks, else a [`contract_violation`](" + self.link(page, *self.names["contract_violation"][:2]) + "):\n\n"
            text += "".join(f"- {x}\n" for x in checks) + "\n"
        throws = [t for t in d.throws if t not in ("contract_violation", "std::bad_alloc")]
        if throws:
            notes.append("throws " + ", ".join(self.words(f"`{t.split('::')[-1] if 'triad' in t else t}`", page) for t in throws))
        notes.append(f"[line {d.line}]({source}#L{d.line})")
        return text + " · ".join(notes) + "\n{ .triad-links }\n\n"

    @staticmethod
    def code(text):
        return f"`` {text} ``" if "`" in text else f"`{text}`"

    def expected(self, check, given, header, page, depth=0):
        """The conditions of a call of TRIAD_EXPECTS or of a function expect_..., as items of a list."""
        def named(text):  # the name in "rows of x" or "x"
            return escaped(text.strip('"')) if " " in text else self.code(text.strip('"'))

        if check == "TRIAD_EXPECTS":
            return [self.code(given[0])]
        if check == "expect_shape" and len(given) >= 4 and given[3].startswith("{"):
            return [f"{named(given[1])} has the shape {self.code(f'({given[3][1:-1]})')}"]
        if check == "expect_same_shape" and len(given) >= 4:
            return [f"{named(given[1])} has the shape of {self.code(given[3])}"]
        if check == "expect_extent" and len(given) >= 4:
            return [f"{named(given[1])}: {self.code(given[3])}"]
        if check == "expect_heads" and len(given) >= 3:
            return [f"{self.code(given[2])} divides {self.code(given[1])}"]
        checkers = self.checkers.get(check, [])
        names, checks = header.checkers.get(check, checkers[0] if len(checkers) == 1 else ([], []))
        if not checks or len(given) > len(names) or depth > 2:
            return [self.words(f"`{check}({', '.join(x for x in given if not x.startswith(chr(34)))})`", page)]
        instead = dict(zip(names, given))

        def put(text):
            return re.sub(r"(?<![\w.\"])([A-Za-z_]\w*)(?![\w\"])", lambda m: instead.get(m[1], m[1]), text)

        found = []
        for _, inner, arguments in checks:
            found += self.expected(inner, [put(x) if not x.startswith('"') else x for x in arguments], header,
                                   page, depth + 1)
        return found

    # ---- declarations without a comment

    def without_comment(self):
        """Public declarations without a comment above, beside or inside them. A comment directly above a previous
        declaration or one of the same name counts, and so does the header's comment for a declaration with the
        header's name. Also returns how many of them are hooks, which ops/ describes."""
        bare = []
        for path, header in self.headers.items():
            stem = posixpath.splitext(posixpath.basename(path))[0]
            described = {(d.scope, d.name) for d in header.declarations
                         if d.comment or d.trailing or d.name in (stem, stem + "_layer") or
                         (d.kind in ("type", "enum") and "//" in d.text)}
            before = False
            for d in header.declarations:
                has = (d.scope, d.name) in described or (d.follows and before)
                before = has
                if not has:
                    bare.append((path, d))
        return bare, sum(d.name.startswith("do_") for _, d in bare)
