// Lists the options of cogs, and checks which options can be combined.
// SPDX-License-Identifier: Apache-2.0
#include "hold_out.hpp"
#include "parser.hpp"

namespace triad::programs::cogs {

void options::settle() {
  stack_options::settle();
  if (preset == "paper" || preset == "swapped") need_published_data(*this, "--preset " + preset);
  bool const edges = model == "edge-transformer";
  if (max_offset != options().max_offset && (!edges || positional))
    throw data_error("--max-offset is about relative positions, which " +
                     (edges ? std::string("--positional") : "--model " + model) + " does not have");
  if (!edges && (attention != triangle_form::full || paper_form || positional || from_parent))
    throw data_error(
        "--attention, --paper-form, --positional and --from-parent are about the states of edges, which --model " +
        model + " does not have");
  if (!edges && tied != (model == "universal-transformer"))
    throw data_error("a Transformer with --tied is --model universal-transformer, and that is always tied");
  if (augment == 0 && (augment_within || augment_phrases != options().augment_phrases))
    throw data_error("--augment-phrases and --augment-within say how --augment swaps: give it a rate above 0");
  if (augment_within && hold_out.empty())
    throw data_error("--augment-within is about what --hold-out keeps from training: name constructions there");
  if (word_dropout > 0) verb_from_word = true;  // a dropped word's vector does not show the verb's name
}

void options::each(option_list& f) {
  f("preset", &preset, "paper, swapped, small, smoke").one_of({"paper", "swapped", "small", "smoke"}).free();
  f("data", &data,
    "Folder with train, dev, test and gen as .jsonl or .tsv, gzipped or not; without it, generated sentences")
      .also({"evaluate"})
      .path();
  f("labels", &labels, "Of the generalisation set: 2020, as published, or 2022, as corrected (gen_2022fix)")
      .also({"evaluate"})
      .one_of({"2020", "2022"})
      .free();
  f.seldom("test-size", &test_size, "Generated sentences of each kind").also({"evaluate"}).positive().free();
  stack_options::each(f);
  f("sentences", &sentences, "Generated sentences to train on").positive();
  f("hold-out", &hold_out,
    "Constructions that are kept from training and scored instead of test and generalisation, to choose settings by: " +
        all_constructions())
      .check(some_constructions)
      .newer();
  f("model", &model, "edge-transformer, or the released baselines: transformer, universal-transformer")
      .one_of({"edge-transformer", "transformer", "universal-transformer"})
      .shapes();
  f("attention", &attention, "Of edge-transformer: full, value-ablation, attention-ablation, both-ablations, flat")
      .shapes();
  f.seldom("max-offset", &max_offset,
           "Of edge-transformer: words so far apart, and farther, have one relative position")
      .between(1, most_offset)
      .newer("16")
      .shapes()
      .within(1, [] { return most_offset; });
  f.seldom("paper-form", &paper_form, "The layer of the paper's equation 3 instead of the released program's")
      .shapes_as("form", "released", "paper");
  f.seldom("positional", &positional,
           "First states from both ends' tokens and positions, instead of from relative positions")
      .shapes_as("encoding", "relational", "positional");
  f.seldom("verb-from-word", &verb_from_word,
           "Read the verb's name from the word's own vector; --word-dropout does it too")
      .newer()
      .shapes();
  f.seldom("from-parent", &from_parent,
           "Read parents from edges (parent, child), as the paper says; else from (child, parent), as released")
      .shapes_as("arcs", "from child", "from parent");
  f.seldom("learn-all", &learn_all, "Learn the vector of word 1 too, which the released program takes for padding")
      .shapes();
  f("epochs", &epochs, "Passes over the training sentences").positive().length();
  f("batch", &batch, "Sentences in a batch").positive();
  f("word-dropout", &word_dropout,
    "Rate at which training puts one learned vector in a word's place, for all heads but the verb's name")
      .between(0.0, 0.95)
      .newer();
  f("position-range", &position_range,
    "In training the words take random places among this number, in their order; 0: the first ones")
      .between(0, 4096)
      .newer();
  f("augment", &augment,
    "Rate at which training puts a phrase of another training sentence in the place of one of a sentence's own")
      .between(0.0, 1.0)
      .newer();
  f.seldom("augment-phrases", &augment_phrases, "Which phrases --augment swaps: noun-phrases, clauses, both")
      .one_of({"noun-phrases", "clauses", "both"})
      .newer("noun-phrases");
  f.seldom("augment-within", &augment_within,
           "No swap of --augment makes a construction that --hold-out keeps from training")
      .newer();
  f.seldom("embedding-deviation", &embedding_deviation, "Standard deviation of the words' first vectors")
      .positive()
      .newer("1");
  f.seldom("weight-decay", &decay, "Weight decay of AdamW").not_negative();

  f("sentence", &sentence, "Words and signs separated by spaces: \"A rose was helped by a dog .\"")
      .only({"predict", "explain"})
      .question();
  f("argmax", &argmax, "Each word's own best parent, as published; else the best parents without a cycle")
      .only({"predict", "explain"});
  f("probabilities", &probabilities, "Also how probable each word's parent is, as a column of the table")
      .only({"predict"});
  questions.each(f, "A sentence, as --sentence has it");
  f("out", &out, "Folder for graph.svg").only({"explain"}).file_or_folder();
  f.force(&force, {"explain"});
  f("out", &out, "Folder of the new data set").only({"generate"}).required().file_or_folder();
  f("count", &count, "Training sentences").only({"generate"}).positive();
  f("test-size", &test_size, "Sentences of each test kind").only({"generate"}).positive();
  f("seed", &seed, "Of the sentences").only({"generate"});
}

}  // namespace triad::programs::cogs
