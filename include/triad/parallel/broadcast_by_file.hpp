// Sends bytes from process 0 to all other processes.  The processes are not connected yet, so they use files in a
// shared folder.
// SPDX-License-Identifier: Apache-2.0
//
//   process r > 0   draws a random number and writes the file PATH.r: "wants NUMBER"
//   process 0       reads those files and writes the file PATH: the number of each process, and the bytes
//   process r > 0   finds its number in PATH, reads the bytes and writes PATH.r: "has NUMBER"
//   process 0       removes all files
//
// Files of an earlier run have other numbers.  So no process reads the bytes of these files, and the files do not stop
// a process from joining.  A file is first written completely under another name, then moved to its final name.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/parallel/communicator.hpp"

namespace triad {

namespace detail {
inline std::string text_of_file(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void move_into_place(std::string const& path, std::string const& text) {
  auto const draft = path + ".draft";
  std::ofstream file(draft, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  std::error_code wrong;
  if (file) std::filesystem::rename(draft, path, wrong);
  if (file && !wrong) return;
  std::error_code unused;
  std::filesystem::remove(draft, unused);
  throw communication_error(path + " cannot be written" + (wrong ? ": " + wrong.message() : "") +
                            "; name a file in a folder that every process sees and may write");
}

inline std::string drawn_number() {
  std::random_device random;
  std::array<char, 33> text{};
  for (int k = 0; k < 4; ++k) std::snprintf(text.data() + 8 * k, 9, "%08x", random());
  return text.data();
}
inline std::string hexadecimal_bytes(std::string const& bytes) {
  std::string text;
  for (char const byte : bytes) {
    auto const c = static_cast<unsigned char>(byte);
    text += "0123456789abcdef"[c / 16];
    text += "0123456789abcdef"[c % 16];
  }
  return text;
}
/// Returns the bytes of a hexadecimal text.  If the text is not hexadecimal, the bytes are arbitrary.
inline std::string bytes_of_hexadecimal(std::string const& text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes += static_cast<char>(std::strtol(text.substr(i, 2).c_str(), nullptr, 16));
  return bytes;
}

/// Waits until done() returns true.  If the wait is longer than `patience`, throws communication_error with the text of
/// late().
template <class Done, class Late>
void wait_for_files(std::chrono::milliseconds patience, Done const& done, Late const& late) {
  auto const end = std::chrono::steady_clock::now() + patience;
  while (!done()) {
    if (std::chrono::steady_clock::now() >= end) throw communication_error(late());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}
}  // namespace detail

/// Returns the `bytes` that process 0 passes, in every process.  All processes must call this function.  `path` is the
/// name of a file that only this run uses, in a folder that all processes can access.  Throws communication_error if a
/// file cannot be written, or if a process does not call the function within `patience`.
inline std::string broadcast_by_file(std::string const& path, int rank, int size, std::string const& bytes,
                                     std::chrono::milliseconds patience) {
  TRIAD_EXPECTS(rank >= 0 && rank < size,
                "broadcast_by_file: rank is " + std::to_string(rank) + ", expected 0 to " + std::to_string(size - 1));
  auto const waited = [&] { return std::to_string(patience.count() / 1000) + " s"; };
  auto const of = [&](int r) { return path + "." + std::to_string(r); };
  std::error_code none;
  if (rank > 0) {
    auto const mine = detail::drawn_number();
    detail::move_into_place(of(rank), "wants " + mine + "\n");
    std::string found;
    detail::wait_for_files(
        patience,
        [&] {
          std::istringstream words(detail::text_of_file(path));
          std::string number, hexadecimal, end;
          bool here = false;
          for (int r = 1; r < size && words >> number; ++r) here = here || (r == rank && number == mine);
          if (!here || !(words >> hexadecimal >> end) || end != "end") return false;
          found = detail::bytes_of_hexadecimal(hexadecimal.substr(1));
          return true;
        },
        [&] {
          std::filesystem::remove(of(rank), none);
          return "process " + std::to_string(rank) + " has waited " + waited() + " for process 0 of " +
                 std::to_string(size) + " to write " + path +
                 "; start all processes together, with one number of processes, where they see one folder";
        });
    detail::move_into_place(of(rank), "has " + mine + "\n");
    return found;
  }
  std::vector<std::string> wanted(static_cast<std::size_t>(size)), written(wanted);
  std::vector<bool> has(wanted.size());
  has[0] = true;
  detail::wait_for_files(
      patience,
      [&] {
        bool all_want = true, all_have = true;
        for (std::size_t r = 1; r < wanted.size(); ++r) {
          std::istringstream words(detail::text_of_file(of(static_cast<int>(r))));
          std::string what, number;
          words >> what >> number;
          if (what == "wants" && number.size() == 32) wanted[r] = number;
          has[r] = what == "has" && number == written[r];
          all_want = all_want && !wanted[r].empty();
          all_have = all_have && has[r];
        }
        if (all_want && wanted != written) {
          std::string text;
          for (std::size_t r = 1; r < wanted.size(); ++r) text += wanted[r] + "\n";
          // The leading "x" makes the field non-empty even if there are no bytes.
          detail::move_into_place(path, text + "x" + detail::hexadecimal_bytes(bytes) + "\nend\n");
          written = wanted;
        }
        return all_have;
      },
      [&] {
        std::string missing;
        for (std::size_t r = 1; r < has.size(); ++r)
          if (!has[r]) missing += (missing.empty() ? "" : ", ") + std::to_string(r);
        std::filesystem::remove(path, none);
        return "process 0 has waited " + waited() + " at " + path + " for process " + missing + " of " +
               std::to_string(size) +
               "; start all processes together, with one number of processes, where they see one folder";
      });
  for (int r = 1; r < size; ++r) std::filesystem::remove(of(r), none);
  std::filesystem::remove(path, none);
  return bytes;
}

}  // namespace triad
