// Tests that all views of a batch are copied to the device in one piece.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/batch_upload.hpp"

#include <utility>
#include <vector>

#include "tests/batches/counting_memory.hpp"
#include "tests/catch.hpp"

namespace batches_batch_upload_tests {

using namespace triad;

using test::contains;
using test::counting_memory;

struct far_backend {
  using memory = counting_memory;
};

TEST_CASE("a batch is laid out on the host and goes over in one copy, always to the same place") {
  int copies = 0;
  batch_upload<far_backend> upload(3 * 128, {{}, &copies});
  std::vector<index_t> const numbers{7, 8, 9};
  std::vector<std::uint8_t> const bytes{1, 0, 1, 1};
  auto const put_all = [&](auto const& put) {
    auto const few = put(numbers, 2);
    auto const none = put(numbers, 0);
    return std::pair(std::pair(few, none), put(bytes, 4));
  };
  auto const [views, mask] = upload(put_all);
  CHECK(copies == 1);
  REQUIRE((views.first.extent(0) == 2 && views.second.extent(0) == 0 && mask.extent(0) == 4));
  CHECK((views.first(0) == 7 && views.first(1) == 8 && mask(0) == 1 && mask(1) == 0));
  CHECK(views.first.data_handle() != numbers.data());
  auto const again = upload(put_all);
  CHECK(again.first.first.data_handle() == views.first.data_handle());
  CHECK(copies == 2);
  CHECK_THROWS_WITH(upload([&](auto const& put) { return put(numbers, 4); }), contains("batch_upload: "));
  CHECK_THROWS_AS(upload([&](auto const& put) { return std::pair(put(bytes, 4), put(std::vector<char>(400), 400)); }),
                  arena_too_small);
  CHECK(copies == 2);
}

}  // namespace batches_batch_upload_tests
