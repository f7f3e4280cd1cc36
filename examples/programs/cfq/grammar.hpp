// A small grammar of questions, each with its query, its dependencies and the rules that derive it.
// SPDX-License-Identifier: Apache-2.0
//
//   question -> did NP VP | was NP passive | was entity NP | who VP | what VP | which N VP | who did NP V
//             | which N did NP V | who was passive | what was passive | which N was passive | who was NP
//   VP       -> V NP | V and V NP | VP and VP | VP , VP , and VP               passive the same with V-ed by NP
//   NP       -> entity | a N | NP 's R | NP and NP | NP , NP , and NP          R: a role, perhaps with adjectives
//   N        -> noun | adjective N | role of NP | role and role of NP | N clause
//   clause   -> that VP | that NP V | that was passive | passive | whose role VP
//
// Every phrase is about one kind of thing, such as a person or a film, and a word combines only with the kinds that it
// applies to.  Two different questions must not have the same text, so the grammar omits some constructions.  Inside
// clauses and inside phrases with "of" or 's, "and" does not join phrases.  A noun has at most one clause, and no
// clause if the noun follows "of".  The subject of "was S passive" has no passive clause without "that was".  Entities
// and variables are numbered in order of appearance.  The answer is ?x0.  The conjuncts of a query are sorted by bytes,
// without repetitions.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

#include "lexicon.hpp"
#include "question_writer.hpp"
#include "triad/core/random.hpp"

namespace triad::programs::cfq {

/// Draws one question.
class question_grammar {
 public:
  question_grammar(question_writer& writer, counter_random& random) : w_(&writer), random_(&random) {}

  /// Draws a question with up to `depth` levels of nested phrases; if `depth` is 0, every noun phrase is an entity.
  /// Returns whether the answer is a count.
  bool question(int depth) {
    static constexpr std::array<char const*, 12> rules{"did",
                                                       "was-passive",
                                                       "was-noun",
                                                       "who",
                                                       "what",
                                                       "which",
                                                       "who-did",
                                                       "which-did",
                                                       "who-was-passive",
                                                       "what-was-passive",
                                                       "which-was-passive",
                                                       "who-was-noun"};
    auto const form = pick({6, 4, 2, 3, 2, 4, 2, 3, 1, 1, 2, 1});
    applied const here(*w_, std::string("question:") + rules[form]);
    if (form == 0 || form == 1) {
      auto const what = form == 0 ? pick_kind({5, 1, 3, 0}) : pick_kind({2, 5, 2, 1});
      int const first = w_->put(form == 0 ? "Did" : "Was");
      passive_clauses_ = form == 0;
      auto const subject = noun_phrase(what, depth, true);
      passive_clauses_ = true;
      if (form == 1 && subject.terms.size() > 1) w_->replace(first, "Were");
      int const head =
          form == 0 ? verb_phrase(subject.terms, what, depth, true, true) : passive(subject.terms, what, depth, true);
      w_->attach(first, head, form == 0 ? "aux" : "aux:pass");
      w_->attach(subject.head, head, form == 0 ? "nsubj" : "nsubj:pass");
      return true;
    }
    if (form == 2) {
      int const was = w_->put("Was");
      auto const what = pick_kind({5, 2, 2, 1});
      auto const subject = noun_phrase(what, 0, false);
      int const head = about(subject.terms[0], what, depth);
      w_->attach(was, head, "cop");
      w_->attach(subject.head, head, "nsubj");
      return true;
    }
    auto const asked = w_->variable();
    bool const who = form == 3 || form == 6 || form == 8 || form == 11, which = form == 5 || form == 7 || form == 10;
    auto const what = who         ? kind::person
                      : form == 4 ? pick_kind({0, 1, 1, 0})
                      : form == 5 ? pick_kind({5, 1, 2, 0})
                      : form == 9 ? pick_kind({0, 3, 2, 1})
                                  : pick_kind({2, 4, 2, 1});
    int word = w_->put(which ? "Which" : who ? "Who" : "What");
    if (which) {
      int const head = noun_about(asked, what, depth, true);
      w_->attach(word, head, "det");
      word = head;
    }
    if (who) w_->require(asked, "a", "people.person");
    if (form == 6 || form == 7) {
      int const did = w_->put("did"), head = asked_object(asked, what, depth);
      w_->attach(did, head, "aux");
      w_->attach(word, head, "obj");
    } else if (form == 3 || form == 4 || form == 5) {
      w_->attach(word, verb_phrase({asked}, what, depth, false, true), "nsubj");
    } else {
      int const was = w_->put("was");
      int const head = form == 11 ? about(asked, what, depth) : passive({asked}, what, depth, true);
      w_->attach(was, head, form == 11 ? "cop" : "aux:pass");
      w_->attach(word, head, form == 11 ? "nsubj" : "nsubj:pass");
    }
    return false;
  }

 private:
  using applied = question_writer::applied;
  using terms = std::vector<std::string>;
  struct named {
    int head;                        // the number of the head token
    std::vector<std::string> terms;  // its terms in the query
  };

  std::size_t pick(std::initializer_list<int> weights) {
    int all = 0;
    for (int const w : weights) all += w;
    int left = random_->below(all);
    std::size_t i = 0;
    for (int const w : weights) {
      if (left < w) break;
      left -= w;
      ++i;
    }
    return i;
  }
  kind pick_kind(std::initializer_list<int> weights) { return static_cast<kind>(pick(weights)); }

  /// Draws an entry of the table for which fits(entry) is true.  Returns nothing if there is no such entry.
  template <class Table, class Fits>
  auto const* one_of(Table const& table, Fits&& fits) {
    std::vector<typename Table::value_type const*> fitting;
    for (auto const& entry : table)
      if (fits(entry)) fitting.push_back(&entry);
    return fitting.empty() ? nullptr
                           : fitting[static_cast<std::size_t>(random_->below(static_cast<int>(fitting.size())))];
  }

  int put_verb(verb const& v, bool base) {
    w_->leaf("verb:" + std::string(v.base));
    return w_->put(base ? v.base : v.past);
  }
  void say(terms const& subjects, verb const& v, terms const& objects) {
    for (auto const& s : subjects)
      for (auto const& o : objects) w_->require(s, v.active, o, v.irreflexive);
  }
  void say_passive(terms const& objects, verb const& v, terms const& subjects) {
    for (auto const& o : objects)
      for (auto const& s : subjects) w_->require(o, v.passive, s, v.irreflexive);
  }

  /// Writes two or three parts: "A and B" or "A , B , and C".  part() writes one part and returns the number of its
  /// head token.  The heads of all later parts are attached to the head of the first part.
  template <class Part>
  int coordinated(int parts, Part&& part) {
    int const first = part();
    for (int i = 1; i < parts; ++i) {
      int const comma = parts > 2 ? w_->put(",") : -1, with = i + 1 == parts ? w_->put("and") : -1, next = part();
      if (comma >= 0) w_->attach(comma, next, "punct");
      if (with >= 0) w_->attach(with, next, "cc");
      w_->attach(next, first, "conj");
    }
    return first;
  }

  /// Writes a verb phrase with the given subjects.  If `base`, the verb has its base form, as after "did".  If `joins`,
  /// "and" may join several verb phrases.
  int verb_phrase(terms const& subjects, kind what, int depth, bool base, bool joins) {
    auto const form = joins ? pick({12, 3, 3, 1}) : pick({5, 1});
    if (form >= 2) {
      applied const here(*w_, form == 2 ? "vp:and" : "vp:list");
      return coordinated(static_cast<int>(form),
                         [&] { return clause_of(subjects, what, depth, base, false, true, 0); });
    }
    return clause_of(subjects, what, depth, base, false, joins, form);
  }

  int passive(terms const& subjects, kind what, int depth, bool joins) {
    auto const form = joins ? pick({12, 3, 3, 1}) : pick({5, 1});
    if (form >= 2) {
      applied const here(*w_, form == 2 ? "passive:and" : "passive:list");
      return coordinated(static_cast<int>(form),
                         [&] { return clause_of(subjects, what, depth, false, true, true, 0); });
    }
    return clause_of(subjects, what, depth, false, true, joins, form);
  }

  /// Writes V NP, or V by NP if `is_passive`.  If `two` is not 0, writes two verbs, "V and V", in place of V.
  int clause_of(terms const& subjects, kind what, int depth, bool base, bool is_passive, bool joins, std::size_t two) {
    auto const fits = [&](verb const& v) {
      return is_passive ? v.passive != nullptr && v.object == what : v.subject == what;
    };
    auto const& v = *one_of(verbs, fits);
    auto const* const other = two == 0 ? nullptr : one_of(verbs, [&](verb const& u) {
      return fits(u) && &u != &v && u.subject == v.subject && u.object == v.object;
    });
    applied const here(*w_, std::string(is_passive ? "passive:" : "vp:") + (other ? "two-verbs" : "verb"));
    int const head = put_verb(v, base);
    if (other) {
      int const with = w_->put("and"), second = put_verb(*other, base);
      w_->attach(with, second, "cc");
      w_->attach(second, head, "conj");
    }
    int const by = is_passive ? w_->put("by") : -1;
    auto const object = noun_phrase(is_passive ? v.subject : v.object, depth, joins);
    if (is_passive) w_->attach(by, object.head, "case");
    w_->attach(object.head, head, is_passive ? "obl" : "obj");
    for (auto const* const u : {&v, other})
      if (u) is_passive ? say_passive(subjects, *u, object.terms) : say(subjects, *u, object.terms);
    return head;
  }

  /// Writes the words NP V of a question "who did NP V".  The question asks for the object.
  int asked_object(std::string const& asked, kind what, int depth) {
    auto const& v = *one_of(verbs, [&](verb const& u) { return u.object == what; });
    auto const* const other =
        one_of(verbs, [&](verb const& u) { return &u != &v && u.subject == v.subject && u.object == what; });
    bool const two = other && random_->chance(1, 6);
    applied const here(*w_, two ? "asked:two-verbs" : "asked:verb");
    auto const subject = noun_phrase(v.subject, depth, true);
    int const head = put_verb(v, true);
    say(subject.terms, v, {asked});
    if (two) {
      int const with = w_->put("and"), second = put_verb(*other, true);
      w_->attach(with, second, "cc");
      w_->attach(second, head, "conj");
      say(subject.terms, *other, {asked});
    }
    w_->attach(subject.head, head, "nsubj");
    return head;
  }

  named noun_phrase(kind what, int depth, bool joins) {
    auto const form = depth == 0 ? pick({1}) : joins ? pick({10, 5, 3, 3, 1}) : pick({10, 5, 3});
    if (form < 3) return simple_phrase(what, depth, form);
    applied const here(*w_, form == 3 ? "np:and" : "np:list");
    terms all;
    int const head = coordinated(static_cast<int>(form) - 1, [&] {
      auto const part = simple_phrase(what, depth, pick({6, 2, 1}));
      all.insert(all.end(), part.terms.begin(), part.terms.end());
      return part.head;
    });
    return {head, all};
  }
  /// Writes a phrase without coordination.  If `bare`, writes nothing after the noun: a phrase such as "a sibling of M0
  /// 's spouse" would be ambiguous.
  named simple_phrase(kind what, int depth, std::size_t form, bool bare = false) {
    if (form == 0) {
      w_->leaf("np:entity");
      auto const name = w_->entity();
      return {w_->put(name), {name}};
    }
    auto const x = w_->variable();
    return {form == 1 ? a_noun(x, what, bare ? 0 : depth) : possessive(x, what, depth), {x}};
  }

  /// Writes a noun phrase for a term of the query.
  int about(std::string const& term, kind what, int depth) {
    return depth > 0 && random_->chance(1, 3) ? possessive(term, what, depth) : a_noun(term, what, depth);
  }

  int a_noun(std::string const& term, kind what, int depth) {
    applied const here(*w_, "np:a");
    int const article = w_->put("a"), head = noun_about(term, what, depth, true);
    w_->inflect_article(article);
    w_->attach(article, head, "det");
    return head;
  }

  int possessive(std::string const& term, kind what, int depth) {
    auto const& r = *one_of(roles, [&](role const& u) { return u.what == what; });
    applied const here(*w_, "np:possessive");
    auto const owner = simple_phrase(r.of, depth - 1, depth == 1 ? 0 : pick({5, 2, 2}), true);
    w_->attach(w_->put("'s"), owner.head, "case");
    int const head = adjectives_before(term, what, [&] { return put_role(r, term, owner.terms); });
    w_->attach(owner.head, head, "nmod:poss");
    return head;
  }

  int put_role(role const& r, std::string const& term, terms const& owners) {
    w_->leaf("role:" + std::string(r.word));
    for (auto const& owner : owners) w_->require(term, r.relation, owner, r.irreflexive);
    return w_->put(r.word);
  }

  /// Writes up to two adjectives before the words that `rest` writes.
  template <class Rest>
  int adjectives_before(std::string const& term, kind what, Rest&& rest, int most = 2) {
    if (most == 0 || (what != kind::person && what != kind::film) || !random_->chance(1, 5)) return rest();
    auto const relation = [&](adjective const& a) { return what == kind::person ? a.person : a.film; };
    auto const& a = *one_of(adjectives, [&](adjective const& u) { return relation(u) != nullptr; });
    applied const here(*w_, "n:adjective");
    w_->leaf("adjective:" + std::string(a.word));
    w_->require(term, relation(a), a.value);
    int const word = w_->put(a.word), head = adjectives_before(term, what, rest, most - 1);
    w_->attach(word, head, "amod");
    return head;
  }

  int noun_about(std::string const& term, kind what, int depth, bool with_clause) {
    auto const form = depth == 0 ? 0 : with_clause ? pick({5, 3, 1, 5}) : pick({5});
    if (form == 3) {
      applied const here(*w_, "n:clause");
      int const head = noun_about(term, what, depth, false);
      clause(term, what, depth - 1, head);
      return head;
    }
    return adjectives_before(term, what, [&] {
      if (form == 0) return put_noun(term, what);
      auto const& r = *one_of(roles, [&](role const& u) { return u.what == what; });
      auto const* const other =
          form == 1 ? nullptr
                    : one_of(roles, [&](role const& u) { return &u != &r && u.what == what && u.of == r.of; });
      applied const here(*w_, other ? "n:two-roles-of" : "n:role-of");
      int const head = put_role(r, term, {});
      if (other) {
        int const with = w_->put("and"), second = put_role(*other, term, {});
        w_->attach(with, second, "cc");
        w_->attach(second, head, "conj");
      }
      int const of = w_->put("of");
      auto const owner = noun_phrase(r.of, depth - 1, false);
      w_->attach(of, owner.head, "case");
      w_->attach(owner.head, head, "nmod");
      for (auto const* const u : {&r, other})
        if (u) w_->require(term, u->relation, owner.terms[0], u->irreflexive);
      return head;
    });
  }

  int put_noun(std::string const& term, kind what) {
    auto const& n = *one_of(nouns, [&](noun const& u) { return u.what == what; });
    w_->leaf("noun:" + (n.compound ? std::string(n.compound) + "-" : std::string()) + n.word);
    w_->require(term, "a", n.type);
    int const before = n.compound ? w_->put(n.compound) : -1, head = w_->put(n.word);
    if (before >= 0) w_->attach(before, head, "compound");
    return head;
  }

  /// Writes a relative clause.  The subject or the object of its verb is the term, or a person related to the term.
  void clause(std::string const& term, kind what, int depth, int noun) {
    bool const acts = what != kind::character;
    auto const form = pick({acts ? 4 : 0, 4, 2, passive_clauses_ ? 3 : 0, acts ? 1 : 0});
    static constexpr std::array<char const*, 5> rules{"that", "that-object", "that-was", "passive", "whose"};
    applied const here(*w_, std::string("clause:") + rules[form]);
    if (form == 0) {
      int const that = w_->put("that"), head = verb_phrase({term}, what, depth, false, false);
      w_->attach(that, head, "nsubj");
      w_->attach(head, noun, "acl:relcl");
    } else if (form == 1) {
      auto const& v = *one_of(verbs, [&](verb const& u) { return u.object == what; });
      int const that = w_->put("that");
      auto const subject = noun_phrase(v.subject, depth, false);
      int const head = put_verb(v, false);
      say(subject.terms, v, {term});
      w_->attach(that, head, "obj");
      w_->attach(subject.head, head, "nsubj");
      w_->attach(head, noun, "acl:relcl");
    } else if (form == 2 || form == 3) {
      int const that = form == 2 ? w_->put("that") : -1, was = form == 2 ? w_->put("was") : -1,
                head = passive({term}, what, depth, false);
      if (form == 2) {
        w_->attach(that, head, "nsubj:pass");
        w_->attach(was, head, "aux:pass");
      }
      w_->attach(head, noun, form == 2 ? "acl:relcl" : "acl");
    } else {
      auto const& r = *one_of(roles, [&](role const& u) { return u.of == what && u.what != kind::character; });
      auto const x = w_->variable();
      int const whose = w_->put("whose"), owned = put_role(r, x, {term}),
                head = verb_phrase({x}, r.what, depth, false, false);
      w_->attach(whose, owned, "nmod:poss");
      w_->attach(owned, head, "nsubj");
      w_->attach(head, noun, "acl:relcl");
    }
  }

  question_writer* w_;
  counter_random* random_;
  bool passive_clauses_ = true;  // whether a noun may now have a passive clause without "that was"
};

}  // namespace triad::programs::cfq
