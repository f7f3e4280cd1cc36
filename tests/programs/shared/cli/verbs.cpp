// Tests the command line that all programs share, with a program that does nothing: which data and which run a verb
// uses, and errors.
// SPDX-License-Identifier: Apache-2.0
#include "shared/cli/verbs.hpp"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "shared/cli/config.hpp"
#include "tests/catch.hpp"

namespace idle {

struct options : triad::programs::run_options {
  int test_size = 1;
  std::string questions, named, unseen;
  bool is_long = true;
  std::vector<std::string> asked;

  void each(triad::programs::option_list& f) override {
    run_options::each(f);
    f("data", &data, "").also({"evaluate"}).path();
    f("test-size", &test_size, "").also({"evaluate"}).free();
    f("named", &named, "").free();
    f("long", &is_long, "").opposite("short").free();
    f("hidden", &unseen, "").hidden().free();
    f("data", &questions, "").only({"predict"});
    f("question", &asked, "").only({"predict"}).positional();
  }
};
struct seen {
  std::string data;
  int test_size = 0;
  bool of_run = false;
  std::vector<std::string> asked{};
};
inline seen last;  // the options that the verb received

void apply_preset(options&) {}
int look(options const& o) {
  last = {o.data, o.test_size, o.data_of_run, o.asked};
  return 0;
}
int explain(options const& o) {
  if (o.run.ends_with("/vast")) throw std::length_error("vector::_M_default_append");
  throw std::bad_alloc();
}

}  // namespace idle

namespace programs_verbs_tests {

using triad::test::contains;

/// A file for printed text, which is removed at the end.
struct captured {
  std::string path =
      (std::filesystem::temp_directory_path() / ("triad-program-" + std::to_string(::getpid()))).string();
  std::FILE* stream;
  int descriptor, before;

  explicit captured(std::FILE* s) : stream(s), descriptor(::fileno(s)), before(::dup(::fileno(s))) {
    std::fflush(stream);
    std::FILE* const file = std::fopen(path.c_str(), "w");
    REQUIRE(file != nullptr);
    ::dup2(::fileno(file), descriptor);
    std::fclose(file);
  }
  captured(captured const&) = delete;
  captured& operator=(captured const&) = delete;
  std::string end() {
    std::fflush(stream);
    ::dup2(before, descriptor);
    ::close(before);
    std::ifstream file(path);
    std::string const text{std::istreambuf_iterator<char>(file), {}};
    std::filesystem::remove(path);
    return text;
  }
};

struct printed {
  int status;
  std::string text;
};

printed run(std::vector<std::string> arguments, std::FILE* stream = stdout) {
  arguments.insert(arguments.begin(), "idle");
  std::vector<char*> argv;
  for (auto& a : arguments) argv.push_back(a.data());
  captured output(stream);
  int const status = triad::programs::run_program<idle::options>(
      "idle", "a",
      [](idle::options& o) -> std::vector<triad::programs::verb> {
        auto const look = [&o] { return idle::look(o); };
        return {{"train", "t", look}, {"evaluate", "e", look}, {"predict", "p", look}, {"explain", "x", [&o] {
                                                                                          return idle::explain(o);
                                                                                        }}};
      },
      static_cast<int>(argv.size()), argv.data(), "examples/idle/README.md");
  return {status, output.end()};
}

struct run_folder_of {
  std::string path = (std::filesystem::temp_directory_path() / ("triad-idle-" + std::to_string(::getpid()))).string();

  explicit run_folder_of(std::string const& config) {
    std::filesystem::create_directories(path);
    std::ofstream(path + "/config.toml") << config;
    std::ofstream(path + "/model.safetensors") << "a checkpoint";
  }
  run_folder_of(run_folder_of const&) = delete;
  run_folder_of& operator=(run_folder_of const&) = delete;
  ~run_folder_of() { std::filesystem::remove_all(path); }
};

TEST_CASE("a question in brackets is one question, an empty path and a number with a 0 before it are misuse") {
  run_folder_of const folder("test-size = 7\n");
  CHECK(run({"predict", folder.path, "[ a , b ]", "[]", "c"}).status == triad::programs::all_well);
  CHECK(idle::last.asked == std::vector<std::string>{"[ a , b ]", "[]", "c"});
  CHECK(run({"evaluate", folder.path, "--data", ""}, stderr).status == triad::programs::misused);
  CHECK(run({"evaluate", folder.path, "--test-size", "010"}, stderr).status == triad::programs::misused);
  CHECK(run({"train", "--seed", "08"}, stderr).status == triad::programs::misused);
  CHECK(run({"train", "--out", ""}, stderr).status == triad::programs::misused);
}

TEST_CASE("a text that is empty is no value of any option, and opposites exclude each other") {
  auto const wrong = [](std::vector<std::string> const& arguments, char const* what) {
    auto const [status, text] = run(arguments, stderr);
    CAPTURE(text);
    CHECK(status == triad::programs::misused);
    CHECK_THAT(text, triad::test::contains(what));
  };
  wrong({"train", "--named", ""}, "--named: is empty: give a value, or leave the option out");
  wrong({"train", "--config", "", "--named", "a"}, "--config");
  wrong({"evaluate", ""}, "run: is empty: give a value, or leave the option out");
  CHECK(run({"train", "--named", "a"}).status == 0);
  CHECK(run({"predict", "r", ""}, stderr).status ==
        triad::programs::refused);  // a blank question counts as given, and r is not a run
  auto const [status, text] = run({"train", "--long", "--short"}, stderr);
  CHECK(status == triad::programs::refused);
  CHECK_THAT(text, triad::test::contains("idle: --long and --short are opposites: give one"));
  CHECK(run({"train", "--short"}).status == 0);
}

TEST_CASE("what goes on with no folder, or ends what there is not, is refused before training") {
  auto const [status, text] = run({"train", "--resume"}, stderr);
  CHECK(status == triad::programs::refused);
  CHECK_THAT(text, triad::test::contains("--resume goes on with the run in a folder: name it with --out"));
  triad::programs::width_options o;
  o.dropout = 0, o.dropout_until = 0.9;
  CHECK_NOTHROW(o.settle());  // runs of an older program may have this
  o.given = {"dropout-until"};
  CHECK_THROWS_WITH(o.settle(),
                    triad::test::contains("--dropout-until 0.9 says until when there is dropout, and --dropout "
                                          "is 0"));
  o.dropout = 0.1;
  CHECK_NOTHROW(o.settle());
}

TEST_CASE("a trained model is asked about its run's data, and other data are named with them") {
  run_folder_of const folder("data = \"/some/data\"\ntest-size = 7\nthreads = 3\n");
  auto const own = run({"evaluate", folder.path});
  CHECK(own.status == 0);
  CHECK((idle::last.data == "/some/data" && idle::last.test_size == 7 && idle::last.of_run));
  CHECK(own.text == "data: /some/data, those of the run\n");
  auto const others = run({"evaluate", folder.path, "--data", "/other", "--test-size=2"});
  CHECK((idle::last.data == "/other" && idle::last.test_size == 2 && !idle::last.of_run));
  CHECK(others.text == "data: /other; those of the run: /some/data\n");
  auto const asked = run({"predict", folder.path});  // --data of predict has another meaning
  CHECK((idle::last.data.empty() && asked.text.empty()));
}

TEST_CASE("a run's folder commands no terminal by the name of its data") {
  run_folder_of const folder("data = \"/some\\u001B[31mdata\"\n");
  CHECK(run({"evaluate", folder.path}).text == "data: /some?[31mdata, those of the run\n");
}

TEST_CASE("where the run's data are not known, or were generated, that is what is printed") {
  run_folder_of const folder("test-size = 7\n");
  CHECK(run({"evaluate", folder.path}).text.empty());
  CHECK((idle::last.data.empty() && idle::last.test_size == 7));
  CHECK(run({"evaluate", folder.path, "--data", "/other"}).text == "data: /other; those of the run: generated\n");
  std::filesystem::remove(folder.path + "/config.toml");
  CHECK(run({"evaluate", folder.path}).text.find("no config.toml next to this checkpoint") != std::string::npos);
  CHECK_FALSE(idle::last.of_run);
  CHECK(run({"evaluate", folder.path, "--data", "/other"}).text == "data: /other\n");
}

TEST_CASE("a run without a checkpoint is reported, with and without its options") {
  run_folder_of const folder("width = 3\n");
  std::filesystem::remove(folder.path + "/model.safetensors");
  auto const expected = "idle: " + folder.path +
                        ": there is no checkpoint here: give the folder that train wrote with " +
                        "--out, or its model.safetensors\n";
  CHECK(run({"evaluate", folder.path}, stderr).text == expected);
  std::filesystem::remove(folder.path + "/config.toml");
  CHECK(run({"evaluate", folder.path}, stderr).text == expected);
}

TEST_CASE("a run of another program is reported with its program") {
  for (auto const& [line, owner] : {std::pair("train-lengths = [2, 3]", "clutrr"),
                                    {"from-parent = false", "cogs"},
                                    {"role-seed = 1", "tree-transforms"},
                                    {"train-on = \"train\"", "cognition"},
                                    {"program = \"graphs\"", "graphs"},
                                    {"task = \"parse\"", "cfq"},
                                    {"task = \"semantic\"", "cfq"}}) {
    run_folder_of const folder(std::string("width = 3\n") + line + "\n");
    auto const found = run({"evaluate", folder.path}, stderr);
    CHECK(found.status == 1);
    CHECK(found.text ==
          "idle: " + folder.path + " is a run of " + owner + ", and this is idle: give it to " + owner + " evaluate\n");
  }
}

TEST_CASE("memory that is not there is an error in a sentence") {
  run_folder_of const folder("width = 3\n");
  for (auto const* checkpoint : {"any", "vast"}) {
    auto const path = folder.path + "/" + checkpoint;
    std::ofstream(path) << "a checkpoint";
    auto const found = run({"explain", path}, stderr);
    CHECK(found.status == 1);
    CHECK(found.text ==
          "idle: there is not enough memory for a model, or data, of these sizes: take smaller ones, or a machine that "
          "has more\n");
  }
}

TEST_CASE("seeds end at the largest") {
  CHECK(run({"train", "--seed", "18446744073709551615"}, stderr).status == 0);
  auto const found = run({"train", "--seed", "18446744073709551614", "--seeds", "3"}, stderr);
  CHECK(found.status == 1);
  CHECK(
      found.text.find("--seeds 3 from --seed 18446744073709551614 go beyond the largest seed, 18446744073709551615") !=
      std::string::npos);
}

TEST_CASE("what the command line does not understand has a status of its own, and help has none") {
  for (auto const& wrong : {"--no-such", "--seeds=-1", "--backend=tpu"})
    CHECK(run({"train", wrong}, stderr).status == triad::programs::misused);
  CHECK(run({"no-such-verb"}, stderr).status == triad::programs::misused);
  CHECK(run({}, stderr).status == triad::programs::misused);
  for (auto const& help : {"--help", "-h", "--help-all"}) {
    auto const found = run({"train", help}, stdout);
    CHECK(found.status == triad::programs::all_well);
    CHECK(found.text.find("idle/README.md") != std::string::npos);
    CHECK(found.text.find("--test-size") != std::string::npos);  // the program has few options, so all are shown
  }
}

TEST_CASE("faults of the command line are reported with what was given and what is expected") {
  run_folder_of const folder("width = 3\n");
  auto const wrong = [](std::vector<std::string> const& arguments) {
    auto const found = run(arguments, stderr);
    CHECK(found.status == triad::programs::misused);
    return found.text;
  };
  std::string const more = "\nRun with --help for more information.\n";
  CHECK_THAT(wrong({"train", "--test-size", "16.5"}),
             contains("--test-size: 16.5, expected a whole number\nRun with "));
  CHECK_THAT(wrong({"train", "--test-size", "true"}), contains("--test-size: true, expected a whole number\n"));
  CHECK_THAT(wrong({"train", "--test-size", "99999999999"}),
             contains("--test-size: 99999999999, expected a whole number from -2147483648 to 2147483647\n"));
  CHECK_THAT(wrong({"train", "--average", "much"}), contains("--average: much is not a number from 0 to 0.999999\n"));
  CHECK_THAT(wrong({"train", "--shares", "1073741824"}), contains("1073741824 is not a power of two from 1 to 65536"));
  CHECK_THAT(wrong({"train", "--backend", "tpu"}), contains("--backend: tpu, expected cpu, cuda or reference\n"));
  CHECK_THAT(wrong({"train", "--backend"}), contains("--backend: no value, expected cpu, cuda or reference\n"));
  CHECK_THAT(wrong({"train", "--test-size"}), contains("--test-size: no value, expected one after it\n"));
  CHECK_THAT(wrong({"train", "--seeds", "2", "--seeds", "3"}), contains("--seeds: 2 values, expected one; give"));
  CHECK_THAT(wrong({"train", "--resume=maybe"}),
             contains("--resume: maybe, expected true or false, or no value at all"));
  CHECK_THAT(wrong({"train", "--no-such", "1", "x"}),
             contains("--no-such 1 x: not expected; train --help-all lists what train takes\n"));
  CHECK_THAT(wrong({"train", "--rate", "1"}), contains("--rate 1: not expected; train --help-all"));
  CHECK_THAT(wrong({"train", "--test-siz=3"}), contains("--test-siz=3: not expected; did you mean --test-size? train"));
  CHECK_THAT(wrong({"train", "--test", "3", "-seedz", "1"}),
             contains("--test 3 -seedz 1: not expected; did you mean --test-size? did you mean --seed or --seeds? "));
  CHECK_THAT(wrong({"train", "--shotr"}), contains("did you mean --short?"));   // the opposite of a flag
  CHECK_THAT(wrong({"train", "--hidde"}), contains("did you mean --hidden?"));  // not in any --help
  CHECK_THAT(wrong({"train", "--questio", "3"}), !contains("did you mean"));    // predict has it
  CHECK_THAT(wrong({"train", "--config", "/no/such"}), contains("--config: /no/such is not there, expected a file\n"));
  CHECK_THAT(wrong({"train", "--config", folder.path}), contains(" is a folder, expected a file\n"));
  CHECK_THAT(wrong({"evaluate"}), contains("run: missing, expected a run's folder, or a model.safetensors\n"));
  CHECK_THAT(wrong({}), contains("no verb, expected train, evaluate, predict or explain\n"));
  std::ofstream(folder.path + "/config.toml") << "test-size = 1.5\n";
  CHECK_THAT(run({"train", "--config", folder.path + "/config.toml"}, stderr).text,
             contains("config.toml: --test-size: 1.5, expected a whole number\n"));
  std::ofstream(folder.path + "/config.toml") << "test_size = 1\n";
  CHECK_THAT(run({"train", "--config", folder.path + "/config.toml"}, stderr).text,
             contains("no option of this program's train is called test_size; did you mean test-size?\n"));
}

TEST_CASE("a GPU that is not used is reported where no backend was chosen") {
  using triad::programs::unused_gpu;
  CHECK_THAT(unused_gpu("idle", "cpu", false, "/"),
             contains("--backend cuda takes it in build/cuda/bin/idle, which cmake --preset cuda && cmake --build "
                      "--preset cuda --target idle makes\n"));
  CHECK(unused_gpu("idle", "cpu", false, "/no/such/driver").empty());
  CHECK(unused_gpu("idle", "cpu", true, "/").empty());
  CHECK(unused_gpu("idle", "cuda", false, "/").empty());
}

TEST_CASE(
    "options are kept as TOML and read back, whatever is in them, and the list says what a resumed run must have") {
  idle::options o;
  o.data = "/with # and \"quotes\" and \\ and \n", o.seed = 18446744073709551615U, o.test_size = 7;
  auto const text = triad::programs::to_toml(o);
  run_folder_of const folder(text);
  auto const file = folder.path + "/config.toml";
  CHECK(triad::programs::config_value(file, "data") == o.data);
  CHECK(triad::programs::config_value(file, "test-size") == "7");
  CHECK(triad::programs::config_value(file, "seed") == "18446744073709551615");
  CHECK(triad::programs::config_value(file, "no-such-option").empty());
  CHECK(triad::programs::training_settings(o) == "seed = 18446744073709551615\n");
}

TEST_CASE("a number is written by its fewest digits, and by 17 in settings, which older checkpoints have so") {
  idle::options o;
  o.average = 0.9, o.dropout_until = 1e-5;
  CHECK_THAT(triad::programs::to_toml(o), contains("average = 0.9\n") && contains("dropout-until = 1e-05\n"));
  CHECK_THAT(triad::programs::training_settings(o), contains("average = 0.90000000000000002\n"));
  run_folder_of const folder(triad::programs::to_toml(o));
  auto const file = folder.path + "/config.toml";
  CHECK(triad::programs::config_value(file, "average") == "0.9");
  CHECK(std::stod(triad::programs::config_value(file, "dropout-until")) == 1e-5);
}

TEST_CASE("a config file that is not TOML is reported with line and column, and an option of 0.1 has its new name") {
  run_folder_of const folder("seeds = 2\ndata = [1,\n");
  auto const file = folder.path + "/config.toml";
  auto const found = run({"train", "--config", file}, stderr);
  CHECK(found.status == 1);
  CHECK(found.text.find(file + ":2:") != std::string::npos);
  std::ofstream(file) << "rate = 0.5\nwords = [1, 2]\n";
  auto const items = triad::programs::read_config(file);
  REQUIRE(items.size() == 2);
  CHECK((items[0].name == "learning-rate" && items[0].text() == "0.5"));
  CHECK((items[1].name == "tokens" && items[1].text() == "1,2"));
}

}  // namespace programs_verbs_tests
