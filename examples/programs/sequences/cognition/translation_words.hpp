// The words of the generated translation task: an English-like language, and an invented one in Latin letters.
// SPDX-License-Identifier: Apache-2.0
//
// A content word of the invented language has the form CVCV.  Its first letter is one of p b t d k g, its third letter
// one of m n l r s v.  Particles have the form CV and measure words the form CVC, with the same letters.  So a content
// word is found in a text without spaces only where it begins a word, as the rule of CTER requires.
#pragma once

#include <array>

namespace triad::programs::cognition::translation {

/// The class of a noun, which decides its measure word.  Persons and animals are living.
enum class noun_class { person, animal, flat, lengthy, vessel, large };
inline constexpr std::array<char const*, 6> measure_words{"ban", "tul", "dis", "ken", "por", "gam"};
constexpr bool is_living(noun_class c) { return c == noun_class::person || c == noun_class::animal; }

/// The particles, and words without content.  A modifier, and an adjective that is `marked`, is followed by
/// the particle of its noun.
inline constexpr char const *of_living = "do", *of_thing = "pu", *done = "ka", *asks = "te", *at_place = "ga",
                            *object_first = "bi", *belongs = "di";
inline constexpr char const *not_done = "desu", *not_yet = "dero", *both_of = "tuno", *in_contrast = "gima";

struct word {
  char const *source, *target;
};
struct noun {
  char const *source, *target;
  noun_class what;
};
/// An adjective.  It has two translations, for living beings and for things, which may be equal.
struct adjective {
  char const *source, *living, *thing;
  bool marked;
};
/// A verb.  Its object decides its translation.  If it `fronts`, its object is before it in the translation.
struct verb {
  char const *past, *base, *living, *thing;
  bool fronts;
};
struct pronoun {
  char const *subject, *object, *owner, *target;
};
/// The place of a modifier, such as "at the market".
struct site {
  int preposition;
  char const *source, *target;
};

/// The nouns.  The first 24 are those of compounds: eight of noun phrases, eight of verb phrases, eight of
/// prepositional phrases.
inline constexpr std::array<noun, 120> nouns{
    {{"baker", "base", noun_class::person},    {"teacher", "pevo", noun_class::person},
     {"horse", "piso", noun_class::animal},    {"goat", "tali", noun_class::animal},
     {"carpet", "kuvi", noun_class::flat},     {"rope", "kire", noun_class::lengthy},
     {"lantern", "puve", noun_class::vessel},  {"wagon", "dami", noun_class::large},
     {"nurse", "gema", noun_class::person},    {"sailor", "galo", noun_class::person},
     {"pigeon", "beri", noun_class::animal},   {"blanket", "bero", noun_class::flat},
     {"ladder", "disu", noun_class::lengthy},  {"basket", "povo", noun_class::vessel},
     {"truck", "devo", noun_class::large},     {"kitchen", "domo", noun_class::large},
     {"neighbor", "bore", noun_class::person}, {"donkey", "kini", noun_class::animal},
     {"table", "gano", noun_class::flat},      {"mirror", "kono", noun_class::flat},
     {"candle", "dise", noun_class::lengthy},  {"barrel", "daso", noun_class::vessel},
     {"boat", "bovu", noun_class::large},      {"tower", "gisa", noun_class::large},
     {"painter", "dane", noun_class::person},  {"tailor", "pina", noun_class::person},
     {"soldier", "gise", noun_class::person},  {"singer", "pime", noun_class::person},
     {"hunter", "govu", noun_class::person},   {"gardener", "tile", noun_class::person},
     {"writer", "kuvu", noun_class::person},   {"dancer", "tani", noun_class::person},
     {"student", "kamo", noun_class::person},  {"cousin", "tise", noun_class::person},
     {"uncle", "gili", noun_class::person},    {"pilot", "bori", noun_class::person},
     {"miner", "boma", noun_class::person},    {"guard", "boso", noun_class::person},
     {"king", "palo", noun_class::person},     {"rabbit", "tara", noun_class::animal},
     {"tiger", "piro", noun_class::animal},    {"spider", "dale", noun_class::animal},
     {"turtle", "dusi", noun_class::animal},   {"camel", "dome", noun_class::animal},
     {"lizard", "guru", noun_class::animal},   {"parrot", "tula", noun_class::animal},
     {"monkey", "pira", noun_class::animal},   {"eagle", "gola", noun_class::animal},
     {"shark", "guni", noun_class::animal},    {"snail", "posa", noun_class::animal},
     {"beetle", "piri", noun_class::animal},   {"owl", "taro", noun_class::animal},
     {"crab", "kovo", noun_class::animal},     {"duck", "guli", noun_class::animal},
     {"frog", "duna", noun_class::animal},     {"pillow", "gavo", noun_class::flat},
     {"ticket", "peso", noun_class::flat},     {"letter", "kone", noun_class::flat},
     {"map", "divi", noun_class::flat},        {"poster", "bivi", noun_class::flat},
     {"curtain", "kami", noun_class::flat},    {"towel", "belo", noun_class::flat},
     {"window", "pono", noun_class::flat},     {"board", "bavo", noun_class::flat},
     {"card", "poso", noun_class::flat},       {"plate", "temo", noun_class::flat},
     {"tray", "besi", noun_class::flat},       {"stamp", "bule", noun_class::flat},
     {"banner", "bevi", noun_class::flat},     {"sheet", "kele", noun_class::flat},
     {"flag", "poli", noun_class::flat},       {"spoon", "diso", noun_class::lengthy},
     {"pencil", "gana", noun_class::lengthy},  {"needle", "dure", noun_class::lengthy},
     {"stick", "tuvo", noun_class::lengthy},   {"chain", "duru", noun_class::lengthy},
     {"belt", "gira", noun_class::lengthy},    {"ribbon", "kira", noun_class::lengthy},
     {"broom", "tera", noun_class::lengthy},   {"hose", "bara", noun_class::lengthy},
     {"arrow", "tomi", noun_class::lengthy},   {"sword", "dine", noun_class::lengthy},
     {"pole", "gisu", noun_class::lengthy},    {"pipe", "gera", noun_class::lengthy},
     {"cable", "kura", noun_class::lengthy},   {"thread", "keri", noun_class::lengthy},
     {"rod", "bina", noun_class::lengthy},     {"whip", "disa", noun_class::lengthy},
     {"bottle", "tase", noun_class::vessel},   {"bucket", "duli", noun_class::vessel},
     {"kettle", "binu", noun_class::vessel},   {"jar", "timo", noun_class::vessel},
     {"cup", "tino", noun_class::vessel},      {"bowl", "kure", noun_class::vessel},
     {"drum", "tasu", noun_class::vessel},     {"pot", "bila", noun_class::vessel},
     {"bag", "tilo", noun_class::vessel},      {"trunk", "dulu", noun_class::vessel},
     {"vase", "gina", noun_class::vessel},     {"crate", "kasi", noun_class::vessel},
     {"helmet", "tese", noun_class::vessel},   {"clock", "tene", noun_class::vessel},
     {"bell", "gomi", noun_class::vessel},     {"lamp", "tele", noun_class::vessel},
     {"box", "beva", noun_class::vessel},      {"engine", "komu", noun_class::large},
     {"cabin", "tivi", noun_class::large},     {"tent", "kevi", noun_class::large},
     {"bridge", "gona", noun_class::large},    {"train", "pena", noun_class::large},
     {"plane", "temi", noun_class::large},     {"tractor", "tiva", noun_class::large},
     {"garage", "kimu", noun_class::large},    {"stable", "goro", noun_class::large},
     {"castle", "keno", noun_class::large},    {"mill", "gava", noun_class::large},
     {"cart", "dimi", noun_class::large},      {"ship", "pase", noun_class::large},
     {"tunnel", "pisu", noun_class::large},    {"temple", "kivu", noun_class::large}}};

/// The adjectives.  The first 15 are those of compounds: five of each kind of phrase.
inline constexpr std::array<adjective, 60> adjectives{
    {{"heavy", "bolu", "tuli", true},  {"golden", "paro", "paro", true},  {"clean", "kane", "bere", false},
     {"gentle", "deme", "deme", true}, {"brave", "bela", "gime", true},   {"tall", "gori", "gori", false},
     {"broken", "boro", "tana", true}, {"famous", "govo", "govo", true},  {"noisy", "tunu", "tume", false},
     {"cheap", "kema", "kema", true},  {"green", "bisu", "komi", true},   {"ancient", "dalo", "dalo", false},
     {"narrow", "kusu", "besu", true}, {"strange", "gene", "gene", true}, {"warm", "piru", "gule", false},
     {"blue", "kela", "kela", true},   {"white", "dule", "pusa", true},   {"black", "diva", "diva", false},
     {"yellow", "punu", "pelu", true}, {"purple", "dera", "dera", true},  {"round", "devi", "pala", false},
     {"square", "dasa", "dasa", true}, {"shallow", "kuno", "gulo", true}, {"long", "goma", "goma", false},
     {"short", "tuma", "kive", true},  {"wide", "besa", "besa", true},    {"thick", "gare", "kavo", false},
     {"thin", "bani", "bani", true},   {"soft", "bone", "dono", true},    {"hard", "dime", "dime", false},
     {"smooth", "keva", "pomo", true}, {"rough", "tura", "tura", true},   {"sharp", "tisi", "basu", false},
     {"bright", "pumu", "pumu", true}, {"dark", "bave", "pisi", true},    {"cold", "golo", "golo", false},
     {"hot", "dumi", "puma", true},    {"wet", "pine", "pine", true},     {"dry", "gove", "tona", false},
     {"old", "pemu", "pemu", true},    {"young", "bama", "puno", true},   {"new", "pole", "pole", false},
     {"fresh", "tumo", "doso", true},  {"plain", "gama", "gama", true},   {"pretty", "gami", "gasa", false},
     {"ugly", "bare", "bare", true},   {"clever", "keve", "dame", true},  {"stupid", "pere", "pere", false},
     {"proud", "donu", "banu", true},  {"shy", "pisa", "pisa", true},     {"calm", "desi", "kisa", false},
     {"angry", "pimi", "pimi", true},  {"hungry", "kulu", "dilo", true},  {"tired", "dira", "dira", false},
     {"rich", "puro", "koro", true},   {"poor", "gali", "gali", true},    {"quick", "demo", "kuri", false},
     {"slow", "tila", "tila", true},   {"rare", "guva", "pimo", true},    {"common", "kona", "kona", false}}};

/// The verbs with an object.  The first 20 are those of compounds.
inline constexpr std::array<verb, 48> verbs{{{"pushed", "push", "dela", "dela", true},
                                             {"helped", "help", "geni", "bove", false},
                                             {"followed", "follow", "beme", "beme", false},
                                             {"wiped", "wipe", "kero", "bose", true},
                                             {"painted", "paint", "duvu", "duvu", false},
                                             {"touched", "touch", "kisi", "tasa", false},
                                             {"carried", "carry", "kiso", "kiso", true},
                                             {"noticed", "notice", "pona", "gine", false},
                                             {"sold", "sell", "buse", "buse", true},
                                             {"bought", "buy", "demi", "tive", false},
                                             {"hid", "hide", "doro", "doro", true},
                                             {"drew", "draw", "tiro", "bomo", false},
                                             {"washed", "wash", "doni", "doni", true},
                                             {"feared", "fear", "tovo", "tusi", false},
                                             {"loved", "love", "duse", "duse", false},
                                             {"praised", "praise", "pinu", "pesu", false},
                                             {"moved", "move", "bemi", "bemi", true},
                                             {"lifted", "lift", "boli", "kine", true},
                                             {"kicked", "kick", "giro", "giro", false},
                                             {"pulled", "pull", "denu", "pili", true},
                                             {"kept", "keep", "pero", "geno", false},
                                             {"opened", "open", "dore", "dumo", true},
                                             {"closed", "close", "tuna", "tuna", true},
                                             {"fixed", "fix", "tiso", "dilu", true},
                                             {"broke", "break", "delu", "delu", false},
                                             {"dropped", "drop", "tane", "delo", true},
                                             {"wanted", "want", "dire", "dire", false},
                                             {"needed", "need", "gilo", "tovu", false},
                                             {"remembered", "remember", "gara", "gara", false},
                                             {"forgot", "forget", "dulo", "bamu", false},
                                             {"ignored", "ignore", "bole", "bole", false},
                                             {"sent", "send", "duva", "gusu", true},
                                             {"brought", "bring", "dali", "dali", true},
                                             {"threw", "throw", "tuva", "pome", true},
                                             {"counted", "count", "bevu", "bevu", false},
                                             {"protected", "protect", "pela", "kilu", false},
                                             {"chased", "chase", "tevu", "tevu", false},
                                             {"passed", "pass", "gosa", "kumi", false},
                                             {"covered", "cover", "goso", "goso", false},
                                             {"burned", "burn", "bime", "kuro", false},
                                             {"checked", "check", "poro", "poro", false},
                                             {"trusted", "trust", "pemo", "kuve", false},
                                             {"admired", "admire", "bavi", "bavi", false},
                                             {"borrowed", "borrow", "dona", "gura", false},
                                             {"described", "describe", "kumo", "kumo", false},
                                             {"blamed", "blame", "pova", "tuni", false},
                                             {"weighed", "weigh", "kinu", "kinu", false},
                                             {"filled", "fill", "tiru", "davo", false}}};

/// The verbs without an object.
inline constexpr std::array<verb, 24> plain_verbs{
    {{"slept", "sleep", "buvi", "buvi", false},        {"ran", "run", "kalo", "kalo", false},
     {"laughed", "laugh", "dama", "dama", false},      {"cried", "cry", "kuli", "kuli", false},
     {"danced", "dance", "domi", "domi", false},       {"waited", "wait", "bini", "bini", false},
     {"walked", "walk", "beli", "beli", false},        {"sat", "sit", "tema", "tema", false},
     {"stood", "stand", "bane", "bane", false},        {"worked", "work", "galu", "galu", false},
     {"sang", "sing", "posu", "posu", false},          {"jumped", "jump", "pele", "pele", false},
     {"arrived", "arrive", "buvo", "buvo", false},     {"rested", "rest", "bise", "bise", false},
     {"shouted", "shout", "dova", "dova", false},      {"fell", "fall", "dene", "dene", false},
     {"smiled", "smile", "geme", "geme", false},       {"hurried", "hurry", "gonu", "gonu", false},
     {"coughed", "cough", "kuna", "kuna", false},      {"stayed", "stay", "bome", "bome", false},
     {"swam", "swim", "gena", "gena", false},          {"played", "play", "peve", "peve", false},
     {"hesitated", "hesitate", "dena", "dena", false}, {"vanished", "vanish", "tanu", "tanu", false}}};

/// The prepositions, all of which are in compounds.  The first 8 are places: they follow their noun.
inline constexpr std::array<word, 16> prepositions{{{"near", "dava"},
                                                    {"behind", "buno"},
                                                    {"under", "tove"},
                                                    {"beside", "pavu"},
                                                    {"inside", "turu"},
                                                    {"around", "givo"},
                                                    {"beyond", "pive"},
                                                    {"above", "kasa"},
                                                    {"with", "kuse"},
                                                    {"without", "bumo"},
                                                    {"about", "kime"},
                                                    {"for", "kolu"},
                                                    {"from", "gune"},
                                                    {"toward", "kavi"},
                                                    {"like", "bilo"},
                                                    {"except", "pivi"}}};

/// The determiners of one thing.  The first 5 are those of compounds.
inline constexpr std::array<word, 8> determiners{{{"the", ""},
                                                  {"every", "posi"},
                                                  {"any", "keli"},
                                                  {"another", "tesu"},
                                                  {"each", "bali"},
                                                  {"a", "duno"},
                                                  {"some", "gaso"},
                                                  {"this", "tina"}}};

/// The determiners of several things.
inline constexpr std::array<word, 5> numbers{
    {{"two", "piva"}, {"three", "bana"}, {"many", "kuma"}, {"few", "diri"}, {"several", "gume"}}};

/// The pronouns.  The last one is a thing.
inline constexpr std::array<pronoun, 7> pronouns{{{"i", "me", "my", "doru"},
                                                  {"you", "you", "your", "gore"},
                                                  {"he", "him", "his", "tano"},
                                                  {"she", "her", "her", "dovu"},
                                                  {"we", "us", "our", "gora"},
                                                  {"they", "them", "their", "gumo"},
                                                  {"it", "it", "its", "bami"}}};

inline constexpr std::array<word, 4> site_prepositions{
    {{"at", "tesi"}, {"on", "tose"}, {"in", "tisu"}, {"by", "pile"}}};

/// The places of modifiers.
inline constexpr std::array<site, 16> sites{{{0, "market", "tere"},
                                             {1, "hill", "damu"},
                                             {0, "school", "gome"},
                                             {0, "harbor", "dare"},
                                             {0, "station", "dara"},
                                             {1, "roof", "pima"},
                                             {1, "island", "pana"},
                                             {1, "corner", "duro"},
                                             {2, "village", "beni"},
                                             {2, "forest", "toli"},
                                             {2, "garden", "tame"},
                                             {2, "valley", "basi"},
                                             {3, "river", "puna"},
                                             {3, "road", "bevo"},
                                             {3, "fountain", "pola"},
                                             {3, "gate", "tili"}}};

inline constexpr std::array<word, 24> names{
    {{"mira", "tune"},  {"oskar", "gala"}, {"elena", "toso"}, {"boris", "baso"}, {"clara", "bimu"},
     {"felix", "tava"}, {"greta", "tevo"}, {"hugo", "gasi"},  {"irene", "tama"}, {"jonas", "gole"},
     {"karin", "para"}, {"lukas", "gumu"}, {"marta", "taru"}, {"nils", "telo"},  {"olga", "dili"},
     {"pavel", "dori"}, {"rosa", "gesi"},  {"simon", "dese"}, {"tara", "pume"},  {"viktor", "gase"},
     {"wanda", "geli"}, {"yusuf", "timu"}, {"zelda", "kise"}, {"anton", "buve"}}};

/// Verbs before "that" and a clause.
inline constexpr std::array<word, 8> reports{{{"said", "turo"},
                                              {"thought", "tori"},
                                              {"knew", "dini"},
                                              {"hoped", "kesi"},
                                              {"believed", "bala"},
                                              {"heard", "dino"},
                                              {"claimed", "kaso"},
                                              {"dreamed", "bovo"}}};

inline constexpr std::array<word, 16> adverbs{{{"quietly", "gumi"},
                                               {"suddenly", "baru"},
                                               {"slowly", "bura"},
                                               {"happily", "kove"},
                                               {"carefully", "kama"},
                                               {"loudly", "givi"},
                                               {"patiently", "tone"},
                                               {"quickly", "gini"},
                                               {"secretly", "pino"},
                                               {"easily", "pose"},
                                               {"politely", "kusa"},
                                               {"badly", "dano"},
                                               {"gladly", "buva"},
                                               {"nervously", "keme"},
                                               {"proudly", "daru"},
                                               {"lazily", "teno"}}};

inline constexpr std::array<word, 12> times{{{"yesterday", "tevi"},
                                             {"today", "temu"},
                                             {"earlier", "bano"},
                                             {"recently", "giso"},
                                             {"lately", "kase"},
                                             {"afterwards", "puni"},
                                             {"finally", "bora"},
                                             {"eventually", "kusi"},
                                             {"already", "pila"},
                                             {"meanwhile", "pulu"},
                                             {"sometimes", "tena"},
                                             {"previously", "kera"}}};

/// Their clause comes first in the translation.
inline constexpr std::array<word, 5> conjunctions{
    {{"because", "bese"}, {"when", "gile"}, {"although", "geri"}, {"while", "toro"}, {"until", "pesi"}}};

}  // namespace triad::programs::cognition::translation
