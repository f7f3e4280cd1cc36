// Identifies a process that is named in a file, and checks whether the process still runs.
// SPDX-License-Identifier: Apache-2.0
//
// The system reuses process numbers. So a process is identified by its host, its number and its start time. The start
// time is field 22 of /proc/PID/stat, in ticks since the machine started. Without /proc, a process is identified by
// host and number.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace triad::programs {

struct process_name {
  long long number = 0;
  std::string host, since;  // since: start time in UTC, for people
  long long ticks = 0;      // start time in ticks; 0: unknown

  std::string text() const {
    return "process " + std::to_string(number) + "\nhost " + host + "\nsince " + since + "\nticks " +
           std::to_string(ticks) + "\n";
  }
  /// Reads a text in the form of text().  Missing parts keep their defaults. If the text has another form, the number
  /// is 0.
  static process_name from(std::string const& text) {
    process_name p;
    std::istringstream lines(text);
    std::string name;
    while (lines >> name) {
      if (name == "process")
        lines >> p.number;
      else if (name == "ticks")
        lines >> p.ticks;
      else if (name == "host")
        lines >> p.host;
      else if (name == "since")
        lines >> p.since;
    }
    return p;
  }
};

/// Returns the start time, in ticks, of a process on this machine. Returns 0 if there is no such process, or if the
/// time is unknown.
inline long long start_ticks(long long number) {
  std::ifstream file("/proc/" + std::to_string(number) + "/stat");
  std::string const all{std::istreambuf_iterator<char>(file), {}};
  auto const after_name = all.rfind(')');  // the name may contain blanks and brackets
  if (after_name == std::string::npos) return 0;
  std::istringstream fields(all.substr(after_name + 1));
  std::string field;
  for (int f = 3; f < 22; ++f) fields >> field;
  long long ticks = 0;
  fields >> ticks;
  return ticks;
}

/// Returns the start time of a process on this machine. Returns 0 if it is unknown.
inline std::time_t start_time(long long number) {
  auto const ticks = start_ticks(number);
  std::ifstream file("/proc/stat");
  std::time_t since_boot = 0;
  for (std::string name; file >> name;)
    if (name == "btime") file >> since_boot;
  return ticks > 0 && since_boot > 0 ? since_boot + static_cast<std::time_t>(ticks / ::sysconf(_SC_CLK_TCK)) : 0;
}

inline std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "unknown";
}

inline process_name this_process() {
  char since[32] = {};
  auto const now = std::time(nullptr);
  std::tm parts{};
  if (::gmtime_r(&now, &parts)) std::strftime(since, sizeof since, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {::getpid(), host_name(), since, start_ticks(::getpid())};
}

enum class still { runs, gone, unknown };

/// Returns whether the process still runs. For a process of another host, this is unknown.
inline still is_there(process_name const& p) {
  if (p.number <= 0) return still::gone;
  if (p.host != host_name()) return still::unknown;
  if (::kill(static_cast<pid_t>(p.number), 0) != 0 && errno == ESRCH) return still::gone;
  auto const ticks = start_ticks(p.number);
  return ticks != 0 && p.ticks != 0 && ticks != p.ticks ? still::gone : still::runs;
}

}  // namespace triad::programs
