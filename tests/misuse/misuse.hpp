// In every build, every misuse of the library must throw an error whose message is one sentence.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <typeinfo>
#include <vector>

#include "tests/catch.hpp"
#include "triad/core/contracts.hpp"
#include "triad/core/errors.hpp"
#include "triad/core/sizes.hpp"

namespace triad::test {

inline constexpr index_t most_index = std::numeric_limits<index_t>::max();
/// Sizes that are impossible for a model.
inline std::vector<index_t> const no_sizes{-16, -1, 0, index_t{1} << 31, most_index};

/// Checks that f() throws contract_violation or data_error with a message of one line that contains `part`.
template <class F>
void expect_sentence(std::string const& what, F&& f, std::string const& part = {}) {
  INFO(what);
  std::string message, kind;
  try {
    f();
  } catch (contract_violation const& e) {
    message = e.what();
  } catch (data_error const& e) {
    message = e.what();
  } catch (std::exception const& e) {
    message = e.what();
    kind = typeid(e).name();
  }
  INFO("it says: " << message);
  CHECK(kind.empty());
  CHECK(message.find(": ") != std::string::npos);
  CHECK(message.find('\n') == std::string::npos);
  CHECK(message.find(part) != std::string::npos);
}

/// One member of a struct of sizes, and its name.
template <class Sizes>
struct size_field {
  char const* name;  // the name in messages
  index_t& (*of)(Sizes&);
};

/// Checks that Model(sizes) accepts the given sizes, and refuses them if one of them is replaced by an impossible size.
template <class Model, class Sizes>
void expect_sizes_checked(std::string const& model, Sizes const& good, std::vector<size_field<Sizes>> const& fields) {
  CHECK_NOTHROW(Model(good));
  for (auto const& field : fields)
    for (auto const bad : no_sizes) {
      auto sizes = good;
      field.of(sizes) = bad;
      auto const made = [&] { Model const of_bad(sizes); };
      expect_sentence(model + " with " + field.name + " " + std::to_string(bad), made, std::to_string(bad));
      expect_sentence(model + " with " + field.name + " " + std::to_string(bad), made, field.name);
    }
}

/// Checks that Model(sizes) refuses dropout rates outside of [0, 1).
template <class Model, class Sizes>
void expect_rate_checked(std::string const& model, Sizes const& good, double& (*rate)(Sizes&)) {
  for (double bad : {1.0, 7.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    auto sizes = good;
    rate(sizes) = bad;
    expect_sentence(model + " with dropout " + std::to_string(bad), [&] { Model const made(sizes); }, "dropout");
  }
}

}  // namespace triad::test
