// Prints the BLEU score of two text files, for a comparison with sacreBLEU:
// triad-bleu-of none|char|13a|zh HYPOTHESES REFERENCES...
// SPDX-License-Identifier: Apache-2.0
// The output consists of the score, the brevity penalty, and for n = 1..4 the precision and the numbers of matched and
// of possible n-grams.
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "triad/io/text/bleu.hpp"

namespace {

using triad::text::bleu_tokens;

// Only LF ends a line. All other characters may occur within a line.
std::vector<std::string> lines_of(char const* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw triad::data_error(std::string(path) + ": cannot be opened");
  std::vector<std::string> all;
  for (std::string line; std::getline(file, line);) all.push_back(line);
  return all;
}

bleu_tokens tokens_called(std::string const& called) {
  for (auto const t : {bleu_tokens::none, bleu_tokens::characters, bleu_tokens::mteval_13a, bleu_tokens::chinese})
    if (name(t) == called) return t;
  throw triad::data_error("no tokens called " + called);
}

int run(int argc, char** argv) {
  if (argc < 4) throw triad::data_error("triad-bleu-of none|char|13a|zh HYPOTHESES REFERENCES...");
  triad::text::bleu counted(tokens_called(argv[1]));
  auto const hypotheses = lines_of(argv[2]);
  std::vector<std::vector<std::string>> references;
  for (int i = 3; i < argc; ++i) references.push_back(lines_of(argv[i]));
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    std::vector<std::string_view> of_line;
    for (auto const& r : references) of_line.push_back(r.at(i));
    counted.add(hypotheses[i], of_line);
  }
  auto const s = counted.score();
  std::printf("%.17g %.17g", s.score, s.brevity);
  for (std::size_t n = 0; n < s.longest; ++n)
    std::printf(" %.17g %lld %lld", s.precision[n], s.matched[n], s.possible[n]);
  std::printf("\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "triad-bleu-of: %s\n", e.what());
    return 1;
  }
}
