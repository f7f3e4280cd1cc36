// Functions that visit all views of a batch.  They measure memory, compute the size of an upload, and recognise work
// that can be replayed.
// SPDX-License-Identifier: Apache-2.0
//
// A batch lists its views in its member function each():
//
//   template <class F>
//   void each(F&& f) {
//     f(label, dims.rows);       a view that a loader fills, and its extents if the sizes determine them
//     f.table(waves);            a view that is the same for all batches
//     f.maybe(mask);             a view that few batches have
//     f.value(temperature);      a number that a pass depends on and that no view contains
//   }
//
// While memory is measured, a view that each() does not list is empty.  So a forward pass that reads this view fails
// when memory is measured.  A missing `maybe` or `value` is not detected.
#pragma once

#include "triad/core/arena.hpp"
#include "triad/core/replay_key.hpp"

namespace triad {

namespace detail {
/// The base class of visitors that ignore tables, optional views and numbers.
struct only_filled_views {
  template <class View>
  void table(View const&) const {}
  template <class View>
  void maybe(View const&) const {}
  template <class... Number>
  void value(Number const&...) const {}
};

struct views_without_memory : only_filled_views {
  template <class View, class... Extents>
  void operator()(View& view, Extents... extents) const {
    if constexpr (sizeof...(Extents) > 0) view = View(nullptr, static_cast<index_t>(extents)...);
  }
};

struct views_to_fill : only_filled_views {
  arena& place;
  explicit views_to_fill(arena& a) : place(a) {}
  template <class View, class... Extents>
  void operator()(View const& view, Extents...) const {
    (void)place.make<vec<std::remove_const_t<typename View::element_type>>>(static_cast<index_t>(view.size()));
  }
  template <class View>
  void maybe(View const& view) const {
    if (view.size() != 0) (*this)(view);
  }
};

struct views_that_count {
  replay_key& key;
  template <class View, class... Extents>
  void operator()(View const& view, Extents...) const {
    key.add_views(view);
  }
  template <class View>
  void table(View const& view) const {
    key.add_views(view);
  }
  template <class View>
  void maybe(View const& view) const {
    key.add_views(view);
  }
  template <class... Number>
  void value(Number const&... numbers) const {
    (key.add(numbers), ...);
  }
};

/// Calls batch.each(f), or f(batch) if the batch is a single view.
template <class Batch, class F>
void visit(Batch& batch, F const& f) {
  if constexpr (requires { batch.each(f); })
    batch.each(f);
  else
    f(batch);
}
}  // namespace detail

/// Returns a copy of the batch for measuring memory.  In the copy, the views that a loader fills have no memory.  The
/// sizes and tables are unchanged.
template <class Batch>
Batch without_memory(Batch batch) {
  batch.each(detail::views_without_memory{});
  return batch;
}

/// Returns the number of bytes that a loader copies for a full batch and its targets.
template <class... Batch>
std::size_t upload_bytes(Batch... full) {
  return planned_bytes([&](arena& place) { (detail::visit(full, detail::views_to_fill(place)), ...); });
}

/// Adds the addresses, sizes and numbers of a batch to a key.  `batch` may also be a view of targets.  Two batches with
/// equal keys lie at the same addresses and need the same operations.
template <class Batch>
void add_to_key(replay_key& key, Batch batch) {
  detail::visit(batch, detail::views_that_count{key});
}

}  // namespace triad
