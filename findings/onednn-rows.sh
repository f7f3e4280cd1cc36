#!/usr/bin/env bash
# Whether a row of a oneDNN product depends on the number of rows next to it is a matter of the instruction set.
# One would guess: one library has one answer, or a newer instruction set has fewer guarantees.
# What happens: with AVX2 most products of fewer rows give other last bits in the rows that they share with a larger
# product; with AVX-512 none does.
# Seen in: oneDNN 3.2 (and Debian's 2.6.3), float32, one thread.
# Why it matters: a model answers alone as in a batch on one machine and not on the other, and a test passes on one.
# It needs g++ and a processor with AVX-512.
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
onednn_packages
cat > show.cpp <<'CPP'
#include <cstdio>
#include <cstring>
#include <dnnl.hpp>
#include <random>
#include <vector>
using dnnl::memory;
int main() {
  dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(cpu);
  auto const f32 = memory::data_type::f32;
  std::mt19937 generator(1);
  std::normal_distribution<float> value;
  int differ = 0, all_products = 0;
  for (long n : {64, 200, 800})
    for (long k : {64, 200, 800}) {
      std::vector<float> a(400 * k), b(k * n), all(400 * n), some(400 * n);
      for (auto& x : a) x = value(generator);
      for (auto& x : b) x = value(generator);
      auto const multiply = [&](long m, std::vector<float>& c) {
        memory::desc const source({m, k}, f32, memory::dims{k, 1}), weights({k, n}, f32, memory::dims{n, 1}),
            result({m, n}, f32, memory::dims{n, 1});
        memory x(source, cpu, a.data()), y(weights, cpu, b.data()), z(result, cpu, c.data());
        dnnl::matmul(dnnl::matmul::primitive_desc(cpu, source, weights, result))
            .execute(stream, {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, y}, {DNNL_ARG_DST, z}});
        stream.wait();
      };
      multiply(400, all);
      for (long m = 1; m < 400; m += 7) {
        multiply(m, some), ++all_products;
        differ += std::memcmp(all.data(), some.data(), m * n * sizeof(float)) != 0;
      }
    }
  std::printf("%s of %d products differ\n", differ == 0 ? "none" : 2 * differ > all_products ? "more than half" : "some",
              all_products);
}
CPP
compile_with_onednn show
for set in AVX2 AVX512_CORE; do
  printf '%s: ' $set
  OMP_NUM_THREADS=1 ONEDNN_MAX_CPU_ISA=$set ./show
done | expect "AVX2: more than half of 513 products differ
AVX512_CORE: none of 513 products differ"
