// Selects the files of a folder, checks them, and prints the result of each file and the totals.
// SPDX-License-Identifier: Apache-2.0
#include "runner.hpp"

#include <algorithm>
#include <ostream>
#include <utility>

#include "families.hpp"
#include "kinds.hpp"

namespace triad::golden {
namespace {

bool contains(std::vector<std::string> const& list, std::string const& wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

std::vector<std::pair<std::string, void (*)(golden_file const&, report&)>> const& checks() {
  using check = std::pair<std::string, void (*)(golden_file const&, report&)>;
  static std::vector<check> const all = [] {
    std::vector<check> result{
        {"reference", check_on_reference},
#if defined(TRIAD_GOLDEN_CPU)
        {"cpu", check_on_cpu},
        {"cpu-bf16", check_on_cpu_in_bf16},
#endif
#if defined(TRIAD_GOLDEN_CUDA)
        {TRIAD_GOLDEN_CUDA, check_on_cuda},
        {TRIAD_GOLDEN_CUDA "-tf32", check_on_cuda_in_tf32},
        {TRIAD_GOLDEN_CUDA "-bf16", check_on_cuda_in_bf16},
        {TRIAD_GOLDEN_CUDA "-f16", check_on_cuda_in_f16},
#endif
    };
#if defined(TRIAD_GOLDEN_ONEDNN)
    if (onednn_computes_bf16()) result.emplace_back("onednn-bf16", check_on_onednn_in_bf16);
#endif
    return result;
  }();
  return all;
}

bool rounds(std::string const& backend) { return rounding_of(backend) != rounding::none; }

/// Prints a line such as `reference  passed  outputs 2.1e-16  d x 3.0e-16  (limit 1.0e-09)`.
void print(std::string const& backend, report const& r, std::ostream& out) {
  out << "  " << backend << (r.passed() ? "  passed" : "  FAILED");
  auto const& groups = r.groups();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    out << "  " << groups[i].first << " " << brief(groups[i].second.error);
    if (i + 1 == groups.size() || groups[i + 1].second.limit != groups[i].second.limit)
      out << "  (limit " << brief(groups[i].second.limit) << ")";
  }
  if (!r.remark().empty()) out << "  (" << r.remark() << ")";
  out << "\n";
  for (auto const& failure : r.failures()) out << "    " << failure << "\n";
}

bool check_on(std::string const& backend, golden_file const& file, std::ostream& out) {
  report r(file, rounding_of(backend));
  try {
    auto const found =
        std::find_if(checks().begin(), checks().end(), [&](auto const& c) { return c.first == backend; });
    if (found == checks().end()) throw data_error("this build does not have the backend " + backend);
    found->second(file, r);
    r.finish();
  } catch (std::exception const& e) {
    r.fail(e.what());
  }
  print(backend, r, out);
  return r.passed();
}

}  // namespace

std::vector<std::string> const& built_backends() {
  static std::vector<std::string> const names = [] {
    std::vector<std::string> result;
    for (auto const& [name, check] : checks()) result.push_back(name);
    return result;
  }();
  return names;
}

rounding rounding_of(std::string const& backend) {
  if (backend.ends_with("-bf16")) return rounding::to_7_bits;
  bool const of_10_bits = backend.ends_with("-tf32") || backend.ends_with("-f16");
  return of_10_bits ? rounding::to_10_bits : rounding::none;
}

totals run(options const& o, std::ostream& out) {
  std::vector<std::filesystem::path> paths;
  for (auto const& entry : std::filesystem::directory_iterator(o.folder))
    if (entry.path().extension() == ".safetensors") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());

  totals t;
  for (auto const& path : paths) try {
      golden_file const file(path);
      if (!o.kinds.empty() && !contains(o.kinds, file.kind)) continue;
      if (!o.dtype.empty() && !file.dtype().empty() && file.dtype() != o.dtype) continue;
      auto backends = o.backends;
      if (!file.single()) std::erase_if(backends, rounds);
      if (backends.empty()) continue;
      ++t.files;
      out << path.filename().string() << "  " << file.kind;
      if (is_built(file.kind)) {
        out << "\n";
        bool right = true;
        for (auto const& backend : backends) right = check_on(backend, file, out) && right;
        ++(right ? t.passed : t.failed);
      } else if (is_known(file.kind) || contains(o.planned, file.kind)) {
        out << (o.allow_unbuilt ? "  not built yet\n" : "  FAILED  not built yet\n");
        ++t.unbuilt;
      } else {
        out << "  FAILED  no known kind\n";
        ++t.failed;
      }
    } catch (std::exception const& e) {
      out << path.filename().string() << "  FAILED\n    " << e.what() << "\n";
      ++t.files;
      ++t.failed;
    }
  out << t.files << " files, " << t.passed << " passed, " << t.failed << " failed, " << t.unbuilt << " not built yet\n";
  return t;
}

bool succeeded(totals const& t, options const& o) {
  return t.files > 0 && t.failed == 0 && (o.allow_unbuilt || t.unbuilt == 0);
}

}  // namespace triad::golden
