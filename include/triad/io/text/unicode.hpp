// Decides which characters are letters and which are numbers.  These are the characters of the general categories L and
// N of Unicode 14.
// SPDX-License-Identifier: Apache-2.0
//
// The categories come from utf8proc.  The version of utf8proc determines the version of Unicode: utf8proc 2.7 has
// Unicode 14, utf8proc 2.8 has Unicode 15, and so on.  GPT-2 and RoBERTa use \p{L} and \p{N} without naming a version
// of Unicode.  Their merges were learned with Unicode 12, from texts that are older than 2019.  The tokens of a
// checkpoint must not depend on the installed version of a library.  So characters that Unicode added after version 14
// are neither letters nor numbers here, whatever utf8proc returns.
#pragma once

#include <utf8proc.h>

#include <algorithm>
#include <iterator>

#if UTF8PROC_VERSION_MAJOR < 2 || (UTF8PROC_VERSION_MAJOR == 2 && UTF8PROC_VERSION_MINOR < 7)
#error "triad::text needs utf8proc 2.7 or later, the first that has Unicode 14 (Debian: libutf8proc-dev)"
#endif

namespace triad::text {

namespace detail {

struct code_range {
  char32_t first, last;
};

// Letters and numbers that were added in Unicode 15 to 18.  A range may also contain code points that were unassigned
// in Unicode 14.
inline constexpr code_range later_ranges[] = {
    {0x558, 0x558},     {0x58b, 0x58c},     {0x88f, 0x88f},     {0xc5c, 0xc5c},     {0xcdc, 0xcdc},
    {0x1c89, 0x1c8a},   {0x208f, 0x208f},   {0x209d, 0x209f},   {0xa7cb, 0xa7cf},   {0xa7d2, 0xa7d2},
    {0xa7d4, 0xa7d4},   {0xa7da, 0xa7f1},   {0xab6c, 0xab6d},   {0x105c0, 0x105f3}, {0x107bb, 0x107bf},
    {0x10940, 0x10959}, {0x10d40, 0x10d85}, {0x10ec2, 0x10eee}, {0x1123f, 0x11240}, {0x11380, 0x113d3},
    {0x116d0, 0x116e3}, {0x11b0a, 0x11bf9}, {0x11db0, 0x11df1}, {0x11f02, 0x11f59}, {0x1246f, 0x1246f},
    {0x12475, 0x1247f}, {0x12550, 0x12686}, {0x1342f, 0x1342f}, {0x13441, 0x143fa}, {0x16100, 0x16139},
    {0x16d40, 0x16d79}, {0x16ea0, 0x16ed3}, {0x16ff2, 0x16ff6}, {0x187f8, 0x187ff}, {0x18cd6, 0x18cff},
    {0x18d09, 0x191d2}, {0x1b123, 0x1b132}, {0x1b155, 0x1b155}, {0x1b168, 0x1b168}, {0x1ccf0, 0x1ccf9},
    {0x1d2c0, 0x1d2d3}, {0x1d6a6, 0x1d6a6}, {0x1df1f, 0x1dfff}, {0x1e030, 0x1e06d}, {0x1e4d0, 0x1e6ff},
    {0x2b739, 0x2b73f}, {0x2b81e, 0x2b81e}, {0x2cea2, 0x2cead}, {0x2ebf0, 0x2ee5d}, {0x31350, 0x3fc3f}};

/// Whether c is in one of the ranges, which are in ascending order.
template <auto const& Ranges>
bool is_in(char32_t c) {
  auto const after = std::upper_bound(std::begin(Ranges), std::end(Ranges), c,
                                      [](char32_t x, code_range const& r) { return x < r.first; });
  return after != std::begin(Ranges) && c <= std::prev(after)->last;
}

inline bool came_later(char32_t c) { return is_in<later_ranges>(c); }

// Whether the category of a character is one of first .. last.  utf8proc orders these categories as Lu, Ll, Lt, Lm, Lo,
// and Nd, Nl, No.
inline bool is_of(char32_t c, utf8proc_category_t first, utf8proc_category_t last) {
  auto const category = utf8proc_category(static_cast<utf8proc_int32_t>(c));  // Cn if c is not a code point
  return category >= first && category <= last && !came_later(c);
}

}  // namespace detail

/// Whether c is a letter: category Lu, Ll, Lt, Lm or Lo.
inline bool is_letter(char32_t c) { return detail::is_of(c, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO); }
/// Whether c is a number: category Nd, Nl or No.
inline bool is_number(char32_t c) { return detail::is_of(c, UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO); }

}  // namespace triad::text
