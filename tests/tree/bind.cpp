// Tests binding and encoding: every form returns the fillers that were stored, and errors name the position.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/bind.hpp"

#include <cmath>
#include <vector>

#include "tests/catch.hpp"
#include "tests/tree/forms.hpp"

namespace tree_bind_tests {

using namespace triad;
using namespace triad::test;
using triad::test::contains;

template <class T>
constexpr double rounding = sizeof(T) > 4 ? 1e-12 : 1e-5;

#define TRIAD_TEST_FORMS(name)                                                                                       \
  TEMPLATE_TEST_CASE(name, "", gather_form<double>, gather_form<float>, canonical_form<double>, random_form<double>, \
                     random_form<float>, sparse_form<double>, sparse_form<float>)

template <class T>
struct table {
  index_t labels, width;
  std::vector<T> numbers = std::vector<T>(static_cast<std::size_t>(labels * width));
  table(index_t v, index_t f) : labels(v), width(f) { random_fillers(9, make_matrix(numbers.data(), v, f, f)); }
  tensor<T const, dyn, dyn> view() const { return tensor<T const, dyn, dyn>(numbers.data(), labels, width); }
};

numbered_tree random_labels(random_stream& stream, index_t branching, index_t depth, index_t labels) {
  std::vector<numbered_tree> children;
  for (index_t c = 0; depth > 1 && c < branching; ++c)
    children.push_back(stream.below(3) == 0 ? numbered_tree() : random_labels(stream, branching, depth - 1, labels));
  return numbered_tree(1 + static_cast<index_t>(stream.below(static_cast<std::uint32_t>(labels - 1))), children);
}

TRIAD_TEST_FORMS("unbinding what was bound gives the fillers, and the two are adjoint") {
  using T = typename TestType::value_type;
  TestType const form(3, 3, 4);
  auto const& a = form.algebra;
  random_stream stream(1, 1);
  auto const in = random_values<T>(stream, 13 * 4), dout = random_values<T>(stream, 13 * 4);
  std::vector<T> out(in.size()), din(in.size());
  auto const view = [](auto& numbers) {
    return tensor<std::remove_reference_t<decltype(numbers[0])>, dyn, dyn>(numbers.data(), 13, 4);
  };
  auto y = random_tree(a, stream);
  bind(a, view(in), y.view());
  unbind(a, y.view(), view(out));
  CHECK(farthest(in, out) < rounding<T>);

  auto const dy = random_tree(a, stream);
  auto dx = random_tree(a, stream, 0);
  bind_grad(a, dy.view(), view(din));
  unbind_grad(a, view(dout), dx.view());
  double bound = 0, unbound = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    bound += static_cast<double>(in[i]) * static_cast<double>(din[i]);
    unbound += static_cast<double>(out[i]) * static_cast<double>(dout[i]);
  }
  CHECK(std::abs(bound - inner_product(y, dy)) < 10 * rounding<T>);
  CHECK(std::abs(unbound - inner_product(y, dx)) < 10 * rounding<T>);
}

TRIAD_TEST_FORMS("decoding an encoded tree gives the tree") {
  using T = typename TestType::value_type;
  random_stream stream(2, 2);
  for (index_t b : {2, 3}) {
    TestType const form(b, 4, 7);
    table<T> const fillers(6, 7);
    for (int trial = 0; trial < 20; ++trial) {
      auto const tree = random_labels(stream, b, 1 + trial % 4, 6);
      tensor_tree<typename TestType::algebra_type> x(form.algebra);
      encode(form.algebra, fillers.view(), tree, x.view());
      REQUIRE(decode<typename TestType::algebra_type>(form.algebra, fillers.view(), x.view()) == tree);
    }
  }
}

TRIAD_TEST_FORMS("operations on encoded trees are the operations on trees") {
  using T = typename TestType::value_type;
  using A = typename TestType::algebra_type;
  TestType const form(2, 4, 5);
  auto const& a = form.algebra;
  table<T> const fillers(5, 5);
  random_stream stream(3, 3);
  auto const encoded = [&](numbered_tree const& tree) {
    tensor_tree<A> x(a);
    encode(a, fillers.view(), tree, x.view());
    return x;
  };
  auto const decoded = [&](tensor_tree<A> const& x) { return decode<A>(a, fillers.view(), x.view()); };
  for (int trial = 0; trial < 20; ++trial) {
    auto const l = random_labels(stream, 2, 3, 5), r = random_labels(stream, 2, 3, 5);
    numbered_tree const whole(4, {l, r});
    auto const x = encoded(whole);
    CHECK(decoded(car(x)) == l);
    CHECK(decoded(cdr(x)) == r);
    CHECK(decoded(cons(encoded(l), encoded(r), x)) == whole);
    CHECK(decoded(root_of(x)) == numbered_tree(4));
    CHECK(decoded(car(root_of(x))).empty());
  }
}

TEST_CASE("a position decodes to nothing where its scores are short, and hides what is below it") {
  gather_algebra<double> const a({2, 3}, 4);
  table<double> const fillers(4, 4);
  tensor_tree<gather_algebra<double>> x(a);
  encode(a, fillers.view(), numbered_tree(1, {numbered_tree(2, {numbered_tree(3)}), numbered_tree(3)}), x.view());
  auto const row = [&](index_t r) { return vec<double>(&x.view()(r, 0), 4); };
  auto const scale = [&](index_t r, double by) {
    for (index_t f = 0; f < 4; ++f) row(r)(f) *= by;
  };
  scale(1, 0.0101);
  scale(2, 0.0099);
  CHECK(decode<gather_algebra<double>>(a, fillers.view(), x.view()) ==
        numbered_tree(1, {numbered_tree(2, {numbered_tree(3)})}));
  CHECK(decode<gather_algebra<double>>(a, fillers.view(), x.view(), 0.02) == numbered_tree(1));
  auto const table = fillers.view();
  for (index_t f = 0; f < 4; ++f)
    row(0)(f) = -table(1, f) - table(2, f) - table(3, f);  // opposite to every filler, so number 0 is nearest
  CHECK(decode<gather_algebra<double>>(a, fillers.view(), x.view()).empty());
}

TEST_CASE("scores and their gradient are adjoint, and the largest score names the label") {
  table<double> const fillers(4, 5);
  random_stream stream(4, 4);
  auto const x = random_values<double>(stream, 10), ds = random_values<double>(stream, 8);
  std::vector<double> s(8), dx(10);
  scores(fillers.view(), tensor<double const, dyn, dyn>(x.data(), 2, 5), tensor<double, dyn, dyn>(s.data(), 2, 4));
  scores_grad(fillers.view(), tensor<double const, dyn, dyn>(ds.data(), 2, 4),
              tensor<double, dyn, dyn>(dx.data(), 2, 5));
  double left = 0, right = 0;
  for (std::size_t i = 0; i < 8; ++i) left += s[i] * ds[i];
  for (std::size_t i = 0; i < 10; ++i) right += x[i] * dx[i];
  CHECK(std::abs(left - right) < 1e-14);
  CHECK((s[0] == 0 && s[4] == 0));
  std::vector<double> const rows{0, 0.2, 0.9, -3, 0, 0.006, 0.006, 0, 0, -1, -2, -1};
  std::vector<index_t> labels(3);
  nearest_labels<double>(tensor<double const, dyn, dyn>(rows.data(), 3, 4), vec<index_t>(labels.data(), 3));
  CHECK(labels == std::vector<index_t>{2, 0, 0});
}

TRIAD_TEST_FORMS("a tree that does not fit is an error that gives the path from the root") {
  using T = typename TestType::value_type;
  TestType const form(2, 2, 3);
  auto const& a = form.algebra;
  table<T> const fillers(3, 3);
  tensor_tree<typename TestType::algebra_type> x(a);
  auto const encoding = [&](numbered_tree const& tree) { encode(a, fillers.view(), tree, x.view()); };
  CHECK_THROWS_AS(encoding(numbered_tree(3)), data_error);
  CHECK_THROWS_WITH(encoding(numbered_tree(1, {numbered_tree(), numbered_tree(1, {numbered_tree(2)})})),
                    std::string("the node at root.1.0 is deeper than the 2 levels that the roles have"));
  CHECK_THROWS_WITH(encoding(numbered_tree(1, {numbered_tree(3)})),
                    std::string("the node at root.0 has label 3; expected one of 1 .. 2"));
  CHECK_THROWS_WITH(encoding(numbered_tree(0)), contains("root has label 0"));
  CHECK_THROWS_WITH(encoding(numbered_tree(1, {numbered_tree(), numbered_tree(), numbered_tree(2)})),
                    contains("the node at root.2 is child 2 of its parent"));
}

TEST_CASE(
    "labels at positions are encoded as they stand, also below an empty one; a label out of range is an error with its "
    "path") {
  gather_algebra<double> const a({2, 3}, 4);
  table<double> const fillers(4, 4);
  std::vector<index_t> labels{1, 0, 2, 3, 0, 0, 0};
  tensor_tree<gather_algebra<double>> x(a);
  encode(a, fillers.view(), vec<index_t const>(labels.data(), 7), x.view());
  for (index_t r = 0; r < 7; ++r)
    for (index_t f = 0; f < 4; ++f) CHECK(x.view()(r, f) == fillers.view()(labels[static_cast<std::size_t>(r)], f));
  labels[4] = 4;
  CHECK_THROWS_WITH(encode(a, fillers.view(), vec<index_t const>(labels.data(), 7), x.view()),
                    std::string("the node at root.0.1 has label 4; expected one of 0 .. 3"));
}

TEST_CASE("scores that are no numbers name no label") {
  std::vector<double> const scores{0, std::nan(""), 1};
  CHECK_THROWS_WITH(nearest_label(vec<double const>(scores.data(), 3)), test::contains("a score is not a number"));
}

TEST_CASE("fillers that were not made are reported by encode and decode") {
  gather_algebra<double> const algebra({2, 3}, 4);
  std::vector<double> table(5 * 4), numbers(static_cast<std::size_t>(algebra.elements()));
  tensor<double, dyn, dyn> const fillers(table.data(), 5, 4);
  std::vector<index_t> labels(7);
  labels[0] = 3;
  auto const encoded = [&] {
    encode(algebra, fillers, make_vec<index_t const>(labels.data(), 7), algebra.over(numbers.data()));
  };
  auto const decoded = [&] { return decode(algebra, fillers, algebra.over(numbers.data())); };
  CHECK_THROWS_WITH(encoded(), test::contains("the filler of label 3 is zero") && test::contains("random_fillers"));
  CHECK_THROWS_WITH(decoded(), test::contains("all 4 fillers are zero"));
  labels[0] = 0;
  CHECK_NOTHROW(encoded());
  random_fillers(1, as_matrix(fillers));
  labels[0] = 3;
  CHECK_NOTHROW(encoded());
  CHECK(decoded().nodes().front().label == 3);
}

}  // namespace tree_bind_tests
