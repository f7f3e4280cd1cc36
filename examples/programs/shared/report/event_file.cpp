// SPDX-License-Identifier: Apache-2.0
#include "event_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <chrono>
#include <system_error>

#include "shared/report/refuse.hpp"
#include "shared/run/run_folder.hpp"

namespace triad::programs {
namespace {

constexpr std::array<std::uint32_t, 256> crc_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    auto c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1U) != 0 ? c >> 1U ^ 0x82f63b78U : c >> 1U;
    table[i] = c;
  }
  return table;
}();

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8U * static_cast<unsigned>(i) & 0xffU);
  return text;
}

std::string varint(std::uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7U) text += static_cast<char>((value & 0x7fU) | 0x80U);
  return text + static_cast<char>(value);
}

// Returns one field of a protocol buffer: its number and its value.
std::string number_field(unsigned field, std::uint64_t value) { return varint(field << 3U) + varint(value); }
std::string double_field(unsigned field, double value) {
  return varint(field << 3U | 1U) + little_endian(std::bit_cast<std::uint64_t>(value), 8);
}
std::string bytes_field(unsigned field, std::string_view bytes) {
  return varint(field << 3U | 2U) + varint(bytes.size()) + std::string(bytes);
}
std::string float_field(unsigned field, float value) {
  return varint(field << 3U | 5U) + little_endian(std::bit_cast<std::uint32_t>(value), 4);
}

std::string check(std::string_view bytes) {
  auto const c = crc32c(bytes);
  return little_endian((c >> 15U | c << 17U) + 0xa282ead8U, 4);
}

std::string event_at(std::uint64_t step, std::string const& what) {
  using seconds = std::chrono::duration<double>;
  return double_field(1, seconds(std::chrono::system_clock::now().time_since_epoch()).count()) + number_field(2, step) +
         what;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t c = 0xffffffffU;
  for (char const byte : bytes) c = crc_table[(c ^ static_cast<unsigned char>(byte)) & 0xffU] ^ c >> 8U;
  return ~c;
}

std::string event_record(std::string_view event) {
  auto const length = little_endian(event.size(), 8);
  return length + check(length) + std::string(event) + check(event);
}

event_file::event_file(std::string const& folder, std::uint64_t step) {
  make_folder(folder);
  // TensorBoard reads files in the order of their names, so a name begins with the time.  A process may create two
  // files within one second, so a name ends with the nanoseconds.
  auto const now = std::chrono::system_clock::now().time_since_epoch();
  auto const nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  path_ = fmt::format("{}/events.out.tfevents.{:010}.triad.{}.{:09}", folder, nanoseconds / 1'000'000'000, getpid(),
                      nanoseconds % 1'000'000'000);
  file_.reset(std::fopen(path_.c_str(), "wb"));
  if (!file_) refuse("{}: cannot be written: {}", path_, std::generic_category().message(errno));
  write(event_at(step, bytes_field(3, "brain.Event:2")));
  // After a SessionLog.START at this step, TensorBoard drops all values of earlier files from this step on.
  if (step > 0) write(event_at(step + 1, bytes_field(7, number_field(1, 1))));
  flush();
}

void event_file::add(std::uint64_t step, std::vector<scalar> const& values) {
  std::string summary;
  for (auto const& [tag, value] : values)
    summary += bytes_field(1, bytes_field(1, tag) + float_field(2, static_cast<float>(value)));
  write(event_at(step, bytes_field(5, summary)));
}

void event_file::write(std::string const& event) {
  auto const record = event_record(event);
  if (std::fwrite(record.data(), 1, record.size(), file_.get()) != record.size())
    refuse("{}: cannot be written: {}", path_, std::generic_category().message(errno));
}

}  // namespace triad::programs
