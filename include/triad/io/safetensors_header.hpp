// Parses the header of a safetensors file into records.  If the form of the header is wrong, throws an error with the
// position of the wrong byte.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "triad/core/errors.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/io/element_type.hpp"

namespace triad {

/// The largest length of a header in bytes, as in the library of the format's authors.
inline constexpr std::uint64_t longest_safetensors_header = 100'000'000;

/// The description of one tensor in the header.
struct tensor_record {
  std::string type;                  // F64, F32, ...; other texts are unknown types, of which only bytes can be read
  std::vector<index_t> shape;        // empty: a single number
  std::uint64_t begin = 0, end = 0;  // the range of its bytes in the data section
  std::uint64_t where = 0;           // the byte of the file at which the tensor's name is in the header
  std::size_t count() const {
    std::size_t n = 1;
    for (auto e : shape) n *= static_cast<std::size_t>(e);
    return n;
  }
};

/// Returns the shape as a text such as "(2, 3)".  The shape of a single number is "()".
inline std::string shape_text(std::vector<index_t> const& shape) {
  std::string text = "(";
  for (auto e : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(e);
  return text + ")";
}

namespace detail {

/// Returns a name from a file in a form that is safe to print: at most `longest` bytes, without control characters.
inline std::string printable(std::string_view name, std::size_t longest = 100) {
  std::string text;
  for (char c : name.substr(0, longest)) text += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  return '"' + text + (name.size() > longest ? "...\"" : "\"");
}

/// Returns the name of a type for messages.  The name of an unknown type may be any text, so the result is made safe to
/// print.
inline std::string type_text(std::string_view type) {
  return find_element_type(type) ? std::string(type) : printable(type);
}

/// Reads characters and counts them, so that a message can name the byte of the file.
struct counting_iterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = char const*;
  using reference = char const&;

  char const* at;
  char const** furthest;

  char const& operator*() const { return *at; }
  counting_iterator& operator++() {
    *furthest = ++at;
    return *this;
  }
  counting_iterator operator++(int) {
    auto const before = *this;
    ++*this;
    return before;
  }
  bool operator==(counting_iterator const& other) const { return at == other.at; }
};

/// Converts the events of a JSON parser into records.  Throws if the header does not follow the format.
class safetensors_header {
 public:
  std::map<std::string, std::string> metadata;
  std::map<std::string, tensor_record> tensors;

  safetensors_header(std::string const& file, char const* begin, char const* end)
      : file_(file), begin_(begin), furthest_(begin) {
    if (auto const* const zero = std::find(begin, end, '\0'); zero != end) {  // the parser would stop at a zero byte
      furthest_ = zero;
      refuse("a header in JSON", "a zero byte");
    }
    nlohmann::json::sax_parse(counting_iterator{begin, &furthest_}, counting_iterator{end, &furthest_}, this);
  }

  // The functions that nlohmann::json::sax_parse calls.
  bool null() {
    if (state_ == in_file && key_ == "__metadata__") return begin_metadata();  // null means the same as {}
    return skipped() || refuse("a string, an object or a list of integers", "null");
  }
  bool boolean(bool) { return skipped() || refuse("a string, an object or a list of integers", "true or false"); }
  bool number_integer(std::int64_t v) {
    return skipped() || refuse("an integer that is not negative", std::to_string(v));
  }
  bool number_float(double, std::string const& text) { return skipped() || refuse("an integer", printable(text)); }
  bool binary(nlohmann::json::binary_t&) { return refuse("JSON text", "binary data"); }
  bool number_unsigned(std::uint64_t v) {
    if (skipped()) return true;
    if (state_ == in_shape) {
      if (v > static_cast<std::uint64_t>(std::numeric_limits<index_t>::max()))
        return refuse("an extent below 2^63", std::to_string(v));
      record_.shape.push_back(static_cast<index_t>(v));
      if (record_.shape.size() > 64) return refuse("at most 64 extents", "more");
    } else if (state_ == in_offsets) {
      if (offsets_ == 2) return refuse("two data_offsets", "more");
      (offsets_++ == 0 ? record_.begin : record_.end) = v;
    } else {
      return refuse("no number here", std::to_string(v));
    }
    return true;
  }
  bool string(std::string& text) {
    if (skipped()) return true;
    if (state_ == in_metadata) {
      if (!metadata.emplace(key_, std::move(text)).second) return refuse("each name once", printable(key_) + " again");
    } else if (state_ == in_tensor && key_ == "dtype") {
      record_.type = std::move(text);
    } else {
      return refuse("no string here", printable(text));
    }
    return true;
  }
  bool start_object(std::size_t) {
    if (state_ == in_extra) {
      ++extra_depth_;
    } else if (state_ == outside && !started_) {
      started_ = true;
      state_ = in_file;
    } else if (state_ == in_file && key_ == "__metadata__") {
      begin_metadata();
      state_ = in_metadata;
    } else if (state_ == in_file) {
      if (tensors.count(key_)) return refuse("each tensor once", printable(key_) + " again");
      name_ = key_;
      record_ = {};
      record_.where = offset();
      seen_.clear();
      offsets_ = 0;
      state_ = in_tensor;
    } else {
      return refuse("no object here", "{");
    }
    return true;
  }
  bool end_object() {
    if (state_ == in_extra) {
      end_extra();
    } else if (state_ == in_tensor) {
      for (char const* needed : {"dtype", "shape", "data_offsets"})
        if (!seen_.count(needed)) return refuse("a " + std::string(needed) + " for tensor " + printable(name_), "none");
      tensors.emplace(name_, record_);
      state_ = in_file;
    } else {
      state_ = state_ == in_metadata ? in_file : outside;
    }
    return true;
  }
  bool start_array(std::size_t) {
    if (state_ == in_extra)
      ++extra_depth_;
    else if (state_ == in_tensor && key_ == "shape")
      state_ = in_shape;
    else if (state_ == in_tensor && key_ == "data_offsets")
      state_ = in_offsets;
    else
      return refuse("no list here", "[");
    return true;
  }
  bool end_array() {
    if (state_ == in_extra) {
      end_extra();
      return true;
    }
    if (state_ == in_offsets && offsets_ != 2)
      return refuse("two data_offsets for tensor " + printable(name_), std::to_string(offsets_));
    state_ = in_tensor;
    return true;
  }
  bool key(std::string& text) {
    key_ = std::move(text);
    if (state_ != in_tensor) return true;
    if (key_ != "dtype" && key_ != "shape" && key_ != "data_offsets") {
      state_ = in_extra;  // the format does not define this member; the format's own library ignores it too
      return true;
    }
    if (!seen_.insert(key_).second) return refuse("one " + key_ + " for tensor " + printable(name_), "another");
    return true;
  }
  bool parse_error(std::size_t, std::string const&, nlohmann::json::exception const& e) {
    return refuse("a header in JSON", printable(e.what(), 300));
  }

 private:
  enum place { outside, in_file, in_metadata, in_tensor, in_shape, in_offsets, in_extra };

  bool begin_metadata() { return !std::exchange(metadata_seen_, true) || refuse("one \"__metadata__\"", "another"); }
  /// Whether a plain value is an ignored member, or is inside of an ignored member.
  bool skipped() {
    if (state_ != in_extra) return false;
    if (extra_depth_ == 0) state_ = in_tensor;
    return true;
  }
  void end_extra() {
    if (--extra_depth_ == 0) state_ = in_tensor;
  }

  std::uint64_t offset() const { return 8 + static_cast<std::uint64_t>(furthest_ - begin_); }
  [[noreturn]] bool refuse(std::string const& expected, std::string const& found) const {
    throw data_error(file_ + ", byte " + std::to_string(offset()) + ": expected " + expected + ", found " + found +
                     "; this is no sound safetensors file: fetch or write it again");
  }

  std::string const& file_;
  char const *begin_, *furthest_;
  place state_ = outside;
  bool started_ = false, metadata_seen_ = false;
  std::string key_, name_;
  tensor_record record_;
  std::set<std::string> seen_;
  int offsets_ = 0;
  std::size_t extra_depth_ = 0;  // the number of open objects and lists of an ignored member
};

}  // namespace detail

}  // namespace triad
