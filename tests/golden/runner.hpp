// Checks every golden file of a folder on the chosen backends and prints what it found.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "families.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/reference/reference.hpp"

namespace triad::golden {

struct options {
  std::filesystem::path folder;
  std::vector<std::string> kinds;     // none: all
  std::vector<std::string> backends{"reference", "cpu"};
  std::string dtype;                  // "f32", "f64", or both
  bool allow_unbuilt = false;
};

struct totals {
  int files = 0, passed = 0, failed = 0, unbuilt = 0;
};

inline bool is_known(std::string_view kind) {
  return std::find(std::begin(known_kinds), std::end(known_kinds), kind) != std::end(known_kinds);
}

/// One file on one backend.  False where it failed.
template <backend Ex>
bool check_file(Ex& ex, std::string const& backend_name, golden_file const& file, std::ostream& out) {
  report r(file);
  try {
    if (file.single())
      check_as<float>(ex, file, r);
    else
      check_as<double>(ex, file, r);
    r.finish();
  } catch (std::exception const& e) {
    r.fail(e.what());
  }
  out << "  " << backend_name << ":";
  for (auto const& [group, found] : r.groups()) out << "  " << group << " " << brief(found.error);
  out << (r.passed() ? "  passed\n" : "  FAILED\n");
  for (auto const& failure : r.failures()) out << "    " << failure << "\n";
  return r.passed();
}

inline bool check_on(std::string const& name, golden_file const& file, std::ostream& out) {
  if (name == "reference") {
    reference::backend ex;
    return check_file(ex, name, file, out);
  }
  if (name == "cpu") {
    cpu::backend ex;
    return check_file(ex, name, file, out);
  }
  out << "  " << name << ": this build does not have the backend " << name << "  FAILED\n";
  return false;
}

inline totals run(options const& o, std::ostream& out) {
  totals t;
  std::vector<std::filesystem::path> paths;
  for (auto const& entry : std::filesystem::directory_iterator(o.folder))
    if (entry.path().extension() == ".safetensors") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());

  auto const wanted = [&](golden_file const& file) {
    bool const kind = o.kinds.empty() || std::find(o.kinds.begin(), o.kinds.end(), file.kind) != o.kinds.end();
    return kind && (o.dtype.empty() || file.dtype().empty() || file.dtype() == o.dtype);
  };
  for (auto const& path : paths) {
    auto const name = path.filename().string();
    try {
      golden_file const file(path);
      if (!wanted(file)) continue;
      ++t.files;
      if (is_built(file.kind)) {
        out << name << "  " << file.kind << (file.dtype().empty() ? "" : "  limit " + brief(report(file).tolerance())) << "\n";
        bool right = true;
        for (auto const& backend : o.backends) right = check_on(backend, file, out) && right;
        ++(right ? t.passed : t.failed);
      } else if (is_known(file.kind)) {
        out << name << "  " << file.kind << "  not built yet" << (o.allow_unbuilt ? "\n" : "  FAILED\n");
        ++t.unbuilt;
      } else {
        out << name << "  " << file.kind << "  is no kind that is known  FAILED\n";
        ++t.failed;
      }
    } catch (std::exception const& e) {
      out << name << "  FAILED\n    " << e.what() << "\n";
      ++t.files;
      ++t.failed;
    }
    out.flush();
  }
  out << t.files << " files, " << t.passed << " passed, " << t.failed << " failed, " << t.unbuilt << " not built yet\n";
  return t;
}

/// Nothing failed, and something was checked.
inline bool succeeded(totals const& t, options const& o) { return t.files > 0 && t.failed == 0 && (o.allow_unbuilt || t.unbuilt == 0); }

}  // namespace triad::golden
