// Tests the random changes of samples in every epoch: how many samples are changed, and that a change depends only on
// seed, epoch and index.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/augmentation.hpp"

#include <cmath>
#include <optional>
#include <set>
#include <type_traits>
#include <vector>

#include "tests/catch.hpp"
#include "triad/batches/batches.hpp"
#include "triad/batches/graph_loader.hpp"
#include "triad/batches/room_for.hpp"
#include "triad/reference/reference.hpp"

namespace batches_augmentation_tests {

using namespace triad;
using test::contains;
using list = std::vector<index_t>;

auto const turned = [](index_t plain, random_stream random) {
  return plain + 1000 + static_cast<index_t>(random.below(1000));
};
list numbers(index_t count) {
  list all;
  for (index_t i = 0; i < count; ++i) all.push_back(i);
  return all;
}
template <class Data>
list seen_of(Data const& data, std::uint64_t epoch) {
  list all;
  for (std::size_t i = 0; i < data.size(); ++i) all.push_back(data.seen(i, epoch));
  return all;
}

TEST_CASE("samples are changed at the rate, others in every epoch, and a seed, an epoch and a place decide all of it") {
  auto const data = numbers(4000);
  augmented const some(data, turned, {.seed = 3, .rate = 0.25});
  auto const first = seen_of(some, 0), second = seen_of(some, 1);
  int changed = 0, both = 0;
  std::set<index_t> drawn;
  for (std::size_t i = 0; i < data.size(); ++i) {
    bool const here = first[i] != data[i];
    CHECK((!here || first[i] >= data[i] + 1000));
    changed += here ? 1 : 0;
    both += here && second[i] != data[i] ? 1 : 0;
    if (here) drawn.insert(first[i] - data[i]);
  }
  CHECK((changed > 1000 - 140 && changed < 1000 + 140));  // within five standard deviations
  CHECK((both > 250 - 80 && both < 250 + 80));            // changed in both epochs by chance
  // 1000 draws from 1000 numbers give 632 different numbers on average.
  CHECK(drawn.size() > 500);
  // The result does not depend on the order of calls or on the object, so a resumed run has the same samples.
  augmented const again(data, turned, {.seed = 3, .rate = 0.25});
  for (std::size_t i = data.size(); i-- > 0;) CHECK(again.seen(i, 1) == second[i]);
  CHECK(seen_of(augmented(data, turned, {.seed = 4, .rate = 0.25}), 0) != first);
}

TEST_CASE("rate 0 changes nothing, rate 1 everything, and no number of an epoch or a place is like another's") {
  auto const data = numbers(50);
  CHECK(seen_of(augmented(data, turned, {.seed = 1, .rate = 0}), 7) == data);
  for (index_t const s : seen_of(augmented(data, turned, {.seed = 1}), 7)) CHECK(s >= 1000);
  std::set<std::vector<std::uint32_t>> streams;
  for (std::uint64_t epoch : {0ULL, 1ULL, 2ULL, 1ULL << 32U})
    for (std::size_t place : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{1} << 32U}) {
      auto random = *augmentation{.seed = 9}.of(place, epoch);
      streams.insert({random.bits(), random.bits(), random.bits()});
    }
  CHECK(streams.size() == 16);
}

TEST_CASE("a sample that cannot be changed stays as it is") {
  auto const data = numbers(20);
  auto const odd = [](index_t s, random_stream) { return s % 2 == 1 ? std::optional(-s) : std::nullopt; };
  augmented const seen(data, odd, {.seed = 1});
  for (std::size_t i = 0; i < data.size(); ++i) CHECK(seen.seen(i, 0) == (i % 2 == 1 ? -data[i] : data[i]));
}

TEST_CASE("batches have what their epoch sees, whatever their size") {
  struct sample {
    index_t nodes, answer;
  };
  std::vector<sample> data;
  for (index_t i = 0; i < 30; ++i) data.push_back({2, i});
  auto const other = [&](sample const& s, random_stream random) {
    return sample{s.nodes + 1, data[random.below(30)].answer};
  };
  augmented const seen(data, other, {.seed = 5, .rate = 0.5});
  auto const add_one = [](auto& batch, sample const& s) { batch.add(s.nodes, 0, 0, s.answer); };
  graph_loader<reference::backend> loader(room_for_graphs(30, 3, 3));
  auto const answers = [&](std::uint64_t epoch, index_t most) {
    list all(data.size(), -1);
    auto pass = batches(loader, seen, add_one, {.shuffle = 1, .epoch = epoch, .most = most});
    for (auto const& [in, targets] : pass)
      for (index_t k = 0; k < pass.samples(); ++k) all[pass.sample(k)] = targets(k);
    return all;
  };
  auto const first = answers(0, 30);
  for (std::size_t i = 0; i < data.size(); ++i) CHECK(first[i] == seen.seen(i, 0).answer);
  CHECK(answers(0, 7) == first);
  CHECK(answers(1, 30) != first);
}

TEST_CASE("a rate that is no probability, and data that end at once, are refused") {
  auto const data = numbers(3);
  for (double const rate : {-0.1, 1.1, std::nan("")})
    CHECK_THROWS_WITH(augmented(data, turned, {.seed = 1, .rate = rate}).seen(0, 0),
                      contains("augmentation: rate is "));
  static_assert(!std::is_constructible_v<augmented<list, decltype(turned)>, list, decltype(turned), augmentation>);
}

}  // namespace batches_augmentation_tests
