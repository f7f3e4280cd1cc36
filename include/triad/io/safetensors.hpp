// Safetensors files: named tensors and strings, read with every claim of the header checked, written atomically.
// SPDX-License-Identifier: Apache-2.0
//
//   8 bytes  length of the header, little endian
//   header   {"__metadata__": {name: string ...}, name: {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]} ...}
//   data     tensors in row-major order; offsets count from here, without gaps and overlaps
//
// A file is somebody else's claim: whatever is wrong with it ends in a data_error with the byte where it shows.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/core/errors.hpp"
#include "triad/core/views.hpp"
#include "triad/io/atomic_file.hpp"
#include "triad/io/element_type.hpp"

namespace triad {

static_assert(std::endian::native == std::endian::little, "triad: safetensors files are little-endian, and so must be the machine");

/// No header is longer, in bytes; the same bound as the format's own library.
inline constexpr std::uint64_t longest_safetensors_header = 100'000'000;

/// What the header says of one tensor.
struct tensor_record {
  std::string type;            // F64, F32, ...
  std::vector<index_t> shape;  // empty: a single number
  std::uint64_t begin = 0, end = 0;  // bytes in the data section
  std::uint64_t where = 0;     // byte of the file at which the header names it
  std::size_t count() const {
    std::size_t n = 1;
    for (auto e : shape) n *= static_cast<std::size_t>(e);
    return n;
  }
};

/// (2, 3); () for a single number.
inline std::string shape_text(std::vector<index_t> const& shape) {
  std::string text = "(";
  for (auto e : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(e);
  return text + ")";
}

namespace detail {

/// A name from a file, safe to print: not long, without control characters.
inline std::string printable(std::string_view name, std::size_t longest = 100) {
  std::string text;
  for (char c : name.substr(0, longest)) text += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  return '"' + text + (name.size() > longest ? "...\"" : "\"");
}

/// Reads characters and remembers how far, so that a message can say where in the file it is.
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

/// The events of a JSON parser become records; anything but the format's one form is refused.
class safetensors_header {
 public:
  std::map<std::string, std::string> metadata;
  std::map<std::string, tensor_record> tensors;

  safetensors_header(std::string const& file, char const* begin, char const* end) : file_(file), begin_(begin), furthest_(begin) {
    nlohmann::json::sax_parse(counting_iterator{begin, &furthest_}, counting_iterator{end, &furthest_}, this);
  }

  // What nlohmann::json::sax_parse calls.
  bool null() { return refuse("a string, an object or a list of integers", "null"); }
  bool boolean(bool) { return refuse("a string, an object or a list of integers", "true or false"); }
  bool number_integer(std::int64_t v) { return refuse("an integer that is not negative", std::to_string(v)); }
  bool number_float(double, std::string const& text) { return refuse("an integer", printable(text)); }
  bool binary(nlohmann::json::binary_t&) { return refuse("JSON text", "binary data"); }
  bool number_unsigned(std::uint64_t v) {
    if (state_ == in_shape) {
      if (v > static_cast<std::uint64_t>(std::numeric_limits<index_t>::max())) return refuse("an extent below 2^63", std::to_string(v));
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
    if (state_ == in_metadata) {
      if (!metadata.emplace(key_, std::move(text)).second) return refuse("each name once", printable(key_) + " again");
    } else if (state_ == in_tensor && key_ == "dtype") {
      if (!find_element_type(text)) return refuse("one of " + all_element_types() + " as dtype of " + printable(name_), printable(text));
      record_.type = std::move(text);
    } else {
      return refuse("no string here", printable(text));
    }
    return true;
  }
  bool start_object(std::size_t) {
    if (state_ == outside && !begun_) {
      begun_ = true;
      state_ = in_file;
    } else if (state_ == in_file && key_ == "__metadata__") {
      if (std::exchange(metadata_seen_, true)) return refuse("one \"__metadata__\"", "another");
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
    if (state_ == in_tensor) {
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
    if (state_ == in_tensor && key_ == "shape") state_ = in_shape;
    else if (state_ == in_tensor && key_ == "data_offsets") state_ = in_offsets;
    else return refuse("no list here", "[");
    return true;
  }
  bool end_array() {
    if (state_ == in_offsets && offsets_ != 2) return refuse("two data_offsets for tensor " + printable(name_), std::to_string(offsets_));
    state_ = in_tensor;
    return true;
  }
  bool key(std::string& text) {
    key_ = std::move(text);
    if (state_ != in_tensor) return true;
    if (key_ != "dtype" && key_ != "shape" && key_ != "data_offsets")
      return refuse("dtype, shape and data_offsets for tensor " + printable(name_), printable(key_));
    if (!seen_.insert(key_).second) return refuse("one " + key_ + " for tensor " + printable(name_), "another");
    return true;
  }
  bool parse_error(std::size_t, std::string const&, nlohmann::json::exception const& e) {
    return refuse("a header in JSON", printable(e.what(), 300));
  }

 private:
  enum place { outside, in_file, in_metadata, in_tensor, in_shape, in_offsets };

  std::uint64_t offset() const { return 8 + static_cast<std::uint64_t>(furthest_ - begin_); }
  [[noreturn]] bool refuse(std::string const& expected, std::string const& found) const {
    throw data_error(file_ + ", byte " + std::to_string(offset()) + ": expected " + expected + ", found " + found +
                     "; this is no sound safetensors file: fetch or write it again");
  }

  std::string const& file_;
  char const *begin_, *furthest_;
  place state_ = outside;
  bool begun_ = false, metadata_seen_ = false;
  std::string key_, name_;
  tensor_record record_;
  std::set<std::string> seen_;
  int offsets_ = 0;
};

}  // namespace detail

/// A file in memory.
class safetensors {
 public:
  /// Reads the whole file and checks its header.
  explicit safetensors(std::string const& path) : file_(path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) throw data_error(path + ": expected a safetensors file, found none; give the path of one");
    auto const size = std::filesystem::file_size(path, error);
    std::ifstream in(path, std::ios::binary);
    if (error || !in) throw data_error(path + ": cannot be read; may you read it?");
    parse(size, [&](void* to, std::uint64_t bytes) {
      in.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
      if (!in) fail(8, std::to_string(size) + " bytes", "fewer: it changed while it was read");
    });
  }
  /// The same of bytes; `name` is what messages call them.
  safetensors(std::span<std::byte const> bytes, std::string name) : file_(std::move(name)) {
    parse(bytes.size(), [&](void* to, std::uint64_t count) {
      if (count) std::memcpy(to, bytes.data(), count);
      bytes = bytes.subspan(count);
    });
  }

  std::string const& file() const { return file_; }
  std::map<std::string, std::string> const& metadata() const { return metadata_; }
  std::map<std::string, tensor_record> const& tensors() const { return tensors_; }
  bool has(std::string const& name) const { return tensors_.count(name) != 0; }
  std::vector<index_t> const& shape(std::string const& name) const { return record(name).shape; }

  /// The string of this name in __metadata__.
  std::string const& text(std::string const& name) const {
    auto const found = metadata_.find(name);
    if (found == metadata_.end()) fail(8, detail::printable(name) + " in __metadata__", "none");
    return found->second;
  }

  tensor_record const& record(std::string const& name) const {
    auto const found = tensors_.find(name);
    if (found == tensors_.end()) throw data_error(file_ + ": expected a tensor " + detail::printable(name) + ", found none; it has " + names());
    return found->second;
  }

  /// A tensor of any type as it is stored.
  std::span<std::byte const> bytes(std::string const& name) const {
    auto const& r = record(name);
    return {data_.data() + r.begin, r.end - r.begin};
  }

  /// A tensor of just this type, aligned whatever the file; one byte is also the view of a BOOL.
  template <class T>
  vec<T const> view(std::string const& name) const {
    static_assert(!std::is_same_v<T, bool>, "safetensors: view a BOOL as std::uint8_t");
    auto const& r = record(name);
    if (r.type != element_type_name<T>() && !(sizeof(T) == 1 && r.type == "BOOL"))
      fail(r.where, std::string(element_type_name<T>()) + " for tensor " + detail::printable(name), r.type);
    auto const moved = realigned_.find(name);
    auto const* const first = moved != realigned_.end() ? moved->second.data() : data_.data() + r.begin;
    return make_vec(reinterpret_cast<T const*>(first), static_cast<index_t>(r.count()));
  }

  /// A copy, converted: any number to a floating-point type, integers to integers that can hold them.
  template <class T>
  std::vector<T> read_as(std::string const& name) const {
    auto const& r = record(name);
    auto const& type = *find_element_type(r.type);
    if (!type.readable) fail(r.where, "a tensor " + detail::printable(name) + " of numbers that can be converted", r.type + "; only its bytes can be read");
    std::vector<T> result(r.count());
    for (std::size_t i = 0; i < result.size(); ++i)
      detail::with_number(r.type, data_.data() + r.begin + i * type.bytes, [&](auto v) {
        if constexpr (std::is_floating_point_v<T>) {
          result[i] = static_cast<T>(v);
        } else if constexpr (std::is_floating_point_v<decltype(v)>) {
          fail(r.where, "integers for tensor " + detail::printable(name), r.type);
        } else {
          if (!std::in_range<T>(v))
            fail(header_end_ + r.begin + i * type.bytes, "a number that fits " + std::string(element_type_name<T>()) + " in tensor " + detail::printable(name),
                 std::to_string(v));
          result[i] = static_cast<T>(v);
        }
      });
    return result;
  }
  /// A single number.
  template <class T>
  T number(std::string const& name) const {
    auto const& r = record(name);
    if (r.count() != 1) fail(r.where, "a single number " + detail::printable(name), "shape " + shape_text(r.shape));
    return read_as<T>(name).front();
  }

 private:
  [[noreturn]] void fail(std::uint64_t byte, std::string const& expected, std::string const& found) const {
    throw data_error(file_ + ", byte " + std::to_string(byte) + ": expected " + expected + ", found " + found +
                     "; this is not the safetensors file that was expected: fetch or write it again");
  }

  std::string names() const {
    std::string text;
    std::size_t listed = 0;
    for (auto const& [name, r] : tensors_) {
      if (++listed > 8) return text + ", ...";
      text += (text.empty() ? "" : ", ") + detail::printable(name);
    }
    return text.empty() ? "no tensors" : text;
  }

  template <class Read>
  void parse(std::uint64_t size, Read&& read) {
    if (size < 8) fail(0, "at least 8 bytes, the length of a header", std::to_string(size) + " bytes");
    std::uint64_t length = 0;
    read(&length, 8);
    if (length > longest_safetensors_header || length > size - 8)
      fail(0, "a header of at most " + std::to_string(std::min(longest_safetensors_header, size - 8)) + " bytes", "one of " + std::to_string(length));
    std::string text(length, '\0');
    read(text.data(), length);
    if (text.empty() || text.front() != '{') fail(8, "a header that begins with {", text.empty() ? "none" : detail::printable(text.substr(0, 1)));
    detail::safetensors_header header(file_, text.data(), text.data() + text.size());
    metadata_ = std::move(header.metadata);
    tensors_ = std::move(header.tensors);
    header_end_ = 8 + length;
    check(size - header_end_);
    try {
      data_.resize(size - header_end_);
    } catch (std::exception const&) {
      fail(header_end_, "data that fit in memory", std::to_string(size - header_end_) + " bytes");
    }
    read(data_.data(), data_.size());
    for (auto const& [name, r] : tensors_)
      if (r.begin % find_element_type(r.type)->bytes != 0)
        realigned_[name].assign(data_.begin() + static_cast<std::ptrdiff_t>(r.begin), data_.begin() + static_cast<std::ptrdiff_t>(r.end));
  }

  /// Every tensor has the bytes that its shape needs, and together they are the data section, each byte once.
  void check(std::uint64_t data_bytes) const {
    std::vector<std::pair<std::string const*, tensor_record const*>> order;
    for (auto const& [name, r] : tensors_) {
      auto const tensor = "tensor " + detail::printable(name);
      if (r.begin > r.end || r.end > data_bytes)
        fail(r.where, "data_offsets in order and up to " + std::to_string(data_bytes) + " for " + tensor, "[" + std::to_string(r.begin) + ", " + std::to_string(r.end) + "]");
      std::uint64_t needed = find_element_type(r.type)->bytes;
      bool const empty = std::find(r.shape.begin(), r.shape.end(), 0) != r.shape.end();
      for (auto e : r.shape) {
        auto const extent = static_cast<std::uint64_t>(e);
        if (!empty && needed > std::numeric_limits<std::uint64_t>::max() / extent) fail(r.where, "a size below 2^64 for " + tensor, "shape " + shape_text(r.shape));
        needed = empty ? 0 : needed * extent;
      }
      if (needed != r.end - r.begin)
        fail(r.where, std::to_string(needed) + " bytes for " + tensor + ", " + r.type + " " + shape_text(r.shape), std::to_string(r.end - r.begin));
      order.emplace_back(&name, &r);
    }
    std::sort(order.begin(), order.end(), [](auto const& a, auto const& b) { return std::pair(a.second->begin, a.second->end) < std::pair(b.second->begin, b.second->end); });
    std::uint64_t end = 0;
    for (auto const& [name, r] : order) {
      if (r->begin != end)
        fail(r->where, "tensor " + detail::printable(*name) + " to begin where the one before it ends, at " + std::to_string(end),
             (r->begin < end ? "an overlap from " : "a gap up to ") + std::to_string(r->begin));
      end = r->end;
    }
    if (end != data_bytes) fail(header_end_ + end, "the end of the file", std::to_string(data_bytes - end) + " bytes of no tensor");
  }

  std::string file_;
  std::map<std::string, std::string> metadata_;
  std::map<std::string, tensor_record> tensors_;
  std::uint64_t header_end_ = 8;
  std::vector<std::byte> data_;  // begins aligned for every type
  std::map<std::string, std::vector<std::byte>> realigned_;  // copies of the tensors whose offset is not
};

/// Collects tensors and strings, then writes them: the largest alignment first, so that all are naturally aligned, then by name.
/// The same content gives the same bytes.
class safetensors_writer {
 public:
  /// A string of __metadata__.
  void text(std::string const& name, std::string value) {
    if (!metadata_.emplace(name, std::move(value)).second) throw contract_violation("safetensors_writer: two strings are called " + name);
  }

  /// Copies a row-major tensor.
  template <class T>
  void add(std::string const& name, std::vector<index_t> shape, std::span<T const> values) {
    add_bytes(name, element_type_name<T>(), std::move(shape), std::as_bytes(values));
  }
  template <class T>
  void add(std::string const& name, std::vector<index_t> shape, std::vector<T> const& values) {
    add(name, std::move(shape), std::span<T const>(values));
  }
  void add_bytes(std::string const& name, std::string_view type, std::vector<index_t> shape, std::span<std::byte const> bytes) {
    auto const* const known = find_element_type(type);
    if (!known) throw contract_violation("safetensors_writer: no element type is called " + std::string(type));
    tensor_record record{std::string(type), std::move(shape)};
    if (record.count() * known->bytes != bytes.size())
      throw contract_violation("safetensors_writer: " + name + " has " + std::to_string(bytes.size()) + " bytes, its shape " +
                               shape_text(record.shape) + " needs " + std::to_string(record.count() * known->bytes));
    if (name == "__metadata__" || !tensors_.emplace(name, entry{std::move(record), {bytes.begin(), bytes.end()}}).second)
      throw contract_violation("safetensors_writer: " + name + " is taken");
  }

  /// The file's content.
  std::vector<std::byte> bytes() const {
    std::vector<std::pair<std::string const*, entry const*>> order;
    for (auto const& [name, e] : tensors_) order.emplace_back(&name, &e);
    std::stable_sort(order.begin(), order.end(), [](auto const& a, auto const& b) { return size_of(*a.second) > size_of(*b.second); });
    auto header = nlohmann::ordered_json::object();
    if (!metadata_.empty()) header["__metadata__"] = metadata_;
    std::uint64_t end = 0;
    for (auto const& [name, e] : order) {
      auto const begin = std::exchange(end, end + e->data.size());
      header[*name] = {{"dtype", e->record.type}, {"shape", e->record.shape}, {"data_offsets", {begin, end}}};
    }
    std::string text;
    try {
      text = header.dump();
    } catch (nlohmann::json::exception const&) {
      throw contract_violation("safetensors_writer: names and strings must be UTF-8");
    }
    text.resize((text.size() + 7) / 8 * 8, ' ');
    std::uint64_t const length = text.size();
    std::vector<std::byte> all;
    all.reserve(8 + length + end);
    auto const append = [&](void const* from, std::size_t count) {
      auto const* const first = static_cast<std::byte const*>(from);
      all.insert(all.end(), first, first + count);
    };
    append(&length, 8);
    append(text.data(), length);
    for (auto const& [name, e] : order) append(e->data.data(), e->data.size());
    return all;
  }

  /// Afterwards `path` is the new file; where anything fails it is what it was.
  void write(std::string const& path) const {
    auto const content = bytes();
    atomic_file file(path);
    file.write(content);
    file.commit();
  }

 private:
  struct entry {
    tensor_record record;
    std::vector<std::byte> data;
  };
  static std::size_t size_of(entry const& e) { return find_element_type(e.record.type)->bytes; }

  std::map<std::string, std::string> metadata_;
  std::map<std::string, entry> tensors_;
};

}  // namespace triad
