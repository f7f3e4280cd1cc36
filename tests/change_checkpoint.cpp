// Changes the configuration in a checkpoint, for tests of programs that read checkpoints.
// SPDX-License-Identifier: Apache-2.0
//
//   triad-change-checkpoint FILE          prints the names in the configuration, one a line; nested names as
//   `outer.inner`
//   triad-change-checkpoint FILE NAME VALUE RESULT   writes RESULT: FILE with the JSON value VALUE for NAME; `none`
//                                                    removes NAME
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace {

using nlohmann::json;

// A safetensors file: the length of the header in 8 bytes, the header, and the rest.
struct parts {
  json header;
  std::string tensors;

  explicit parts(std::string const& path) {
    std::ifstream in(path, std::ios::binary);
    std::string const all{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (all.size() < 8) throw std::runtime_error(path + ": no such checkpoint");
    std::uint64_t length = 0;
    for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(all[i]);
    header = json::parse(all.substr(8, length));
    tensors = all.substr(8 + length);
  }
  json configuration() const { return json::parse(header.at("__metadata__").at("configuration").get<std::string>()); }
  void write(json const& configuration, std::string const& path) {
    header["__metadata__"]["configuration"] = configuration.dump();
    auto text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    std::ofstream out(path, std::ios::binary);
    for (int i = 0; i < 8; ++i) out.put(static_cast<char>(text.size() >> 8 * i & 255));
    out << text << tensors;
    if (!out.flush()) throw std::runtime_error(path + ": cannot be written");
  }
};

void list(json const& all, std::string const& prefix = {}) {
  for (auto const& [name, value] : all.items()) {
    std::printf("%s%s\n", prefix.c_str(), name.c_str());
    if (value.is_object()) list(value, prefix + name + ".");
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2 && count != 5) return std::fprintf(stderr, "triad-change-checkpoint FILE [NAME VALUE RESULT]\n"), 1;
  try {
    parts file(arguments[1]);
    auto all = file.configuration();
    if (count == 2) return list(all), 0;
    std::string name = arguments[2];
    std::string const value = arguments[3];
    auto* inside = &all;
    for (auto dot = name.find('.'); dot != std::string::npos; dot = name.find('.')) {
      inside = &inside->at(name.substr(0, dot));
      name.erase(0, dot + 1);
    }
    if (value == "none")
      inside->erase(name);
    else
      inside->at(name) = json::parse(value);
    file.write(all, arguments[4]);
  } catch (std::exception const& e) {
    return std::fprintf(stderr, "triad-change-checkpoint: %s\n", e.what()), 1;
  }
}
