// Tests how the lines of a file, gzipped or not, are read, and the errors for files that cannot be read.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/text/gz_lines.hpp"

#include <fstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"
#include "tests/io/text/gzipped.hpp"

namespace io_gz_lines_tests {

using triad::test::contains;
using triad::text::gz_lines;
using list = std::vector<std::string>;

struct folder_of_files : triad::test::scratch_folder {
  std::string plain(std::string const& content) const {
    std::ofstream(*this / "plain", std::ios::binary) << content;
    return *this / "plain";
  }
  // The first bytes of a file, not its name, show that it is gzipped.
  std::string gzipped(std::string const& content) const {
    return triad::test::write_gzipped(*this / "gzipped", content);
  }
};

list lines_of(std::string const& path) {
  list all;
  gz_lines lines(path);
  for (std::string line; lines.next(line);) {
    all.push_back(line);
    CHECK(lines.number() == static_cast<long>(all.size()));
  }
  return all;
}

TEST_CASE("lines of a file have neither their ends nor a byte order mark, which is one at the beginning alone") {
  folder_of_files const folder;
  std::string const content = "\xef\xbb\xbfone\r\n\xef\xbb\xbftwo\n\nfour";
  list const expected{"one", "\xef\xbb\xbftwo", "", "four"};
  CHECK(lines_of(folder.plain(content)) == expected);
  CHECK(lines_of(folder.gzipped(content)) == expected);
  CHECK(lines_of(folder.plain("")).empty());
  CHECK(lines_of(folder.plain("\n")) == list{""});
  gz_lines ends(folder.plain("a\r\nb\n"));
  std::string line;
  CHECK((ends.next(line) && ends.had_carriage_return()));
  CHECK((ends.next(line) && !ends.had_carriage_return()));
  CHECK_FALSE(ends.next(line));
  // The same holds for the last line of a file, or for its only line, if the line has no line end.
  CHECK(lines_of(folder.plain("\xef\xbb\xbf{\"a\": 1}")) == list{"{\"a\": 1}"});
  gz_lines last(folder.plain("a\nb\r"));
  CHECK((last.next(line) && !last.had_carriage_return()));
  CHECK((last.next(line) && line == "b" && last.had_carriage_return()));
  CHECK_FALSE(last.next(line));
}

TEST_CASE("a text that is not UTF-8 is reported with file, line, column and the byte") {
  folder_of_files const folder;
  auto const read = [](std::string const& path) {
    gz_lines lines(path);
    std::string line;
    while (lines.next_text(line)) CHECK_FALSE(line.empty());
  };
  CHECK_NOTHROW(read(folder.plain("\xef\xbb\xbfna\xc3\xafve\r\n\xf0\x9f\xa6\x8a\n")));
  CHECK_THROWS_WITH(read(folder.plain("one\ncaf\xe9 au lait\n")),
                    contains("plain:2:4: the byte 0xE9 is not UTF-8; convert the file to UTF-8"));
  CHECK_THROWS_WITH(read(folder.gzipped("\xc3")), contains("gzipped:1:1: the byte 0xC3 is not UTF-8"));
  CHECK(lines_of(folder.plain("caf\xe9")) == list{"caf\xe9"});  // next() accepts any bytes
}

TEST_CASE("a Git LFS pointer in place of a file is named, and a text about one is read") {
  folder_of_files const folder;
  std::string const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n";
  CHECK_THROWS_WITH(lines_of(folder.plain(pointer)), contains("plain: a Git LFS pointer, expected the file"));
  CHECK(lines_of(folder.plain("a\n" + pointer)).size() == 4);
}

TEST_CASE("a line may be longer than what is read at once") {
  folder_of_files const folder;
  std::string const longer(200'000, 'x');
  CHECK(lines_of(folder.gzipped(longer + "\n" + longer)) == list{longer, longer});
}

TEST_CASE("what cannot be read is reported with file and line") {
  folder_of_files const folder;
  CHECK_THROWS_WITH(gz_lines(folder / "none"), contains("none: cannot be opened: No such file"));
  CHECK_THROWS_WITH(lines_of(folder / ""), contains(":1: cannot be read: "));
  auto const path = folder.gzipped("one\ntwo\n");
  auto bytes = triad::test::content(path);
  bytes.resize(bytes.size() - 6);
  triad::test::write_content(path, bytes);
  CHECK_THROWS_WITH(lines_of(path), contains(":1: the gzip stream is damaged"));
  CHECK_THROWS_WITH(lines_of(folder.gzipped(std::string(gz_lines::longest_line + 1, 'x'))),
                    contains(":1: the line is longer than 16 MiB; is this a text file?"));
}

}  // namespace io_gz_lines_tests
