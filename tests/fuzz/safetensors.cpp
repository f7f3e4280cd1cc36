// Fuzzes the reader of safetensors files. Tensors that were read are written by the writer and read again.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/safetensors.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

#include "reader.hpp"

namespace {

using namespace triad;

template <class T>
void convert(safetensors const& file, std::string const& name) {
  fuzz::read_or_refuse("input", [&] {
    fuzz::expect(file.read_as<T>(name).size() == file.record(name).count(), "as many values as the shape says");
  });
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  fuzz::read_or_refuse("input", [&] {
    safetensors const file(std::as_bytes(std::span(data, size)), "input");
    safetensors_writer writer;
    for (auto const& [name, value] : file.metadata()) {
      writer.text(name, value);
      auto const* const stored = file.stored_name(name);
      fuzz::expect(!stored || file.has(*stored), "an alias is of a tensor that is there");
    }
    std::size_t written_tensors = 0;  // number of tensors whose types the writer supports
    for (auto const& [name, record] : file.tensors()) {
      auto const bytes = file.bytes(name);
      if (find_element_type(record.type)) {
        writer.add_bytes(name, record.type, record.shape, bytes);
        ++written_tensors;
      }
      convert<float>(file, name);
      convert<double>(file, name);
      convert<std::int8_t>(file, name);
      convert<std::int64_t>(file, name);
    }
    auto const written = writer.bytes();
    safetensors const again(written, "input");
    fuzz::expect(again.metadata() == file.metadata(), "metadata are read as they were written");
    fuzz::expect(again.tensors().size() == written_tensors, "tensors are read as they were written");
    for (auto const& [name, record] : file.tensors()) {
      if (!again.has(name)) continue;
      auto const before = file.bytes(name), after = again.bytes(name);
      fuzz::expect(again.record(name).shape == record.shape && again.record(name).type == record.type,
                   "shapes and types are read as they were written");
      fuzz::expect(std::equal(before.begin(), before.end(), after.begin(), after.end()),
                   "values are read as they were written");
    }
  });
  return 0;
}
