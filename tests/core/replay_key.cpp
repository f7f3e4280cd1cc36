// Tests the key of a recorded step: it changes if an address, a size, a setting or the order changes.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/replay_key.hpp"

#include <set>
#include <vector>

#include "tests/catch.hpp"

namespace core_replay_key_tests {

using namespace triad;

template <class... Part>
std::uint64_t number_of(Part... parts) {
  replay_key key;
  (key.add(parts), ...);
  return key.value();
}

TEST_CASE("the same parts in the same order give the same number, and others others") {
  CHECK(number_of(index_t{3}, 0.5) == number_of(index_t{3}, 0.5));
  // Computes FNV-1a of one number by the definition. The high bits are also mixed into the low bits.
  std::uint64_t const begin = 0xcbf29ce484222325u;
  CHECK(number_of() == begin);
  CHECK(number_of(index_t{3}) == (begin ^ 3) * 0x100000001b3u + (begin >> 29));

  std::set<std::uint64_t> seen{number_of()};
  std::size_t count = 1;
  for (index_t a = 0; a < 20; ++a)
    for (index_t b = 0; b < 20; ++b) {
      seen.insert(number_of(a, b));
      ++count;
    }
  for (double d : {0.0, -0.0, 0.1, 0.1 + 1e-17 + 1e-16}) {
    seen.insert(number_of(d, index_t{1}, index_t{2}));
    ++count;
  }
  CHECK(seen.size() == count);
}

TEST_CASE("a view counts by where it lies and how long it is, not by what is in it") {
  std::vector<double> values(6);
  auto const number = [&](index_t first, index_t size) {
    replay_key key;
    key.add_views(vec<double>(values.data() + first, size));
    return key.value();
  };
  auto const before = number(0, 6);
  values[3] = 7;
  CHECK(number(0, 6) == before);
  CHECK(number(0, 5) != before);
  CHECK(number(1, 6) != before);

  replay_key both, turned;
  vec<double> const a(values.data(), 3), b(values.data() + 3, 3);
  both.add_views(a, b);
  turned.add_views(b, a);
  CHECK(both.value() != turned.value());
}

}  // namespace core_replay_key_tests
