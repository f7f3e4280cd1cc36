// The words of generated questions, the kinds that they apply to, and their meanings in a query.
// SPDX-License-Identifier: Apache-2.0
//
// A relation leads from its left argument to its right argument.  A verb's active relation leads from subject to
// object, its passive relation from object to subject.  A role's relation leads from the person who has the role to the
// thing that the role is about (`?x0 film.director.film M0`: x0 is the director of M0).
#pragma once

#include <array>

namespace triad::programs::cfq {

/// The kinds of things that a phrase can be about.
enum class kind { person, film, company, character };

struct verb {
  char const *base, *past;  // the participle is the past form
  kind subject, object;
  char const *active, *passive;  // passive is null if the verb has no passive
  bool irreflexive = false;      // a FILTER requires subject and object to differ
};

inline constexpr std::array<verb, 12> verbs{{
    {"direct", "directed", kind::person, kind::film, "film.director.film", "film.film.directed_by"},
    {"edit", "edited", kind::person, kind::film, "film.editor.film", "film.film.edited_by"},
    {"produce", "produced", kind::person, kind::film, "film.producer.film", "film.film.produced_by"},
    {"write", "wrote", kind::person, kind::film, "film.writer.film", nullptr},
    {"influence", "influenced", kind::person, kind::person, "influence.influence_node.influenced",
     "influence.influence_node.influenced_by"},
    {"marry", "married", kind::person, kind::person, "people.person.spouse", nullptr, true},
    {"play", "played", kind::person, kind::character, "film.actor.character", "film.character.actor"},
    {"found", "founded", kind::person, kind::company, "organization.founder.organizations_founded",
     "organization.organization.founders"},
    {"star", "starred", kind::film, kind::person, "film.film.starring", nullptr},
    {"employ", "employed", kind::company, kind::person, "business.employer.employees", "people.person.employers"},
    {"distribute", "distributed", kind::company, kind::film, "film.distributor.film", "film.film.distributed_by"},
    {"acquire", "acquired", kind::company, kind::company, "organization.organization.companies_acquired",
     "organization.organization.acquired_by"},
}};

struct noun {
  char const *compound, *word;  // compound: "film" in "film director", or null
  kind what;
  char const* type;
};

inline constexpr std::array<noun, 13> nouns{{
    {nullptr, "person", kind::person, "people.person"},
    {nullptr, "actor", kind::person, "film.actor"},
    {nullptr, "screenwriter", kind::person, "film.writer"},
    {nullptr, "cinematographer", kind::person, "film.cinematographer"},
    {"film", "director", kind::person, "film.director"},
    {"film", "editor", kind::person, "film.editor"},
    {"film", "producer", kind::person, "film.producer"},
    {nullptr, "film", kind::film, "film.film"},
    {nullptr, "documentary", kind::film, "film.documentary"},
    {nullptr, "company", kind::company, "business.employer"},
    {"production", "company", kind::company, "film.production_company"},
    {"film", "distributor", kind::company, "film.distributor"},
    {nullptr, "character", kind::character, "film.character"},
}};

/// A noun for a role of a person or film.
struct role {
  char const* word;
  kind what, of;
  char const* relation;
  bool irreflexive = false;
};

inline constexpr std::array<role, 18> roles{{
    {"director", kind::person, kind::film, "film.director.film"},
    {"editor", kind::person, kind::film, "film.editor.film"},
    {"producer", kind::person, kind::film, "film.producer.film"},
    {"writer", kind::person, kind::film, "film.writer.film"},
    {"star", kind::person, kind::film, "film.actor.film"},
    {"sibling", kind::person, kind::person, "people.person.sibling", true},
    {"spouse", kind::person, kind::person, "people.person.spouse", true},
    {"parent", kind::person, kind::person, "people.person.children"},
    {"child", kind::person, kind::person, "people.person.parents"},
    {"founder", kind::person, kind::company, "organization.founder.organizations_founded"},
    {"employee", kind::person, kind::company, "people.person.employers"},
    {"sequel", kind::film, kind::film, "film.film.prequel"},
    {"prequel", kind::film, kind::film, "film.film.sequel"},
    {"employer", kind::company, kind::person, "business.employer.employees"},
    {"distributor", kind::company, kind::film, "film.distributor.film"},
    {"subsidiary", kind::company, kind::company, "organization.organization.parent"},
    {"role", kind::character, kind::person, "film.character.actor"},
    {"hero", kind::character, kind::film, "film.character.film"},
}};

struct adjective {
  char const* word;
  char const *person, *film;  // relations for persons and films; null if the adjective does not apply
  char const* value;
};

inline constexpr std::array<adjective, 9> adjectives{{
    {"male", "people.person.gender", nullptr, "m_male"},
    {"female", "people.person.gender", nullptr, "m_female"},
    {"Spanish", "people.person.nationality", "film.film.country", "m_spain"},
    {"Swedish", "people.person.nationality", "film.film.country", "m_sweden"},
    {"French", "people.person.nationality", "film.film.country", "m_france"},
    {"Italian", "people.person.nationality", "film.film.country", "m_italy"},
    {"Dutch", "people.person.nationality", "film.film.country", "m_netherlands"},
    {"Canadian", "people.person.nationality", "film.film.country", "m_canada"},
    {"Japanese", "people.person.nationality", "film.film.country", "m_japan"},
}};

}  // namespace triad::programs::cfq
