// A bump allocator over memory somebody else owns.  On a null base it only measures, through the same code.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "triad/core/contracts.hpp"
#include "triad/core/mdspan.hpp"

namespace triad {

/// Every view starts on a cache line.
inline constexpr std::size_t arena_alignment = 64;
/// Readable bytes after every view, so that a kernel may load a whole vector at its end.
inline constexpr std::size_t arena_slack = 64;

/// Asked for first and handed in: the private memory of one operation.
struct workspace {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

/// Bytes from the beginning of a view of so many bytes to that of the next.
constexpr std::size_t arena_stride(std::size_t bytes) {
  return (bytes + arena_slack + arena_alignment - 1) / arena_alignment * arena_alignment;
}

class arena {
 public:
  /// Measures: views made from it must not be read.
  constexpr arena() = default;
  constexpr arena(void* base, std::size_t capacity) : base_(static_cast<std::byte*>(base)), capacity_(capacity) {}

  constexpr bool measuring() const { return base_ == nullptr; }
  constexpr void* base() const { return base_; }
  constexpr std::size_t used() const { return used_; }
  /// The most that was in use at once, in bytes.
  constexpr std::size_t peak() const { return peak_; }

  /// The next view: `place.make<tensor<float, dyn, 64>>(rows)` takes the dynamic extents, or all of them.
  template <class View, class... Sizes>
  View make(Sizes... sizes) {
    using extents_type = typename View::extents_type;
    extents_type const e(static_cast<index_t>(sizes)...);
    std::size_t count = 1;
    for (std::size_t r = 0; r < View::rank(); ++r) count *= static_cast<std::size_t>(e.extent(r));
    auto* const data = take(count * sizeof(typename View::element_type));
    return View(reinterpret_cast<typename View::element_type*>(data), e);
  }

  workspace make_workspace(std::size_t bytes) { return {take(bytes), bytes}; }

  /// What remains, as an arena of its own: children that are planned again and again from the same place.
  constexpr arena rest() const { return measuring() ? arena() : arena(base_ + used_, capacity_ - used_); }

  /// Skips memory that was planned through rest().
  void skip(std::size_t bytes) { take_aligned(bytes); }

  class frame {
   public:
    explicit frame(arena& a) : arena_(a), mark_(a.used_) {}
    frame(frame const&) = delete;
    frame& operator=(frame const&) = delete;
    ~frame() { arena_.used_ = mark_; }

   private:
    arena& arena_;
    std::size_t mark_;
  };

  /// Gives back at the end of the scope what is made after this call.
  [[nodiscard]] frame open() { return frame(*this); }

 private:
  std::byte* take(std::size_t bytes) { return take_aligned(bytes + arena_slack); }

  std::byte* take_aligned(std::size_t bytes) {
    std::size_t const begin = used_;
    used_ += (bytes + arena_alignment - 1) / arena_alignment * arena_alignment;
    if (used_ > peak_) peak_ = used_;
    if (measuring()) return nullptr;
    TRIAD_EXPECTS(used_ <= capacity_, "arena: more was asked for than was measured; measure with the largest batch");
    return base_ + begin;
  }

  std::byte* base_ = nullptr;
  std::size_t capacity_ = 0, used_ = 0, peak_ = 0;
};

/// Bytes that `plan(arena&)` takes.
template <class Plan>
std::size_t planned_bytes(Plan&& plan) {
  arena measure;
  plan(measure);
  return measure.peak();
}

}  // namespace triad
