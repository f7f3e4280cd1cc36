# Runs every verb of the program once on JSON lines, and on the same data in columns. Also tests bad lines.
include(${CMAKE_CURRENT_LIST_DIR}/../shared/tests/program_test.cmake)

set(text "")
foreach(a one two three)
  foreach(b left right)
    string(APPEND text "{\"source\": \"go ${b} ${a}\", \"target\": \"${a} ${b}\", \"kind\": \"${b}\"}\n")
  endforeach()
endforeach()
foreach(part train dev test_one)
  file(WRITE ${FOLDER}/data/${part}.jsonl "${text}")
endforeach()
run("0|3" train --preset smoke --data ${FOLDER}/data --out ${FOLDER}/run)
expect("6 training pairs, 6 source and 5 target words")
expect("\nseed 1: dev exact match, parts of one, [0-9.]+ ")
expect_run(run "0|3" metrics.csv config.toml model.safetensors scores.csv one.hypotheses.txt plots/loss.svg)
expect_scores_of_run("(dev|one)  exact match [0-9.]+  BLEU tok:none [0-9.]+  chrF [0-9.]+" ${FOLDER}/run)
run(0 predict ${FOLDER}/run "{\"id\": 1, \"source\": \"go left two\"}")
expect("^{\"id\":1,\"source\":\"go left two\",\"target\":\"[a-z ]*\"}\n$")
run(0 predict ${FOLDER}/run "{\"id\":12345678901234567890123,\"x\":-0,\"x\":1.0,\"source\":\"go left two\"}")
expect("^{\"id\":12345678901234567890123,\"x\":-0,\"x\":1.0,\"source\":\"go left two\",\"target\":\"[a-z ]*\"}\n$")
expect_note_of_answers("a target" "\"target\":\"" "\"target\":\"another " "{\"source\": \"go left two\"}")
execute_process(COMMAND ${PROGRAM} predict ${FOLDER}/run --n-best 2 --beam 2 "{\"source\": \"go left two\", \"target\": \"two\"}" OUTPUT_VARIABLE answer ERROR_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
expect_same("several targets replace none" "${output}" "")
if(NOT answer MATCHES "^{\"source\":\"go left two\",\"target\":\"two\",\"targets\":")
  message(FATAL_ERROR "the target of a question does not stay next to several:\n${answer}")
endif()
run(0 predict ${FOLDER}/run --probabilities "{\"source\": \"go left two\"}")
expect("^{\"source\":\"go left two\",\"target\":\"[a-z ]*\",\"probability\":[01][-e.0-9]*}\n$")
run(0 predict ${FOLDER}/run --probabilities --n-best 2 --beam 2 "go left two")
expect("^-[0-9.]+\t[01]\\.[0-9]+\t[a-z ]*\n-[0-9.]+\t[01]\\.[0-9]+\t[a-z ]*\n$")
says("^[01]\\.[0-9]+\t[a-z ]*\n$" predict ${FOLDER}/run --probabilities "go left two")
run(0 predict ${FOLDER}/run "go left two")

# A longer run that continues a shorter run equals an uninterrupted run of the same length, even if the shorter run
# ended within an epoch.
set(long train --preset smoke --data ${FOLDER}/data --evaluate-every 10 --out ${FOLDER})
run("0|3" ${long}/grown --updates 15)
run("0|3" ${long}/grown --updates 40 --resume)
run("0|3" ${long}/whole --updates 40)
foreach(file model.safetensors metrics.csv)
  expect_same_files(grown/${file} whole/${file} "a run that grew is another one")
endforeach()

run("0|3" train --preset quick --data ${FOLDER}/data --updates 2 --out ${FOLDER}/quick)
expect_in_file(quick/config.toml "\nschedule = \"linear\"\n" "quick is another preset")

# A run that diverges in its first epoch does not report a best checkpoint or a score.
run(3 train --preset smoke --data ${FOLDER}/data --learning-rate 1e30 --warmup 0 --clip-norm 0 --out ${FOLDER}/lost)
expect("the loss is [^;]*: stopped\n.*seed 1: dev exact match, parts of one, not measured  \\([0-9]+ s\\)  failed\nno epoch came to its end")

# One error names all pairs that are too long. It also names test sources for which there is not enough memory. No
# address space is large enough for this model.
run(1 train --preset smoke --data ${FOLDER}/data --tokens 3)
expect("training pairs 1, 2, 3, 4, 5, 6 have 4, 4, 4, 4, 4, 4 tokens on their longer side, .*; give --tokens 4, or leave")
file(WRITE ${FOLDER}/far/train.jsonl "${text}")
string(REPEAT "go left " 30 words)
file(WRITE ${FOLDER}/far/test_one.jsonl "${text}{\"source\": \"${words}one\", \"target\": \"one\", \"kind\": \"left\"}\n")
# Without this setting, AddressSanitizer would end the process at this request.
set(ENV{ASAN_OPTIONS} "$ENV{ASAN_OPTIONS}:allocator_may_return_null=1")
run(1 train --preset smoke --data ${FOLDER}/far --width 1048576 --heads 1)
expect("the source of pair 7 of one has 61 tokens: [0-9]+TiB of memory, and this run has .*; leave it out, or take a smaller")
run(1 train --preset smoke --data ${FOLDER}/data --width 1048576 --heads 1)
expect("there is not enough memory for batches of 24 tokens \\([0-9]+TiB of memory, .*: say with --memory how much there is")

# A folder may have the run of one seed and the runs of several seeds. Neither can be used or resumed in place of the
# other.
run("0|3" train --preset smoke --data ${FOLDER}/data --updates 2 --seeds 2 --out ${FOLDER}/whole)
expect("whole had a run already, .* its checkpoint is now ")
expect_no_file(whole/model.safetensors "the model of one seed passes for that of several")
run(1 train --preset smoke --data ${FOLDER}/data --updates 2 --resume --out ${FOLDER}/whole)
expect("whole has the runs of several seeds: name one of them, such as ")

# Input that cannot be read to its end gets no answer. Here the input is a folder instead of a file.
execute_process(COMMAND sh -c "\"$0\" predict \"$1\" < \"$1\"" ${PROGRAM} ${FOLDER}/run RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
expect("standard input cannot be read to its end: ")
expect_same("status where standard input cannot be read" "${status}" 1)

# A model that was trained on unusually long sentences also answers such sentences.
string(REPEAT "go left " 200 words)
file(WRITE ${FOLDER}/wordy/train.tsv "${words}\tone\n")
file(WRITE ${FOLDER}/wordy/test.tsv "${words}\tone\n")
run("0|3" train --preset smoke --updates 2 --tokens 500 --data ${FOLDER}/wordy --out ${FOLDER}/wordy/run)
run(0 predict ${FOLDER}/wordy/run "${words}")
run(1 predict ${FOLDER}/wordy/run "${words} ${words}")
expect("question 1: the sentence has 800 tokens; at most 400 are read by this model: split it")

# An error in a config file is reported with the name of the file.
file(WRITE ${FOLDER}/wrong.toml "width = -4\n")
run(1 train --preset smoke --data ${FOLDER}/data --config ${FOLDER}/wrong.toml)
expect("wrong.toml: --width: -4 is not a number above 0")

# Several translations of a line of JSON are written in one line. Several translations of a plain sentence are written
# in one line each.
set(several predict ${FOLDER}/run --beam 2 --n-best 2)
run(0 ${several} "{\"id\": 1, \"source\": \"go left two\"}" "{\"id\": 2, \"source\": \"\"}")
set(target "{\"target\":\"[a-z ]*\",\"score\":-[0-9.e-]+}")
expect("^{\"id\":1,\"source\":\"go left two\",\"targets\":\\[${target},${target}\\]}\n{\"id\":2,\"source\":\"\",\"targets\":\\[\\]}\n$")
says("^-[0-9.]+\t[a-z ]*\n-[0-9.]+\t[a-z ]*\n$" ${several} "go left two")
# A score is log P divided by the number of tokens, including the end token. With --length-penalty 0, it is log P.
run(0 ${several} "go left two")
string(REGEX MATCHALL "[^\n]+" by_token "${output}")
run(0 ${several} --length-penalty 0 "go left two")
set(sums "\n${output}")
foreach(line IN LISTS by_token)
  string(REGEX MATCH "^-([0-9]+)\\.([0-9]+)\t(.*)$" whole "${line}")
  math(EXPR score "${CMAKE_MATCH_1} * 10000 + 1${CMAKE_MATCH_2} - 10000")
  set(words "${CMAKE_MATCH_3}")
  string(REGEX MATCHALL "[^ ]+" tokens "${words}")
  list(LENGTH tokens n)
  math(EXPR n "${n} + 1")
  if(NOT sums MATCHES "\n-([0-9]+)\\.([0-9]+)\t${words}\n")
    message(FATAL_ERROR "\"${words}\" is not among the translations of --length-penalty 0:${sums}")
  endif()
  math(EXPR difference "${CMAKE_MATCH_1} * 10000 + 1${CMAKE_MATCH_2} - 10000 - ${n} * ${score}")
  string(REPLACE "-" "" difference "${difference}")
  if(difference GREATER n)  # of four digits after the point
    message(FATAL_ERROR "the score of \"${words}\" is not log P by ${n} tokens: ${line}, and without a penalty:${sums}")
  endif()
endforeach()
refused("2 ways to ask, --sentence and questions on the command line: give one" predict ${FOLDER}/run --sentence "a b" "a b")
refused("question 1: \"up\" is not one of the 6 words that the model knows" predict ${FOLDER}/run "go up two")
refused("question 1: \"<unk>\" is not one of the 6 words that the model knows" predict ${FOLDER}/run "go left <unk>")
run(0 predict ${FOLDER}/run --unknown "go left <s>")
run(0 explain ${FOLDER}/run --sentence "go left two" --out ${FOLDER}/one)
expect("\ngo left two\n[a-z ]*\n\nmean over tokens and heads of 1 pair: of a layer, .*\nencoder +embedding .*\ndecoder +embedding ")
expect_files(one/layers.csv one/encoder.svg)
run(1 explain ${FOLDER}/run --sentence "go left two" --count 3)
expect("--count is about pairs of the data: leave it, or --sentence, out")
refused("\"four\" is not one of the [0-9]+ words that the model knows" explain ${FOLDER}/run --sentence "go left four")
run(0 explain ${FOLDER}/run --count 3)

# Without --force, evaluate does not replace the scores of the run.
file(READ ${FOLDER}/run/scores.csv scores)
run(1 evaluate ${FOLDER}/run --beam 2 --out ${FOLDER}/run)
expect("sequences: --out: [^\n]*run/scores.csv is there already, and would be replaced; give another name or folder, or --force\n")
file(READ ${FOLDER}/run/scores.csv found)
expect_same("a refused evaluate changed scores.csv" "${found}" "${scores}")
run(0 evaluate ${FOLDER}/run --beam 2 --out ${FOLDER}/run --force)
run(0 evaluate ${FOLDER}/run --beam 2 --out ${FOLDER}/beam)

# A question that is a line of a data file is refused, even if unknown words are allowed.
run(1 predict ${FOLDER}/run --unknown "go left two\ttwo left")
expect("question 1: column 12: found a tab, as between columns of data")
refused("found a tab, as between columns of data" predict ${FOLDER}/run --unknown --sentence "go left two\ttwo left")
file(WRITE ${FOLDER}/asked.txt "go left two\nIN: go left two OUT: two left\n\"go left\",\"two\"\nsource,target\n")
run(1 predict ${FOLDER}/run --unknown --file ${FOLDER}/asked.txt)
expect("asked.txt:2: found a line of SCAN.*asked.txt:3: found a row of CSV.*asked.txt:4: found the names of columns")
run(0 inspect ${FOLDER}/data/train.jsonl)
expect("train.jsonl: 6 pairs\nsource: 6 words, 3 in the longest\ntarget: 5 words, 2 in the longest\n")

# Without a dev file, the reported scores of checkpoints are scores on training pairs.
file(WRITE ${FOLDER}/columns/train.tsv "go left one\tone left\ngo right two\ttwo right\n")
run("0|3" train --preset smoke --data ${FOLDER}/columns)
expect("no dev part: checkpoints are measured on 2 of the training pairs\n.*\nseed 1: training exact match, parts of one, [0-9.]+ ")
run("0|3" train --preset smoke --data ${FOLDER}/columns --validate loss)
expect("\nseed 1: training loss [0-9.]+ ")

expect_seeds_of_jobs("0|3" train --preset smoke --data ${FOLDER}/data --dropout 0.2)

# An error in the data is reported with file and line, and with a way to correct it.
expect_bad_lines("${text}" 6
    "{\"source\": 3}| expected \"source\" to be a text, found 3"
    "{\"source\": \"a\"|[0-9]+: this is not JSON"
    "[\"a\", \"b\"]| expected an object in braces, found "
    "{\"source\": \"a\"}| expected \"target\", a text, found none"
    "{\"source\": \"a\", \"target\": \" \"}| the target has no words"
    "{\"source\": \"a\", \"target\": \"b\", \"kind\": 3}| expected \"kind\" to be a text, found 3"
    "{\"source\": \"a\", \"target\": \"b\", \"kind\": null}| expected \"kind\" to be a text, found null")
file(WRITE ${FOLDER}/bad.tsv "a\tb\nalone\n")
run(1 inspect ${FOLDER}/bad.tsv)
expect("bad.tsv:2: source and target, or source, target and kind, are expected with tabs between them")
file(WRITE ${FOLDER}/bad.tsv "Source\tTarget\na\tb\n")
run(1 inspect ${FOLDER}/bad.tsv)
expect("bad.tsv:1: found a header, the names of the columns, expected the first example; remove this line")
refused("give a folder with train and test .jsonl or .tsv with --data" train)

expect_old_name(sequences pairs train --preset smoke --data ${FOLDER}/data)
