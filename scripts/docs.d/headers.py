"""Reads a C++ header: its first comment, and its public declarations with their comments and without bodies.

    header = read(path.read_text(), "ops/softmax.hpp")
    header.about                     the lines of the comment at the beginning of the file
    for d in header.declarations:    in the order of the file
        d.scope, d.name, d.kind      "triad", "softmax", "function"
        d.comment, d.text            the lines above it; its source, with ';' in place of bodies, without private parts
        d.checks, d.throws           the arguments of TRIAD_EXPECTS and expect_...(), and the types that are thrown, in
                                     the bodies that are left out

Leaves out namespaces called detail and unnamed declarations. This is not a compiler: it splits the source into
words, matches brackets, and knows which bracket starts a body. Raises ValueError if the brackets of a file do not
match.
SPDX-License-Identifier: Apache-2.0"""
import dataclasses
import re

WORD = re.compile(r"""
    (?P<space>\s+)
  | (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<directive>\#(?:[^\n\\]|\\.)*)
  | (?P<raw>R"(?P<end>\w*)\(.*?\)(?P=end)")
  | (?P<string>"(?:\\.|[^"\\\n])*")
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.'])*)
  | (?P<char>'(?:\\.|[^'\\\n])+')
  | (?P<name>[A-Za-z_]\w*)
  | (?P<mark>::|->|<=>|<<|<=|>=|==|!=|&&|\|\||\+\+|--|\.\.\.|.)
""", re.VERBOSE | re.DOTALL)
CLOSES = {"(": ")", "[": "]", "{": "}"}
# Words whose parentheses do not enclose a function's parameters.
NOT_A_NAME = {"decltype", "alignas", "noexcept", "explicit", "requires", "__launch_bounds__", "__attribute__", "sizeof"}

AFTER_PARAMETERS = {"{", ";", ":", "const", "->", "requires", "noexcept", "="}


@dataclasses.dataclass
class Word:
    text: str
    begin: int
    end: int


@dataclasses.dataclass
class Comment:
    lines: list  # without slashes
    begin: int
    end: int
    first: int  # first and last line in the file, counted from 1
    last: int
    alone: bool  # nothing precedes it on its line


@dataclasses.dataclass
class Declaration:
    kind: str  # function, type, enum, alias, concept, variable, macro
    name: str
    scope: str
    text: str
    comment: list
    line: int
    follows: bool = False  # directly below another declaration, without an empty line
    trailing: bool = False  # its comment is on the same line
    section: str = ""  # the heading above it: // ---- heading ----
    notes: list = dataclasses.field(default_factory=list)  # comments above it that belong to no declaration
    checks: list = dataclasses.field(default_factory=list)  # (member or "", TRIAD_EXPECTS or expect_..., its arguments)
    throws: list = dataclasses.field(default_factory=list)
    members: list = dataclasses.field(default_factory=list)  # public functions and types of a type, as Declarations


@dataclasses.dataclass
class Header:
    path: str
    about: list
    declarations: list
    left_out: int  # number of declarations in namespaces called detail
    checkers: dict  # parameters and checks of the functions called expect_...


class Reader:
    def __init__(self, source, path):
        self.source, self.path = source, path
        self.words, self.comments, self.macros = [], [], []
        self.found, self.left_out, self.checkers = [], 0, {}
        at_line_start = True
        for m in WORD.finditer(source):
            kind, text = m.lastgroup, m[0]
            if m["raw"]:
                kind = "raw"
            if kind == "space":
                at_line_start = at_line_start or "\n" in text
                continue
            if kind == "directive" and not at_line_start:
                kind = "mark"
            if kind == "comment":
                self.add_comment(m.start(), m.end(), at_line_start)
            elif kind == "directive":
                self.macros.append((m.start(), m.end()))
            else:
                self.words.append(Word(text, m.start(), m.end()))
            at_line_start = False if kind not in ("directive",) else True
        self.closing = self.match_brackets()

    def line(self, at):
        return self.source.count("\n", 0, at) + 1

    def add_comment(self, begin, end, alone):
        text = self.source[begin:end]
        if not text.startswith("//"):
            return
        said = re.sub(r"^///?<?", "", text)
        line = self.line(begin)
        before = self.comments[-1] if self.comments else None
        if before and alone and before.alone and before.last == line - 1:
            before.lines.append(said)
            before.end, before.last = end, line
        else:
            self.comments.append(Comment([said], begin, end, line, line, alone))

    def match_brackets(self):
        closing, open_ones = {}, []
        for i, word in enumerate(self.words):
            if word.text in CLOSES:
                open_ones.append(i)
            elif word.text in (")", "]", "}"):
                if not open_ones or CLOSES[self.words[open_ones[-1]].text] != word.text:
                    raise ValueError(f"{self.path}:{self.line(word.begin)}: {word.text} closes nothing")
                closing[open_ones.pop()] = i
        if open_ones:
            raise ValueError(f"{self.path}:{self.line(self.words[open_ones[-1]].begin)}: this bracket is not closed")
        return closing

    def angles(self, i):
        """The index after the > that closes the < at i."""
        depth = 0
        while i < len(self.words):
            text = self.words[i].text
            if text in CLOSES:
                i = self.closing[i]
            elif text == "<":
                depth += 1
            elif text == ">":
                depth -= 1
                if depth == 0:
                    return i + 1
            elif text == ";":
                break
            i += 1
        raise ValueError(f"{self.path}:{self.line(self.words[min(i, len(self.words) - 1)].begin)}: < is not closed")

    def text(self, i):
        return self.words[i].text if 0 <= i < len(self.words) else ""

    # ---- scopes

    def namespace(self, i, end, scope):
        while i < end:
            text = self.text(i)
            if text == "namespace" or (text == "inline" and self.text(i + 1) == "namespace"):
                i = self.enter_namespace(i, scope)
            elif text == "extern" and self.text(i + 1).startswith('"') and self.text(i + 2) == "{":
                self.namespace(i + 3, self.closing[i + 2], scope)
                i = self.closing[i + 2] + 1
            elif text == ";":
                i += 1
            else:
                i = self.declaration(i, end, scope, self.found)

    def enter_namespace(self, i, scope):
        begin = i
        while self.text(i) not in ("{", ";"):
            i += 1
        if self.text(i) == ";":  # an alias
            return i + 1
        name = " ".join(w.text for w in self.words[begin:i])
        name = re.sub(r"\b(inline|namespace|TRIAD_CPU_FLAGS|TRIAD_MATH_FLAGS)\b", "", name).replace("TRIAD_REFERENCE", "reference")
        inner = [part for part in scope.split("::") + re.findall(r"\w+", name) if part]
        if not re.findall(r"\w", name):
            inner.append("detail")  # an unnamed namespace
        self.taken = self.words[i].begin
        self.namespace(i + 1, self.closing[i], "::".join(inner))
        self.taken = self.words[self.closing[i]].begin
        return self.closing[i] + 1

    # ---- one declaration

    def declaration(self, i, end, scope, found, in_class=""):
        """Reads a declaration that starts at i into found, and returns the index after it."""
        first = i
        kind, name = "variable", ""
        body = None  # index of the { of a function or a type
        cut = None  # the shown text ends here: before a body, or before a constructor's initialisers
        parameters = initialisers = False
        specialised = ""  # a name before <: the name of a variable if no other name follows
        while i < end:
            text = self.text(i)
            if text == ";":
                break
            if text == "template":
                i = self.angles(i + 1) if self.text(i + 1) == "<" else i + 1
                continue
            if text == "[" and kind != "function":
                i = self.closing[i] + 1
                continue
            if text == "requires":
                i += 1
                if self.text(i - 2) in ("requires", "&&", "||", "=", "!", "("):  # a requires-expression, not a clause
                    while self.text(i) in ("(", "{"):
                        i = self.closing[i] + 1
                elif self.text(i) == "(":
                    i = self.closing[i] + 1
                continue
            if kind == "variable" and not parameters and text in ("struct", "class", "union", "enum", "using", "typedef",
                                                                  "concept", "static_assert", "friend"):
                if text == "enum":
                    kind = "enum"
                    i += 1 if self.text(i + 1) in ("class", "struct") else 0
                elif text == "friend" and self.text(i + 1) in ("class", "struct"):
                    kind = "friend"
                elif text == "friend":
                    i += 1
                    continue
                else:
                    kind = {"using": "alias", "typedef": "alias", "concept": "concept", "static_assert": "assertion"}.get(text, "type")
                j = i + 1
                while self.text(j) in ("[", "alignas", "("):
                    j = j + 1 if self.text(j) == "alignas" else self.closing[j] + 1
                name = self.text(j)
                if text == "using" and self.text(j + 1) not in ("=", ";", "["):  # using a::b;
                    while self.text(j) != ";":
                        if re.match(r"\w", self.text(j)):
                            name = self.text(j)
                        j += 1
                if text == "typedef":
                    while self.text(j) not in (";", "__attribute__"):
                        j += 1
                    name = self.text(j - 1)
                i = j if kind in ("assertion", "alias") and self.text(j) in ("(", ";") else j + 1
                continue
            if text == "operator":
                j = i + 1
                if self.text(j) == "(":
                    j = self.closing[j] + 1
                while self.text(j) not in ("(", ";"):
                    j += 1
                name = "operator" + self.source[self.words[i].end:self.words[j].begin].rstrip()
                parameters, kind, parameters_at = True, "function", j
                i = self.closing[j] + 1 if self.text(j) == "(" else j
                continue
            if text == "<" and kind != "concept":
                if kind == "variable" and not name:
                    specialised = self.text(i - 1)
                i = self.angles(i)
                continue
            if text == "(":
                if kind == "variable" and not parameters and self.text(i - 1) not in NOT_A_NAME:
                    parameters, kind, parameters_at = True, "function", i
                    name = self.name_before(i)
                i = self.closing[i] + 1
                if kind == "function" and name.isupper() and (i >= end or self.text(i) not in AFTER_PARAMETERS):
                    return i  # a macro without a declaration
                continue
            if text == "=":
                while self.text(i) != ";":
                    i = self.closing[i] + 1 if self.text(i) in CLOSES else i + 1
                break
            if text == ":" and kind == "function" and not initialisers:
                initialisers, cut = True, self.words[i - 1].end
                i += 1
                continue
            if text == "{":
                if kind in ("type", "enum") or (kind == "function" and not (initialisers and self.is_member_initialiser(i))):
                    body = i
                    break
                i = self.closing[i] + 1
                continue
            if kind == "variable" and re.match(r"[A-Za-z_]", text):
                name = text if self.text(i + 1) in (";", "=", "{", ",", "[", ":") and not name else name
            i += 1
        begin = self.words[first].begin
        if body is not None and kind == "function":
            last = self.closing[body]
            if cut is None:
                cut = self.words[body - 1].end
            i = last + 1
            i += self.text(i) == ";"
        elif body is not None:
            last = self.closing[body]
            while self.text(last) != ";":
                last += 1
            i = last + 1
        else:
            last = min(i, end - 1)
            i += 1
            if cut is not None and kind == "function":
                cut = None
        finish = self.words[last].end
        if kind in ("assertion", "friend") or (kind == "type" and body is None):
            return i  # an assertion or a forward declaration
        made = Declaration(kind, name or specialised, scope, "", [], self.line(begin))
        if kind == "function" and body is not None:
            self.add_checks(made, body, self.closing[body])
            if name.startswith("expect_"):
                names = [re.findall(r"\w+", x.split("=")[0]) for x in self.arguments(parameters_at)]
                self.checkers[name] = [x[-1] for x in names if x], made.checks
        if "detail" in scope.split("::"):
            self.left_out += 1
            self.taken = finish
            return i
        if kind == "function" and re.search(r"->", self.source[begin:finish]) and body is None and name[:1].isupper() is False and \
                re.match(r"(template\s*<.*>\s*)?(explicit\s+)?" + re.escape(name) + r"\s*\(", self.source[begin:finish], re.DOTALL):
            made.kind = kind = "guide"
        self.attach_comments(made, begin, finish)
        if kind == "function":
            made.text = self.source[begin:cut] + ";" if cut is not None else self.source[begin:finish]
        elif kind == "type":
            made.text = self.type_text(made, begin, body, finish)
        else:
            made.text = self.source[begin:finish]
        made.text = self.tidy(made.text + self.trailing_comment(made, finish), begin)
        made.cut = (cut, finish) if cut is not None else None
        made.span = (begin, finish)
        found.append(made)
        return i

    def name_before(self, i):
        """The name of the function whose parameters open at i."""
        j = i - 1
        if self.text(j) == ">":  # the arguments of a specialisation
            depth = 0
            while j >= 0:
                depth += {">": 1, "<": -1}.get(self.text(j), 0)
                j -= 1
                if depth == 0:
                    break
        return ("~" if self.text(j - 1) == "~" else "") + self.text(j)

    def is_member_initialiser(self, i):
        before = self.text(i - 1)
        return bool(re.match(r"[A-Za-z_]", before)) or before == ">"

    def attach_comments(self, made, begin, finish):
        line = made.line
        above = [c for c in self.comments if c.alone and c.last < line and c.begin > self.taken]
        for comment in above:
            heading = re.match(r"\s*-{3,} *(.*?) *-*$", comment.lines[0])
            if heading:
                made.section = heading[1]
                rest = comment.lines[1:]
            else:
                rest = comment.lines
            if not rest:
                continue
            if comment.last == line - 1:
                made.comment = rest
            elif not any("SPDX" in said for said in rest):
                made.notes.append(rest)
        lines = self.source.split("\n")
        above_it = lines[line - 2].strip() if line >= 2 else ""
        made.follows = not made.comment and bool(above_it) and not above_it.endswith("{")
        self.taken = finish

    def trailing_comment(self, made, finish):
        line = self.line(finish)
        for comment in self.comments:
            if not comment.alone and comment.first == line and comment.begin >= finish:
                made.trailing = True
                self.taken = comment.end
                return self.source[finish:comment.end]
        return ""

    def tidy(self, text, begin):
        """Removes the indentation of the first line, and lines that are empty because text was cut out."""
        column = begin - (self.source.rfind("\n", 0, begin) + 1)
        lines = [line[column:] if not line[:column].strip() else line for line in text.split("\n")]
        kept = []
        for line in (x.rstrip() for x in lines):
            if not line and (not kept or not kept[-1] or kept[-1].endswith("{")):
                continue
            if re.match(r"\s*}", line) and kept and not kept[-1]:
                kept.pop()
            kept.append(line)
        return "\n".join(kept)

    # ---- types

    def type_text(self, made, begin, body, finish):
        """The source of a type, with ';' in place of bodies and without non-public members."""
        public = any(self.text(j) in ("struct", "union") for j in range(body, 0, -1)
                     if begin <= self.words[j].begin and self.text(j) in ("struct", "union", "class") and
                     self.text(j - 1) not in ("<", ","))
        cuts = []  # (from, to, in its place)
        taken, i, last = self.taken, body + 1, self.closing[body]
        hidden = None if public else self.words[body].end
        self.taken = self.words[body].begin
        members = []
        while i < last:
            text = self.text(i)
            if text in ("public", "private", "protected") and self.text(i + 1) == ":":
                if text == "public" and hidden is not None:
                    cuts.append((hidden, max(hidden, self.source.rfind("\n", 0, self.words[i].begin)), ""))
                    hidden = None
                elif text != "public" and hidden is None:
                    hidden = self.source.rfind("\n", 0, self.words[i].begin)
                i += 2
                continue
            if text == ";":
                i += 1
                continue
            inside, first = [], i
            i = self.declaration(i, last, made.name, inside, in_class=made.name)
            if hidden is not None:
                continue
            if not inside and self.text(first) == "friend":
                cuts.append((self.source.rfind("\n", 0, self.words[first].begin), self.words[i - 1].end, ""))
            for member in inside:
                if member.kind == "function" and member.cut:
                    cuts.append((*member.cut, ";"))
                elif member.kind == "type":
                    cuts += [(a, b, x) for a, b, x in member.cuts]
                members.append(member)
                made.checks += [(member.name + ("." + of if of else ""), check, given) for of, check, given in member.checks]
                made.throws += [t for t in member.throws if t not in made.throws]
        if hidden is not None:
            end_line = self.source.rfind("\n", 0, self.words[last].begin)
            cuts.append((hidden, max(hidden, end_line), ""))
        self.taken = max(taken, finish)
        made.members, made.cuts = members, cuts
        shown, at = [], begin
        for a, b, instead in sorted(cuts):
            if a < at:
                continue
            shown += [self.source[at:a], instead]
            at = b
        return "".join(shown) + self.source[at:finish]

    # ---- checks in function bodies

    def add_checks(self, made, body, last):
        """Adds calls of TRIAD_EXPECTS and of functions called expect_..., and thrown types, in the words [body,
        last]."""
        i = body
        while i < last:
            text = self.text(i)
            if text == "throw" and self.text(i + 1) not in (";", "("):
                j = i + 1
                while re.match(r"\w|::", self.text(j)):
                    j += 1
                thrown = "".join(w.text for w in self.words[i + 1:j])
                if thrown not in made.throws:
                    made.throws.append(thrown)
            elif (text == "TRIAD_EXPECTS" or text.startswith("expect_")) and self.text(i + 1) == "(":
                made.checks.append(("", text, self.arguments(i + 1)))
                i = self.closing[i + 1]
            i += 1

    def arguments(self, opening):
        """The texts between the commas inside the bracket at `opening`."""
        if self.closing[opening] == opening + 1:
            return []
        found, begin, j = [], self.words[opening].end, opening + 1
        while j <= self.closing[opening]:
            if self.text(j) == "," or j == self.closing[opening]:
                found.append(" ".join(self.source[begin:self.words[j].begin].split()))
                begin = self.words[j].end
            elif self.text(j) in CLOSES:
                j = self.closing[j]
            elif self.text(j) == "<" and self.words[j].begin == self.words[j - 1].end:  # comparisons have spaces
                j = self.angles(j) - 1
            j += 1
        return found


def about(source):
    """The lines of the comment at the beginning of a file, without the licence."""
    lines = []
    for line in source.split("\n"):
        if not line.startswith("//"):
            break
        if "SPDX-License-Identifier" not in line:
            lines.append(line[2:])
    return lines


def read(source, path):
    reader = Reader(source, path)
    begins = re.search(r"^(?!//)", source, re.MULTILINE)
    reader.taken = (begins.start() if begins else 0) - 1
    first_of_file = next((c for c in reader.comments if c.begin == 0), None)
    if first_of_file:
        reader.taken = max(reader.taken, first_of_file.begin)
    reader.namespace(0, len(reader.words), "")
    found = reader.found
    for begin, end in reader.macros:
        m = re.match(r"#\s*define\s+(\w+)(\([^)]*\))?", source[begin:end])
        line = reader.line(begin)
        comment = next((c for c in reader.comments if c.alone and c.last == line - 1), None)
        if m and comment is None:  # the comment may precede the condition
            above = [b for b, _ in reader.macros if b < begin]
            if above and source[above[-1]:].startswith("#if") and reader.line(above[-1]) == line - 1:
                comment = next((c for c in reader.comments if c.alone and c.last == line - 2), None)
        if m and comment and source[comment.begin:].startswith("///") and m[1] not in [d.name for d in found]:
            found.append(Declaration("macro", m[1], "", f"#define {m[1]}{m[2] or ''}", comment.lines, line))
    found.sort(key=lambda d: d.line)
    return Header(path, about(source), found, reader.left_out, reader.checkers)
