// The result of checking one golden file: the largest error in every group of tensors, and whether the check passed.
// SPDX-License-Identifier: Apache-2.0
//
// Errors are divided by S. For an output, S is the largest absolute value of the tensor. For a gradient, S is the
// largest absolute value of all gradients of the file, because some gradients are mathematically zero. Tolerances are
// relative to S, too.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "golden_file.hpp"

namespace triad::golden {

/// Returns `value` in a short form for error messages.
inline std::string brief(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", value);
  return text;
}

inline double largest(std::vector<double> const& values) {
  double most = 0;
  for (double v : values) most = std::max(most, std::abs(v));
  return most;
}

/// How many bits of the fraction of a factor remain, if a backend rounds the factors of products.
enum class rounding { none, to_7_bits, to_10_bits };  // bf16 has 7 bits, f16 and tf32 have 10

class report {
 public:
  explicit report(golden_file const& file, rounding of_factors = rounding::none) : file_(file), factors_(of_factors) {}

  // ---- tolerances ---------------------------------------------------------------------------------------------------
  // The tolerances of bf16 are those of docs/backends.md. Factors of 10 bits have an eighth of the error. Where all
  // results are smooth, as in attention, their tolerance is a 25th. A unit of relu near 0, and what training adds up,
  // make some errors of other kinds as large as in bf16, so there the tolerance is a half.
  /// The tolerance of outputs. In f32 it is ten times the error of the reference program, but at least 2e-6.
  double tolerance() const {
    return rounds() ? rounded(0.1) : file_.single() ? std::max(10 * file_.single_error, 2e-6) : 1e-9;
  }
  /// The tolerance of gradients. With rounded factors it is wider than that of outputs: if rounding changes the sign of
  /// a unit of relu, a part of the gradient appears or disappears.
  double gradient_tolerance() const { return rounds() ? rounded(0.25) : tolerance(); }
  /// The tolerance of optimisers, clipping and schedules.
  double update_tolerance() const { return file_.single() ? 2e-6 : 1e-12; }
  /// The relative tolerance of losses and gradient norms during training.
  double trace_tolerance() const { return rounds() ? rounded(0.1) : file_.single() ? 1e-4 : 1e-9; }

  // ---- comparisons; each one marks its tensor as compared
  // ------------------------------------------------------------
  /// Compares out/<name>. `label` names the method of computation if there are several.
  void output(std::string const& name, std::vector<double> const& found, std::string const& label = {}) {
    auto const expected = file_.values("out/" + name);
    bool const is_loss = name == "loss";
    double const scale = is_loss && rounds() ? std::max(largest(expected), loss_terms()) : largest(expected);
    compare("out/" + name, is_loss ? "loss" : "outputs", label, found, expected, scale, tolerance());
  }
  /// Compares out/<name>, which is a difference of two values of the magnitude `scale`. The error is relative to
  /// `scale`.
  void difference(std::string const& name, double found, double scale, std::string const& label = {}) {
    compare("out/" + name, "outputs", label, {found}, file_.values("out/" + name), scale, tolerance());
  }
  void integers(std::string const& name, std::vector<index_t> const& found, std::string const& label = {}) {
    auto expected = file_.integers("out/" + name);
    if (rounds() && found.size() == expected.size()) {
      // Rounding may change the larger one of two scores that are almost equal.
      std::size_t others = 0;
      for (std::size_t i = 0; i < found.size(); ++i) others += found[i] != expected[i];
      if (10 * others <= found.size()) expected = found;
    }
    compare("out/" + name, "outputs", label, {found.begin(), found.end()}, {expected.begin(), expected.end()}, 1, 0);
  }
  /// Compares grad/<name>, for example in/x or param/linears.0.weight.
  void gradient(std::string const& name, std::vector<double> const& found, std::string const& label = {}) {
    compare("grad/" + name, "d " + group(name), label, found, file_.values("grad/" + name), gradient_scale(),
            gradient_tolerance());
  }
  /// Compares any stored tensor with a given tolerance, which is `limit` times the tensor's largest element.
  void tensor(std::string const& name, std::string const& in_group, std::vector<double> const& found, double limit,
              std::string const& label = {}) {
    auto const expected = file_.values(name);
    compare(name, in_group, label, found, expected, largest(expected), limit);
  }
  /// Compares the first `most` elements of a stored tensor. The tolerance of an element is `limit` times the element.
  void relative(std::string const& name, std::string const& in_group, std::vector<double> const& found, double limit,
                std::size_t most = std::numeric_limits<std::size_t>::max()) {
    auto const expected = file_.values(name);
    if (found.size() != expected.size()) return wrong_size(name, "", found.size(), expected.size());
    for (std::size_t i = 0; i < std::min(most, expected.size()); ++i)
      compare(name, in_group, "element " + std::to_string(i), {found[i]}, {expected[i]}, std::abs(expected[i]), limit);
  }
  bool rounds() const { return factors_ != rounding::none; }
  /// Skips a stored tensor that this model deliberately does not have.
  void skip(std::string const& name) { compared_.insert(name); }
  /// Sets a text that is printed next to the verdict.
  void remark(std::string const& text) { remark_ = text; }
  std::string const& remark() const { return remark_; }
  void fail(std::string const& reason) { failures_.push_back(reason); }

  /// Must be called last. Fails if an output or a gradient of the file has not been compared. A gradient that the
  /// reference does not have is not required.
  void finish() {
    for (auto const* prefix : {"out/", "grad/"})
      for (auto const& name : file_.names(prefix)) {
        std::string const parameter = name.starts_with("grad/param/") ? name.substr(11) : "";
        if (!compared_.contains(name) && !file_.may_be_absent(parameter)) fail(name + " was not compared");
      }
  }

  // ---- results ------------------------------------------------------------------------------------------------------
  struct found_error {
    double error = 0, limit = 0;
  };
  /// The groups in the order of their first comparison.
  std::vector<std::pair<std::string, found_error>> const& groups() const { return groups_; }
  std::vector<std::string> const& failures() const { return failures_; }
  bool passed() const { return failures_.empty(); }

 private:
  /// Returns the sum of the absolute terms of a loss with cotangents, or 0 if the file has none. The terms cancel each
  /// other, so the error of such a loss in bf16 is relative to this sum.
  double loss_terms() const {
    double sum = 0;
    for (auto const& name : file_.names("cotangent/")) {
      auto const weights = file_.values(name), values = file_.values("out/" + name.substr(10));
      for (std::size_t i = 0; i < weights.size() && i < values.size(); ++i) sum += std::abs(weights[i] * values[i]);
    }
    return sum;
  }
  /// Returns the largest absolute element of all gradients in the file.
  double gradient_scale() {
    if (gradient_scale_ < 0)
      for (auto const& name : file_.names("grad/"))
        gradient_scale_ = std::max(gradient_scale_, largest(file_.values(name)));
    return gradient_scale_;
  }

  /// Returns the group of a tensor. The weights and biases of one map, at all depths, form one group.
  static std::string group(std::string name) {
    for (std::string_view const prefix : {"param/", "in/"})
      if (name.starts_with(prefix)) name.erase(0, prefix.size());
    for (std::string_view const suffix : {".weight", ".bias"})
      if (name.ends_with(suffix)) name.erase(name.size() - suffix.size());
    auto const at = name.find("layers.");
    if (at == std::string::npos) return name;
    auto const rest = name.find_first_not_of("0123456789", at + 7);
    return name.substr(0, at) + "layers.*" + (rest == std::string::npos ? "" : name.substr(rest));
  }

  void wrong_size(std::string const& name, std::string const& label, std::size_t found, std::size_t expected) {
    fail(describe(name, label) + " has " + std::to_string(found) + " elements; expected " + std::to_string(expected));
  }
  static std::string describe(std::string const& name, std::string const& label) {
    return label.empty() ? name : name + " (" + label + ")";
  }

  void compare(std::string const& name, std::string const& in_group, std::string const& label,
               std::vector<double> const& found, std::vector<double> const& expected, double scale, double limit) {
    compared_.insert(name);
    if (found.size() != expected.size()) return wrong_size(name, label, found.size(), expected.size());
    double worst = 0;
    std::size_t where = 0;
    bool right = true;
    for (std::size_t i = 0; i < found.size(); ++i) {
      double const apart = std::abs(found[i] - expected[i]);
      double const difference = std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
      right = right && difference <= limit * scale;
      if (difference > worst) worst = difference, where = i;
    }
    double const error = scale > 0 ? worst / scale : worst;
    auto& g = find_group(in_group);
    g.error = std::max(g.error, error);
    g.limit = std::max(g.limit, limit);
    if (!right)
      fail(describe(name, label) + ": element " + std::to_string(where) + " is " + exact(found[where]) + ", expected " +
           exact(expected[where]) + "; error " + brief(error) + ", limit " + brief(limit));
  }

  found_error& find_group(std::string const& name) {
    for (auto& [known, found] : groups_)
      if (known == name) return found;
    return groups_.emplace_back(name, found_error{}).second;
  }

  static std::string exact(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
  }

  double rounded(double in_bf16) const {
    if (factors_ == rounding::to_7_bits) return in_bf16;
    return file_.kind.starts_with("tri_attn") ? in_bf16 / 25 : in_bf16 / 2;
  }

  golden_file const& file_;
  rounding factors_;
  double gradient_scale_ = -1;
  std::vector<std::pair<std::string, found_error>> groups_;
  std::set<std::string> compared_;
  std::vector<std::string> failures_;
  std::string remark_;
};

}  // namespace triad::golden
