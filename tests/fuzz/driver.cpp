// Runs a fuzzer's corpus as an ordinary test, for compilers without libFuzzer: DRIVER FOLDER...
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "reader.hpp"

int main(int count, char** arguments) {
  std::vector<std::filesystem::path> inputs;
  for (int i = 1; i < count; ++i)
    for (auto const& entry : std::filesystem::directory_iterator(arguments[i])) inputs.push_back(entry.path());
  std::sort(inputs.begin(), inputs.end());
  for (auto const& input : inputs) {
    std::printf("%s\n", input.c_str());
    std::fflush(stdout);
    std::ifstream in(input, std::ios::binary);
    std::string const content{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (!in) triad::fuzz::found("an input that cannot be read");
    try {
      LLVMFuzzerTestOneInput(reinterpret_cast<std::uint8_t const*>(content.data()), content.size());
    } catch (std::exception const& e) {
      triad::fuzz::found(std::string("an exception of another kind: ") + e.what());
    }
  }
  std::printf("%zu inputs\n", inputs.size());
  return inputs.empty() ? 1 : 0;
}
