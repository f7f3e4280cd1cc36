# Runs every verb of the program once, on JSON lines, and tests bad lines.
include(${CMAKE_CURRENT_LIST_DIR}/../shared/tests/program_test.cmake)

set(text "")
foreach(m RANGE 0 3)
  foreach(n RANGE 0 3)
    string(APPEND text "{\"tokens\": [\"M${m}\", \"met\", \"M${n}\"], \"heads\": [2, 0, 2], \"labels\": [\"subj\", \"root\", \"obj\"]}\n")
  endforeach()
endforeach()
foreach(part train dev test_one test_two)
  file(WRITE ${FOLDER}/data/${part}.jsonl "${text}")
endforeach()
run("0|3" train --preset smoke --data ${FOLDER}/data --learning-rate 0.01 --out ${FOLDER}/run)
expect("\none  exact match [0-9.]+  UAS [0-9.]+  LAS [0-9.]+  \\(16 sentences, 48 words\\)\ntwo  ")
expect_run(run "0|3" metrics.csv config.toml model.safetensors scores.csv plots/loss.svg plots/validation.svg)
expect_scores_of_run("(dev|one|two)  exact match [0-9.]+  UAS [0-9.]+  LAS [0-9.]+" ${FOLDER}/run)

# --confusion counts how often each relation is predicted for each right relation, among words with right heads. The
# counts must agree with the parses that evaluate writes. The relation iobj does not occur in training.
string(REPLACE "obj" "iobj" other "${text}")
file(WRITE ${FOLDER}/other/test_one.jsonl "${other}")
file(WRITE ${FOLDER}/other/test_two.jsonl "${text}")
run(1 evaluate ${FOLDER}/run --data ${FOLDER}/other --out ${FOLDER}/other)
expect("other is where the data lie, and parses would take their place")
run(0 evaluate ${FOLDER}/run --data ${FOLDER}/other --confusion --out ${FOLDER}/parses)
set(told "${output}")
set(expected "part,target,predicted,count\n")
set(right_heads none 2 0 2)
set(relations_of_one none subj root iobj)
set(relations_of_two none subj root obj)
foreach(part one two)
  file(STRINGS ${FOLDER}/parses/${part}.conllu lines REGEX "^[0-9]")
  set(pairs "")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([0-9])\t[^\t]+\t_\t_\t_\t_\t([0-9])\t([a-z]+)" whole "${line}")
    list(GET right_heads ${CMAKE_MATCH_1} head)
    list(GET relations_of_${part} ${CMAKE_MATCH_1} right)
    if(head EQUAL CMAKE_MATCH_2)
      list(APPEND pairs "${right},${CMAKE_MATCH_3}")
    endif()
  endforeach()
  count_pairs(${part} "${pairs}" expected)
endforeach()
file(READ ${FOLDER}/parses/confusion.csv found)
expect_same("confusion.csv is" "${found}" "${expected}")
string(REGEX MATCH "one,iobj,([a-z]+),([0-9]+)\n" whole "${expected}")
if(whole STREQUAL "" OR NOT told MATCHES "\niobj +${CMAKE_MATCH_1} +${CMAKE_MATCH_2} +[0-9]+\n")
  message(FATAL_ERROR "--confusion does not say what is answered for iobj:\n${told}${found}")
endif()

# The weights are checked after the last update, before the model is scored or saved.
run(3 train --preset smoke --data ${FOLDER}/data --updates 1 --learning-rate 1e300 --out ${FOLDER}/lost)
expect("value [0-9]+ of [a-z0-9_.]+ is -?(nan|inf) after update 0 \\(batch 0 of epoch 1\\): stopped\n")
expect_no_file(lost/model.safetensors "weights that are no numbers were kept")

# One error names all sentences that are too long: sentences to train on, and sentences of a part for which there is not
# enough memory. No address space is large enough for this model.
function(write_sentence file words)  # Appends a sentence whose words all depend on its first word.
  math(EXPR rest "${words} - 1")
  string(REPEAT ",\"x\"" ${rest} tokens)
  string(REPEAT ",1" ${rest} heads)
  string(REPEAT ",\"obj\"" ${rest} labels)
  file(APPEND ${file} "{\"tokens\":[\"x\"${tokens}],\"heads\":[0${heads}],\"labels\":[\"root\"${labels}]}\n")
endfunction()
file(REMOVE ${FOLDER}/long/train.jsonl ${FOLDER}/far/test.jsonl)
file(WRITE ${FOLDER}/long/train.jsonl "${text}")
write_sentence(${FOLDER}/long/train.jsonl 42)
write_sentence(${FOLDER}/long/train.jsonl 55)
run(1 train --preset smoke --data ${FOLDER}/long)
expect("training sentences 17, 18 have 42, 55 words: give --tokens 55, or leave them out\n")
file(WRITE ${FOLDER}/far/train.jsonl "${text}")
file(WRITE ${FOLDER}/far/test.jsonl "${text}")
write_sentence(${FOLDER}/far/test.jsonl 60)
# Without this setting, AddressSanitizer would end the process at this request.
set(ENV{ASAN_OPTIONS} "$ENV{ASAN_OPTIONS}:allocator_may_return_null=1")
run(1 train --preset smoke --data ${FOLDER}/far --width 1048576 --layers 8 --heads 1)
expect("sentence 17 of test has 60 words: [0-9]+TiB of memory, and this run has .*; leave it out, or take a smaller model")

run(0 predict ${FOLDER}/run "{\"tokens\": [\"M3\", \"met\", \"M0\"]}")
expect("^{\"tokens\":\\[\"M3\",\"met\",\"M0\"\\],\"heads\":\\[[0-9],[0-9],[0-9]\\],\"labels\":\\[\"[a-z]+\",\"[a-z]+\",\"[a-z]+\"\\]}\n$")
run(0 predict ${FOLDER}/run "{\"id\": 7, \"tokens\": [\"M3\", \"met\", \"M0\"], \"note\": [\"kept\"]}" "{\"id\": 8, \"tokens\": []}")
expect("^{\"id\":7,\"tokens\":\\[\"M3\",\"met\",\"M0\"\\],\"note\":\\[\"kept\"\\],\"heads\":\\[[0-9],[0-9],[0-9]\\],\"labels\":\\[[a-z,\"]+\\]}\n{\"id\":8,\"tokens\":\\[\\],\"heads\":\\[\\],\"labels\":\\[\\]}\n$")
run(0 predict ${FOLDER}/run "{\"id\":12345678901234567890123,\"x\":-0,\"x\":1.0,\"tokens\":[\"M3\"]}")
expect("^{\"id\":12345678901234567890123,\"x\":-0,\"x\":1.0,\"tokens\":\\[\"M3\"\\],\"heads\":")
set(question "{\"tokens\": [\"M3\", \"met\", \"M0\"]}")
expect_note_of_answers("heads or labels" "\"heads\":\\[[0-9]" "\"heads\":[9" "${question}")
expect_note_of_answers("heads or labels" "\"labels\":\\[\"" "\"labels\":[\"not " "${question}")
run(0 predict ${FOLDER}/run "{\"tokens\": [\"M3\"], \"labels\": null, \"heads\": [0]}")
expect("\ndependencies: note: 1 of 1 questions already had heads or labels, which predict replaced; 1 of these 1 equalled the answer; ")
refused("question 1: token 2 is empty; expected a text" predict ${FOLDER}/run "{\"tokens\": [\"M3\", \"\"]}")
run(1 predict ${FOLDER}/run --unknown "{\"tokens\": [\"M3\\tmet\"]}")
expect("question 1: token 1 is \"M3.tmet\"; expected a text without tabs and line ends")
string(REPEAT "M3 met M0 " 44 long)
says("\n132\tM0\t.*" predict ${FOLDER}/run "${long}")
says("1\tM3\t" predict ${FOLDER}/run "M3 met M0")
set(p "[01]\\.[0-9][0-9][0-9][0-9]")
run(0 predict ${FOLDER}/run --probabilities "M3 met M0")
expect("^1\tM3\t.*\tHeadProbability=${p}\\|LabelProbability=${p}\n2\tmet\t.*\n3\tM0\t.*LabelProbability=${p}\n")
run(0 predict ${FOLDER}/run --probabilities "{\"tokens\": [\"M3\", \"met\", \"M0\"]}" "{\"tokens\": []}")
set(three "\\[[-e0-9.]+,[-e0-9.]+,[-e0-9.]+\\]")
expect("\"labels\":\\[[a-z,\"]+\\],\"head_probabilities\":${three},\"label_probabilities\":${three}}\n{\"tokens\":\\[\\].*\"head_probabilities\":\\[\\]")
run(0 predict ${FOLDER}/run "M3 met M0" "M0 met M3")
set(answer "${output}")
file(WRITE ${FOLDER}/plain.txt "M3 met M0\nM0 met M3\n")
execute_process(COMMAND ${CMAKE_COMMAND} -E cat ${FOLDER}/plain.txt COMMAND ${PROGRAM} predict ${FOLDER}/run --file /dev/stdin
  OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
expect_same("a pipe, which can be read once, has other questions" "${output}" "${answer}")
refused("2 ways to ask, --sentence and questions on the command line: give one" predict ${FOLDER}/run --sentence "a b" "a b")
refused("question 1: \"Ada\" is not one of the [0-9]+ words that the model knows" predict ${FOLDER}/run "M3 met Ada")
says("tree/tree.svg" explain ${FOLDER}/run --sentence "M3 met M0" --out ${FOLDER}/tree)
refused("is expected" evaluate ${FOLDER}/run --data ${FOLDER}/nowhere)

# CoNLL-U is recognised by its first line, in a file of any name and on standard input. A question that consists of
# columns is refused.
set(rows "# sent_id = 7\n1\tM3\tm\tX\t_\t_\t_\t_\t_\tx=y\n2\tmet\t_\t_\t_\t_\t_\t_\t_\t_\n3\tM0\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
file(WRITE ${FOLDER}/rows.conllu "${rows}${rows}")
file(WRITE ${FOLDER}/rows.txt "${rows}${rows}")
says("^# sent_id = 7\n1\tM3\tm\tX\t_\t_\t[0-9]\t[a-z]+\t_\tx=y\n" predict ${FOLDER}/run --file ${FOLDER}/rows.conllu)
set(answer "${output}")
run(0 predict ${FOLDER}/run --file ${FOLDER}/rows.txt)
execute_process(COMMAND ${PROGRAM} predict ${FOLDER}/run INPUT_FILE ${FOLDER}/rows.txt OUTPUT_VARIABLE piped)
expect_same("the answer depends on where rows are read" "${output}${piped}" "${answer}${answer}")
run(0 predict ${FOLDER}/run --probabilities --file ${FOLDER}/rows.conllu)
expect("^# sent_id = 7\n1\tM3\t[^\n]*\tx=y\\|HeadProbability=${p}\\|LabelProbability=${p}\n2\tmet\t[^\n]*\tHeadProb")
file(WRITE ${FOLDER}/rows.txt "# a comment\nM3 met M0\n")
execute_process(COMMAND ${PROGRAM} predict ${FOLDER}/run INPUT_FILE ${FOLDER}/rows.txt RESULT_VARIABLE status ERROR_VARIABLE output)
expect("standard input:2: 1 columns where CoNLL-U has 10")
file(WRITE ${FOLDER}/rows.txt "M3 met M0\n1\tM3\t_\n")
refused("rows.txt:2:2: found a tab, as between columns of data" predict ${FOLDER}/run --unknown --file ${FOLDER}/rows.txt)
refused("column 3: found a tab, as between columns of data" explain ${FOLDER}/run --unknown --sentence "M3\tmet")
refused("question 1: found a line of SCAN" predict ${FOLDER}/run --unknown "IN: M3 OUT: M0")

# A word that is spelt like a special token is unknown. An error message does not repeat a very long word in full.
refused("question 1: \"<unk>\" is not one of the [0-9]+ words that the model knows" predict ${FOLDER}/run "M3 met <unk>")
run(0 predict ${FOLDER}/run --unknown "M3 met <pad>")
string(REPEAT "x" 10000 long)
refused("question 1: \"x+\\.\\.\\.\" is not one of the [0-9]+ words" predict ${FOLDER}/run "${long}")
string(LENGTH "${output}" length)
if(length GREATER 400)
  message(FATAL_ERROR "a long word is repeated:\n${output}")
endif()

# The limit of relative positions is part of the model.
run("0|3" train --preset smoke --data ${FOLDER}/data --max-offset 1 --out ${FOLDER}/near)
expect_scores_of_run("(dev|one|two)  exact match [0-9.]+  UAS [0-9.]+  LAS [0-9.]+" ${FOLDER}/near)
run(1 train --preset smoke --data ${FOLDER}/data --resume --out ${FOLDER}/near)
expect("max_offset: checkpoint has 1, this program wants none")
run(1 train --preset smoke --data ${FOLDER}/data --model transformer --max-offset 1)
expect("--max-offset is about relative positions, which --model transformer does not have")

expect_seeds_of_jobs("0|3" train --preset smoke --data ${FOLDER}/data --dropout 0.2)

# An error in the data is reported with file and line, and with a way to correct it.
set(good "{\"tokens\": [\"a\", \"b\"], \"heads\": [0, 1], \"labels\": [\"root\", \"obj\"]}")
expect_bad_lines("${good}\n" 1
    "{\"tokens\": [\"a\"|[0-9]+: this is not JSON"
    "[\"a\", \"b\"]| expected an object in braces, found "
    "{\"heads\": [0, 1], \"labels\": [\"root\", \"obj\"]}| expected \"tokens\", a list of words, found none"
    "{\"tokens\": [\"a\", 3], \"heads\": [0, 1], \"labels\": [\"root\", \"obj\"]}| expected \"tokens\" to be a list of words, found "
    "{\"tokens\": [\"a\", \"\"], \"heads\": [0, 1], \"labels\": [\"root\", \"obj\"]}| token 2 is empty; expected a text"
    "{\"tokens\": [\"a\\tc\", \"b\"], \"heads\": [0, 1], \"labels\": [\"root\", \"obj\"]}| token 1 is \"a.tc\"; expected a text without tabs and line ends"
    "{\"tokens\": [\"a\", \"b\\r\"], \"heads\": [0, 1], \"labels\": [\"root\", \"obj\"]}| token 2 is \"b.r\"; expected a text without tabs and line ends"
    "{\"tokens\": [\"a\", \"b\"], \"heads\": [0, 1], \"labels\": [\"root\", \"\"]}| the label of token 2 is empty; expected a text"
    "{\"tokens\": [\"a\", \"b\"], \"heads\": [0, 1], \"labels\": [\"root\\n\", \"obj\"]}| the label of token 1 is \"root.n\"; expected a text without tabs and line ends"
    "{\"tokens\": [\"a\", \"b\"], \"heads\": [0, 1], \"labels\": [\"root\", \"_\"]}| the label of token 2 is \"_\", which says in CoNLL-U that there is none"
    "{\"tokens\": [\"a\", \"b\"], \"labels\": [\"root\", \"obj\"]}| expected \"heads\", a list of whole numbers, 0 for the root, found none"
    "{\"tokens\": [\"a\", \"b\"], \"heads\": 1, \"labels\": [\"root\", \"obj\"]}| heads: expected a list of integers, found 1"
    "{\"tokens\": [\"a\", \"b\"], \"heads\": [0, 1.7], \"labels\": [\"root\", \"obj\"]}| heads: expected an integer from [-0-9]+ to 2147483647, found 1.7"
    "{\"tokens\": [\"a\", \"b\"], \"heads\": [4294967296, 1], \"labels\": [\"root\", \"obj\"]}| heads: expected an integer from .*, found 4294967296"
    "{\"tokens\": [\"a\", \"b\"], \"heads\": [0, true], \"labels\": [\"root\", \"obj\"]}| heads: expected an integer from .*, found true"
    "{\"tokens\": [\"a\", \"b\"], \"heads\": [0, 1e300], \"labels\": [\"root\", \"obj\"]}| heads: expected an integer from .*, found 1e.300"
    "{\"tokens\": [\"a\", \"b\"], \"heads\": [0], \"labels\": [\"root\", \"obj\"]}| 2 tokens, 1 heads and 2 labels; expected as many of each"
    "{\"tokens\": [], \"heads\": [], \"labels\": []}| 0 tokens, 0 heads and 0 labels; expected as many of each, and one at least"
    "{\"tokens\": [\"a\", \"b\"], \"heads\": [0, 3], \"labels\": [\"root\", \"obj\"]}| the head of token 2 is 3; expected another of the 2 tokens"
    "{\"tokens\": [\"a\", \"b\"], \"heads\": [0, 2], \"labels\": [\"root\", \"obj\"]}| the head of token 2 is 2; expected another of the 2 tokens"
    "{\"tokens\": [\"a\", \"b\"], \"heads\": [0, 0], \"labels\": [\"root\", \"obj\"]}| 2 heads are 0; expected one, the root's"
    "{\"tokens\": [\"a\", \"b\", \"c\"], \"heads\": [0, 3, 2], \"labels\": [\"root\", \"obj\", \"obj\"]}| the heads from token 2 upward come back to it: no tree")
file(WRITE ${FOLDER}/good.jsonl "${good}\n")
says("good.jsonl: 1 sentences of up to 2 words\n2 words\n2 relations: obj 1, root 1\n" inspect ${FOLDER}/good.jsonl)
refused("a parser needs sentences: give a folder with train, dev and test .conllu or .jsonl with --data" train)
file(WRITE ${FOLDER}/hollow/test.conllu "")
run(1 evaluate ${FOLDER}/run --data ${FOLDER}/hollow)
expect("hollow/test.conllu: there is no sentence in it; docs/data.md has the format")

expect_old_name(dependencies parse train --preset smoke --data ${FOLDER}/data)
