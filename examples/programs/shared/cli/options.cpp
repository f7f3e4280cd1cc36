// Derives config.toml, settings and checks from the list of options.  The command line and checkpoints are in other
// files.
// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <limits>
#include <utility>

#include "config.hpp"
#include "renames.hpp"
#include "shared/backend/products.hpp"
#include "shared/processes/world.hpp"
#include "triad/core/errors.hpp"
#include "triad/core/sizes.hpp"

namespace triad::programs {

std::map<std::string, triangle_form> const& attention_names() {
  static std::map<std::string, triangle_form> const names{{"full", triangle_form::full},
                                                          {"value-ablation", triangle_form::value_ablation},
                                                          {"attention-ablation", triangle_form::attention_ablation},
                                                          {"both-ablations", triangle_form::both_ablations},
                                                          {"flat", triangle_form::flat}};
  return names;
}

std::string attention_name(triangle_form form) {
  for (auto const& [name, value] : attention_names())
    if (value == form) return name;
  return {};
}

triangle_form attention_form(std::string const& name, std::string const& file) {
  auto const found = attention_names().find(name);
  if (found == attention_names().end()) throw data_error(file + ": an unknown form of attention in its configuration");
  return found->second;
}

bool option::has_value() const {
  if (default_text) return !default_text->empty();
  if (std::holds_alternative<std::vector<int>*>(value)) return !(is_new && is_default());
  auto const* const text = std::get_if<std::string*>(&value);
  return text == nullptr || !((*text)->empty() || (is_new && is_default()));
}

bool option::is_default() const {
  if (auto const* const text = std::get_if<std::string*>(&value)) return **text == none;
  if (auto const* const number = std::get_if<int*>(&value); number != nullptr && !none.empty())
    return std::to_string(**number) == none;
  if (auto const* const number = std::get_if<double*>(&value); number != nullptr && !none.empty())
    return fmt::to_string(**number) == none;
  return std::visit([](auto* v) { return *v == std::remove_cvref_t<decltype(*v)>{}; }, value);
}

namespace {

/// Converts a value to TOML.
struct in_toml {
  bool path, as_settings;

  std::string operator()(bool* v) const { return *v ? "true" : "false"; }
  std::string operator()(double* v) const { return fmt::format(fmt::runtime(as_settings ? "{:.17g}" : "{}"), *v); }
  std::string operator()(std::string* v) const { return toml_text(path ? std::filesystem::absolute(*v).string() : *v); }
  std::string operator()(triangle_form* v) const { return toml_text(attention_name(*v)); }
  std::string operator()(std::vector<int>* v) const { return fmt::format("[{}]", fmt::join(*v, ", ")); }
  std::string operator()(std::vector<std::string>* v) const {
    std::vector<std::string> texts;
    for (auto const& text : *v) texts.push_back(toml_text(text));
    return fmt::format("[{}]", fmt::join(texts, ", "));
  }
  std::string operator()(auto* v) const { return fmt::to_string(*v); }
};

}  // namespace

std::string option::toml(bool as_settings) const {
  return default_text ? toml_text(*default_text) : std::visit(in_toml{is_path, as_settings}, value);
}

option& option_list::operator()(std::string name, option::place value, std::string about) {
  auto const* const old = find_rename(name);
  TRIAD_EXPECTS(old == nullptr, "option --" + name +
                                    ": a config file with it would be read as one of version 0.1, which had it for --" +
                                    std::string(old->is) + "; take another name");
  return all_.emplace_back(option{.name = std::move(name), .value = value, .about = std::move(about)});
}

option const* option_list::find(std::string const& name, std::string const& verb) const {
  for (auto const& o : all_)
    if (o.name == name && o.verbs.contains(verb)) return &o;
  return nullptr;
}

void option_list::force(bool* value, std::set<std::string> verbs) {
  (*this)("force", value, "Replace files that are there").only(std::move(verbs));
}

void run_options::each(option_list& f) {
  std::set<std::string> const asked{"evaluate", "predict", "explain"};
  f("run", &run, "A run's folder, or a model.safetensors").only(asked).positional().required();
  f("config", &config, "Read options from a TOML file, such as the config.toml of a run")
      .existing_file()
      .written(false);
  f("threads", &threads, "Threads; 0: one for each processor.  Results do not depend on it")
      .also(asked)
      .between(0, most_threads)
      .free();
  f("backend", &backend, "cpu; cuda: an NVIDIA GPU, where the program was built for it; reference: plain loops, slow")
      .also(asked)
      .one_of({"cpu", "cuda", "reference"})
      .free();
  f.seldom("precision", &arithmetic,
           "Of the factors of products: float32; bf16, faster, rounds them to 7 bits; on a GPU also tf32, which rounds "
           "to 10 bits, and tf32x3, which has the error of float32 by three products in tf32.  f16: as tf32, and "
           "triangular "
           "attention in f16")
      .also(asked)
      .one_of({"float32", "tf32x3", "tf32", "f16", "bf16"})
      .free();
  f.seldom("products", &products,
           "Who multiplies matrices on the cpu backend: blas; onednn, where the program was built with it; auto: by a "
           "rule for the processor; measure: the faster.  The run's config.toml names who it was")
      .also(asked)
      .one_of({"auto", "blas", "measure", "onednn"})
      .free();
  f("seed", &seed, "Seed of initial parameters, order of examples and dropout");
  f("seeds", &seeds, "Runs with seed, seed + 1, ...").positive().free();
  f.seldom("shares", &shares,
           "Parts of a batch that several processes compute, a power of two; results depend on it, and not on the "
           "processes")
      .check(power_of_two)
      .newer("1");
  f.seldom("average", &average,
           "Decay of moving averages of the weights, such as 0.999, that are validated and scored, and answer, instead "
           "of them; 0: none")
      .between(0.0, 0.999999)
      .newer();
  f.seldom("dropout-until", &dropout_until,
           "Part of the updates of a training whose layers have dropout, from the first one on; later ones have "
           "none, such as the last tenth with 0.9")
      .between(0.0, 1.0)
      .newer("1");
  f("minutes", &minutes,
    "Minutes that each run may take: its length, warm-up and checkpoints are fitted to the speed of the first batches; "
    "0: the other options decide")
      .not_negative()
      .written(false);
  f("patience", &patience,
    "End a run after this number of checkpoints without a better one, and keep the best; 0: keep the last")
      .not_negative()
      .free();
  f.seldom("tensorboard", &tensorboard, "Folder for TensorBoard's event files: loss, rate, norm, validation")
      .file_or_folder()
      .written(false);
  f("out", &out, "Folder of the run: metrics.csv, config.toml, model.safetensors, plots/")
      .written(false)
      .file_or_folder();
  f("resume", &resume, "Continue from the checkpoint in --out").written(false);
  f("html", &html, "File for a page to look at in a browser: point at what it shows, and step through it")
      .only({"explain"})
      .file_or_folder();
}

void expect_arithmetic(run_options const& o) {
  if (o.backend == "cpu" && (o.arithmetic == "float32" || o.arithmetic == "bf16")) {
    (void)engine_of(o.products, o.arithmetic);
  } else if (o.backend == "cpu") {
    throw data_error("--precision " + o.arithmetic + " is for --backend cuda; cpu has float32 and bf16");
  } else if (o.backend != "cuda" && o.arithmetic != "float32") {
    throw data_error("--precision " + o.arithmetic + " is for --backend cuda" +
                     (o.arithmetic == "bf16" ? " or cpu" : "") + "; " + o.backend + " has float32 alone");
  }
}

namespace {

/// Returns the value of --products with which a run that is resumed was trained.  Runs of older versions have none:
/// BLAS computed their products.
std::string products_of_run(run_options const& o) {
  std::error_code none;
  auto const file = o.out + (o.seeds == 1 ? "" : "/seed-" + std::to_string(o.seed)) + "/config.toml";
  if (!std::filesystem::is_regular_file(file, none)) return o.products;
  auto const stored = config_value(file, "products");
  return !stored.empty() ? stored : o.arithmetic == "bf16" ? "auto" : "blas";
}

}  // namespace

void run_options::settle() {
  auto const more = static_cast<std::uint64_t>(seeds) - 1;
  auto const largest = std::numeric_limits<std::uint64_t>::max();
  if (more > largest - seed)
    throw data_error(fmt::format("--seeds {} from --seed {} go beyond the largest seed, {}: give a smaller --seed",
                                 seeds, seed, largest));
  if (int const processes = world().size(); processes > shares)
    throw data_error(fmt::format(
        "{} processes were started and --shares is {}: more processes than shares would have nothing to do; "
        "give --shares {}, or start fewer",
        processes, shares, processes));
  if (backend == "cpu") {
    if (resume && !given.contains("products") && !configured.contains("products")) products = products_of_run(*this);
    products = chosen_products(products, arithmetic);  // so that config.toml names who computed
  }
  expect_arithmetic(*this);
  if (patience > 0 && out.empty())
    throw data_error("--patience keeps the best checkpoint in the folder of the run: name it with --out");
  if (resume && out.empty()) throw data_error("--resume goes on with the run in a folder: name it with --out");
}

void width_options::settle() {
  run_options::settle();
  if (dropout == 0 && given.contains("dropout-until") && dropout_until != 1)
    throw data_error(
        fmt::format("--dropout-until {} says until when there is dropout, and --dropout is 0: leave one of the two out",
                    dropout_until));
  for (std::size_t i = 1; i < restarts.size(); ++i)
    if (restarts[i] <= restarts[i - 1])
      throw data_error(fmt::format("--restarts {}: expected updates in rising order", fmt::join(restarts, ",")));
  if (width % heads != 0) throw data_error(fmt::format("--width {} is no multiple of --heads {}", width, heads));
}

void width_options::each(option_list& f) {
  run_options::each(f);
  f("width", &width, "Hidden size").positive().shapes().within(1, [] { return most_width; });
  f("heads", &heads, "Attention heads; the width is a multiple").positive().shapes().within(1, [this] {
    return width;
  });
  f("dropout", &dropout, fmt::format("Rate, of {}", dropout_places)).between(0.0, 0.95);
  f("learning-rate", &rate, "Learning rate after warm-up, from which it falls").positive();
  f.seldom("warmup", &warmup, "Updates of warm-up").not_negative();
  f.seldom("restarts", &restarts,
           "Updates, such as 2000,3000, at which the learning rate begins again, to fall to 0 at the next or at the "
           "end; --resume of a longer run adds the one where the shorter ended")
      .check(programs::positive)
      .newer();
  f.seldom("clip-norm", &clip, "Largest norm of a gradient; 0: any").not_negative();
  f.seldom("recompute", &recompute, "Run layers again in backward instead of keeping what they computed").free();
}

void stack_options::settle() {
  width_options::settle();
  (void)hidden();  // throws if the width is not valid
}

void stack_options::each(option_list& f) {
  width_options::each(f);
  f("layers", &layers, "How often the layer is applied").between(1, most_layers).shapes().within(1, [] {
    return most_layers;
  });
  f.seldom("hidden-factor", &hidden_factor, "Width of the feed-forward block over the hidden size")
      .positive()
      .shapes()
      .within(1, [this] { return static_cast<int>(largest_size / width); });
  f.seldom("tied", &tied, "One layer's parameters for all, as the paper says; else each its own")
      .opposite("untied")
      .shapes();
}

index_t stack_options::hidden() const {
  index_t const wide = std::int64_t{width} * hidden_factor;  // both factors are below 2^31
  if (wide < 1 || wide > largest_size)
    throw data_error(
        fmt::format("the feed-forward block is --width {} times --hidden-factor {} = {} wide, expected 1 "
                    "to {}",
                    width, hidden_factor, wide, largest_size));
  return wide;
}

option_list options_of(run_options const& o) {
  option_list list;
  const_cast<run_options&>(o).each(list);  // each() stores pointers to the options, which are only read here
  return list;
}

namespace {

template <class Wanted>
std::string lines_of(run_options const& o, bool as_settings, Wanted const& wanted) {
  std::string text;
  for (auto const& one : options_of(o).all())
    if (one.verbs.contains("train") && one.is_written && one.has_value() && wanted(one))
      text += one.name + " = " + one.toml(as_settings) + "\n";
  return text;
}

}  // namespace

std::string to_toml(run_options const& o) {
  return lines_of(o, false, [](option const&) { return true; });
}

std::string training_settings(run_options const& o) {
  return lines_of(o, true, [](option const& one) { return !one.is_free && !(one.is_new && one.is_default()); }) +
         o.more_settings();
}

void refuse_given(run_options const& o, std::initializer_list<char const*> names, std::string const& about) {
  for (auto const* name : names)
    if (o.given.contains(name)) throw data_error(fmt::format("--{} is about {}", name, about));
}

void refuse_generated(run_options const& o, std::initializer_list<char const*> names, std::string const& what) {
  if (!o.data.empty()) refuse_given(o, names, fmt::format("generated {}, and {} is asked: leave it out", what, o.data));
}

void refuse_other_data(run_options const& o, std::initializer_list<char const*> names) {
  if (o.data_of_run) refuse_given(o, names, "what the run was trained on, which decides its tests: leave it out");
}

void refuse_seed(run_options const& o, std::uint64_t seed, std::string const& what) {
  if (seed - o.seed < static_cast<std::uint64_t>(o.seeds))  // unsigned, so large for a smaller seed
    throw data_error(
        fmt::format("--seed {}: the {} are drawn by it, and would be trained on: give another", seed, what));
}

void need_published_data(run_options const& o, std::string const& of) {
  if (o.data.empty())
    throw data_error(of +
                     " is about published data: give its folder with --data; docs/data.md says where it comes from");
}

}  // namespace triad::programs
