// Tests that a backend is chosen by its name: the function gets the right backend, and any other name gives an error
// message.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/with_backend.hpp"

#include <string>
#include <type_traits>

#include "tests/catch.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/reference/reference.hpp"

namespace core_with_backend_tests {

using namespace triad;
using test::contains;

// A backend of a program, whose constructor may throw.
struct absent_device {
  using memory = host_memory;
  static constexpr char const *name = "device", *number_means = "NUMBER";
  explicit absent_device(int number = 0) { throw data_error("there is no device " + std::to_string(number)); }
};

std::string told(std::string const& text) {
  return with_backend<cpu::backend, reference::backend, absent_device>(text, [](auto& ex) -> std::string {
    using Ex = std::remove_reference_t<decltype(ex)>;
    if constexpr (std::is_same_v<Ex, cpu::backend>)
      return "cpu with " + std::to_string(ex.threads);
    else if constexpr (std::is_same_v<Ex, reference::backend>)
      return "reference";
    else
      return "device";
  });
}

TEST_CASE("a text names the backend's type, and the number is what its constructor takes") {
  CHECK(told("cpu:2") == "cpu with 2");
  CHECK(told("cpu:1") == "cpu with 1");
  CHECK(told("cpu") == "cpu with " + std::to_string(cpu::backend().threads));
  CHECK(told("cpu:0") == told("cpu"));
  CHECK(told("reference") == "reference");
}

TEST_CASE("a text that names no backend is reported with those that there are") {
  for (char const* text : {"cuda:0", "", "CPU", "cpu2", ":1", "cp"})
    CHECK_THROWS_WITH(told(text), contains("is not in this program, which has") &&
                                      contains("cpu, cpu:THREADS, reference, device, device:NUMBER"));
  for (char const* text : {"cpu:", "cpu:two", "cpu:-1", "cpu:1 ", "cpu:99999999999", "cpu:2:3"})
    CHECK_THROWS_WITH(told(text), contains("expected a number of 0 or more after the colon"));
  CHECK_THROWS_WITH(told("reference:1"), contains("reference takes no number"));
  CHECK_THROWS_AS(told("cuda"), data_error);
}

TEST_CASE("what a backend's constructor and the function throw comes through, and references stay references") {
  CHECK_THROWS_WITH(told("device:3"), contains("there is no device 3"));
  CHECK_THROWS_WITH(told("cpu:100000"), contains("cpu::backend: threads are 100000"));
  CHECK_THROWS_AS(with_backend<reference::backend>("reference", [](auto&) -> int { throw 5; }), int);
  int kept = 0;
  with_backend<reference::backend>("reference", [&](auto&) -> int& { return kept; }) = 7;
  CHECK(kept == 7);
}

}  // namespace core_with_backend_tests
