// Samples families, and finds the relation between any two people.  The people and homes of a family form a tree.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "genealogy.hpp"
#include "triad/core/random.hpp"

namespace triad::programs::clutrr {

/// A family under the assumptions of genealogy.hpp.  Each person may have a home of birth and a home of marriage.
class family {
 public:
  static constexpr int nobody = -1;

  struct person {
    gender is;
    int birth;     // the home in which the person was born, or none
    int marriage;  // the home that the person founded, or none
  };

  [[nodiscard]] int size() const { return static_cast<int>(people_.size()); }
  [[nodiscard]] person const& operator[](int i) const { return people_[static_cast<std::size_t>(i)]; }

  /// Samples a family of at least `people` people.  The family grows from one person, nearest kin first, so it includes
  /// most close relatives of this person.  A couple has 1 to `most_children` children.
  void sample(counter_random& random, int people, int most_children) {
    people_.clear();
    homes_.clear();
    add(random.chance(1, 2) ? gender::male : gender::female, nobody);
    for (int i = 0; size() < people; ++i) {
      // The last person must get a new relative.  Otherwise the family would stop growing.
      bool const last = i + 1 == size();
      if ((*this)[i].birth == nobody && (last || random.chance(3, 4))) give_parents(random, i, most_children);
      if ((*this)[i].marriage == nobody && (last || random.chance(3, 4))) marry(random, i, most_children);
    }
  }

  /// Returns the relation of `b` to `a`; returns `other` if the relation has no name, or if `a` and `b` are the same
  /// person.
  [[nodiscard]] relation between(int a, int b) const {
    if (a == b) return relation::other;
    person const& x = (*this)[a];
    person const& y = (*this)[b];
    auto const word = [&](step first, step second = step::stay) { return relation_of(first, second, y.is); };
    if (same(x.birth, y.birth)) return word(step::side);
    if (same(x.birth, y.marriage)) return word(step::up);
    if (same(x.marriage, y.birth)) return word(step::down);
    if (same(x.marriage, y.marriage)) return word(step::mate);
    if (x.birth != nobody)
      for (int const p : parents(x.birth)) {
        if (same((*this)[p].birth, y.marriage)) return word(step::up, step::up);
        if (same((*this)[p].birth, y.birth)) return word(step::up, step::side);
      }
    if (y.birth != nobody)
      for (int const p : parents(y.birth)) {
        if (same((*this)[p].birth, x.marriage)) return word(step::down, step::down);
        if (same((*this)[p].birth, x.birth)) return word(step::side, step::down);
      }
    if (x.marriage != nobody && same((*this)[spouse(a)].birth, y.marriage)) return word(step::mate, step::up);
    if (y.marriage != nobody && same((*this)[spouse(b)].birth, x.marriage)) return word(step::down, step::mate);
    return relation::other;
  }

 private:
  static bool same(int home, int other_home) { return home != nobody && home == other_home; }

  [[nodiscard]] std::array<int, 2> const& parents(int home) const { return homes_[static_cast<std::size_t>(home)]; }

  [[nodiscard]] int spouse(int i) const {
    auto const& couple = parents((*this)[i].marriage);
    return couple[0] == i ? couple[1] : couple[0];
  }

  int add(gender is, int birth) {
    people_.push_back({is, birth, nobody});
    return size() - 1;
  }

  int found_home(int one, int two) {
    int const home = static_cast<int>(homes_.size());
    homes_.push_back({one, two});
    people_[static_cast<std::size_t>(one)].marriage = home;
    people_[static_cast<std::size_t>(two)].marriage = home;
    return home;
  }

  void bear(counter_random& random, int home, int children) {
    for (int c = 0; c < children; ++c) add(random.chance(1, 2) ? gender::male : gender::female, home);
  }

  void give_parents(counter_random& random, int child, int most_children) {
    int const mother = add(gender::female, nobody);
    int const father = add(gender::male, nobody);
    int const home = found_home(mother, father);
    people_[static_cast<std::size_t>(child)].birth = home;
    bear(random, home, random.below(most_children));
  }

  void marry(counter_random& random, int one, int most_children) {
    int const two = add((*this)[one].is == gender::male ? gender::female : gender::male, nobody);
    int const home = found_home(one, two);
    bear(random, home, 1 + random.below(most_children));
  }

  std::vector<person> people_;
  std::vector<std::array<int, 2>> homes_;  // the couple of each home
};

}  // namespace triad::programs::clutrr
