// Tests the records of TensorBoard's event files. tests/scripts/events.py reads the event files of a run.
// SPDX-License-Identifier: Apache-2.0
#include "shared/report/event_file.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"

namespace programs_event_file_tests {

using namespace triad::programs;

TEST_CASE("CRC-32C has the values of RFC 3720, appendix B.4") {
  CHECK(crc32c({}) == 0);
  CHECK(crc32c("123456789") == 0xe3069283U);
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aaU);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43U);
}

TEST_CASE("a record is the length, its check, the event and its check") {
  auto const record = event_record("abc");
  REQUIRE(record.size() == 8 + 4 + 3 + 4);
  CHECK(record.substr(0, 8) == std::string("\3\0\0\0\0\0\0\0", 8));
  CHECK(record.substr(12, 3) == "abc");
  auto const number_at = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 4; i-- > 0;) value = value << 8U | static_cast<unsigned char>(record[at + i]);
    return value;
  };
  auto const masked = [](std::uint32_t c) { return (c >> 15U | c << 17U) + 0xa282ead8U; };
  CHECK(number_at(8) == masked(crc32c(record.substr(0, 8))));
  CHECK(number_at(15) == masked(crc32c("abc")));
}

TEST_CASE("a file begins with its version, and one of a run that goes on with the start of a session") {
  triad::test::scratch_folder const folder;
  auto const text_of = [](std::string const& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  event_file first(folder / "new/events", 0), second(folder / "new/events", 200);
  first.add(1, {{"train/loss", 0.5}});
  first.flush();
  CHECK(first.path() != second.path());
  auto const one = text_of(first.path()), other = text_of(second.path());
  CHECK(one.find("brain.Event:2") != std::string::npos);
  CHECK(one.find("train/loss") != std::string::npos);
  CHECK(other.find(std::string("\x10\xc9\x01\x3a\x02\x08\x01", 7)) != std::string::npos);  // step 201, SessionLog.START
  CHECK(one.find(std::string("\x3a\x02\x08\x01", 4)) == std::string::npos);
}

}  // namespace programs_event_file_tests
