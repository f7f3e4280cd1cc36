// Tests pages. A page shows texts in its data as text and never runs them as code. A page loads nothing.
// SPDX-License-Identifier: Apache-2.0
#include "shared/report/page.hpp"

#include <limits>
#include <string>

#include "tests/catch.hpp"

namespace programs_page_tests {

using triad::programs::attention_view, triad::programs::thousandths, triad::programs::to_page;
using json = nlohmann::ordered_json;

/// Returns the data of a page, in the form that the page's script reads.
json data_of(std::string const& page) {
  std::string const begin = "<script type=\"application/json\" id=\"data\">", end = "</script>";
  auto const first = page.find(begin) + begin.size();
  REQUIRE(first > begin.size());
  return json::parse(page.substr(first, page.find(end, first) - first));
}

std::size_t count(std::string const& text, std::string const& what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST_CASE("texts of a page come back as they were, and none is markup or script") {
  for (std::string const text : {"plain", "</script><script>alert(1)</script>", "<!--", "a & b \"c\" 'd' \\ </",
                                 "\n\t\x01", "\xe2\x80\xa8 \xf0\x9f\x8c\xb3"}) {
    json const data{{"title", text}, {"views", json::array({{{"kind", "arcs"}, {text, text}}})}};
    auto const page = to_page(data);
    CHECK(data_of(page) == data);
    CHECK(count(page, "<script") == 2);
    CHECK(count(page, "</script") == 2);
    CHECK(count(page, "<title>") == 1);
  }
}

TEST_CASE("bytes that are no text do not keep a page from being read") {
  auto const data = data_of(to_page({{"title",
                                      "a\xff"
                                      "b"},
                                     {"views", json::array()}}));
  CHECK(data["title"] ==
        "a\xef\xbf\xbd"
        "b");
}

TEST_CASE("a page loads nothing") {
  auto const page = to_page({{"title", ""}, {"views", json::array()}});
  CHECK(count(page, "default-src 'none'") == 1);
  for (auto const* loading : {" src=", "<link", "@import", "url(", "fetch(", "XMLHttpRequest", "import("})
    CHECK(count(page, loading) == 0);
  CHECK(count(page, "http://") == 1);  // the namespace of SVG
  CHECK(count(page, "https://") == 0);
}

TEST_CASE("weights are thousandths, and what is no weight is 0 or 1") {
  CHECK(thousandths(0.1234) == 123);
  CHECK(thousandths(0.9996) == 1000);
  CHECK(thousandths(-0.5) == 0);
  CHECK(thousandths(7) == 1000);
  CHECK(thousandths(std::numeric_limits<double>::quiet_NaN()) == 0);
}

TEST_CASE("a view of attention has a weight for each layer, head, edge and middle node") {
  auto const view = attention_view(2, 3, [](int layer, int i, int j) {
    triad::attention_table<float> table(2, 3);
    for (int h = 0; h < 2; ++h)
      for (int l = 0; l < 3; ++l)
        table.data()[h * 3 + l] = static_cast<float>(layer * 100 + h * 200 + i * 30 + j * 9 + l) / 1000;
    return table;
  });
  CHECK(view["layers"] == 2);
  CHECK(view["heads"] == 2);
  CHECK(view["nodes"] == 3);
  CHECK(view["weights"][1][1].size() == 27);
  CHECK(view["weights"][1][0][(2 * 3 + 1) * 3 + 2] == 100 + 60 + 9 + 2);
  CHECK(view["weights"][0][1][(0 * 3 + 2) * 3 + 0] == 200 + 18);
}

}  // namespace programs_page_tests
