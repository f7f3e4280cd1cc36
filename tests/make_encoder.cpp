// Writes a small encoder with random values, and its vocabulary, into an existing folder. The files have the form of a
// published model. KIND is roberta, bert or mpnet:
// triad-make-encoder KIND FOLDER [SEED]
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/io/published_encoder.hpp"
#include "triad/io/text/byte_bpe.hpp"

namespace {

/// Writes vocab.json and merges.txt.  Returns the number of tokens.
std::size_t write_bytes(std::filesystem::path const& folder) {
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
  return tokens.size();
}

/// Writes vocab.txt with the special tokens, letters and digits, alone and as continuations.  Returns the number of
/// tokens.
std::size_t write_pieces(std::filesystem::path const& folder, std::string const& specials) {
  std::ofstream file(folder / "vocab.txt");
  file << specials;
  std::size_t lines = 0;
  for (char const c : specials) lines += c == '\n';
  for (char const c : std::string("abcdefghijklmnopqrstuvwxyz0123456789")) {
    file << c << "\n##" << c << '\n';
    lines += 2;
  }
  for (auto const* const part : {"did", "mar", "##ry", "?", "."}) {
    file << part << '\n';
    ++lines;
  }
  return lines;
}

}  // namespace

int main(int argc, char** argv) {
  std::string const kind = argc > 1 ? argv[1] : "";
  if (argc < 3 || (kind != "roberta" && kind != "bert" && kind != "mpnet"))
    return std::fprintf(stderr, "triad-make-encoder roberta|bert|mpnet FOLDER [SEED]\n"), 1;
  try {
    std::filesystem::path const folder(argv[2]);
    auto const tokens = kind == "roberta" ? write_bytes(folder)
                        : kind == "bert"  ? write_pieces(folder, "[PAD]\n[UNK]\n[CLS]\n[SEP]\n")
                                          : write_pieces(folder, "<s>\n<pad>\n</s>\n<unk>\n[UNK]\n");
    triad::test::encoder_sizes const z{.width = 12,
                                       .layers = 3,
                                       .heads = 3,
                                       .hidden = 16,
                                       .tokens = static_cast<triad::index_t>(tokens),
                                       .positions = 40,
                                       .kind = kind};
    triad::test::write_encoder(folder,
                               triad::test::encoder_weights(z, argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 100),
                               triad::test::encoder_json(z));
  } catch (std::exception const& e) {
    return std::fprintf(stderr, "triad-make-encoder: %s\n", e.what()), 1;
  }
}
