// Digests of files and training examples.  A digest is FNV-1a with 64 bits, written as hexadecimal digits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

#include "triad/core/errors.hpp"
#include "triad/train/initialize.hpp"

namespace triad::programs {

inline std::string hexadecimal(std::uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

/// Returns the digest of a file's content.
inline std::string digest_of(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw data_error(path + ": cannot be opened");
  std::vector<char> block(std::size_t{1} << 20);
  auto hash = path_hash({});
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())), file.gcount() > 0)
    hash = path_hash({block.data(), static_cast<std::size_t>(file.gcount())}, hash);
  return hexadecimal(hash);
}

/// A digest of the examples that a run is trained on, in their order.  A resumed run must have the same examples.
class example_digest {
 public:
  /// Begins another example. add() then adds the numbers of this example.
  void begin() { ++examples_; }
  void add(std::initializer_list<std::int64_t> numbers) {
    for (auto const n : numbers) hash_ = path_hash(std::to_string(n) + " ", hash_);
  }
  /// Returns the digest as a line for the run's settings.
  std::string setting() const {
    return setting_of(std::to_string(examples_) + " examples, digest " + hexadecimal(hash_));
  }
  /// Returns the line for a run that generates its examples.  The run's other settings determine these examples.
  static std::string generated() { return setting_of("generated"); }

 private:
  static std::string setting_of(std::string const& what) { return "training-data = \"" + what + "\"\n"; }

  std::size_t examples_ = 0;
  std::uint64_t hash_ = path_hash({});
};

}  // namespace triad::programs
