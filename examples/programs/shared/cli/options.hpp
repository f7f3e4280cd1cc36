// The options of a program in one list, each().  Programs derive from the list: the command line, config.toml, the
// options that a resumed run must share, the configuration in a checkpoint, and the options that are read from a
// checkpoint.
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

/// The largest width of a model in a checkpoint.  With a larger width, matrices would have more than 2^40 elements.
inline constexpr int most_width = 1 << 20;
/// The largest number of layers on a command line and in a checkpoint.
inline constexpr int most_layers = 250;
/// The largest number of threads of a backend.
inline constexpr int most_threads = 32767;
/// The largest offset with its own relative position.
inline constexpr int most_offset = 1024;

/// The forms of triangular attention, by their names on command lines and in checkpoints.
std::map<std::string, triangle_form> const& attention_names();
std::string attention_name(triangle_form form);
/// Returns the form with this name.  If there is no such form, throws a data_error that names the checkpoint `file`.
triangle_form attention_form(std::string const& name, std::string const& file);

/// One option: its name, the variable with its value, its description, and its properties.  By default, an option
/// belongs to `train`, is stored in config.toml, and affects results, so that a resumed run must have the same value.
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
  std::string opposite_name{};         // of a flag: a second name that sets it to false, such as untied
  std::vector<std::string> choices{};  // allowed values of a text
  std::vector<number_check> checks{};
  bool is_path = false, is_written = true, is_free = false, is_new = false, is_length = false;
  std::optional<std::string> default_text{};        // a text that is stored instead of the value
  std::string none{};                               // of a newer option: the value that is not stored
  std::string key{};                                // name in a checkpoint's configuration; empty: not in it
  bound least{}, most{};                            // the range of a number in a checkpoint
  std::pair<std::string, std::string> key_names{};  // of a flag that is stored as one of two names: false, true

  // ---- verbs, and how the option is given ----
  option& also(std::set<std::string> more) { return verbs.merge(more), *this; }
  option& only(std::set<std::string> those) { return verbs = std::move(those), *this; }
  option& required() { return is_required = true, *this; }
  option& hidden() { return is_hidden = true, *this; }
  option& positional() { return is_positional = true, *this; }

  // ---- accepted values ----
  option& check(number_check c) { return checks.push_back(std::move(c)), *this; }
  option& positive() { return check(programs::positive); }
  option& not_negative() { return check(programs::not_negative); }
  template <class T>
  option& between(T from, T to) {
    return check(programs::between(from, to));
  }
  option& one_of(std::vector<std::string> names) { return choices = std::move(names), *this; }
  /// The option names a file or a folder, which need not exist.
  option& file_or_folder() { return check(programs::some_path); }
  option& existing_file() { return is_file = true, *this; }
  option& existing_folder() { return is_folder = true, *this; }
  /// The option is a question, which must not be blank.
  option& question() { return asks = true, *this; }
  option& opposite(std::string called) { return opposite_name = std::move(called), *this; }

  // ---- what it affects ----
  /// The option does not affect results: a resumed run may change it.
  option& free(bool yes = true) { return is_free = yes, *this; }
  /// The option is a path, which is stored as an absolute path.  An empty value is not stored, as for all texts.
  option& path() { return is_path = is_free = true, file_or_folder(); }
  option& written(bool yes) { return is_written = yes, *this; }
  /// Stores this text instead of the value.  Stores nothing if the text is empty.
  option& says(std::string text) { return default_text = std::move(text), *this; }
  /// The option is newer than some checkpoints, which do not have it.  So settings and configuration omit the option if
  /// its value is false, 0, `full`, or the value `text`.
  option& newer(std::string text = {}) { return is_new = true, none = std::move(text), *this; }
  /// The option is the length of a run. --minutes sets this option.  A finished run continues if it is resumed with a
  /// larger value.
  option& length() { return is_length = true, *this; }
  /// The option determines the model's shape.  It is stored in the configuration of a checkpoint, and read from there.
  option& shapes(std::string called = {}) {
    key = called.empty() ? name : std::move(called);
    for (char& c : key) c = c == '-' ? '_' : c;
    return *this;
  }
  /// Sets the range of a number in a checkpoint, from `from` to to(). to() may use options that are earlier in the
  /// list.
  option& within(int from, bound to) {
    return least = [from] { return from; }, most = std::move(to), *this;
  }
  /// The option is a flag. A checkpoint stores the flag under the key `called`, as the text `no` or `yes`.
  option& shapes_as(std::string called, std::string no, std::string yes) {
    return key_names = {std::move(no), std::move(yes)}, shapes(std::move(called));
  }

  // ---- derived properties ----
  bool has_value() const;   // false if the value is an empty text, which is not stored
  bool is_default() const;  // true if the value is false, 0, full, or `none`
  /// Returns the value in TOML.  A number has the fewest digits that determine it exactly.  If `as_settings`, a number
  /// has 17 digits, because settings are compared as texts with the settings in older checkpoints.
  std::string toml(bool as_settings = false) const;
};

/// The list that each() fills: f("width", &width, "Hidden size").positive();
class option_list {
 public:
  /// Adds an option.  Throws contract_violation if version 0.1 had this name for another option (renames.hpp).
  option& operator()(std::string name, option::place value, std::string about);
  /// Adds a rarely used option.  If the options do not fit on a screen, --help omits rarely used options. --help-all
  /// shows all options.
  option& seldom(std::string name, option::place value, std::string about) {
    auto& one = (*this)(std::move(name), value, std::move(about));
    return one.is_seldom = true, one;
  }
  std::vector<option> const& all() const& { return all_; }
  std::vector<option> all() && { return std::move(all_); }
  /// Returns the option with this name, or null if the verb has no such option.
  option const* find(std::string const& name, std::string const& verb = "train") const;
  /// Adds the option --force to `verbs`, which write files that the user names.
  void force(bool* value, std::set<std::string> verbs);

 private:
  std::vector<option> all_;
};

struct run_options;

/// Throws data_error if one of these options is on the command line.  `about` says in the message what the options
/// apply to.
void refuse_given(run_options const& o, std::initializer_list<char const*> names, std::string const& about);

/// Throws data_error if one of these options is given together with --data, because the options apply only to generated
/// data.  `what` is the name of the generated data.
void refuse_generated(run_options const& o, std::initializer_list<char const*> names, std::string const& what);

/// Throws data_error if one of these options is given and the data should be those of the run.  With such an option,
/// other data would be generated, or divided in another way, so that tests could have training data.
void refuse_other_data(run_options const& o, std::initializer_list<char const*> names);

/// Throws data_error if `seed`, which generates the test data, would also generate the training data of a run.  `what`
/// is the name of the test data.
void refuse_seed(run_options const& o, std::uint64_t seed, std::string const& what);

/// Throws data_error if --data is not given.  `of` is the option or the preset that needs published data.
void need_published_data(run_options const& o, std::string const& of);

/// The options of every run.
struct run_options {
  std::string program;                // the program's name
  std::set<std::string> other_names;  // older names of the program, which may be stored in runs
  std::string run;                    // folder or checkpoint of the run that a verb uses
  std::string data;
  std::string model, preset, config;

  std::uint64_t seed = 1;
  int seeds = 1;
  std::string backend = "cpu";
  std::string arithmetic = "float32";  // of factors of products: float32, bf16; on a GPU also tf32x3, tf32, f16
  std::string products = "auto";       // who computes products on the cpu backend: auto, blas, onednn
  int threads = 0;                     // 0: one for each processor
  int shares = 1;                      // number of parts of a batch; each process takes some of them
  double average = 0;                  // the decay of moving averages of the weights; 0: none
  double dropout_until = 1;            // the fraction of the updates that have dropout
  std::string out;
  bool resume = false;
  std::string html;    // path of the page that explain writes
  bool force = false;  // replace existing files

  double minutes = 0;       // duration of a run; 0: its options determine its length
  int patience = 0;         // a run ends after this number of checkpoints without a better one; 0: never
  std::string tensorboard;  // folder of event files; empty: no event files

  bool data_of_run = false;                 // the data are those that the run was trained on
  std::set<std::string> given, configured;  // names of options on the command line, and only in the config file

  virtual ~run_options() = default;
  /// Returns true if this program accepts the runs of program `owner`.
  bool owns(std::string const& owner) const { return owner == program || other_names.contains(owner); }
  /// Computes values that follow from several options.  Throws data_error if options cannot be combined.  It is called
  /// before `train` and some other verbs read anything.
  virtual void settle();
  /// Adds all options to the list.  A program overrides each(), calls each() of the base class, and adds its own
  /// options.
  virtual void each(option_list& f);
  /// Called after all options have been read from a checkpoint.  Checks conditions on several options, and reads data
  /// of the checkpoint that are not options.  Throws data_error.
  virtual void restored(checkpoint const& file);
  /// Called after restored(), when the record of the checkpoint has been made.  An override may change the model, but
  /// not its parameters.  Throws data_error.
  virtual void adapt(checkpoint const&) {}
  /// Returns properties of the model's shape that are not options: JSON texts by key. more_settings() returns lines of
  /// settings that are not options.
  virtual std::map<std::string, std::string> more_shapes() const { return {}; }
  virtual std::string more_settings() const { return {}; }

  run_options() = default;
  run_options(run_options const&) = default;
  run_options& operator=(run_options const&) = default;
};

/// Additional options of programs whose model has a width.
struct width_options : run_options {
  int width = 64, heads = 4;
  double dropout = 0.1, rate = 1e-3;
  int warmup = 0;
  double clip = 1;
  bool recompute = false;     // stores only the inputs of layers; the backward pass computes the layers again
  std::vector<int> restarts;  // updates at which the schedule of the rate starts again
  char const* dropout_places = "attention weights, branches and feed-forward block";  // of --dropout, for its help

  void settle() override;
  void each(option_list& f) override;
  void restored(checkpoint const& file) override;
};

/// Additional options of programs whose model has a stack of layers.
struct stack_options : width_options {
  int layers = 1, hidden_factor = 4;
  bool tied = false;

  void settle() override;
  void each(option_list& f) override;

  /// Returns the width of the feed-forward block.  Throws data_error if it is too large.
  index_t hidden() const;
};

/// Throws data_error if the backend does not have the arithmetic that --precision names, or the engine that --products
/// names.
void expect_arithmetic(run_options const& o);

/// Returns the list of a program's options with their values.
option_list options_of(run_options const& o);

/// Returns all options of a training run with their values, in the form that `train --config` reads.
std::string to_toml(run_options const& o);

/// Returns the options that affect results, as lines of TOML.  A resumed run must have the same lines.
std::string training_settings(run_options const& o);

}  // namespace triad::programs
