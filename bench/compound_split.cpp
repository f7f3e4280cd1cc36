// Times the split of a corpus by the divergence of its compounds: finds and weights the compounds of generated
// derivations, and searches for a split.  There is no floor, because the length of the search is an option.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/text/compound_split.hpp"

#include <cstdint>
#include <set>

#include "session.hpp"
#include "triad/core/random.hpp"

namespace bench {
namespace {

namespace text = triad::text;

constexpr int rules = 200;

/// Returns derivations of 6 to 16 rules.  Only some rules may be below a given rule, so that compounds recur.
std::vector<text::derivation> corpus(int examples) {
  triad::random_stream stream(1, static_cast<std::uint64_t>(examples));
  auto const below = [&](int bound) { return static_cast<int>(stream.below(static_cast<std::uint32_t>(bound))); };
  std::vector<text::derivation> trees(static_cast<std::size_t>(examples));
  for (auto& tree : trees) {
    std::vector<int> children;  // the number of children of each node
    auto const add = [&](int rule, int parent, int slot) { tree.add(rule, parent, slot), children.push_back(0); };
    add(below(10), -1, 0);
    for (int size = 6 + below(11); tree.size() < size;) {
      int const parent = below(tree.size()), slot = children[static_cast<std::size_t>(parent)];
      if (slot == 3) continue;
      ++children[static_cast<std::size_t>(parent)];
      add((7 * tree.rule[static_cast<std::size_t>(parent)] + 31 * slot + below(6)) % rules, parent, slot);
    }
  }
  return trees;
}

struct problem {
  text::item_table atoms, compounds;
  std::vector<std::vector<int>> words;  // a rule is a word
  text::split_options how;

  explicit problem(int examples) : how{.train = examples / 5, .held_out = examples / 20, .seed = 1} {
    auto const trees = corpus(examples);
    atoms = text::atoms_of(trees, rules), compounds = text::compounds_of(trees);
    for (auto const& items : atoms.of) {
      auto& mine = words.emplace_back();
      for (auto const& i : items) mine.push_back(i.what);
    }
  }
  text::compound_split run() const { return text::split_by_compounds(atoms, compounds, words, how); }
};

/// Checks the sizes of the parts.  All test words must occur in training, and no example may occur twice.  The
/// divergence of atoms must be small, and the divergence of compounds must be larger than in a random split.
verdict check(int examples) {
  problem const p(examples);
  auto const found = p.run();
  std::set<int> all(found.train.begin(), found.train.end()), known;
  all.insert(found.held_out.begin(), found.held_out.end());
  if (all.size() != static_cast<std::size_t>(p.how.train + p.how.held_out)) return "an example is missing, or twice";
  auto const& words = p.words;
  for (int const q : found.train)
    known.insert(words[static_cast<std::size_t>(q)].begin(), words[static_cast<std::size_t>(q)].end());
  for (int const q : found.held_out)
    for (int const w : words[static_cast<std::size_t>(q)])
      if (!known.contains(w)) return "a held-out example has a word that training does not have";
  if (divergence_of(p.atoms, found.train, found.held_out, text::alpha_of_atoms) > p.how.atom_limit)
    return "the atoms are further apart than the limit";
  std::vector<int> first, next;  // a random split, because the corpus has no order
  for (int q = 0; q < p.how.train + p.how.held_out; ++q) (q < p.how.train ? first : next).push_back(q);
  auto const apart = [&](auto const& a, auto const& b) {
    return divergence_of(p.compounds, a, b, text::alpha_of_compounds);
  };
  if (apart(found.train, found.held_out) < 1.5 * apart(first, next)) return "the compounds are not driven apart";
  return std::nullopt;
}

void run_compounds(benchmark::State& state, int examples) {
  auto const trees = corpus(examples);
  std::size_t count = 0;
  double const seconds = time_work(state, {.model = {}, .floor = false, .warm = false}, [&] {
    auto const table = text::compounds_of(trees);
    count = static_cast<std::size_t>(table.kinds);
    benchmark::DoNotOptimize(table.of.data());
  });
  state.counters["compounds"] = static_cast<double>(count);
  state.counters["examples/s"] = examples / seconds;
}

void run_split(benchmark::State& state, int examples) {
  if (!may_time(state, "compound_split", 0, [] { return check(1500); })) return;
  problem const p(examples);
  double const seconds = time_work(state, {.model = {}, .floor = false, .warm = false}, [&] {
    auto const found = p.run();
    benchmark::DoNotOptimize(found.train.data());
  });
  state.counters["examples/s"] = examples / seconds;
}

[[maybe_unused]] bool const registered = [] {
  for (int const examples : {3000, 12000}) {
    auto const size = "/examples:" + std::to_string(examples);
    benchmark::RegisterBenchmark(("compounds" + size).c_str(), [=](benchmark::State& state) {
      run_compounds(state, examples);
    })->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("compound_split" + size).c_str(), [=](benchmark::State& state) {
      run_split(state, examples);
    })->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace bench
