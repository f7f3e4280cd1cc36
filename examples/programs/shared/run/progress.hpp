// Prints the progress of a long run.  On a terminal it prints a bar, otherwise a line after every tenth of the run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdio.h>  // fileno
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "shared/processes/world.hpp"

namespace triad::programs {

/// Returns a text such as "3 h 12 min", "4 min 05 s" or "7.3 s".
inline std::string duration(double seconds) {
  std::array<char, 64> text{};
  long long const whole = seconds < 1e15 && seconds > 0 ? static_cast<long long>(seconds + 0.5) : 0;
  if (seconds < 59.95)
    std::snprintf(text.data(), text.size(), "%.1f s", std::max(seconds, 0.0));
  else if (whole < 3600)
    std::snprintf(text.data(), text.size(), "%lld min %02lld s", whole / 60, whole % 60);
  else
    std::snprintf(text.data(), text.size(), "%lld h %02lld min", whole / 3600, whole % 3600 / 60);
  return text.data();
}

class progress {
 public:
  enum class style { bar, lines };

  /// `total` is the amount of work, counted in `unit`, such as "examples".  `already` is the amount of work that an
  /// earlier process has done.  It does not count for the speed.
  progress(std::string label, std::int64_t total, std::string unit = "examples", std::int64_t already = 0,
           std::FILE* to = stderr)
      : progress(std::move(label), total, std::move(unit), already, to,
                 isatty(fileno(to)) != 0 ? style::bar : style::lines) {}

  progress(std::string label, std::int64_t total, std::string unit, std::int64_t already, std::FILE* to, style how)
      : label_(std::move(label)),
        unit_(std::move(unit)),
        total_(std::max<std::int64_t>(total, 1)),
        already_(already),
        tenth_(10 * already / total_),
        to_(to),
        style_(how),
        start_(clock::now()),
        shown_(start_ - std::chrono::hours(1)) {}

  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;
  ~progress() { finish(); }

  /// Shows that `done` of `total` units are done, with a short note such as "loss 0.312".  It is fast enough to be
  /// called in every step.
  void update(std::int64_t done, std::string const& note = {}) {
    if (finished_ || !world().is_first()) return;
    std::int64_t const tenth = 10 * done / total_;
    auto const now = clock::now();
    bool const complete = done >= total_;
    if (style_ == style::bar ? !complete && now - shown_ < std::chrono::milliseconds(100) : tenth <= tenth_) return;
    tenth_ = std::max(tenth, tenth_);
    shown_ = now;
    show(std::min(done, total_), note, std::chrono::duration<double>(now - start_).count());
  }

  /// Ends the line of the bar, so that other text can follow.  Later calls of update() have no effect.
  void finish() {
    if (!std::exchange(finished_, true) && style_ == style::bar && width_ > 0) std::fputc('\n', to_);
    std::fflush(to_);
  }

 private:
  using clock = std::chrono::steady_clock;

  void show(std::int64_t done, std::string const& note, double seconds) {
    double const speed = seconds > 0 ? static_cast<double>(done - already_) / seconds : 0;
    std::array<char, 96> figures{};
    std::snprintf(figures.data(), figures.size(), "%3d%%  %.*f %s/s", static_cast<int>(100 * done / total_),
                  speed < 100 ? 1 : 0, speed, unit_.c_str());
    std::string line = label_ + "  ";
    if (style_ == style::bar) {
      int const filled = static_cast<int>(bar_width * done / total_);
      line += '[' + std::string(static_cast<std::size_t>(filled), '#') +
              std::string(static_cast<std::size_t>(bar_width - filled), '.') + "] ";
    }
    line += figures.data();
    if (done >= total_)
      line += ", took " + duration(seconds);
    else if (speed > 0)
      line += ", " + duration(static_cast<double>(total_ - done) / speed) + " left";
    if (!note.empty()) line += "  " + note;
    // A line that is wider than the terminal would be wrapped, and could not be overwritten.
    if (style_ == style::bar) line.resize(std::min(line.size(), columns() - 1));
    std::size_t const width = line.size();
    if (style_ == style::bar) {
      if (width < width_) line.append(width_ - width, ' ');  // overwrites the end of the longer line before
      line.insert(0, 1, '\r');
    } else {
      line += '\n';
    }
    width_ = width;
    std::fputs(line.c_str(), to_);
    std::fflush(to_);
  }

  [[nodiscard]] std::size_t columns() const {
    winsize size{};
    return ioctl(fileno(to_), TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 100;
  }

  static constexpr std::int64_t bar_width = 24;

  std::string label_;
  std::string unit_;
  std::int64_t total_;
  std::int64_t already_;
  std::int64_t tenth_;
  std::FILE* to_;
  style style_;
  clock::time_point start_;
  clock::time_point shown_;
  std::size_t width_ = 0;
  bool finished_ = false;
};

}  // namespace triad::programs
