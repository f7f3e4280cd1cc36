// triad-golden compares the results of the models with numbers that other programs have computed (golden files,
// *.safetensors).
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "kinds.hpp"
#include "runner.hpp"

int main(int argc, char** argv) {
  triad::golden::options o;
  std::string backend;
  CLI::App app("Checks every golden file of a folder: outputs, loss and gradients of our models against stored ones.",
               "triad-golden");
  app.add_option("folder", o.folder, "folder of *.safetensors files")->required()->check(CLI::ExistingDirectory);
  app.add_option("--kinds", o.kinds, "only files of these kinds, for example tri_attn,et_layer")->delimiter(',');
  app.add_option(
         "--backend", backend,
         "reference, cpu, cuda, or cuda-on-host: a stand-in for a GPU; with a precision, on files of float32: "
         "cpu-bf16 and onednn-bf16, the cpu backend by plain loops and by oneDNN; cuda-PRECISION and "
         "cuda-on-host-PRECISION, where PRECISION is tf32, bf16 or f16; reference and cpu (where built), one after the "
         "other, if not given")
      ->check(
          CLI::IsMember({"reference", "cpu", "cpu-bf16", "onednn-bf16", "cuda", "cuda-tf32", "cuda-bf16", "cuda-f16",
                         "cuda-on-host", "cuda-on-host-tf32", "cuda-on-host-bf16", "cuda-on-host-f16"}));
  app.add_option("--dtype", o.dtype, "only files of this type; files without one always count")
      ->check(CLI::IsMember({"f32", "f64"}));
  app.add_flag("--allow-unbuilt", o.allow_unbuilt, "kinds that are known but not built yet do not fail");
  CLI11_PARSE(app, argc, argv);

  auto const& built = triad::golden::built_backends();
  if (!backend.empty() && std::find(built.begin(), built.end(), backend) == built.end()) {
    std::cerr << "triad-golden: this build does not have the backend " << backend << "; it has";
    for (auto const& name : built) std::cerr << " " << name;
    std::cerr << "\n";
    return 2;
  }
  if (!backend.empty())
    o.backends = {backend};
  else
    std::erase_if(o.backends,
                  [&](auto const& name) { return std::find(built.begin(), built.end(), name) == built.end(); });
  for (auto const& kind : o.kinds)
    if (!triad::golden::is_known(kind)) {
      std::cerr << "triad-golden: " << kind << " is no kind that is known\n";
      return 2;
    }
  try {
    auto const found = triad::golden::run(o, std::cout);
    if (found.files == 0) std::cerr << "triad-golden: no file to check in " << o.folder.string() << "\n";
    return triad::golden::succeeded(found, o) ? 0 : 1;
  } catch (std::exception const& e) {
    std::cerr << "triad-golden: " << e.what() << "\n";
    return 2;
  }
}
