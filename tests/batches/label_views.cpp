// Tests that the logits of all kinds of labels are stored one kind after another, and that the error for a kind without
// labels names it.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/label_views.hpp"

#include "tests/catch.hpp"
#include "triad/core/buffer.hpp"

namespace batches_label_views_tests {

using namespace triad;

TEST_CASE("each kind of label has a row for each node, and no two kinds share memory") {
  label_counts const counts{2, 1, 4, 3};
  auto const plan = [&](arena& place) { return label_views<double>::plan(place, 3, counts); };
  buffer<> memory(planned_bytes(plan));
  auto place = memory.place();
  auto const views = plan(place);
  double at = 0;
  for (auto part : {&label_views<double>::role, &label_views<double>::category, &label_views<double>::noun_type,
                    &label_views<double>::verb}) {
    auto const& view = views.*part;
    REQUIRE(view.extent(0) == 3);
    for (index_t i = 0; i < 3; ++i)
      for (index_t k = 0; k < view.extent(1); ++k) view(i, k) = at++;
  }
  CHECK((views.role.extent(1) == 2 && views.category.extent(1) == 1 && views.noun_type.extent(1) == 4 &&
         views.verb.extent(1) == 3));
  CHECK((views.role(2, 1) == 5 && views.category(2, 0) == 8 && views.noun_type(2, 3) == 20 && views.verb(2, 2) == 29));
}

TEST_CASE("labels of a kind that has none are refused by the kind's name") {
  CHECK(detail::checked_labels({1, 2, 3, 4}).verb == 4);
  CHECK_THROWS_WITH(detail::checked_labels({1, 2, 0, 4}), test::contains("label_counts: noun types is 0"));
}

}  // namespace batches_label_views_tests
