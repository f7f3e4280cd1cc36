// Tests triad-golden: our own files pass, published files pass if they are available, and errors are found and named.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <sstream>

#include "kinds.hpp"
#include "names.hpp"
#include "runner.hpp"
#include "tests/catch.hpp"
#include "triad/io/safetensors.hpp"

namespace golden_tests {

namespace golden = triad::golden;
using std::filesystem::path;
using triad::test::contains;

/// Returns the path of the checkout. It is the folder in which ctest runs this program, or the folder in which the
/// program was compiled.
path checkout() {
  if (std::filesystem::is_directory("tests/data/golden")) return std::filesystem::current_path();
  return path(__FILE__).parent_path().parent_path().parent_path();
}

path own_files() { return checkout() / "tests" / "data" / "golden"; }

/// A folder for one test, which is removed at the end.
struct scratch_folder {
  path where = std::filesystem::temp_directory_path() / ("triad-golden-" + std::to_string(::getpid()));
  scratch_folder() { std::filesystem::create_directories(where); }
  ~scratch_folder() { std::filesystem::remove_all(where); }
};

struct outcome {
  golden::totals totals;
  bool succeeded;
  std::string text;
};

outcome run(golden::options const& o) {
  std::ostringstream out;
  auto const totals = golden::run(o, out);
  return {totals, golden::succeeded(totals, o), out.str()};
}

/// Writes a changed copy of one of our files. A tensor whose changed values are empty is left out.
void write_changed(path const& to, std::string const& name,
                   std::function<std::vector<double>(std::string const&, std::vector<double>)> const& change,
                   std::string const& kind = {}) {
  triad::safetensors const from((own_files() / name).string());
  triad::safetensors_writer writer;
  for (auto const& [key, value] : from.metadata()) writer.text(key, key == "kind" && !kind.empty() ? kind : value);
  for (auto const& [tensor, record] : from.tensors()) {
    if (record.type != "F64") {
      writer.add_bytes(tensor, record.type, record.shape, from.bytes(tensor));
    } else if (auto const values = change(tensor, from.read_as<double>(tensor)); !values.empty()) {
      writer.add(tensor, record.shape, values);
    }
  }
  writer.write((to / name).string());
}

std::vector<double> same(std::string const&, std::vector<double> values) { return values; }

std::string const attention_file = "tri_attn__odd_width_padded.f64.safetensors";

TEST_CASE("every golden file of this repository passes on every backend") {
  auto const found = run({own_files()});
  INFO(found.text);
  CHECK(found.totals.files > 20);
  CHECK(found.totals.passed == found.totals.files);
  CHECK(found.succeeded);
}

TEST_CASE("golden files of float32 pass with rounded factors, at the tolerance of their precision") {
  auto const shared = checkout().parent_path() / "shared" / "golden";
  int backends = 0;
  for (auto const& backend : golden::built_backends()) {
    auto const rounds = golden::rounding_of(backend);
    if (rounds == golden::rounding::none) continue;
    ++backends;
    for (auto const& folder : {own_files(), shared}) {
      if (!std::filesystem::is_directory(folder)) continue;
      golden::options o{folder};
      o.backends = {backend};
      auto const found = run(o);
      INFO(found.text);
      CHECK(found.totals.files > 40);
      CHECK(found.totals.passed == found.totals.files);
      CHECK_THAT(found.text, contains(rounds == golden::rounding::to_7_bits ? "e-03" : "e-04"));
    }
  }
  bool const has_cpu = std::ranges::find(golden::built_backends(), "cpu") != golden::built_backends().end();
  CHECK((backends > 0) == has_cpu);  // plain loops round on every processor
}

/// Writes a copy of one of our files of kind dtm_full, with other settings and more tensors of float64. null removes a
/// setting.
void write_machine(path const& to, std::string const& name, nlohmann::json const& settings,
                   std::map<std::string, std::vector<triad::index_t>> const& more = {}) {
  triad::safetensors const from((own_files() / name).string());
  triad::safetensors_writer writer;
  for (auto const& [key, value] : from.metadata()) {
    if (key != "config") {
      writer.text(key, value);
      continue;
    }
    auto config = nlohmann::json::parse(value);
    for (auto const& [setting, now] : settings.items())
      if (now.is_null())
        config.erase(setting);
      else
        config[setting] = now;
    writer.text(key, config.dump());
  }
  for (auto const& [tensor, record] : from.tensors())
    writer.add_bytes(tensor, record.type, record.shape, from.bytes(tensor));
  for (auto const& [tensor, shape] : more) {
    triad::index_t count = 1;
    for (auto const extent : shape) count *= extent;
    writer.add(tensor, shape, std::vector<double>(static_cast<std::size_t>(count), 0.5));
  }
  writer.write((to / name).string());
}

TEST_CASE(
    "a tree machine's noise is on operations, on arguments or on both, as its file says, and else the file is "
    "refused") {
  scratch_folder const folder;
  std::string const both = "dtm_full__norms_before_noisy.f64.safetensors",
                    operations = "dtm_full__noisy_operations.f64.safetensors",
                    arguments = "dtm_full__noisy_arguments.f64.safetensors",
                    released = "dtm_full__noisy_arguments_released.f64.safetensors";
  auto const found = [&] {
    golden::options o{folder.where};
    o.backends = {"reference"};
    return run(o);
  };
  using extents = std::map<std::string, std::vector<triad::index_t>>;
  auto const refused = [&](std::string const& name, nlohmann::json const& settings, std::string const& sentence,
                           extents const& more = {}) {
    write_machine(folder.where, name, settings, more);
    auto const result = found();
    CHECK(result.totals.failed == 1);
    CHECK_THAT(result.text, contains(sentence));
  };
  SECTION("what is computed with") {
    write_machine(folder.where, both,
                  {{"op_dist_fn", "gumbel"}, {"arg_dist_fn", "gumbel"}, {"arg_dist_axis", "arguments"}});
    // Without these keys, noise is used if the file has noise. With these keys, a file may have noise that is not used.
    write_machine(folder.where, released, {{"op_dist_fn", nullptr}, {"arg_dist_fn", nullptr}});
    write_machine(folder.where, operations, {{"arg_dist_axis", "trees"}}, {{"in/gumbel_arg_0", {2, 1, 4}}});
    write_machine(folder.where, arguments, nlohmann::json::object(), {{"in/gumbel_op_0", {2, 3}}});
    auto const result = found();
    INFO(result.text);
    CHECK(result.totals.passed == 4);
    CHECK(result.totals.failed == 0);
  }
  SECTION("another axis is another machine") {
    write_machine(folder.where, arguments, {{"arg_dist_axis", nullptr}});
    CHECK(found().totals.failed == 1);
  }
  SECTION("a distribution that is not known") {
    refused(arguments, {{"arg_dist_fn", "hard"}}, "expected arg_dist_fn to be softmax or gumbel, found hard");
  }
  SECTION("an axis that is not known") {
    refused(arguments, {{"arg_dist_axis", "rows"}}, "expected arg_dist_axis to be trees or arguments, found rows");
  }
  SECTION("roots that are not known") {
    refused(arguments, {{"root_dist", "sofmax"}}, "expected root_dist to be softmax, found sofmax");
  }
  SECTION("no noise") {
    refused(arguments, {{"op_dist_fn", "gumbel"}},
            "op_dist_fn is gumbel, and there is no in/gumbel_op_0 to compute with");
  }
  SECTION("no temperature") {
    refused(operations, {{"gumbel_temp", nullptr}}, "there is noise, but no number as gumbel_temp");
  }
  SECTION("noise of another size") {
    refused(arguments, {{"op_dist_fn", "gumbel"}}, "expected 6 numbers as in/gumbel_op_0, found 4",
            {{"in/gumbel_op_0", {2, 2}}});
  }
}

TEST_CASE("files are chosen by kind and by type") {
  golden::options o{own_files()};
  o.kinds = {"tri_attn_flat"};
  CHECK(run(o).totals.files == 2);
  o.dtype = "f32";
  CHECK(run(o).totals.files == 1);
  o.kinds = {"rrat"};
  CHECK_FALSE(run(o).succeeded);  // no file was selected, so nothing was checked
}

TEST_CASE("a wrong number fails and is named") {
  scratch_folder const folder;
  auto const wrong = GENERATE(as<std::string>(), "out/y", "out/loss", "grad/in/x", "grad/param/linears.3.weight");
  auto const by = GENERATE(1e-7, std::numeric_limits<double>::quiet_NaN());
  write_changed(folder.where, attention_file, [&](std::string const& tensor, std::vector<double> values) {
    if (tensor == wrong) values.back() += by * (1 + std::abs(values.back()));
    return values;
  });
  auto const found = run({folder.where});
  CHECK(found.totals.failed == 1);
  CHECK_FALSE(found.succeeded);
  CHECK_THAT(found.text, contains(wrong + ": element "));
}

TEST_CASE("an output or gradient that is not compared fails, and so does one that is missing") {
  scratch_folder const folder;
  SECTION("a tensor the check does not know") {
    triad::safetensors const from((own_files() / attention_file).string());
    triad::safetensors_writer writer;
    for (auto const& [key, value] : from.metadata()) writer.text(key, value);
    for (auto const& [tensor, record] : from.tensors())
      writer.add_bytes(tensor, record.type, record.shape, from.bytes(tensor));
    writer.add("grad/param/surprise", {1}, std::vector<double>{0.0});
    writer.write((folder.where / attention_file).string());
    auto const found = run({folder.where});
    CHECK(found.totals.failed == 1);
    CHECK_THAT(found.text, contains("grad/param/surprise was not compared"));
  }
  SECTION("a tensor the check needs") {
    write_changed(folder.where, attention_file, [](std::string const& tensor, std::vector<double> values) {
      return tensor == "grad/in/x" ? std::vector<double>() : values;
    });
    auto const found = run({folder.where});
    CHECK(found.totals.failed == 1);
    CHECK_THAT(found.text, contains("grad/in/x"));
  }
}

TEST_CASE("an unknown kind fails; a known one that is not built fails unless that is allowed") {
  scratch_folder const folder;
  golden::options o{folder.where};
  SECTION("unknown") {
    write_changed(folder.where, attention_file, same, "novelty");
    o.allow_unbuilt = true;
    CHECK(run(o).totals.failed == 1);
    CHECK_FALSE(run(o).succeeded);
  }
  SECTION("not built") {
    o.planned = {"sequel"};
    REQUIRE_FALSE(golden::is_known("sequel"));
    write_changed(folder.where, attention_file, same, "sequel");
    CHECK(run(o).totals.unbuilt == 1);
    CHECK_FALSE(run(o).succeeded);
    o.allow_unbuilt = true;
    CHECK(run(o).succeeded);
    CHECK_THAT(run(o).text, contains("1 files, 0 passed, 0 failed, 1 not built yet\n"));
  }
}

TEST_CASE("a file that cannot be read fails and the others are still checked") {
  scratch_folder const folder;
  write_changed(folder.where, attention_file, same);
  std::ofstream(folder.where / "a_broken_one.safetensors") << "no header";
  auto const found = run({folder.where});
  CHECK(found.totals.files == 2);
  CHECK(found.totals.passed == 1);
  CHECK(found.totals.failed == 1);
}

TEST_CASE("a backend that this build does not have fails") {
  golden::options o{own_files()};
  o.kinds = {"tri_attn_flat"};
  o.backends = {"abacus"};
  auto const found = run(o);
  CHECK(found.totals.failed == found.totals.files);
  CHECK_THAT(found.text, contains("does not have the backend abacus"));
}

TEST_CASE("renaming replaces whole parts of a path") {
  golden::renaming const names{{{"attention.query", "linears.0"}, {"query", "never"}, {"norm1.gain", "norm1.weight"}}};
  CHECK(names("layers.0.attention.query.weight") == "layers.0.linears.0.weight");
  CHECK(names("norm1.gain") == "norm1.weight");
  CHECK(names("norm11.gain") == "norm11.gain");
}

}  // namespace golden_tests
