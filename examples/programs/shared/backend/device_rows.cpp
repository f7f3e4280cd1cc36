// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "shared/processes/processes.hpp"
#include "shared/processes/world.hpp"
#include "shared/report/refuse.hpp"

namespace triad::programs {
namespace {

/// The functions of triad-nccl.so, or the reason why the library could not be loaded.
struct nccl_library {
  char const* (*name_of_gpu)(int device) = nullptr;
  device_rows* (*make)(process_group& processes, int device, void* stream) = nullptr;
  std::string why_not;
};

nccl_library load() {
  nccl_library l;
  std::error_code none;
  auto const path = beside_program("triad-nccl.so");
  if (!std::filesystem::exists(path, none)) {
    l.why_not = "the program was built without NCCL";
    return l;
  }
  if (void* const opened = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    l.name_of_gpu = reinterpret_cast<decltype(l.name_of_gpu)>(::dlsym(opened, "triad_name_of_gpu"));
    l.make = reinterpret_cast<decltype(l.make)>(::dlsym(opened, "triad_rows_by_nccl"));
  }
  if (l.name_of_gpu == nullptr || l.make == nullptr) {
    char const* const why = ::dlerror();
    l.why_not =
        fmt::format("{} cannot be loaded: {}", path.string(), why != nullptr ? why : "it is of another version");
  }
  return l;
}

}  // namespace

std::string why_no_nccl(std::vector<device_place> const& of_all) {
  for (std::size_t r = 0; r < of_all.size(); ++r)
    if (!of_all[r].why_not.empty()) return fmt::format("{} (process {} of {})", of_all[r].why_not, r, of_all.size());
  for (std::size_t r = 0; r < of_all.size(); ++r)
    for (std::size_t s = 0; s < r; ++s)
      if (of_all[s].gpu == of_all[r].gpu)
        return fmt::format("processes {} and {} share a GPU, {}, and NCCL wants one for each", s, r, of_all[r].gpu);
  return {};
}

std::unique_ptr<device_rows> rows_by_nccl(int device, void* stream) {
  static nccl_library const nccl = load();
  device_place own{{}, nccl.why_not};
  if (own.why_not.empty()) {
    char const* const name = nccl.name_of_gpu(device);
    if (name == nullptr) refuse("GPU {} has no name, by which it would be known to NCCL", device);
    own.gpu = fmt::format("{} of {}", name, host_name());
  }
  std::vector<device_place> of_all;
  for (auto const& gpu : texts_of_all(own.gpu)) of_all.push_back({gpu, {}});
  auto const reasons = texts_of_all(own.why_not);
  for (std::size_t r = 0; r < reasons.size(); ++r) of_all[r].why_not = reasons[r];

  auto const why = why_no_nccl(of_all);
  if (why.empty()) return std::unique_ptr<device_rows>(nccl.make(world(), device, stream));
  static bool reported = false;
  if (!reported && world().is_first())
    fmt::print(stderr, "gradients go from GPU to GPU through the memory of the host, not by NCCL: {}\n", why);
  reported = true;
  return nullptr;
}

}  // namespace triad::programs
