"""Tests how scripts/docs converts headers and pages, without the tools that make HTML: the pages of a few known
headers, that no header and no declaration is lost, and the targets of links. docs.py ROOT FOLDER
SPDX-License-Identifier: Apache-2.0"""
import pathlib
import re
import shutil
import sys

root, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
sys.dont_write_bytecode = True
sys.path.insert(0, str(root / "scripts/docs.d"))
import build
import headers
from pages import Pages
from reference import Reference

faults = []


def expect(condition, text):
    if not condition:
        faults.append(text)


def has(text, part, where):
    expect(part in text, f"{where}: expected {part!r}")


def lacks(text, part, where):
    expect(part not in text, f"{where}: {part!r} should have been left out")


# ---- the reader of headers: what begins a body, and what does not

SOURCE = r'''// What it is.
// SPDX-License-Identifier: Apache-2.0
//
//   y = x w'        x (rows, in)
#pragma once
namespace triad {
/// Adds.
template <class T>
  requires requires(T t) { t + t; }
T add(T a, T b = {}) {
  TRIAD_EXPECTS(a < b && f<int, 2>(a), "add: a is not below b");
  if (a == b) throw data_error("}");
  return a + b;
}
template <class T>
concept adds = requires(T t) { { t + t } -> same<T>; };
class counter : base<int> {
  int hidden_ = 0;

 public:
  // (n)
  using view = vec<T>;  // (n), of seconds
  explicit counter(int n) noexcept : base<int>{n}, count(n), more{n} { count += '{'; }
  bool operator()(int x) const { return x < count; }
  friend bool operator==(counter const&, counter const&) = default;
  /// How many.
  int size() const { return count; }
  int count{1};

 private:
  void shut() {}
};
counter(char const*) -> counter;
typedef float floats __attribute__((vector_size(4 * 4)));
using other::name;
inline constexpr int many = 1'000'000;  // a million
std::array<char, std::size_t{1} << 16U> buffer{};
namespace detail {
/// Not for others.
inline int secret() { return 1; }
}  // namespace detail
/// Below detail.
void below();
namespace cuda {
enum class form { one, two };  // of a triangle
}
}  // namespace triad
'''
read = headers.read(SOURCE, "core/made_up.hpp")
by_name = {}
for d in read.declarations:
    by_name.setdefault(d.name, []).append(d)
expect([(d.kind, d.scope, d.name) for d in read.declarations] == [
    ("function", "triad", "add"), ("concept", "triad", "adds"), ("type", "triad", "counter"), ("guide", "triad", "counter"),
    ("alias", "triad", "floats"), ("alias", "triad", "name"), ("variable", "triad", "many"), ("variable", "triad", "buffer"), ("function", "triad", "below"),
    ("enum", "triad::cuda", "form")], f"declarations: {[(d.kind, d.scope, d.name) for d in read.declarations]}")
expect(read.about == [" What it is.", "", "   y = x w'        x (rows, in)"], f"about: {read.about}")
add, counter = by_name["add"][0], by_name["counter"][0]
expect(add.text == "template <class T>\n  requires requires(T t) { t + t; }\nT add(T a, T b = {});", f"add: {add.text}")
expect(add.checks == [("", "TRIAD_EXPECTS", ["a < b && f<int, 2>(a)", '"add: a is not below b"'])] and add.throws == ["data_error"], f"add: {add.checks} {add.throws}")
expect(add.comment == [" Adds."] and by_name["below"][0].comment == [" Below detail."], "comments stay with what they describe")
expect(counter.text == """class counter : base<int> {
 public:
  // (n)
  using view = vec<T>;  // (n), of seconds
  explicit counter(int n) noexcept;
  bool operator()(int x) const;
  friend bool operator==(counter const&, counter const&) = default;
  /// How many.
  int size() const;
  int count{1};
};""", f"counter:\n{counter.text}")
expect(by_name["many"][0].text.endswith("= 1'000'000;  // a million"), f"many: {by_name['many'][0].text}")
expect(read.left_out == 1, f"{read.left_out} declarations of detail")
for broken in ("namespace triad { void f() { }", "struct a { ) };"):
    try:
        headers.read(broken, "broken.hpp")
        faults.append(f"{broken}: brackets that do not match were read")
    except ValueError:
        pass

# ---- known headers

reference = Reference(root)
made = reference.pages()
softmax = made["api/ops/softmax.md"]
for part in ("# ops/softmax.hpp", "Softmax of rows.", "```text\ny(r, c) = exp(x(r, c) - max_c x(r, c)) / sum_c exp(...)        "
             "x, y (rows, columns)\ndx = y (dy - sum_c y dy)\n```", "## softmax\\_grad { #softmax_grad }",
             "void softmax(Ex& ex, X x, Y y);", "contract_violation", "(../reference/softmax.md)"):
    has(softmax, part, "ops/softmax")
for part in ("if constexpr", "SPDX"):
    lacks(softmax, part, "ops/softmax")
linear = made["api/layers/linear.md"]
for part in ("using input = tensor<T const, dyn, In>;  // (rows, in)", "tensor<S, Out, In> weight;  // (out, in)",
             "dx = dy w,  dw += dy' x,  db += column sums of dy", "  fields<S> plan_params(arena& place) const;"):
    has(linear, part, "layers/linear")
triangle = made["api/ops/triangle.md"].split("## triangle { #triangle }")[1].split("\n## ")[0]
for part in ("- `query` has the shape `(rows, d)`", "- `options.heads` divides", "- `o` has the shape of `x.query`"):
    has(triangle, part, "what triangle() checks, and what it calls")
run = made["api/train/run.md"]
for part in ("(fit.md#fit)", "## run\\_learner { #run_learner }", "run_learner(Trainer&) -> run_learner<Trainer>;",
             "throws [`training_failure`](../core/errors.md#training_failure)"):
    has(run, part, "train/run")
for part in ("numbered_batches", "trainer_", "private:"):
    lacks(run, part, "train/run")
has(made["api/index.md"], "[layers/tree](layers/tree/index.md)", "api/index.md")
has(made["api/triad.md"], "(train/fit.md)", "api/triad.md")

# ---- no header is lost, and no line outside of detail that begins a declaration

in_folder = {p.relative_to(root / "include/triad").as_posix() for p in (root / "include/triad").rglob("*.*")}
expect(in_folder == set(reference.headers), f"headers without a page: {in_folder - set(reference.headers)}")
expect(all(reference.page_of(x) in made for x in in_folder), "headers without a page")
expect(all(f"api/{x}/index.md".replace("//", "/") in made for x in reference.folders), "folders without a page")
for place, text in made.items():
    expect(re.search(r"^# \S", text, re.MULTILINE), f"{place} has no title")
begins = re.compile(r"(?:struct|class|enum class|concept|using) (?:\[\[.*?\]\] |alignas\(.*?\) )?(\w+)\b(?! *(?:;|::))|"
                    r"(?!(?:using|typedef|return|static_assert|requires|template|extern|namespace|if|for)\b)[a-z\[][\w:<>,\[\]&* ]*? [*&]?(\w+)\(")
seen = 0
for path, header in reference.headers.items():
    declared = {d.name for d in header.declarations}
    detail = False
    for number, line in enumerate((root / "include/triad" / path).read_text(encoding="utf-8").split("\n"), 1):
        if re.match(r"(inline )?namespace (.*::)?detail\b", line) or line == "namespace {":
            detail = True
        elif line.startswith("}  // namespace detail") or line == "}  // namespace":
            detail = False
        m = begins.match(line)
        if m and not detail and not line.endswith(";\\") and "template struct" not in line:
            name = m[1] or m[2]
            seen += 1
            expect(name in declared or re.search(rf"^(struct|class) {name};", line), f"{path}:{number}: {name} is on no page: {line}")
expect(seen > 700, f"only {seen} lines begin a declaration: the test looks in the wrong place")
bare, hooks = reference.without_comment()
count = sum(len(h.declarations) for h in reference.headers.values())
expect(0 < hooks < len(bare) < count, f"{len(bare)} of {count} declarations without a comment, {hooks} hooks")

# ---- pages of the repository: each is in a group, and its links work

tracked = [p.relative_to(root).as_posix() for top in ("docs", "examples", "findings", "include", "tests", "scripts", "cmake", "bench")
           for p in (root / top).rglob("*") if p.is_file() and "__pycache__" not in p.parts]
tracked += [p.name for p in root.iterdir() if p.is_file()]
written = Pages(root, sorted(tracked), reference)
texts = {path: written.text(path) for path in written.paths}
faults += written.broken
in_menu = [place for _, sections in written.navigation() for _, places in sections for place in places]
expect(sorted(in_menu) == sorted(written.places.values()), "the menu has not every page once")

# ---- links in a page that this test makes

shutil.rmtree(folder, ignore_errors=True)
(folder / "docs/guide").mkdir(parents=True)
(folder / "docs/guide/one.md").write_text("""# One `word`
A [header](../../include/triad/ops/softmax.hpp), [its folder](../../include/triad/ops), a [test](../../tests/one.cpp#L3),
[home](../../README.md#start), ![a picture](../pictures/a.svg) and `[](no link)`:
- [nothing](../two.md)

```cpp
auto f = [](no_link_either) {};
```
""")
(folder / "README.md").write_text("# Home\n\n[one](docs/guide/one.md), [out](https://example.org/x)\n")
small = Pages(folder, ["README.md", "docs/guide/one.md", "docs/pictures/a.svg", "tests/one.cpp", "include/triad/ops/softmax.hpp"],
              reference)
one = small.text("docs/guide/one.md")
for part in ("[header](../api/ops/softmax.md)", "[its folder](../api/ops/index.md)", "[test](../source/tests/one.cpp.html#L3)",
             "[home](../index.md#start)", "![a picture](../pictures/a.svg)", "`[](no link)`:\n\n- ", "[](no_link_either)"):
    has(one, part, "a page's links")
has(small.text("README.md"), "[one](guide/one.md), [out](https://example.org/x)", "a page's links")
expect(small.broken == ["docs/guide/one.md: links to ../two.md, which does not exist"], f"broken: {small.broken}")
expect(small.sources == {"tests/one.cpp"} and small.external == {"https://example.org/x"}, f"sources: {small.sources}")
expect([x for x in small.navigation() if x[1]] == [("Home", [("", ["index.md"])]), ("Guide", [("The library", ["guide/one.md"])])],
       f"menu: {small.navigation()}")
expect(small.titles["docs/guide/one.md"] == "One word", f"title: {small.titles}")
for lost, text in (("stray/page.md", "# Stray\n"), ("docs/untitled.md", "no title\n")):
    (folder / lost).parent.mkdir(exist_ok=True)
    (folder / lost).write_text(text)
    try:
        Pages(folder, [lost], reference)
        faults.append(f"{lost} was taken")
    except ValueError as error:
        has(str(error), lost, "what is said of a page")

# ---- links in HTML: names of headers and functions become links, and broken links are found

html = """<article><p><code>linear.hpp</code>, <code>graph_loader</code>, <code>fit()</code>, <code>width</code>,
<a href="x.html"><code>run.hpp</code></a>, <code>include/triad/tree/</code></p>
<div class="language-cpp highlight"><pre><code><span class="n">fit</span><span class="p">(</span><span class="n">learner</span>
<span class="p">.</span><span class="n">run</span><span class="p">(</span><span class="n">run_options</span></code></pre></div></article>"""
linked = build.link_names(html, "guide/one.html", reference)
expect(re.findall(r'href="([^"]*)"', linked) == [
    "../api/layers/linear.html", "../api/batches/graph_loader.html#graph_loader", "../api/train/fit.html#fit", "x.html",
    "../api/tree/index.html", "../api/train/fit.html#fit", "../api/train/run.html#run_options"],
    f"links of names: {re.findall('href=.([^ >]*).', linked)}")
site = folder / "site"
site.mkdir()
(site / "one.html").write_text("""<article id="here"><a href="#here">1</a><a href="two.html#there">2</a><a href="two.html">3</a>
<a href="two.html#nowhere">4</a><a href="three.html">5</a><a href="https://example.org">6</a><img src="https://example.org/a.png">
<script src="https://example.org/a.js"></script></article>""")
(site / "two.html").write_text('<p id="there"></p>')
(site / "a.css").write_text("@font-face { src: url(https://example.org/a.woff) }")
wrong, links = build.check(site, reference)
expect(links == 5 and wrong == [
    "a.css: would fetch https://example.org/a.woff from a network",
    "one.html: three.html leads to nothing",
    "one.html: two.html#nowhere: the page has no such place",
    "one.html: would fetch https://example.org/a.js from a network",
    "one.html: would fetch https://example.org/a.png from a network"], f"{links} links: {wrong}")

if faults:
    sys.exit("\n".join(faults))
print(f"docs: {len(made)} pages of the reference, {count} declarations, {seen} looked up; {len(texts)} other pages")
