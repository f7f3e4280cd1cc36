// Writes and reads checkpoints.  A checkpoint is a safetensors file with the state of a training run: the parameters,
// Adam's moments, the step, the random key, the configuration and the vocabulary.
// SPDX-License-Identifier: Apache-2.0
//
//   layers.0.norm1.gain ...                      parameters, named by their dotted paths (core/fields.hpp)
//   adam.m.layers.0.norm1.gain, adam.v. ...      moments, if the run has them
//   average.layers.0.norm1.gain ...              moving averages of parameters, if the run has them
//   __metadata__                                 "format": "triad-checkpoint-2", "step", "random_key", "configuration",
//                                                "vocabulary"; "averages": the number of updates that are averaged;
//                                                "extra.<name>": strings that the program adds
//
// The program provides the configuration and the vocabulary as JSON.  A program that reads the file can build the model
// from them:
//
//   checkpoint const file("model.safetensors");
//   my_model const model(file.setting<index_t>("width"), file.vocabulary().size());
//   parameter_set<my_model, cpu::backend> parameters(model, holding::values);
//   file.load(parameters);
//
// Version 0.1 of the library wrote format 1, which differs from format 2 only in names.  This header replaces the old
// names of parameters (first_format_names).  If a program has renamed settings, it must pass checkpoint() a function
// that renames the settings of a file of format 1.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "triad/core/buffer.hpp"
#include "triad/core/errors.hpp"
#include "triad/core/fields.hpp"
#include "triad/core/random.hpp"
#include "triad/io/json_difference.hpp"
#include "triad/io/json_read.hpp"
#include "triad/io/json_text.hpp"
#include "triad/io/safetensors.hpp"
#include "triad/train/finite_weights.hpp"

namespace triad {

/// The content of a checkpoint without the tensors.
struct checkpoint_state {
  std::uint64_t step = 0;  // the number of updates made so far
  philox_key key = 0;
  nlohmann::json configuration = nlohmann::json::object();  // sizes and settings, by name
  nlohmann::json vocabulary = nlohmann::json::object();
  std::map<std::string, std::string> extra{};  // other strings that the program needs in order to resume
};

namespace detail {
inline constexpr char checkpoint_format[] = "triad-checkpoint-2", first_checkpoint_format[] = "triad-checkpoint-1";
inline constexpr char first_moment_prefix[] = "adam.m.", second_moment_prefix[] = "adam.v.",
                      average_prefix[] = "average.";

/// The endings of parameter paths that differ in format 1.  Each pair has the present ending and the ending in format
/// 1.
inline constexpr std::pair<std::string_view, std::string_view> first_format_names[] = {{".combination", ".shares"}};

template <class View>
std::vector<index_t> shape_of(View view) {
  std::vector<index_t> shape;
  for (std::size_t r = 0; r < View::rank(); ++r) shape.push_back(view.extent(r));
  return shape;
}

template <class Memory, class Fields>
void store_fields(safetensors_writer& file, Fields fields, std::string const& prefix, Memory const& where) {
  walk(fields, [&](std::string const& path, auto view) {
    static_assert(std::is_same_v<typename decltype(view)::layout_type, ::cuda::std::layout_right>,
                  "checkpoint: parameters are contiguous");
    file.add(prefix + path, shape_of(view), host_copy(where, view));
  });
}
/// Calls store_fields() for weights or averages of weights.  Throws training_failure if a value is not finite.
template <class Memory, class Fields>
void store_weights(safetensors_writer& file, Fields fields, std::string const& prefix, Memory const& where) {
  refuse_not_finite(first_not_finite(fields, where), "save_checkpoint", prefix);
  store_fields(file, fields, prefix, where);
}
}  // namespace detail

/// A type that holds moving averages of parameters, such as parameter_averages (train/averages.hpp).
template <class Averages>
concept holds_averages = requires(Averages& averages, Averages const& read, std::uint64_t count) {
  averages.mutable_values(count);
  read.values();
  read.count();
  read.where();
};

/// Writes parameters, and the tensors and strings that `more(safetensors_writer&)` adds.  If a parameter or an average
/// is not finite, this function and the functions below throw training_failure and leave the file unchanged.
template <class Memory, class Fields, class More>
void save_checkpoint(std::string const& path, checkpoint_state const& state, Fields values, More more,
                     Memory const& where = {}) {
  safetensors_writer file;
  file.text("format", detail::checkpoint_format);
  file.text("step", std::to_string(state.step));
  file.text("random_key", std::to_string(state.key));
  file.text("configuration", json_text(state.configuration, path + ": the configuration"));
  file.text("vocabulary", json_text(state.vocabulary, path + ": the vocabulary"));
  for (auto const& [name, value] : state.extra) file.text("extra." + name, value);
  detail::store_weights(file, values, "", where);
  more(file);
  file.write(path);
}
/// Writes only parameters, atomically.  `values` are fields, and `where` is their memory.
template <class Memory = host_memory, class Fields>
  requires(!holds_parameters<Fields> && !learns_parameters<Fields>)
void save_checkpoint(std::string const& path, checkpoint_state const& state, Fields values, Memory const& where = {}) {
  save_checkpoint<Memory>(path, state, values, [](safetensors_writer&) {}, where);
}
namespace detail {
template <class Set>
void store_moments(safetensors_writer& file, Set const& set) {
  if (!set.holds_moments()) return;
  store_fields(file, set.first_moments(), first_moment_prefix, set.where());
  store_fields(file, set.second_moments(), second_moment_prefix, set.where());
}
}  // namespace detail
/// Writes parameters, and Adam's moments if the set holds them.
template <holds_parameters Set>
void save_checkpoint(std::string const& path, checkpoint_state const& state, Set const& set) {
  set.expect_weights("save_checkpoint");
  auto const more = [&](safetensors_writer& file) { detail::store_moments(file, set); };
  save_checkpoint<typename Set::memory>(path, state, set.values(), more, set.where());
}
/// Also writes averages of the parameters, if they average at least one update.
template <holds_parameters Set, holds_averages Averages>
void save_checkpoint(std::string const& path, checkpoint_state const& state, Set const& set, Averages const& averages) {
  set.expect_weights("save_checkpoint");
  auto const more = [&](safetensors_writer& file) {
    detail::store_moments(file, set);
    if (averages.count() == 0) return;
    file.text("averages", std::to_string(averages.count()));
    detail::store_weights(file, averages.values(), detail::average_prefix, averages.where());
  };
  save_checkpoint<typename Set::memory>(path, state, set.values(), more, set.where());
}

/// Writes a training run: parameters, moments, and the trainer's step and key.  The trainer's step and key replace the
/// step and the key in `state`.
template <learns_parameters Learner>
void save_checkpoint(std::string const& path, checkpoint_state state, Learner const& learner) {
  state.step = learner.step();
  state.key = learner.options().key;
  save_checkpoint(path, state, learner.parameters());
}
/// Also writes averages of the learner's parameters.
template <learns_parameters Learner, holds_averages Averages>
void save_checkpoint(std::string const& path, checkpoint_state state, Learner const& learner,
                     Averages const& averages) {
  state.step = learner.step();
  state.key = learner.options().key;
  save_checkpoint(path, state, learner.parameters(), averages);
}

/// A checkpoint that was read from a file.  If the file does not fit the model, load() throws data_error before it
/// changes anything.
class checkpoint {
 public:
  /// The type of a function that changes the state of a file of format 1.  The function replaces the old names of
  /// settings by the present names.
  using upgrade = void (*)(checkpoint_state&);

  /// Throws data_error if the file is not a checkpoint of format 1 or 2.
  explicit checkpoint(std::string const& path, upgrade from_first = nullptr) : file_(path) {
    if (!file_.metadata().count("format"))
      throw data_error(path +
                       ": expected a checkpoint of this library, found a safetensors file of something else; give the "
                       "path of a checkpoint");
    if (file_.text("format") == "pt" || file_.text("format") == "tf" || file_.text("format") == "np" ||
        file_.text("format") == "flax")
      throw data_error(path + ": expected format " + detail::checkpoint_format + ", found " +
                       detail::printable(file_.text("format")) +
                       ": these are weights of another library, without the record that a checkpoint has; load them "
                       "with load_weights "
                       "(io/weights.hpp) into a model of their sizes");
    first_ = file_.text("format") == detail::first_checkpoint_format;
    if (!first_ && file_.text("format") != detail::checkpoint_format)
      throw data_error(path + ": expected format " + detail::checkpoint_format + ", found " +
                       detail::printable(file_.text("format")) +
                       "; it was written by another version: load it with that one");
    state_.step = integer("step");
    state_.key = integer("random_key");
    state_.configuration = parsed("configuration");
    state_.vocabulary = parsed("vocabulary");
    for (auto const& [name, value] : file_.metadata())
      if (name.starts_with("extra.")) state_.extra[name.substr(6)] = value;
    if (first_ && from_first != nullptr) from_first(state_);
  }

  checkpoint_state const& state() const { return state_; }
  std::uint64_t step() const { return state_.step; }
  philox_key key() const { return state_.key; }
  nlohmann::json const& configuration() const { return state_.configuration; }
  nlohmann::json const& vocabulary() const { return state_.vocabulary; }
  bool has_moments() const {
    for (auto const& [name, record] : file_.tensors())
      if (name.starts_with(detail::first_moment_prefix)) return true;
    return false;
  }
  /// Whether the file has moving averages of the parameters.
  bool has_averages() const { return file_.metadata().count("averages") > 0; }
  safetensors const& tensors() const { return file_; }

  /// Returns a value of the configuration, as in setting<index_t>("width").
  template <class T>
  T setting(std::string const& name) const {
    auto const found = state_.configuration.find(name);
    if (found == state_.configuration.end())
      throw data_error(file_.file() + ": expected a setting " + detail::printable(name) +
                       " in its configuration, found none; it was written by another program");
    auto const refuse = [&]() -> data_error {
      return data_error(file_.file() + ": setting " + detail::printable(name) + " is " + quoted(*found) +
                        ", which is of another type than expected");
    };
    if constexpr (std::integral<T> && !std::same_as<T, bool>) {  // get<T>() would silently truncate numbers that T
                                                                 // cannot hold
      if (!is_integer<T>(*found)) throw refuse();
    }
    try {
      return found->template get<T>();
    } catch (nlohmann::json::exception const&) {
      throw refuse();
    }
  }

  /// Returns an integer of the configuration, such as a size.  The integer must be from least to most, as in
  /// setting("width", index_t{1}, largest_size).
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  T setting(std::string const& name, T least, T most) const {
    auto const found = state_.configuration.find(name);
    if (found != state_.configuration.end())
      if (auto const value = whole_number(*found, least, most)) return *value;
    throw data_error(file_.file() + ": expected a whole number from " + std::to_string(least) + " to " +
                     std::to_string(most) + " as setting " + detail::printable(name) + ", found " +
                     (found == state_.configuration.end() ? std::string("none") : quoted(*found)) +
                     "; the checkpoint is damaged, or another program wrote it");
  }

  /// Throws data_error if the configuration or the vocabulary differs from the configuration or the vocabulary in the
  /// file.  The message has the first difference: the value in the file and the expected value.
  void expect(nlohmann::json const& configuration, nlohmann::json const& vocabulary) const {
    refuse_other("configuration", state_.configuration, configuration);
    refuse_other("vocabulary", state_.vocabulary, vocabulary);
  }

  /// Overwrites every parameter in `values`.  `values` are fields, and `where` is their memory.  Ignores moments and
  /// averages in the file.
  template <class Memory = host_memory, class Fields>
    requires(!holds_parameters<Fields>)
  void load(Fields values, Memory const& where = {}) const {
    expect_tensors(values, false);
    fetch(values, "", where);
  }
  /// Overwrites every parameter and both moments of each parameter.
  template <class Memory = host_memory, class Fields>
  void load(Fields values, Fields first_moments, Fields second_moments, Memory const& where = {}) const {
    expect_tensors(values, true);
    fetch(values, "", where);
    fetch(first_moments, detail::first_moment_prefix, where);
    fetch(second_moments, detail::second_moment_prefix, where);
  }
  /// Overwrites the parameters of the set.  If the set has moments, also overwrites the moments.
  template <holds_parameters Set>
  void load(Set& set) const {
    expect_tensors(set.values(), set.holds_moments());  // before the set counts as initialised
    fetch(set.mutable_values(), "", set.where());
    if (!set.holds_moments()) return;
    fetch(set.first_moments(), detail::first_moment_prefix, set.where());
    fetch(set.second_moments(), detail::second_moment_prefix, set.where());
  }

  /// Resumes a run: overwrites the trainer's parameters, moments and step.  Schedules, dropout and Adam's first updates
  /// depend on the step.  Throws data_error if the random keys of the trainer and of the file differ, because dropout
  /// would then differ.
  template <learns_parameters Learner>
  void resume(Learner& learner) const {
    if (learner.options().key != key())
      throw data_error(file_.file() + ": expected the run's random key " + std::to_string(key()) +
                       ", found a trainer with " + std::to_string(learner.options().key) +
                       "; make the trainer with .key = file.key()");
    load(learner.parameters());
    learner.set_step(step());
  }

  /// Overwrites every parameter with its average in the file.  Use this function for parameters that are not trained
  /// further.
  template <holds_parameters Set>
  void load_averages(Set& set) const {
    expect_averages(set.values());
    fetch(set.mutable_values(), detail::average_prefix, set.where());
  }
  /// Overwrites the averages with the averages in the file, to resume a run.
  template <holds_averages Averages>
  void load_averages(Averages& averages) const {
    expect_averages(averages.values());
    fetch(averages.mutable_values(integer("averages")), detail::average_prefix, averages.where());
  }

 private:
  static bool is_average(std::string const& name) { return name.starts_with(detail::average_prefix); }
  static bool is_moment(std::string const& name) {
    return name.starts_with(detail::first_moment_prefix) || name.starts_with(detail::second_moment_prefix);
  }

  std::uint64_t integer(std::string const& name) const {
    auto const& text = file_.text(name);
    std::uint64_t value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      throw data_error(file_.file() + ": expected an integer as " + name + ", found " + detail::printable(text) +
                       "; the checkpoint is damaged");
    return value;
  }
  nlohmann::json parsed(std::string const& name) const {
    auto const& text = file_.text(name);
    try {
      return parse_json(text, deepest_json, name);
    } catch (data_error const& e) {
      throw data_error(file_.file() + ": " + e.what() + "; the checkpoint is damaged");
    } catch (nlohmann::json::exception const&) {
      throw data_error(file_.file() + ": expected JSON as " + name + ", found " + detail::printable(text) +
                       "; the checkpoint is damaged");
    }
  }

  void refuse_other(std::string const& what, nlohmann::json const& has, nlohmann::json const& wants) const {
    auto const difference = json_difference(has, wants);
    if (!difference.empty())
      throw data_error(file_.file() + ": another " + what + ": " + difference +
                       "; use the checkpoint with what it was trained with, or train anew");
  }

  [[noreturn]] void refuse(std::string const& what) const {
    throw data_error(file_.file() + ": " + what +
                     "; build the model that the checkpoint's configuration describes, or train anew");
  }

  /// Returns the name of a parameter or moment in this file.
  std::string stored(std::string name) const {
    for (auto const& [now, then] : detail::first_format_names)
      if (first_ && name.ends_with(now) && !file_.has(name))
        return name.replace(name.size() - now.size(), now.size(), then);
    return name;
  }

  template <class Fields>
  void expect_averages(Fields values) const {
    if (!has_averages()) refuse("it holds parameters but no averages of them");
    (void)expect_named(values, {detail::average_prefix});
  }
  template <class Fields>
  void expect_tensors(Fields values, bool moments) const {
    std::vector<std::string> prefixes{""};
    if (moments) prefixes.insert(prefixes.end(), {detail::first_moment_prefix, detail::second_moment_prefix});
    auto const wanted = expect_named(values, prefixes);
    for (auto const& [name, record] : file_.tensors())
      if (!wanted.count(name) && (moments || !is_moment(name)) && !(is_average(name) && has_averages()))
        refuse("checkpoint has " + detail::printable(name) + " " + shape_text(record.shape) +
               ", this model has no such parameter");
  }
  /// Returns the names of the tensors in `values`, once with each prefix.  Throws data_error if the file lacks one of
  /// these tensors, or if the shape or type of a tensor differs.
  template <class Fields>
  std::set<std::string> expect_named(Fields values, std::vector<std::string> const& prefixes) const {
    std::set<std::string> wanted;
    for (auto const& prefix : prefixes)
      walk(values, [&](std::string const& path, auto view) {
        auto const name = stored(prefix + path);
        auto const shape = detail::shape_of(view);
        if (!file_.has(name)) {
          if (is_moment(prefix) && !has_moments())
            refuse("it holds parameters but no state of the optimiser, so training cannot go on from it");
          refuse("checkpoint has no " + name + ", this model wants " + shape_text(shape));
        }
        auto const& record = file_.record(name);
        if (record.shape != shape)
          refuse("checkpoint has " + name + " " + shape_text(record.shape) + ", this model wants " + shape_text(shape));
        using T = element_t<decltype(view)>;
        auto const type = element_type_name<T>();
        if (record.type != type && !(record.type == "F32" && type == "F64"))
          refuse("checkpoint has " + name + " in " + detail::type_text(record.type) + ", this model wants " +
                 std::string(type));
        wanted.insert(name);
      });
    return wanted;
  }

  template <class Memory, class Fields>
  void fetch(Fields fields, std::string const& prefix, Memory const& where) const {
    walk(fields, [&](std::string const& path, auto view) {
      using T = typename decltype(view)::element_type;
      auto const host = file_.read_as<T>(stored(prefix + path));
      where.from_host(view.data_handle(), host.data(), host.size() * sizeof(T));
    });
  }

  safetensors file_;
  bool first_ = false;  // whether the file has format 1
  checkpoint_state state_;
};

}  // namespace triad
