// Answers questions about graphs with a model that PyTorch exported, in a process without Python.
// SPDX-License-Identifier: Apache-2.0
//
//   answer PACKAGE MODEL < GRAPHS
//
// PACKAGE is the folder of the installed Python package triad_torch, and MODEL the file that export.py wrote.  A graph
// is numbers on standard input: its nodes n, the n n labels of its edges row by row (0 means no edge), and the source
// and the target of the question.  The program prints the logits of each graph in a line.
#include <dlfcn.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/torch.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void* opened(std::filesystem::path const& file) {
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  return library;
}

template <class F>
F* function_of(void* library, char const* name) {
  void* const found = dlsym(library, name);
  if (found == nullptr) throw std::runtime_error(dlerror());
  return reinterpret_cast<F*>(found);
}

/// Returns the file of the fastest kernels of the package that this processor supports.
std::filesystem::path kernels_of(std::filesystem::path const& package) {
  auto const file = [&](char const* level) { return package / ("libtriad_kernels-" + std::string(level) + ".so"); };
  if (auto const native = file("native"); exists(native)) return native;  // built for this machine alone
  if (__builtin_cpu_supports("x86-64-v4") && exists(file("x86-64-v4"))) return file("x86-64-v4");
  if (__builtin_cpu_supports("x86-64-v3") && exists(file("x86-64-v3"))) return file("x86-64-v3");
  if (exists(file("x86-64-v2"))) return file("x86-64-v2");
  throw std::runtime_error("PACKAGE: no kernels in " + package.string() +
                           ", expected the folder of triad_torch; print it by `python -c \"import triad_torch; "
                           "print(triad_torch.__path__[0])\"`");
}

/// Registers triad's operators in PyTorch, as `import triad_torch` does.
void use_triad(std::filesystem::path const& package) {
  void* const kernels = opened(kernels_of(package));
  void* const operators = opened(package / "libtriad_torch.so");
  auto const* const table = function_of<void const*()>(kernels, "triad_kernels_table")();
  function_of<void(void const*)>(operators, "triad_torch_use")(table);
}

std::int64_t number() {
  std::int64_t x = 0;
  if (!(std::cin >> x))
    throw std::runtime_error("standard input: no number, expected a whole graph: n, n n labels, source and target");
  return x;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("expected 2 arguments: the folder of triad_torch, and the exported model");
  use_triad(argv[1]);
  torch::NoGradGuard const no_gradients;
  torch::inductor::AOTIModelPackageLoader model(argv[2]);
  while (!(std::cin >> std::ws).eof()) {
    auto const n = number();
    if (n < 2 || n > 4096) throw std::runtime_error("nodes: " + std::to_string(n) + ", expected 2 to 4096");
    auto const labels = torch::empty({1, n, n}, torch::kInt64), query = torch::empty({1, 2}, torch::kInt64);
    for (auto const& part : {labels, query})
      for (std::int64_t k = 0; k < part.numel(); ++k) part.data_ptr<std::int64_t>()[k] = number();
    auto const logits = model.run({labels, query}).at(0).contiguous();
    for (std::int64_t k = 0; k < logits.numel(); ++k)
      std::printf("%s%.6f", k > 0 ? " " : "", static_cast<double>(logits.data_ptr<float>()[k]));
    std::printf("\n");
  }
} catch (std::exception const& e) {
  std::cerr << "answer: " << e.what() << '\n';
  return 1;
}
