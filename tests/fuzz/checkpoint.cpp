// Fuzzes the reader of a checkpoint's header. The input is the header; zeros follow for all weights and moments.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/checkpoint.hpp"

#include <cstdint>
#include <cstring>
#include <string>

#include "reader.hpp"
#include "tests/train/two_layers.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/parameters.hpp"

namespace {

using namespace triad;

template <class T>
void setting(checkpoint const& file, std::string const& name) {
  fuzz::read_or_refuse(file.tensors().file(), [&] { (void)file.setting<T>(name); });
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static fuzz::input_file file("model.safetensors");
  std::string content(8, '\0');
  std::uint64_t const length = size;
  std::memcpy(content.data(), &length, 8);
  content.append(fuzz::text_of(data, size)).append(3 * 9 * sizeof(float), '\0');
  file.write(content);
  fuzz::read_or_refuse(file.path(), [&] {
    checkpoint const read(file.path());
    for (auto const& [name, value] : read.configuration().items()) {
      setting<int>(read, name);
      setting<std::uint64_t>(read, name);
      setting<bool>(read, name);
      setting<double>(read, name);
      setting<std::string>(read, name);
    }
    fuzz::read_or_refuse(file.path(), [&] { read.expect({{"width", 3}, {"list", {1, 2}}}, {"a", "b"}); });
    read.expect(read.configuration(), read.vocabulary());
    using model = test::two_layers<float>;
    parameter_set<model, reference::backend> parameters(model(2, 1, 1));
    read.load(parameters);
  });
  return 0;
}
