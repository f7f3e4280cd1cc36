// Tests that gradient_check accepts right gradients and finds planted mistakes.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/gradient_check.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "triad/layers/linear.hpp"
#include "triad/reference/reference.hpp"

namespace train_gradient_check_tests {

using namespace triad;

struct values {
  std::vector<double> data;
  explicit values(index_t count, std::uint64_t stream = 1) : data(static_cast<std::size_t>(count)) {
    random_stream random(11, stream);
    for (double& v : data) v = random.uniform(-1, 1);
  }
  template <index_t D>
  tensor<double const, dyn, D> rows(index_t columns) const {
    return tensor<double const, dyn, D>(data.data(),
                                        extents<dyn, D>(static_cast<index_t>(data.size()) / columns, columns));
  }
};

enum class mistake { none, wrong_number, parameters_overwritten, input_accumulated, reads_before_writing, one_element };

// The layer y = a x, with a factor for each column. Its backward pass has a mistake.
struct broken_scale {
  using input = tensor<double const, dyn, dyn>;  // (rows, d)
  using output = tensor<double, dyn, dyn>;       // (rows, d)
  index_t d;
  mistake wrong;

  template <class S>
  struct fields {
    vec<S> scale;  // (d)
    template <class F>
    constexpr void each(F&& f) {
      f("scale", scale);
    }
  };
  struct saved {
    vec<double> unused;  // (1), never written
  };
  template <class S = double>
  fields<S> plan_params(arena& place) const {
    return {place.make<vec<S>>(d)};
  }
  saved plan_saved(arena& place, row_dims, keep) const { return {place.make<vec<double>>(1)}; }

  template <backend Ex>
  void forward(Ex&, call const&, fields<double const> w, input x, saved const&, output y) const {
    if constexpr (executes<Ex>)
      for (index_t r = 0; r < x.extent(0); ++r)
        for (index_t c = 0; c < d; ++c) y(r, c) = w.scale(c) * x(r, c);
  }
  template <backend Ex>
  void backward(Ex&, call const&, fields<double const> w, input x, saved const& s, const_view<output> dy, output dx,
                fields<double> gradient) const {
    if constexpr (executes<Ex>) {
      if (wrong == mistake::parameters_overwritten)
        for (index_t c = 0; c < d; ++c) gradient.scale(c) = 0;
      for (index_t r = 0; r < x.extent(0); ++r)
        for (index_t c = 0; c < d; ++c) {
          double const before = wrong == mistake::input_accumulated      ? dx(r, c)
                                : wrong == mistake::reads_before_writing ? 0 * s.unused(0)
                                                                         : 0;
          dx(r, c) = before + w.scale(c) * dy(r, c) * (wrong == mistake::wrong_number ? 1.001 : 1);
          if (!(wrong == mistake::one_element && r == 2 && c == 1)) gradient.scale(c) += x(r, c) * dy(r, c);
        }
    }
  }
};

TEST_CASE(
    "gradient_check finds a wrong number, an overwritten parameter gradient, an accumulated input gradient and memory "
    "read before written") {
  reference::backend ex;
  values const x(4 * 3);
  auto const report = [&](mistake wrong) {
    return gradient_check(ex, broken_scale{3, wrong}, row_dims(4), x.rows<dyn>(3), {4, 3});
  };
  CHECK(static_cast<bool>(report(mistake::none)));
  CHECK(report(mistake::none).worst < 1e-8);
  CHECK_FALSE(static_cast<bool>(report(mistake::wrong_number)));
  CHECK(report(mistake::wrong_number).path == "x");
  CHECK_FALSE(static_cast<bool>(report(mistake::parameters_overwritten)));
  CHECK(report(mistake::parameters_overwritten).path == "scale");
  CHECK_FALSE(static_cast<bool>(report(mistake::input_accumulated)));
  CHECK_FALSE(static_cast<bool>(report(mistake::reads_before_writing)));
  CHECK_FALSE(static_cast<bool>(report(mistake::one_element)));
  CHECK_THAT(report(mistake::wrong_number).text(), test::contains("wrong at x ") && test::contains("backward says"));
  CHECK_THAT(report(mistake::none).text(), test::contains("right in all 12 checks"));
}

// The layer y = a x + b. Either its fields do not list b, or its backward pass writes beyond the end of b's gradient.
struct forgetful_scale {
  using input = tensor<double const, dyn, dyn>;  // (rows, d)
  using output = tensor<double, dyn, dyn>;       // (rows, d)
  index_t d;
  bool forgets, strays = false;

  template <class S>
  struct fields {
    vec<S> scale, shift;  // (d) each
    bool forgets;
    template <class F>
    constexpr void each(F&& f) {
      f("scale", scale);
      if (!forgets) f("shift", shift);
    }
  };
  struct saved {};
  template <class S = double>
  fields<S> plan_params(arena& place) const {
    auto const scale = place.make<vec<S>>(d);
    return {scale, place.make<vec<S>>(d), forgets};
  }
  saved plan_saved(arena&, row_dims, keep) const { return {}; }

  template <backend Ex>
  void forward(Ex&, call const&, fields<double const> w, input x, saved const&, output y) const {
    if constexpr (executes<Ex>)
      for (index_t r = 0; r < x.extent(0); ++r)
        for (index_t c = 0; c < d; ++c) y(r, c) = w.scale(c) * x(r, c) + w.shift(c);
  }
  template <backend Ex>
  void backward(Ex&, call const&, fields<double const> w, input x, saved const&, const_view<output> dy, output dx,
                fields<double> gradient) const {
    if constexpr (executes<Ex>) {
      for (index_t r = 0; r < x.extent(0); ++r)
        for (index_t c = 0; c < d; ++c) {
          dx(r, c) = w.scale(c) * dy(r, c);
          gradient.scale(c) += x(r, c) * dy(r, c);
          gradient.shift(c) += dy(r, c);
        }
      if (strays) gradient.shift.data_handle()[d] = 1;
    }
  }
};

// The layer y = t(x), with t in scratch memory. Loops compute y inside on_host, or outside of on_host.
struct looping_copy {
  using input = tensor<double const, dyn, dyn>;  // (rows, d)
  using output = tensor<double, dyn, dyn>;       // (rows, d)
  index_t d;
  bool guarded_forward, guarded_backward, in_place = false;

  template <class S>
  struct fields {
    vec<S> scale;  // (1)
    template <class F>
    constexpr void each(F&& f) {
      f("scale", scale);
    }
  };
  struct saved {};
  template <class S = double>
  fields<S> plan_params(arena& place) const {
    return {place.make<vec<S>>(1)};
  }
  saved plan_saved(arena&, row_dims, keep) const { return {}; }

  template <class Ex, class Loop>
  static void maybe(Ex& ex, bool guarded, Loop&& loop) {
    if (guarded)
      on_host(ex, loop);
    else
      loop();
  }
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<double const> w, input x, saved const&, output y) const {
    auto const frame = c.scratch->open();
    auto const t = c.scratch->template make<output>(x.extent(0), d);
    maybe(ex, guarded_forward, [&] {
      for (index_t r = 0; r < x.extent(0); ++r)
        for (index_t e = 0; e < d; ++e) t(r, e) = w.scale(0) * x(r, e);
    });
    transform(ex, unchanged{}, t, y);
    if (in_place)
      for (index_t r = 0; r < x.extent(0); ++r) y(r, 0) += 1;
  }
  template <backend Ex>
  void backward(Ex& ex, call const&, fields<double const> w, input x, saved const&, const_view<output> dy, output dx,
                fields<double> gradient) const {
    maybe(ex, guarded_backward, [&] {
      for (index_t r = 0; r < x.extent(0); ++r)
        for (index_t e = 0; e < d; ++e) {
          dx(r, e) = w.scale(0) * dy(r, e);
          gradient.scale(0) += x(r, e) * dy(r, e);
        }
    });
  }
};

TEST_CASE("gradient_check says where a loop over elements stands outside of on_host") {
  reference::backend ex;
  values const x(4 * 3);
  auto const report = [&](bool forward, bool backward, bool in_place) {
    return gradient_check(ex, looping_copy{3, forward, backward, in_place}, row_dims(4), x.rows<dyn>(3), {4, 3});
  };
  CHECK_GRADIENT(report(true, true, false));
  for (int loop : {0, 1, 2}) {
    auto const wrong = report(loop != 0, loop != 1, loop == 2);
    CAPTURE(loop);
    CHECK_FALSE(static_cast<bool>(wrong));
    CHECK_THAT(wrong.text(),
               test::contains("looping_copy, or a layer in it, writes elements") && test::contains("on_host"));
  }
}

TEST_CASE("a loop over elements of a view without memory is a sentence where indices are checked") {
#if defined(CCCL_ENABLE_HOST_ASSERTIONS)
  arena measure;
  auto const y = measure.make<tensor<double, dyn, dyn>>(4, 3);
  CHECK_THROWS_WITH(y(1, 2) = 0, test::contains("on_host"));
  CHECK_THROWS_AS(slice(y, 3)(1), contract_violation);
  CHECK_THROWS_AS(as_matrix(y)(1, 2), contract_violation);
  CHECK_THROWS_AS(read_only(y)(1, 2), contract_violation);
  auto const pass = [&] { return detail::measured_for<looping_copy>([&] { return y(0, 0); }); };
  CHECK_THROWS_WITH(pass(), test::contains("looping_copy, or a layer in it: "));
#endif
  std::vector<double> there(12);
  tensor<double, dyn, dyn> const z(there.data(), 4, 3);
  CHECK(z(1, 2) == 0);
}

TEST_CASE("gradient_check refuses an output shape that the layer's type contradicts") {
  reference::backend ex;
  values const x(5 * 3);
  linear<double, 3, 16> const layer;
  CHECK_THROWS_WITH(gradient_check(ex, layer, row_dims(5), x.rows<3>(3), {5, 1}),
                    test::contains("extent 1 of the output is 1, expected 16"));
}

TEST_CASE(
    "gradient_check finds a parameter that each() does not list, and what backward writes outside of all gradients") {
  reference::backend ex;
  values const x(4 * 3);
  auto const report = [&](forgetful_scale const& layer) {
    return gradient_check(ex, layer, row_dims(4), x.rows<dyn>(3), {4, 3});
  };
  CHECK(static_cast<bool>(report({3, false})));
  CHECK_FALSE(static_cast<bool>(report({3, true})));
  CHECK_THAT(report({3, true}).text(), test::contains("does not list 128 bytes") && test::contains("after scale"));
  CHECK_FALSE(static_cast<bool>(report({3, false, true})));
  CHECK_THAT(report({3, false, true}).text(), test::contains("after the gradient of shift"));
}

}  // namespace train_gradient_check_tests
