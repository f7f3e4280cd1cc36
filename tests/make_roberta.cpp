// Writes a small RoBERTa with random values, and its vocabulary, into an existing folder. The files have the form of a
// published model:
// triad-make-roberta FOLDER [SEED]
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/io/published_roberta.hpp"
#include "triad/io/text/byte_bpe.hpp"

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "triad-make-roberta FOLDER [SEED]\n"), 1;
  try {
    std::filesystem::path const folder(argv[1]);
    nlohmann::json tokens{{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3}};
    std::string merges = "#version: 0.2\n";
    for (auto const& letter : triad::text::detail::characters_of_bytes()) tokens[letter] = tokens.size();
    for (auto const* const merge : {"D i", "Di d", "\u0120 m", "r y"}) {
      auto joined = std::string(merge);
      joined.erase(joined.find(' '), 1);
      tokens[joined] = tokens.size();
      merges += std::string(merge) + "\n";
    }
    std::ofstream(folder / "vocab.json") << tokens.dump();
    std::ofstream(folder / "merges.txt") << merges;
    triad::test::roberta_sizes const z{.width = 12,
                                       .layers = 3,
                                       .heads = 3,
                                       .hidden = 16,
                                       .tokens = static_cast<triad::index_t>(tokens.size()),
                                       .positions = 40};
    triad::test::write_roberta(
        folder, triad::test::roberta_weights("roberta.", z, argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 100),
        triad::test::roberta_json(z));
  } catch (std::exception const& e) {
    return std::fprintf(stderr, "triad-make-roberta: %s\n", e.what()), 1;
  }
}
