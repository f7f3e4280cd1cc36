// A complete program that uses triad: learns byte-pair merges and applies them, scores a translation, and classifies a
// character.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "triad/io/text/bleu.hpp"
#include "triad/io/text/bpe.hpp"
#include "triad/io/text/unicode.hpp"
#include "triad/version.hpp"

int main() {
  namespace text = triad::text;
  std::vector<std::pair<std::string, long long>> const counted{{"low", 5}, {"lower", 2}, {"newest", 6}, {"widest", 3}};
  auto merges = text::learn_bpe(counted, 4);
  text::bleu score(text::bleu_tokens::mteval_13a);
  score.add("the cat sat on the mat", "the cat sat on a mat");
  std::printf("triad %s: %s; BLEU %.1f%s\n", triad::version, merges.apply("lowest").c_str(), score.score().score,
              text::is_letter(0x00e9) ? "" : "; no letters");
}
