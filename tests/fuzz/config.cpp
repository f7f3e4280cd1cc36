// Fuzzes the reader of config files (TOML). Settings must be the same after a run has written them and they are read
// again. Any text in UTF-8 must be the same after it is written and read again.
// SPDX-License-Identifier: Apache-2.0
#include "shared/cli/config.cpp"  // the source and not the object file, so that libFuzzer sees its branches

#include "reader.hpp"

namespace {

std::string written(triad::programs::config_item const& item) {
  std::string values;
  for (auto const& value : item.values) values += (values.empty() ? "" : ", ") + triad::programs::toml_text(value);
  return triad::programs::toml_text(item.name) + " = " + (item.values.size() == 1 ? values : "[" + values + "]") + "\n";
}

bool is_utf8(std::string const& text) {
  for (auto const& c : triad::text::characters(text))
    if (c.size() == 1 && static_cast<unsigned char>(c.front()) >= 0x80) return false;
  return true;
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace triad;
  static fuzz::input_file file("config.toml"), again("again.toml");
  file.write(fuzz::text_of(data, size));
  fuzz::read_or_refuse(file.path(), [&] {
    auto const items = programs::read_config(file.path());
    (void)programs::owner_of(items);
    std::string text;
    for (auto const& item : items) {
      if (item.name.find('=') != std::string::npos) return;  // no option has such a name
      text += written(item);
      fuzz::expect(programs::renamed(item.name) == item.name, "a name of now is not renamed again");
    }
    auto const back = programs::read_config(again.write(text).path());
    fuzz::expect(back.size() == items.size(), "as many options are read as were written");
    for (std::size_t i = 0; i < back.size(); ++i)
      fuzz::expect(back[i].name == items[i].name && back[i].values == items[i].values,
                   "options are read as they were written");
  });
  std::string const any(fuzz::text_of(data, size));
  try {
    again.write("data = " + programs::toml_text(any) + "\n");
  } catch (data_error const&) {
    fuzz::expect(!is_utf8(any), "a text that is UTF-8 is written");
    return 0;
  }
  fuzz::expect(is_utf8(any) && programs::config_value(again.path(), "data") == any, "a text is read as it was written");
  return 0;
}
