// Tests that infinite weights and NaNs are found and named, at every position.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/finite_weights.hpp"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "triad/core/buffer.hpp"

namespace train_finite_weights_tests {

using namespace triad;

template <class T>
struct two_tensors {
  vec<T> small, large;
  template <class F>
  constexpr void each(F&& f) {
    f("small", small);
    f("large", large);
  }
};

// A set of parameters, and trainers that use it. Both have the members that this file tests.
template <class T>
struct set {
  using memory = host_memory;
  std::vector<T> data = std::vector<T>(9003, T(1));
  two_tensors<T> values() const {
    auto* const p = const_cast<T*>(data.data());
    return {vec<T>(p, 3), vec<T>(p + 3, 9000)};
  }
  two_tensors<T> mutable_values() { return values(); }
  bool holds_moments() const { return false; }
  memory where() const { return {}; }
  void expect_weights(char const*) const {}
};
template <class T>
struct learner {
  set<T> held;
  set<T> const& parameters() const { return held; }
};

TEMPLATE_TEST_CASE("the first weight that is no finite number is found wherever it is, and named", "", float, double) {
  using T = TestType;
  using limits = std::numeric_limits<T>;
  learner<T> of;
  auto& all = of.held;
  CHECK_NOTHROW(expect_finite_weights(of, "who asks"));
  for (T const fine : {T(0), -T(0), limits::max(), limits::lowest(), limits::denorm_min()}) {
    all.data[7] = fine;
    CHECK(!first_not_finite(all));
  }
  struct place {
    std::size_t in_all;
    char const* path;
    index_t at;
  };
  for (auto const p : {place{0, "small", 0},
                       {2, "small", 2},
                       {3, "large", 0},
                       {8194, "large", 8191},
                       {8195, "large", 8192},
                       {9002, "large", 8999}})
    for (auto const& [bad, text] :
         {std::pair{limits::quiet_NaN(), "nan"}, {limits::infinity(), "inf"}, {-limits::infinity(), "-inf"}}) {
      CAPTURE(p.in_all, text);
      auto const kept = std::exchange(all.data[p.in_all], bad);
      auto const found = first_not_finite(all);
      REQUIRE(found);
      CHECK((found->path == p.path && found->at == p.at));
      auto const expected = test::contains("who asks: value " + std::to_string(p.at) + " of " + p.path + " is " + text +
                                           ", expected a finite number");
      CHECK_THROWS_AS(expect_finite_weights(of, "who asks"), training_failure);
      CHECK_THROWS_WITH(expect_finite_weights(all, "who asks"), expected);
      all.data[p.in_all] = kept;
    }
  all.data[9002] = all.data[1] = limits::quiet_NaN();
  CHECK(first_not_finite(all)->path == "small");
}

}  // namespace train_finite_weights_tests
