// A bump allocator over memory that the caller owns.  If the address of the memory is null, the arena only counts
// bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "triad/core/contracts.hpp"
#include "triad/core/mdspan.hpp"

namespace triad {

/// The alignment of every view: a cache line.
inline constexpr std::size_t arena_alignment = 64;
/// The number of readable bytes after every view.  So a kernel may load a whole vector at the end of a view.
inline constexpr std::size_t arena_slack = 64;
/// The largest number of bytes that an arena can count.  Twice this number still fits into std::size_t.
inline constexpr std::size_t arena_most = std::size_t{1} << 62;

/// Thrown if an arena has too little memory left.  The usual reason is that the memory was measured with a smaller
/// batch.
struct arena_too_small : contract_violation {
  using contract_violation::contract_violation;
};

/// Memory for the intermediate values of one operation.  The caller takes this memory from an arena and passes it to
/// the operation.
struct workspace {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

/// Returns the number of bytes from the beginning of a view of `bytes` bytes to the beginning of the next view.
constexpr std::size_t arena_stride(std::size_t bytes) {
  return (bytes + arena_slack + arena_alignment - 1) / arena_alignment * arena_alignment;
}

class arena {
 public:
  /// Creates an arena without memory, which only counts bytes.  The elements of its views must not be read or written.
  constexpr arena() = default;
  constexpr arena(void* base, std::size_t capacity) : base_(static_cast<std::byte*>(base)), capacity_(capacity) {}

  constexpr bool measuring() const { return base_ == nullptr; }
  constexpr void* base() const { return base_; }
  constexpr std::size_t used() const { return used_; }
  /// The largest number of bytes that were in use at once.
  constexpr std::size_t peak() const { return peak_; }

  /// The smallest extent of the products whose factors are rounded to bfloat16.  0 if products do not round.  Layers
  /// keep such factors in bfloat16 (core/kept_factor.hpp).
  constexpr index_t rounds_from() const { return rounds_from_; }
  constexpr void set_rounds_from(index_t extent) { rounds_from_ = extent; }

  /// Takes memory for a view and returns the view.  The arguments are the dynamic extents or all extents, as in
  /// `place.make<tensor<float, dyn, 64>>(rows)`.  Throws contract_violation if a size is negative or differs from its
  /// static extent, or if the product of all sizes is too large for any memory.
  template <class View, class... Sizes>
  View make(Sizes... sizes) {
    using extents_type = typename View::extents_type;
    index_t const given[sizeof...(Sizes) + 1]{static_cast<index_t>(sizes)...};
    expect_sizes<extents_type, sizeof...(Sizes)>(given);
    extents_type const e(static_cast<index_t>(sizes)...);
    std::size_t count = sizeof(typename View::element_type);
    bool fits = true;
    for (std::size_t r = 0; r < View::rank(); ++r) {
      auto const n = static_cast<std::size_t>(e.extent(r));
      fits = fits && (n == 0 || count <= arena_most / n);
      count *= n;
    }
    TRIAD_EXPECTS(fits || has_none(e), "arena: " + text_of(e) + " values of " +
                                           std::to_string(sizeof(typename View::element_type)) +
                                           " bytes are more than any memory");
    auto* const data = take(count);
    return View(reinterpret_cast<typename View::element_type*>(data), e);
  }

  workspace make_workspace(std::size_t bytes) { return {take(bytes), bytes}; }

  /// Takes memory for `count` blocks of `bytes` bytes each, and returns an arena over this memory.
  arena cut(std::size_t bytes, index_t count = 1) {
    auto const all = product(bytes, count);
    auto* const begin = take_aligned(all);
    return alike(begin, all);
  }

  /// Returns an arena over other memory, for factors that are rounded as those of this arena.
  constexpr arena alike(void* base, std::size_t capacity) const {
    arena other = base != nullptr ? arena(base, capacity) : arena();
    other.rounds_from_ = rounds_from_;
    return other;
  }

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

  /// Returns a frame.  The destructor of the frame frees all memory that was taken after this call.
  [[nodiscard]] frame open() { return frame(*this); }

 private:
  template <class Extents, std::size_t Given>
  static constexpr void expect_sizes(index_t const* given) {
    constexpr auto unknown = static_cast<std::size_t>(dyn);
    static_assert(Given == Extents::rank() || Given == Extents::rank_dynamic(),
                  "arena: make() takes the dynamic extents, or all of them");
    for (std::size_t k = 0; k < Given; ++k)
      TRIAD_EXPECTS(given[k] >= 0, "arena: a size is " + std::to_string(given[k]) + ", expected 0 or more");
    if constexpr (Given == Extents::rank())
      for (std::size_t r = 0; r < Given; ++r) {
        constexpr auto known = [](std::size_t axis) { return Extents::static_extent(axis); };
        TRIAD_EXPECTS(known(r) == unknown || static_cast<index_t>(known(r)) == given[r],
                      "arena: a size is " + std::to_string(given[r]) + ", expected " + std::to_string(known(r)) +
                          ", the size in the type");
      }
  }
  template <class Extents>
  static constexpr bool has_none(Extents const& e) {
    for (std::size_t r = 0; r < Extents::rank(); ++r)
      if (e.extent(r) == 0) return true;
    return false;
  }
  template <class Extents>
  static std::string text_of(Extents const& e) {
    std::string text;
    for (std::size_t r = 0; r < Extents::rank(); ++r) text += (r == 0 ? "" : " x ") + std::to_string(e.extent(r));
    return text;
  }
  static std::size_t product(std::size_t bytes, index_t count) {
    TRIAD_EXPECTS(
        count >= 0 && (count == 0 || bytes <= arena_most / static_cast<std::size_t>(count)),
        "arena: " + std::to_string(count) + " pieces of " + std::to_string(bytes) + " bytes are more than any memory");
    return bytes * static_cast<std::size_t>(count);
  }

  std::byte* take(std::size_t bytes) {
    expect_fits(bytes);
    return take_aligned(bytes + arena_slack);
  }

  std::byte* take_aligned(std::size_t bytes) {
    expect_fits(bytes);
    std::size_t const begin = used_, end = begin + (bytes + arena_alignment - 1) / arena_alignment * arena_alignment;
    expect_fits(end);
    if (!measuring() && end > capacity_) refuse(end - begin);
    used_ = end;
    if (used_ > peak_) peak_ = used_;
    return measuring() ? nullptr : base_ + begin;
  }
  [[noreturn]] void refuse(std::size_t bytes) const {
    throw arena_too_small("arena: more was asked for than was measured: " + std::to_string(bytes) + " bytes, where " +
                          std::to_string(capacity_ - used_) + " of " + std::to_string(capacity_) +
                          " are left; measure with the largest batch (a trainer: its capacity)");
  }
  static void expect_fits(std::size_t bytes) {
    TRIAD_EXPECTS(bytes <= arena_most, "arena: " + std::to_string(bytes) + " bytes are more than any memory");
  }

  std::byte* base_ = nullptr;
  std::size_t capacity_ = 0, used_ = 0, peak_ = 0;
  index_t rounds_from_ = 0;
};

/// Calls plan(arena&) with an arena that only counts bytes.  Returns the largest number of bytes that were in use at
/// once.  `rounds_from` is that of the arena.
template <class Plan>
std::size_t planned_bytes(Plan&& plan, index_t rounds_from = 0) {
  arena measure;
  measure.set_rounds_from(rounds_from);
  plan(measure);
  return measure.peak();
}

}  // namespace triad
