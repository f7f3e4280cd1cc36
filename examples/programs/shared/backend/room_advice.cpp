// SPDX-License-Identifier: Apache-2.0
#include "room_advice.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "memory_size.hpp"
#include "shared/report/refuse.hpp"

namespace triad::programs {
namespace {

constexpr std::size_t most_told = 8;

/// Returns the number at the beginning of a file. Returns nothing if the file begins with a word such as "max".
std::optional<std::size_t> number_in(char const* file) {
  std::ifstream text(file);
  std::size_t number = 0;
  return text >> number ? std::optional(number) : std::nullopt;
}

/// Returns Linux's estimate of the memory that is available without swapping.
std::optional<std::size_t> available() {
  std::ifstream text("/proc/meminfo");
  std::size_t kibibytes = 0;
  for (std::string name; text >> name;)
    if (name == "MemAvailable:" && text >> kibibytes) return kibibytes * 1024;
  return std::nullopt;
}

}  // namespace

std::string told_sizes(std::vector<sized_example> all, std::string const& unit) {
  std::string places, sizes;
  auto const count = all.size();
  if (count > most_told) {
    std::stable_sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.size > b.size; });
    all.resize(most_told);
  }
  for (auto const& one : all) {
    places += (places.empty() ? "" : ", ") + one.place;
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(one.size);
  }
  if (count > most_told)
    return fmt::format("{} and {} more have up to {} {}", places, count - most_told, all.front().size, unit);
  return fmt::format("{} {} {} {}", places, count == 1 ? "has" : "have", sizes, unit);
}

std::optional<std::size_t> memory_left() {
  auto least = available();
  auto const bound = [&](std::optional<std::size_t> most, std::optional<std::size_t> used) {
    if (!most || !used) return;
    auto const left = *most > *used ? *most - *used : 0;
    least = least ? std::min(*least, left) : left;
  };
  rlimit limit{};
  auto const pages = number_in("/proc/self/statm");
  if (pages && ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    bound(static_cast<std::size_t>(limit.rlim_cur), *pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  bound(number_in("/sys/fs/cgroup/memory.max"), number_in("/sys/fs/cgroup/memory.current"));
  bound(number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        number_in("/sys/fs/cgroup/memory/memory.usage_in_bytes"));
  return least;
}

void refuse_room(room_advice const& advice, std::size_t bytes, std::optional<std::size_t> left) {
  std::string asked = bytes > 0 ? told_size(bytes) + " of memory" : std::string();
  if (bytes > 0 && left && *left < bytes) asked += ", and this run has " + told_size(*left);
  auto const larger = advice.larger ? advice.larger() : std::vector<sized_example>();
  if (larger.empty())
    refuse("there is not enough memory for {}{}: {}", advice.batches, asked.empty() ? "" : " (" + asked + ")",
           advice.remedy);
  refuse("{}: {}; leave {} out, or take a smaller model, or more memory", told_sizes(larger, advice.unit),
         asked.empty() ? "there is not enough memory" : asked, larger.size() == 1 ? "it" : "them");
}

}  // namespace triad::programs
