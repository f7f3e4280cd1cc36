// Trains a network on data that Thrust has made, without a copy.  Thrust also counts the right answers.
// SPDX-License-Identifier: Apache-2.0
//
// nvcc compiles this program for a GPU.  A host compiler can compile it with THRUST_DEVICE_SYSTEM_CPP; the vectors are
// then in host memory.
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/inner_product.h>
#include <thrust/tabulate.h>

#include <cstdio>

#include "triad/cuda/device/thrust_views.cuh"
#include "triad/layers/feed_forward.hpp"
#include "triad/ops/cross_entropy.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/trainer.hpp"
#if defined(__CUDACC__) || defined(TRIAD_CUDA_DOUBLE)
#include "triad/cuda.cuh"
using device = triad::cuda::backend;
#else
#include "triad/cpu/cpu.hpp"
using device = triad::cpu::backend;
#endif

namespace essay {
using namespace triad;  // within a namespace: in nvcc's generated code, cuda:: must not mean triad::cuda

// ---- 1.  The data, which are made on the device: points of a square, and whether both coordinates have the same sign.
struct coordinate {
  std::uint64_t seed;
  TRIAD_HOST_DEVICE float operator()(std::size_t i) const {
    std::uint64_t z = (seed + i) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 29)) * 0xbf58476d1ce4e5b9u;
    return static_cast<float>(z >> 40) * 0x1p-23f - 1;  // in [-1, 1)
  }
};
struct one_sign {
  float const* x;  // (points, 2)
  TRIAD_HOST_DEVICE index_t operator()(std::size_t i) const { return x[2 * i] * x[2 * i + 1] > 0 ? 1 : 0; }
};

struct points {
  thrust::device_vector<float> x;         // (count, 2)
  thrust::device_vector<index_t> answer;  // (count)
  points(index_t count, std::uint64_t seed)
      : x(static_cast<std::size_t>(2 * count)), answer(static_cast<std::size_t>(count)) {
    thrust::tabulate(x.begin(), x.end(), coordinate{seed});
    thrust::tabulate(answer.begin(), answer.end(), one_sign{thrust::raw_pointer_cast(x.data())});
  }
};

// ---- 2.  A model for such rows: a layer of the library with a loss (triad/train/model.hpp).
struct classifier : feed_forward<float> {
  using value_type = float;
  using layer = feed_forward<float>;
  struct input {
    tensor<float const, dyn, dyn> x;  // (rows, 2)
    row_dims sizes;
    row_dims const& dims() const { return sizes; }
    template <class F>
    void each(F&& f) const {
      f(x);
    }
  };
  using answers = vec<index_t const>;  // (rows)
  using planned_with = row_dims;

  classifier() : layer(2, 32, 2) {}
  output plan_output(arena& place, row_dims d) const { return place.make<output>(d.rows, out()); }
  input measured_input(row_dims d) const { return {tensor<float const, dyn, dyn>(nullptr, d.rows, in()), d}; }
  answers measured_answers(row_dims d) const { return make_vec<index_t const>(nullptr, d.rows); }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<float const> w, input const& in, saved const& s, output y) const {
    layer::forward(ex, c, w, in.x, s, y);
  }
  template <backend Ex>
  void loss(Ex& ex, arena&, input const&, output y, answers targets, vec<float> loss, output dy) const {
    cross_entropy(ex, y, targets, loss, dy);
  }
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<float const> w, input const& in, saved const& s, const_view<output> dy,
                fields<float> gradient) const {
    layer::backward(ex, c, w, in.x, s, dy, output(nullptr, 0, 2), gradient);
  }
};

// ---- 3.  The batch consists of views of the vectors.
int run() {
#if defined(__CUDACC__)
  if (triad::cuda::device_count() == 0) {
    std::fputs("thrust_points: nothing was trained, there is no GPU here\n", stderr);
    return 77;  // CTest reports the test as skipped
  }
#endif
  constexpr index_t count = 1024;
  points const train(count, 1), others(count, 1 << 20);
  auto const batch = [](points const& p) {
    return classifier::input{triad::cuda::view_of(p.x, count, 2), row_dims(count)};
  };

  device ex;
  trainer learner(ex, classifier(), {.max_norm = 1, .capacity = row_dims(count)});
  initialize(learner.parameters(), 1);
  for (int step = 0; step < 300; ++step) learner.update(batch(train), triad::cuda::view_of(train.answer), 0.01);

  thrust::device_vector<index_t> best(static_cast<std::size_t>(count));
  argmax_rows(ex, learner.infer(batch(others)), triad::cuda::view_of(best));
  auto const loss = static_cast<double>(learner.loss());  // waits for all queued work, whose results Thrust reads
  auto const correct = thrust::inner_product(best.begin(), best.end(), others.answer.begin(), index_t{0},
                                             thrust::plus<index_t>(), thrust::equal_to<index_t>());
  std::printf("loss %.3f; right: %d of %d other points\n", loss, static_cast<int>(correct), static_cast<int>(count));
  return correct > count * 95 / 100 ? 0 : 1;
}
}  // namespace essay

int main() try { return essay::run(); } catch (std::exception const& e) {
  std::fprintf(stderr, "thrust_points: %s\n", e.what());
  return 1;
}
