#!/usr/bin/env bash
# oneDNN multiplies by plain loops if a source has gaps between its rows and the weights have the layout that oneDNN
# itself chose for a source without gaps.
# One would guess: a source whose rows are apart, as of a block of columns, costs little more. With plain weights it does.
# What happens: the primitive is made, gives right results, and takes some thousand times as long.  Only its name tells.
# Seen in: oneDNN 3.2 (and Debian's 2.6.3), on processors with AVX-512, in float32 and in bfloat16.
# Why it matters: weights are packed once and used for many sources; one strided source then stops a training.
# It needs g++ and a processor with AVX-512.
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
onednn_packages
cat > show.cpp <<'CPP'
#include <chrono>
#include <cstdio>
#include <dnnl.hpp>
#include <string>
using dnnl::memory;
int main() {
  dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(cpu);
  auto const f32 = memory::data_type::f32;
  memory::desc const dense({384, 200}, f32, memory::dims{200, 1}), gaps({384, 200}, f32, memory::dims{224, 1}),
      any({200, 256}, f32, memory::format_tag::any), plain({200, 256}, f32, memory::dims{256, 1}),
      result({384, 256}, f32, memory::dims{256, 1});
  auto const packed = dnnl::matmul::primitive_desc(cpu, dense, any, result).weights_desc();
  double first = 0;
  auto const show = [&](char const* name, memory::desc const& source, memory::desc const& weights) {
    dnnl::matmul::primitive_desc const made(cpu, source, weights, result);
    memory a(source, cpu), b(weights, cpu), c(result, cpu);
    double best = 1e9;
    for (int round = 0; round < 4; ++round) {
      auto const start = std::chrono::steady_clock::now();
      dnnl::matmul(made).execute(stream, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
      stream.wait();
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    if (first == 0) first = best;
    std::string const kernel = made.impl_info_str();
    std::printf("%s: %s, %s\n", name, kernel.substr(0, kernel.find(':')).c_str(),
                best > 100 * first ? "more than 100 times as long" : "less than 100 times as long");
  };
  show("dense source, packed weights", dense, packed);
  show("source with gaps, plain weights", gaps, plain);
  show("source with gaps, packed weights", gaps, packed);
}
CPP
compile_with_onednn show
OMP_NUM_THREADS=1 ./show | expect "dense source, packed weights: brg, less than 100 times as long
source with gaps, plain weights: gemm, less than 100 times as long
source with gaps, packed weights: ref, more than 100 times as long"
