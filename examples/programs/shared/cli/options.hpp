// The options of a program in one list, each(). Five things are derived from the list: the command line, reading and
// writing config.toml, the options that a resumed run must share, the configuration of a checkpoint, and the options
// that are read from a checkpoint.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "number_checks.hpp"
#include "triad/ops/triangle.hpp"

namespace triad {
class checkpoint;
}

namespace triad::programs {

/// The largest width of a model in a checkpoint; a wider one would have matrices of 2^40 values.
inline constexpr int most_width = 1 << 20;
/// The largest number of layers on a command line and in a checkpoint.
inline constexpr int most_layers = 250;
/// The largest number of threads of a backend.
inline constexpr int most_threads = 32767;
/// The largest offset that relative positions distinguish.
inline constexpr int most_offset = 1024;

/// The forms of triangular attention by the names that command lines and checkpoints have for them.
std::map<std::string, triangle_form> const& attention_names();
std::string attention_name(triangle_form form);
/// Of a checkpoint's configuration: `file` is for the error.
triangle_form attention_form(std::string const& name, std::string const& file);

/// One option: its name, where its value is, what is said of it, and what it decides.  Unless more is said it is one of
/// train, is kept in config.toml, and decides what a run computes, so that a resumed run must have the same.
struct option {
  using place = std::variant<bool*, int*, std::int64_t*, std::uint64_t*, double*, std::string*, std::vector<int>*,
                             std::vector<std::string>*, triangle_form*>;
  using bound = std::function<int()>;

  std::string name;
  place value;
  std::string about;

  std::set<std::string> verbs{"train"};
  bool is_required = false, is_hidden = false, is_seldom = false, is_positional = false, is_file = false,
       is_folder = false, asks = false;
  std::string opposite_name{};         // of a flag: --untied
  std::vector<std::string> choices{};  // of a text
  std::vector<number_check> checks{};
  bool is_path = false, is_written = true, is_free = false, is_new = false, is_length = false;
  std::optional<std::string> default_text{};        // instead of its value
  std::string none{};                               // of a new option: the text that says nothing
  std::string key{};                                // in the configuration of a checkpoint; none: it shapes nothing
  bound least{}, most{};                            // what it may be there
  std::pair<std::string, std::string> key_names{};  // of a flag that is kept by two names, false and true

  // ---- who has it ----
  option& also(std::set<std::string> more) { return verbs.merge(more), *this; }
  option& only(std::set<std::string> those) { return verbs = std::move(those), *this; }
  option& required() { return is_required = true, *this; }
  option& hidden() { return is_hidden = true, *this; }
  option& positional() { return is_positional = true, *this; }

  // ---- what is accepted ----
  option& check(number_check c) { return checks.push_back(std::move(c)), *this; }
  option& positive() { return check(programs::positive); }
  option& not_negative() { return check(programs::not_negative); }
  template <class T>
  option& between(T from, T to) {
    return check(programs::between(from, to));
  }
  option& one_of(std::vector<std::string> names) { return choices = std::move(names), *this; }
  /// The option names a file or folder, which need not exist.
  option& file_or_folder() { return check(programs::some_path); }
  option& existing_file() { return is_file = true, *this; }
  option& existing_folder() { return is_folder = true, *this; }
  /// The option is a question: it must not be blank.
  option& question() { return asks = true, *this; }
  option& opposite(std::string called) { return opposite_name = std::move(called), *this; }

  // ---- what it decides ----
  /// The option does not affect results: a resumed run may change it.
  option& free(bool yes = true) { return is_free = yes, *this; }
  /// The option is a path, stored as an absolute one.  As for all texts, an empty value is not stored.
  option& path() { return is_path = is_free = true, file_or_folder(); }
  option& written(bool yes) { return is_written = yes, *this; }
  /// Stores this text instead of the value; stores nothing if the text is empty.
  option& says(std::string text) { return default_text = std::move(text), *this; }
  /// Where it is false, 0, full, or this text or number, neither settings nor configuration name it: older runs did not
  /// know of it.
  option& newer(std::string text = {}) { return is_new = true, none = std::move(text), *this; }
  /// The option is the length of a run: --minutes sets it, and a finished run continues if it grows.
  option& length() { return is_length = true, *this; }
  /// The option shapes the model: it is stored in the configuration of a checkpoint, and read from there.
  option& shapes(std::string called = {}) {
    key = called.empty() ? name : std::move(called);
    for (char& c : key) c = c == '-' ? '_' : c;
    return *this;
  }
  /// There it is a number from `from` to what `to` says once the options before it are taken.
  option& within(int from, bound to) {
    return least = [from] { return from; }, most = std::move(to), *this;
  }
  /// A flag that is stored as one of two names.
  option& shapes_as(std::string called, std::string no, std::string yes) {
    return key_names = {std::move(no), std::move(yes)}, shapes(std::move(called));
  }

  // ---- what follows ----
  bool has_value() const;   // it is to be kept: a text that is empty is not
  bool is_default() const;  // false, 0, full, or the text or number that says nothing
  /// Its value as TOML has it: a number by the fewest digits that read back as it; in settings, which are compared with
  /// those of older checkpoints by their text, by 17.
  std::string toml(bool as_settings = false) const;
};

/// What each() fills: f("width", width, "Hidden size").positive();
class option_list {
 public:
  /// A contract_violation for a name that version 0.1 had for another option (renames.hpp).
  option& operator()(std::string name, option::place value, std::string about);
  /// One that is seldom given: left out of --help where all options together are more than a screen; --help-all has it.
  option& seldom(std::string name, option::place value, std::string about) {
    auto& one = (*this)(std::move(name), value, std::move(about));
    return one.is_seldom = true, one;
  }
  std::vector<option> const& all() const& { return all_; }
  std::vector<option> all() && { return std::move(all_); }
  /// That of a verb, or null.
  option const* find(std::string const& name, std::string const& verb = "train") const;
  /// --force of verbs that write files of the user's choice.
  void force(bool* value, std::set<std::string> verbs);

 private:
  std::vector<option> all_;
};

struct run_options;

/// Throws data_error where one of these options is on the command line: it "is about" something else than what is done.
void refuse_given(run_options const& o, std::initializer_list<char const*> names, std::string const& about);

/// The same of options about generated data, which are `what`, where --data is asked.
void refuse_generated(run_options const& o, std::initializer_list<char const*> names, std::string const& what);

/// The same of options that would generate other data than the run that is asked was trained on, tests among them.
void refuse_other_data(run_options const& o, std::initializer_list<char const*> names);

/// Throws data_error where a run would draw its generated training data by this seed, which draws `what` it is measured
/// on.
void refuse_seed(run_options const& o, std::uint64_t seed, std::string const& what);

/// Throws data_error where --data is not given, of what the command line says that needs them.
void need_published_data(run_options const& o, std::string const& of);

/// The options of every run.
struct run_options {
  std::string program;                // its name
  std::set<std::string> other_names;  // its own as well: what a run says that it is of
  std::string run;                    // the run that is asked about: its folder, or a checkpoint
  std::string data;
  std::string model, preset, config;

  std::uint64_t seed = 1;
  int seeds = 1;
  std::string backend = "cpu";
  std::string arithmetic = "float32";  // of products on a GPU: float32, tf32x3, tf32, bf16
  int threads = 0;                     // 0: all
  int shares = 1;                      // of a batch, over processes
  double average = 0;                  // the decay of moving averages of the weights; 0: none
  double dropout_until = 1;            // the part of the updates that have dropout
  std::string out;
  bool resume = false;
  std::string html;    // explain: a page
  bool force = false;  // replaces files that are there

  double minutes = 0;       // that a run may take; 0: as long as its options say
  int patience = 0;         // checkpoints that are no better than the best, after which a run ends; 0: it goes on
  std::string tensorboard;  // folder of event files; empty: none are written

  bool data_of_run = false;                 // data are those that the run was trained on
  std::set<std::string> given, configured;  // names of options on the command line, and of others in the config file

  virtual ~run_options() = default;
  /// Whether this program accepts the runs of that program.
  bool owns(std::string const& owner) const { return owner == program || other_names.contains(owner); }
  /// Called before train reads anything, and by verbs that want the same: what follows from several options, and a
  /// refusal of those that do not go together.  Throws data_error.
  virtual void settle();
  /// The list.  Of a program: its own options in addition to those of its base.
  virtual void each(option_list& f);
  /// Called when all options are taken from a checkpoint: what they must satisfy beyond each by itself, and what of it
  /// is in no option.  Throws data_error.
  virtual void restored(checkpoint const& file);
  /// Called after that, where the checkpoint's record has been taken: what a verb changes of a model that keeps its
  /// parameters.  Throws data_error.
  virtual void adapt(checkpoint const&) {}
  /// What shapes the model and is in no option, as JSON by its key; and lines of settings.
  virtual std::map<std::string, std::string> more_shapes() const { return {}; }
  virtual std::string more_settings() const { return {}; }

  run_options() = default;
  run_options(run_options const&) = default;
  run_options& operator=(run_options const&) = default;
};

/// What programs with one width have in addition.
struct width_options : run_options {
  int width = 64, heads = 4;
  double dropout = 0.1, rate = 1e-3;
  int warmup = 0;
  double clip = 1;
  bool recompute = false;     // keep layer inputs only, run layers again in backward
  std::vector<int> restarts;  // updates at which the learning rate begins again

  void settle() override;
  void each(option_list& f) override;
  void restored(checkpoint const& file) override;
};

/// And those with one stack of layers.
struct stack_options : width_options {
  int layers = 1, hidden_factor = 4;
  bool tied = false;

  void settle() override;
  void each(option_list& f) override;

  /// Width of the feed-forward block.  Throws data_error where that is no size.
  index_t hidden() const;
};

/// Throws data_error where products are asked for in another arithmetic than the backend has.
void expect_arithmetic(run_options const& o);

/// Returns the list of a program's options with their values.
option_list options_of(run_options const& o);

/// Every option of a training run with the value it has, as `train --config` reads it back.
std::string to_toml(run_options const& o);

/// The lines of to_toml() that decide what a run computes: those of a resumed run must be the same.
std::string training_settings(run_options const& o);

}  // namespace triad::programs
