// Allows only one run at a time in a folder.  Two runs would overwrite each other's files.
// SPDX-License-Identifier: Apache-2.0
//
// A run locks the file FOLDER/run.lock with flock, and removes it at its end.  The system releases the lock when the
// process ends, for any reason.  So the file of a killed run is not locked, and the next run can lock it.  The error
// message for a second run uses the content of the file.  If the file system has no flock, the content also decides
// whether the folder is in use.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "shared/processes/processes.hpp"
#include "shared/processes/world.hpp"
#include "triad/core/errors.hpp"

namespace triad::programs {

namespace detail {

/// Returns the process number PID in a name of the form NAME.partPID, in which NAME is a file that runs write.
/// atomic_file gives such names to temporary files.  Returns 0 for any other name.
inline long long writer_of(std::string const& name) {
  static constexpr std::string_view mark = ".part";
  auto const at = name.rfind(mark);
  if (at == std::string::npos) return 0;
  auto const number = name.substr(at + mark.size());
  if (number.empty() || number.size() > 10 || number.find_first_not_of("0123456789") != std::string::npos) return 0;
  auto const whole = name.substr(0, at);
  for (auto const* ending : {".safetensors", ".csv", ".toml", ".txt", ".jsonl", ".svg", ".conllu"})
    if (whole.ends_with(ending)) return std::stoll(number);
  return 0;
}

/// Returns true if process `number` may still be writing the file.  This is so if the process runs now, and was already
/// running when the file was last written.
inline bool may_be_written(std::string const& path, long long number) {
  if (number == ::getpid()) return false;  // this run has not written anything yet
  if (is_there({number, host_name(), {}, 0}) == still::gone) return false;
  struct stat file{};
  auto const started = start_time(number);
  bool const both_known = started > 0 && ::stat(path.c_str(), &file) == 0;
  // A process that started later is a different process with the same number.
  return !both_known || started <= file.st_mtime + 2;
}

}  // namespace detail

/// Removes the incomplete files of killed runs from the folder.
inline void remove_leftovers(std::string const& folder) {
  std::error_code none;
  for (std::filesystem::directory_iterator at(folder, none), end; !none && at != end; at.increment(none)) {
    auto const path = at->path().string();
    auto const writer = detail::writer_of(at->path().filename().string());
    std::error_code unreadable;
    if (writer > 0 && at->is_regular_file(unreadable) && !detail::may_be_written(path, writer))
      std::filesystem::remove(path, unreadable);
  }
}

class run_lock {
 public:
  /// Locks the folder, which must exist.  Throws data_error if another run has locked it.  A second lock in the same
  /// process has no effect.  If a run has several processes, only the first process holds the lock.
  explicit run_lock(std::string const& folder) : path_(folder + "/run.lock") {
    if (!world().is_first()) return;
    std::error_code none;
    folder_ = std::filesystem::weakly_canonical(folder, none).string();
    if (!held().insert(folder_).second) {
      folder_.clear();
      return;
    }
    try {
      take();
    } catch (...) {
      held().erase(folder_);
      throw;
    }
    remove_leftovers(folder);
  }
  run_lock(run_lock const&) = delete;
  run_lock& operator=(run_lock const&) = delete;
  ~run_lock() {
    if (folder_.empty()) return;
    // The file is removed while the lock is held, so that the next run creates a new file.  If this run's file was
    // already removed, a file with this name belongs to another run and is not removed.
    if (has_its_name()) ::unlink(path_.c_str());
    ::close(file_);
    held().erase(folder_);
  }

 private:
  static std::set<std::string>& held() {
    static std::set<std::string> folders;
    return folders;
  }

  void take() {
    for (bool mine = false; !mine;) {
      file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
      if (file_ < 0)
        throw data_error(path_ + ": cannot be made: " + std::strerror(errno) +
                         "; give a folder with --out that may be written");
      int const failure = ::flock(file_, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
      if (failure == 0) {
        mine = has_its_name();
      } else if (failure != EINTR) {
        std::ifstream text(path_);
        auto const other = process_name::from({std::istreambuf_iterator<char>(text), {}});
        auto const there = failure == EWOULDBLOCK ? still::runs : is_there(other);
        mine = there == still::gone;
        if (!mine) refuse(other, there);
      }
      if (!mine) ::close(file_);
    }
    auto const text = this_process().text();
    if (::ftruncate(file_, 0) != 0 ||
        ::pwrite(file_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
      auto const why = std::string(std::strerror(errno));
      ::unlink(path_.c_str());
      ::close(file_);
      throw data_error(path_ + ": cannot be written: " + why);
    }
  }

  /// Returns false if the opened file was removed.  A user may have removed it, or the process that held the lock
  /// before, after this process opened the file and before it locked the file.
  bool has_its_name() const {
    struct stat named{};
    struct stat opened{};
    return ::stat(path_.c_str(), &named) == 0 && ::fstat(file_, &opened) == 0 && named.st_ino == opened.st_ino &&
           named.st_dev == opened.st_dev;
  }

  [[noreturn]] void refuse(process_name const& other, still there) const {
    ::close(file_);
    auto const folder = std::filesystem::path(path_).parent_path().string();
    auto const who = other.number > 0
                         ? "process " + std::to_string(other.number) + " on " + other.host + ", since " + other.since
                         : std::string("another process");
    if (there == still::unknown)
      throw data_error(folder + " was taken by " + who +
                       ", and whether that still runs cannot be seen from here: if it does not, remove " + path_);
    throw data_error(folder + " has a run already: " + who + "; wait for its end, or give another folder with --out");
  }

  std::string path_, folder_;  // folder_: empty if this process already had the lock
  int file_ = -1;
};

}  // namespace triad::programs
