// Golden files of kinds dtm_tpr, dtm_DE and dtm_ops: the algebra of trees in its dense form. The gather form and the
// sparse form are checked after a change of roles.
// SPDX-License-Identifier: Apache-2.0
//
// A tree with the fillers X is X' R in the dense form with roles R. Unbinding from R converts a dense tree to the
// gather form or the sparse form, and binding to R converts it back. Binding is the adjoint of unbinding, so gradients
// are converted in the same way.
#pragma once

#include <utility>

#include "family.hpp"
#include "triad/core/buffer.hpp"
#include "triad/tree/tree.hpp"

namespace triad::golden {

namespace detail {

/// The roles and fillers of a file, and the algebra in every form.
template <class T>
class tree_case {
 public:
  using numbers = std::vector<T>;
  using table = tensor<T, dyn, dyn>;

  explicit tree_case(golden_file const& file)
      : file_(file),
        positions(2, file.size("max_depth")),
        fillers_(read("param/tpr.filler_emb.weight")),
        shape_(file.shape("param/tpr.filler_emb.weight", 2)),
        width_(file.shape("param/tpr.role_emb.weight", 2)[1]),
        memory_(planned_bytes([this](arena& a) { (void)plan(a); })),
        maps_(placed()),
        dense(positions, shape_[1], maps_),
        gather(positions, shape_[1]),
        sparse(2, positions.depth(), shape_[1]) {
    auto const roles = read("param/tpr.role_emb.weight");
    if (static_cast<index_t>(roles.size()) != positions.count() * width_)
      throw data_error(file.path().string() + ": expected one role a position");
    std::copy(roles.begin(), roles.end(), maps_.roles.data_handle());
    make_given(positions, maps_);
  }

  numbers read(std::string const& name) const {
    auto const values = file_.values(name);
    return numbers(values.begin(), values.end());
  }
  tensor<T const, dyn, dyn> fillers() const { return tensor<T const, dyn, dyn>(fillers_.data(), shape_[0], shape_[1]); }
  vec<T const> filler(index_t label) const { return vec<T const>(fillers_.data() + label * shape_[1], shape_[1]); }
  role_maps<T> const& maps() const { return maps_; }
  index_t width() const { return width_; }
  index_t elements() const { return dense.elements(); }

  /// The filler at every position of a tree, and the scores and labels at every position.
  template <class A>
  numbers unbound(tensor_tree<A> const& x) const {
    numbers all(static_cast<std::size_t>(positions.count() * shape_[1]));
    unbind(x.algebra(), x.view(), table(all.data(), positions.count(), shape_[1]));
    return all;
  }
  numbers scored(numbers const& fillings) const {
    numbers all(static_cast<std::size_t>(positions.count() * shape_[0]));
    scores(fillers(), tensor<T const, dyn, dyn>(fillings.data(), positions.count(), shape_[1]),
           table(all.data(), positions.count(), shape_[0]));
    return all;
  }
  std::vector<index_t> labelled(numbers const& all, double threshold) const {
    std::vector<index_t> labels(static_cast<std::size_t>(positions.count()));
    nearest_labels<T>(tensor<T const, dyn, dyn>(all.data(), positions.count(), shape_[0]),
                      vec<index_t>(labels.data(), positions.count()), threshold);
    return labels;
  }
  template <class A>
  tensor_tree<A> encoded(A const& a, index_t const* labels) const {
    tensor_tree<A> x(a);
    encode(a, fillers(), vec<index_t const>(labels, positions.count()), x.view());
    return x;
  }

  /// Converts the dense tree at `data` to another form; append_dense() converts it back.
  template <class A>
  tensor_tree<A> from_dense(A const& a, T const* data) const {
    tensor_tree<dense_algebra<T>> x(dense);
    std::copy(data, data + elements(), x.view().data_handle());
    return changed(a, x);
  }
  template <class Number, class A>
  void append_dense(std::vector<Number>& all, tensor_tree<A> const& x) const {
    auto const y = changed(dense, x);
    all.insert(all.end(), y.view().data_handle(), y.view().data_handle() + elements());
  }

  /// Calls f(algebra, name) for each of the three forms.
  template <class F>
  void each_form(F&& f) const {
    f(dense, "dense");
    f(gather, "gather");
    f(sparse, "sparse");
  }

 private:
  template <class A, class From>
  tensor_tree<A> changed(A const& a, tensor_tree<From> const& x) const {
    if constexpr (std::is_same_v<A, From>) return x;  // the dense form keeps what is outside the roles' span
    tensor_tree<A> y(a);
    auto const fillings = unbound(x);
    bind(a, tensor<T const, dyn, dyn>(fillings.data(), positions.count(), shape_[1]), y.view());
    return y;
  }
  role_maps<T> plan(arena& place) const { return role_maps<T>::plan(place, positions, width_); }
  role_maps<T> placed() const {
    auto place = memory_.place();
    return plan(place);
  }

  golden_file const& file_;

 public:
  tree_positions<> const positions;

 private:
  numbers fillers_;
  std::vector<index_t> shape_;  // number of labels, width of a filler
  index_t width_;
  buffer<host_memory> memory_;
  role_maps<T> maps_;

 public:
  dense_algebra<T> const dense;
  gather_algebra<T> const gather;
  sparse_algebra<T> const sparse;
};

inline constexpr char const* on_the_host = "the tree algebra is host code";

template <class T>
std::vector<double> doubles(std::vector<T> const& values) {
  return {values.begin(), values.end()};
}

}  // namespace detail

struct dtm_tpr {
  static constexpr std::string_view kind = "dtm_tpr";

  template <class T, backend Ex>
  static void check(Ex&, golden_file const& file, report& r) {
    r.remark(detail::on_the_host);
    detail::tree_case<T> const c(file);
    auto const trees = file.integers("in/trees");
    index_t const batch = file.size("B");
    double const threshold = file.config.at("decode_eps").get<double>();
    c.each_form([&](auto const& a, char const* form) {
      decoding found;
      for (index_t b = 0; b < batch; ++b) {
        auto const x = c.encoded(a, trees.data() + b * c.positions.count());
        c.append_dense(found.trees, x);
        found.add(c, x, threshold);
      }
      r.output("bound", found.trees, form);
      r.output("bound_unbound", found.fillings, form);
      r.output("bound_decoded", found.scores, form);
      r.integers("bound_symbols", found.labels, form);

      auto const plain = decode_all<T>(c, a, "in/tpr", batch, threshold),
                 noisy = decode_all<T>(c, a, "in/noisy_tpr", batch, threshold);
      r.output("unbound", plain.fillings, form);
      r.output("decoded", plain.scores, form);
      r.output("noisy_decoded", noisy.scores, form);
      r.integers("noisy_symbols", noisy.labels, form);
      auto const dunbound = file.values("cotangent/unbound"), dscores = file.values("cotangent/decoded");
      r.output("loss",
               std::vector<double>(1, inner_product(plain.fillings, dunbound) + inner_product(plain.scores, dscores)),
               form);

      // dX = dunbound + dscores F, dx = dX bound.
      auto dx = std::vector<T>(dunbound.begin(), dunbound.end());
      std::vector<T> const ds(dscores.begin(), dscores.end());
      index_t const rows = batch * c.positions.count(), fillers = c.fillers().extent(1);
      scores_grad<T>(c.fillers(), tensor<T const, dyn, dyn>(ds.data(), rows, c.fillers().extent(0)),
                     tensor<T, dyn, dyn>(dx.data(), rows, fillers));
      std::vector<T> gradient;
      for (index_t b = 0; b < batch; ++b) {
        tensor_tree<std::decay_t<decltype(a)>> d(a);
        unbind_grad(
            a, tensor<T const, dyn, dyn>(dx.data() + b * c.positions.count() * fillers, c.positions.count(), fillers),
            d.view());
        c.append_dense(gradient, d);
      }
      r.gradient("in/tpr", detail::doubles(gradient), form);
    });
  }

 private:
  struct decoding {
    std::vector<double> trees, fillings, scores;
    std::vector<index_t> labels;

    template <class T, class A>
    void add(detail::tree_case<T> const& c, tensor_tree<A> const& x, double threshold) {
      auto const unbound = c.unbound(x), scored = c.scored(unbound);
      auto const found = c.labelled(scored, threshold);
      fillings.insert(fillings.end(), unbound.begin(), unbound.end());
      scores.insert(scores.end(), scored.begin(), scored.end());
      labels.insert(labels.end(), found.begin(), found.end());
    }
  };

  template <class T, class A>
  static decoding decode_all(detail::tree_case<T> const& c, A const& a, char const* name, index_t batch,
                             double threshold) {
    auto const all = c.read(name);
    decoding found;
    for (index_t b = 0; b < batch; ++b) found.add(c, c.from_dense(a, all.data() + b * c.elements()), threshold);
    return found;
  }
};

/// Compares the matrices D and E, which are computed from roles. The loss in a file of this kind has no meaning.
struct dtm_DE {
  static constexpr std::string_view kind = "dtm_DE";

  template <class T, backend Ex>
  static void check(Ex&, golden_file const& file, report& r) {
    r.remark(detail::on_the_host);
    detail::tree_case<T> const c(file);
    for (index_t side = 0; side < 2; ++side) {
      std::vector<double> d, e;
      for (index_t i = 0; i < c.width(); ++i)
        for (index_t j = 0; j < c.width(); ++j) {
          d.push_back(c.maps().shifts(side, i, j));
          e.push_back(c.maps().shifts(side, j, i));
        }
      r.output(side == 0 ? "D_l" : "D_r", d);
      r.output(side == 0 ? "E_l" : "E_r", e);
    }
    r.skip("out/loss");
    r.skip("grad/in/dummy");
  }
};

struct dtm_ops {
  static constexpr std::string_view kind = "dtm_ops";

  template <class T, backend Ex>
  static void check(Ex&, golden_file const& file, report& r) {
    r.remark(detail::on_the_host);
    detail::tree_case<T> const c(file);
    index_t const batch = file.size("B");
    c.each_form([&](auto const& a, char const* form) {
      on_trees(c, a, file, r, form, batch);
      on_blends(c, a, r, form, batch);
    });
  }

 private:
  /// Compares the tensors of trees of labels, and the labels that are decoded from the tensors.
  template <class T, class A>
  static void on_trees(detail::tree_case<T> const& c, A const& a, golden_file const& file, report& r, char const* form,
                       index_t batch) {
    auto const left = file.integers("in/tree_a"), right = file.integers("in/tree_b"),
               roots = file.integers("in/root_symbol");
    std::vector<T> x, y;
    results<T> car_of, cdr_of, cons_of;
    for (index_t b = 0; b < batch; ++b) {
      auto const p = c.encoded(a, left.data() + b * c.positions.count()),
                 q = c.encoded(a, right.data() + b * c.positions.count());
      tensor_tree<A> made(a);
      cons(a, p.view(), q.view(), c.filler(roots[static_cast<std::size_t>(b)]), made.view());
      c.append_dense(x, p);
      c.append_dense(y, q);
      car_of.add(c, car(p));
      cdr_of.add(c, cdr(p));
      cons_of.add(c, made);
    }
    r.output("tpr_a", detail::doubles(x), form);
    r.output("tpr_b", detail::doubles(y), form);
    for (auto const& [name, found] :
         {std::pair<std::string, results<T> const&>{"car", car_of}, {"cdr", cdr_of}, {"cons", cons_of}}) {
      r.output(name, detail::doubles(found.trees), form);
      r.integers(name + "_symbols", found.labels, form);
    }
  }

  /// Compares arbitrary tensors, and their gradients.
  template <class T, class A>
  static void on_blends(detail::tree_case<T> const& c, A const& a, report& r, char const* form, index_t batch) {
    auto const first = c.read("in/blend"), second = c.read("in/blend2"), fillers = c.read("in/root_filler");
    auto const dcar = c.read("cotangent/blend_car"), dcdr = c.read("cotangent/blend_cdr"),
               dcons = c.read("cotangent/blend_cons");
    std::vector<T> car_of, cdr_of, cons_of, dfirst, dsecond, dfillers(fillers.size());
    for (index_t b = 0; b < batch; ++b) {
      index_t const at = b * c.elements(), filler = b * a.fillers();
      auto const p = c.from_dense(a, first.data() + at), q = c.from_dense(a, second.data() + at);
      tensor_tree<A> made(a), dp(a), dq(a);
      cons(a, p.view(), q.view(), vec<T const>(fillers.data() + filler, a.fillers()), made.view());
      c.append_dense(car_of, car(p));
      c.append_dense(cdr_of, cdr(p));
      c.append_dense(cons_of, made);
      car_grad(a, c.from_dense(a, dcar.data() + at).view(), dp.view());
      cdr_grad(a, c.from_dense(a, dcdr.data() + at).view(), dp.view());
      cons_grad(a, c.from_dense(a, dcons.data() + at).view(), dp.view(), dq.view(),
                vec<T>(dfillers.data() + filler, a.fillers()));
      c.append_dense(dfirst, dp);
      c.append_dense(dsecond, dq);
    }
    r.output("blend_car", detail::doubles(car_of), form);
    r.output("blend_cdr", detail::doubles(cdr_of), form);
    r.output("blend_cons", detail::doubles(cons_of), form);
    double const loss = inner_product(detail::doubles(car_of), detail::doubles(dcar)) +
                        inner_product(detail::doubles(cdr_of), detail::doubles(dcdr)) +
                        inner_product(detail::doubles(cons_of), detail::doubles(dcons));
    r.output("loss", std::vector<double>(1, loss), form);
    r.gradient("in/blend", detail::doubles(dfirst), form);
    r.gradient("in/blend2", detail::doubles(dsecond), form);
    r.gradient("in/root_filler", detail::doubles(dfillers), form);
  }

  template <class T>
  struct results {
    std::vector<T> trees;
    std::vector<index_t> labels;
    template <class A>
    void add(detail::tree_case<T> const& c, tensor_tree<A> const& x) {
      c.append_dense(trees, x);
      auto const found = c.labelled(c.scored(c.unbound(x)), decode_threshold);
      labels.insert(labels.end(), found.begin(), found.end());
    }
  };
};

}  // namespace triad::golden
