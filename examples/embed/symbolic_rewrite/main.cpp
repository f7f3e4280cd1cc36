// symbolic-rewrite: simplifies algebraic expressions step by step, by rewriting tensors.  It learns nothing.  The
// program uses only triad's core and tree headers, and its functions that read a line.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "../../programs/shared/report/printed.hpp"
#include "rewriter.hpp"
#include "triad/core/buffer.hpp"
#include "triad/io/text/line.hpp"

namespace {

using rewrite::index_t;

char const usage[] =
    "symbolic-rewrite [OPTIONS] [EXPRESSION]\n"
    "\n"
    "Simplifies EXPRESSION, or every line of the standard input, and prints each step with its rule.\n"
    "\n"
    "  --representation FORM   of tensors: sparse (the default), gather, or dense, over random roles and fillers\n"
    "  --depth N               levels that the roles have; by default one more than the expression, in sparse form 64\n"
    "  --rule 'LEFT = RIGHT'   a rule more, tried before the others; may be given again.  Names stand for any "
    "expression\n"
    "  --only-given            no other rules than these\n"
    "  --steps N               give up after N steps (1000)\n"
    "  --quiet                 print results alone\n"
    "  --list                  print the rules and stop\n"
    "\n"
    "More: examples/embed/symbolic_rewrite/README.md; docs/programs.md has the exit status\n";

struct misuse : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct options {
  std::string representation = "sparse";
  index_t depth = 0, steps = 1000;
  std::vector<std::string> own_rules;
  bool only_given = false, quiet = false, list = false, help = false;
  std::optional<std::string> expression;
};

index_t number(std::string const& name, std::string const& text) {
  char* end = nullptr;
  long const value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < 1) throw misuse(name + " takes a number from 1, not '" + text + "'");
  return value;
}

options read_options(std::vector<std::string> const& arguments) {
  options o;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    auto const& name = arguments[i];
    auto const value = [&] {
      if (++i == arguments.size()) throw misuse(name + " takes a value");
      return arguments[i];
    };
    if (name == "--representation")
      o.representation = value();
    else if (name == "--depth")
      o.depth = number(name, value());
    else if (name == "--steps")
      o.steps = number(name, value());
    else if (name == "--rule")
      o.own_rules.push_back(value());
    else if (name == "--only-given")
      o.only_given = true;
    else if (name == "--quiet")
      o.quiet = true;
    else if (name == "--list")
      o.list = true;
    else if (name == "--help")
      o.help = true;
    else if (name.starts_with("--"))
      throw misuse("there is no option " + name + "; an expression that begins so goes in parentheses");
    else if (o.expression)
      throw misuse("one expression at a time, with quotes around it");
    else
      o.expression = name;
  }
  if (o.representation != "dense" && o.representation != "gather" && o.representation != "sparse")
    throw misuse("--representation is dense, gather or sparse, not '" + o.representation + "'");
  return o;
}

/// Rewrites until no rule matches.
template <class A>
void simplify(A const& algebra, triad::vocabulary const& words,
              triad::tensor<double const, triad::dyn, triad::dyn> fillers, std::vector<rewrite::rule> const& rules,
              rewrite::symbol_tree const& expression, options const& o) {
  rewrite::rewriter<A> const rewriter(algebra, words, fillers, rules);
  auto x = rewriter.encode(expression);
  if (!o.quiet) std::printf("  %s\n", rewrite::to_infix(rewriter.decode(x)).c_str());
  for (index_t step = 0; auto next = rewriter.once(x); ++step) {
    if (step == o.steps)
      throw triad::data_error("still changing after " + std::to_string(o.steps) +
                              " steps: the rules go in circles, or --steps is too few");
    x = next->result;
    if (!o.quiet) std::printf("= %-40s  by  %s\n", rewrite::to_infix(rewriter.decode(x)).c_str(), next->by.c_str());
  }
  if (o.quiet) std::printf("%s\n", rewrite::to_infix(rewriter.decode(x)).c_str());
}

/// Simplifies the expression, in the tree representation that the options name.
void simplify(rewrite::symbol_tree const& expression, std::vector<rewrite::rule> const& rules, options const& o) {
  triad::vocabulary words;
  words.insert(expression);
  for (auto const& r : rules) {
    words.insert(r.left);
    words.insert(r.right);
  }
  index_t const labels = words.size(), depth = o.depth > 0                    ? o.depth
                                               : o.representation == "sparse" ? rewrite::deepest
                                                                              : expression.depth() + 1;
  index_t const most = o.representation == "sparse" ? rewrite::deepest : o.representation == "gather" ? 20 : 10;
  if (depth > most)
    throw triad::data_error("the " + o.representation + " form holds " + std::to_string(most) + " levels, not " +
                            std::to_string(depth));
  std::vector<double> numbers(static_cast<std::size_t>(labels * labels));
  triad::tensor<double, triad::dyn, triad::dyn> const fillers(numbers.data(), labels, labels);

  if (o.representation == "sparse") {
    triad::one_hot_fillers(triad::as_matrix(fillers));
    simplify(triad::sparse_algebra<double>(2, depth, labels), words, fillers, rules, expression, o);
  } else if (o.representation == "gather") {
    triad::one_hot_fillers(triad::as_matrix(fillers));
    simplify(triad::gather_algebra<double>({2, depth}, labels), words, fillers, rules, expression, o);
  } else {
    triad::random_fillers(1, triad::as_matrix(fillers));
    triad::tree_positions<> const positions(2, depth);
    auto const plan = [&](triad::arena& place) {
      return triad::role_maps<double>::plan(place, positions, positions.count());
    };
    triad::buffer<triad::host_memory> const memory(
        triad::planned_bytes([&](triad::arena& measure) { (void)plan(measure); }));
    auto place = memory.place();
    auto const maps = plan(place);
    make_random(positions, 2, maps);
    simplify(triad::dense_algebra<double>(positions, labels, maps), words, fillers, rules, expression, o);
  }
}

void run(options const& o) {
  std::vector<rewrite::rule> rules;
  for (auto const& text : o.own_rules) rules.push_back(rewrite::parse_rule(text));
  if (!o.only_given)
    for (auto const& text : rewrite::school_rules()) rules.push_back(rewrite::parse_rule(text));
  if (o.list) {
    for (auto const& r : rules) std::printf("%s\n", r.text.c_str());
    return;
  }
  if (o.expression) {
    simplify(rewrite::parse(*o.expression), rules, o);
    return;
  }
  std::string line;
  for (index_t n = 1; std::getline(std::cin, line); ++n) {
    triad::text::trim_line(line, n == 1);
    if (line.find_first_not_of(" \t\r") != std::string::npos) simplify(rewrite::parse(line, {{}, n, 1}), rules, o);
  }
  triad::programs::expect_all_read();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    auto const o = read_options({argv + 1, argv + argc});
    if (o.help)
      std::fputs(usage, stdout);
    else
      run(o);
    triad::programs::expect_all_printed();
    return 0;
  } catch (misuse const& e) {
    std::fprintf(stderr, "symbolic-rewrite: %s\n\n%s", triad::programs::printable(e.what()).c_str(), usage);
    return 2;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "symbolic-rewrite: %s\n", triad::programs::printable(e.what()).c_str());
    return 1;
  }
}
