// Reads and writes safetensors files, which have named tensors and strings.  Reading checks the whole header.  Writing
// is atomic.
// SPDX-License-Identifier: Apache-2.0
//
//   8 bytes  length of the header, little endian
//   header   {"__metadata__": {name: string ...},
//             name: {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]} ...}
//   data     tensors in row-major order; offsets count from here; there are no gaps and no overlaps
//
// If a file has an error, reading throws data_error with the position of the wrong byte.  If the element type of a
// tensor is unknown, or if no C++ type corresponds to it, the tensor can be read only as bytes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
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
#include "triad/io/lfs_pointer.hpp"
#include "triad/io/safetensors_header.hpp"

namespace triad {

static_assert(std::endian::native == std::endian::little,
              "triad: safetensors files are little-endian, and so must be the machine");

/// The content of a safetensors file, in memory.
class safetensors {
 public:
  /// Reads the whole file, and checks its header.
  explicit safetensors(std::string const& path) : file_(path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error))
      throw data_error(path + ": expected a safetensors file, found none; give the path of one");
    auto const size = std::filesystem::file_size(path, error);
    std::ifstream in(path, std::ios::binary);
    if (error || !in) throw data_error(path + ": cannot be read; check its permissions");
    parse(size, [&](void* to, std::uint64_t bytes) {
      in.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
      if (!in) fail(8, std::to_string(size) + " bytes", "fewer: it changed while it was read");
    });
  }
  /// Reads a file from bytes in memory.  Messages use `name` as the name of the file.
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

  /// Returns the name under which tensor `name` is stored.  This is `name`, or the name to which __metadata__ maps
  /// `name`.  save_model of safetensors.torch writes such aliases for tensors that share memory.  Returns null if the
  /// tensor is not stored.
  std::string const* stored_name(std::string const& name) const {
    if (auto const found = tensors_.find(name); found != tensors_.end()) return &found->first;
    auto const shared = metadata_.find(name);
    return shared != metadata_.end() && has(shared->second) ? &shared->second : nullptr;
  }

  /// Returns the string with this name in __metadata__.
  std::string const& text(std::string const& name) const {
    auto const found = metadata_.find(name);
    if (found == metadata_.end()) fail(8, detail::printable(name) + " in __metadata__", "none");
    return found->second;
  }

  tensor_record const& record(std::string const& name) const {
    auto const found = tensors_.find(name);
    if (found == tensors_.end())
      throw data_error(file_ + ": expected a tensor " + detail::printable(name) + ", found none; it has " + names());
    return found->second;
  }

  /// Returns the bytes of a tensor, whatever its type.
  std::span<std::byte const> bytes(std::string const& name) const {
    auto const& r = record(name);
    return {data_.data() + r.begin, r.end - r.begin};
  }

  /// Returns a view of a tensor, whose elements must have exactly the type T.  The view is always aligned.  If T has
  /// one byte, the elements may also have the type BOOL.
  template <class T>
  vec<T const> view(std::string const& name) const {
    static_assert(!std::is_same_v<T, bool>, "safetensors: view a BOOL as std::uint8_t");
    auto const& r = record(name);
    if (r.type != element_type_name<T>() && !(sizeof(T) == 1 && r.type == "BOOL"))
      fail(r.where, std::string(element_type_name<T>()) + " for tensor " + detail::printable(name),
           detail::type_text(r.type));
    auto const moved = realigned_.find(name);
    auto const* const first = moved != realigned_.end() ? moved->second.data() : data_.data() + r.begin;
    return make_vec(reinterpret_cast<T const*>(first), static_cast<index_t>(r.count()));
  }

  /// Returns a converted copy of a tensor.  If T is a floating-point type, all numbers are converted.  If T is an
  /// integer type, the tensor must have integers that T can hold.
  template <class T>
  std::vector<T> read_as(std::string const& name) const {
    auto const& r = record(name);
    auto const* const type = find_element_type(r.type);
    if (!type || !type->readable)
      throw data_error(file_ + ", byte " + std::to_string(r.where) + ": " + detail::printable(name) + ": type " +
                       detail::type_text(r.type) + ", expected one of " + readable_element_types() +
                       "; write it in one of these, or read its bytes");
    std::vector<T> result(r.count());
    for (std::size_t i = 0; i < result.size(); ++i)
      detail::with_number(r.type, data_.data() + r.begin + i * type->bytes(), [&](auto v) {
        if constexpr (std::is_floating_point_v<T>) {
          result[i] = static_cast<T>(v);
        } else if constexpr (std::is_floating_point_v<decltype(v)>) {
          fail(r.where, "integers for tensor " + detail::printable(name), r.type);
        } else {
          if (!std::in_range<T>(v))
            fail(header_end_ + r.begin + i * type->bytes(),
                 "a number that fits " + std::string(element_type_name<T>()) + " in tensor " + detail::printable(name),
                 std::to_string(v));
          result[i] = static_cast<T>(v);
        }
      });
    return result;
  }
  /// Returns the only number of a tensor with one element.
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
    if (length > longest_safetensors_header || length > size - 8) {
      std::string begin(std::min<std::uint64_t>(size, lfs_pointer_begin.size()), '\0');
      std::memcpy(begin.data(), &length, 8);
      read(begin.data() + 8, begin.size() - 8);
      refuse_lfs_pointer(file_, begin);
      auto const refuse = [&](std::string const& found, std::string const& advice) {
        throw data_error(file_ + ", byte 0: expected a safetensors file, found " + found + "; " + advice);
      };
      if (begin.starts_with("PK\3\4"))
        refuse("a zip archive, as torch.save writes", "write the tensors with safetensors.torch.save_file");
      if (begin.starts_with('{'))
        refuse("JSON, as an index of several files is", "give the path of one file, or join them");
      fail(0, "a header of at most " + std::to_string(std::min(longest_safetensors_header, size - 8)) + " bytes",
           "one of " + std::to_string(length));
    }
    std::string text(length, '\0');
    read(text.data(), length);
    if (text.empty() || text.front() != '{')
      fail(8, "a header that begins with {", text.empty() ? "none" : detail::printable(text.substr(0, 1)));
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
      if (auto const* const type = find_element_type(r.type); type && type->readable && r.begin % type->bytes() != 0)
        realigned_[name].assign(data_.begin() + static_cast<std::ptrdiff_t>(r.begin),
                                data_.begin() + static_cast<std::ptrdiff_t>(r.end));
  }

  /// Checks that every tensor has as many bytes as its shape needs, and that the tensors cover each byte of the data
  /// section exactly once.
  void check(std::uint64_t data_bytes) const {
    std::vector<std::pair<std::string const*, tensor_record const*>> order;
    for (auto const& [name, r] : tensors_) {
      auto const tensor = "tensor " + detail::printable(name);
      if (r.begin > r.end || r.end > data_bytes)
        fail(r.where, "data_offsets in order and up to " + std::to_string(data_bytes) + " for " + tensor,
             "[" + std::to_string(r.begin) + ", " + std::to_string(r.end) + "]");
      auto const* const type = find_element_type(r.type);
      std::uint64_t bits = type ? type->bits : 1;
      bool const empty = std::find(r.shape.begin(), r.shape.end(), 0) != r.shape.end();
      for (auto e : r.shape) {
        auto const extent = static_cast<std::uint64_t>(e);
        if (!empty && bits > std::numeric_limits<std::uint64_t>::max() / extent)
          fail(r.where, "a size below 2^64 bits for " + tensor, "shape " + shape_text(r.shape));
        bits = empty ? 0 : bits * extent;
      }
      if (type && bits % 8 != 0)
        fail(r.where, "whole bytes for " + tensor,
             std::to_string(bits) + " bits of " + r.type + " " + shape_text(r.shape));
      if (type && bits / 8 != r.end - r.begin)
        fail(r.where, std::to_string(bits / 8) + " bytes for " + tensor + ", " + r.type + " " + shape_text(r.shape),
             std::to_string(r.end - r.begin));
      order.emplace_back(&name, &r);
    }
    std::sort(order.begin(), order.end(), [](auto const& a, auto const& b) {
      return std::pair(a.second->begin, a.second->end) < std::pair(b.second->begin, b.second->end);
    });
    std::uint64_t end = 0;
    for (auto const& [name, r] : order) {
      if (r->begin != end)
        fail(r->where,
             "tensor " + detail::printable(*name) + " to begin where the one before it ends, at " + std::to_string(end),
             (r->begin < end ? "an overlap from " : "a gap up to ") + std::to_string(r->begin));
      end = r->end;
    }
    if (end != data_bytes)
      fail(header_end_ + end, "the end of the file", std::to_string(data_bytes - end) + " bytes of no tensor");
  }

  std::string file_;
  std::map<std::string, std::string> metadata_;
  std::map<std::string, tensor_record> tensors_;
  std::uint64_t header_end_ = 8;
  std::vector<std::byte> data_;                              // starts at an address that is aligned for every type
  std::map<std::string, std::vector<std::byte>> realigned_;  // aligned copies of tensors whose offset is not aligned
};

/// Collects tensors and strings, and then writes a file.  Tensors are sorted by alignment, the largest alignment first,
/// and then by name.  So all tensors are naturally aligned, and equal content gives equal bytes.
class safetensors_writer {
 public:
  /// Adds a string to __metadata__.
  void text(std::string const& name, std::string value) {
    if (!metadata_.emplace(name, std::move(value)).second)
      throw contract_violation("safetensors_writer: the string " + name + " is given twice, expected once");
  }

  /// Adds a copy of a row-major tensor.
  template <class T>
  void add(std::string const& name, std::vector<index_t> shape, std::span<T const> values) {
    add_bytes(name, element_type_name<T>(), std::move(shape), std::as_bytes(values));
  }
  template <class T>
  void add(std::string const& name, std::vector<index_t> shape, std::vector<T> const& values) {
    add(name, std::move(shape), std::span<T const>(values));
  }
  void add_bytes(std::string const& name, std::string_view type, std::vector<index_t> shape,
                 std::span<std::byte const> bytes) {
    auto const* const known = find_element_type(type);
    if (!known) throw contract_violation("safetensors_writer: no element type is called " + std::string(type));
    tensor_record record{std::string(type), std::move(shape)};
    if (auto const needed = record.count() * known->bits; needed != bytes.size() * 8)
      throw contract_violation("safetensors_writer: " + name + " has " + std::to_string(bytes.size()) +
                               " bytes, its shape " + shape_text(record.shape) + " needs " +
                               std::to_string(needed / 8) + (needed % 8 != 0 ? " and a part of one" : ""));
    if (name == "__metadata__" ||
        !tensors_.emplace(name, entry{std::move(record), {bytes.begin(), bytes.end()}}).second)
      throw contract_violation("safetensors_writer: the tensor " + name + " is given twice, expected once");
  }

  /// Returns the bytes of the whole file.
  std::vector<std::byte> bytes() const {
    std::vector<std::pair<std::string const*, entry const*>> order;
    for (auto const& [name, e] : tensors_) order.emplace_back(&name, &e);
    std::stable_sort(order.begin(), order.end(),
                     [](auto const& a, auto const& b) { return size_of(*a.second) > size_of(*b.second); });
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

  /// Writes the file atomically: if anything fails, the file at `path` is unchanged.
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
  static std::size_t size_of(entry const& e) { return find_element_type(e.record.type)->bits; }

  std::map<std::string, std::string> metadata_;
  std::map<std::string, entry> tensors_;
};

}  // namespace triad
