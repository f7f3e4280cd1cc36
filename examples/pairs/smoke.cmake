# Every verb of the program once, on JSON lines; the same data in columns; and bad lines.
include(${CMAKE_CURRENT_LIST_DIR}/../apps/program_test.cmake)

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
expect_scores_of_run("(dev|one)  exact match [0-9.]+  BLEU none [0-9.]+" ${FOLDER}/run)
run(0 predict ${FOLDER}/run "{\"id\": 1, \"source\": \"go left two\"}")
expect("^{\"id\":1,\"source\":\"go left two\",\"target\":\"[a-z ]*\"}\n$")
run(0 predict ${FOLDER}/run "go left two")

# Several translations of a line of JSON are one line, and of a sentence a line each.
set(several predict ${FOLDER}/run --beam 2 --n-best 2)
run(0 ${several} "{\"id\": 1, \"source\": \"go left two\"}" "{\"id\": 2, \"source\": \"\"}")
set(target "{\"target\":\"[a-z ]*\",\"score\":-[0-9.e-]+}")
expect("^{\"id\":1,\"source\":\"go left two\",\"targets\":\\[${target},${target}\\]}\n{\"id\":2,\"source\":\"\",\"targets\":\\[\\]}\n$")
run(0 ${several} "go left two")
expect("^-[0-9.]+\t[a-z ]*\n-[0-9.]+\t[a-z ]*\n$")
run(1 predict ${FOLDER}/run --sentence "a b" "a b")
expect("2 ways to ask, --sentence and questions on the command line: give one")
run(1 predict ${FOLDER}/run "go up two")
expect("question 1: \"up\" is none of the 6 words that the model knows")
run(0 explain ${FOLDER}/run --count 3)
run(0 inspect ${FOLDER}/data/train.jsonl)
expect("train.jsonl: 6 pairs\nsource: 6 words, 3 in the longest\ntarget: 5 words, 2 in the longest\n")

# Without a dev file, what a run says of its checkpoints is about training pairs.
file(WRITE ${FOLDER}/columns/train.tsv "go left one\tone left\ngo right two\ttwo right\n")
run("0|3" train --preset smoke --data ${FOLDER}/columns)
expect("no dev part: checkpoints are measured on 2 of the training pairs\n.*\nseed 1: training exact match, parts of one, [0-9.]+ ")
run("0|3" train --preset smoke --data ${FOLDER}/columns --validate loss)
expect("\nseed 1: training loss [0-9.]+ ")

expect_seeds_of_jobs("0|3" train --preset smoke --data ${FOLDER}/data --dropout 0.2)

# What is wrong is told with file and line, and what to do.
expect_bad_lines("${text}" 6
    "{\"source\": 3}| expected \"source\" to be a text, found 3"
    "{\"source\": \"a\"|[0-9]+: expected JSON, found none"
    "[\"a\", \"b\"]| expected an object in braces, found "
    "{\"source\": \"a\"}| expected \"target\", a text, found none"
    "{\"source\": \"a\", \"target\": \" \"}| the target has no words"
    "{\"source\": \"a\", \"target\": \"b\", \"kind\": 3}| expected \"kind\" to be a text, found 3"
    "{\"source\": \"a\", \"target\": \"b\", \"kind\": null}| expected \"kind\" to be a text, found null")
file(WRITE ${FOLDER}/bad.tsv "a\tb\nalone\n")
run(1 inspect ${FOLDER}/bad.tsv)
expect("bad.tsv:2: source and target, or source, target and kind, are expected with tabs between them")
run(1 train)
expect("give a folder with train and test .jsonl or .tsv with --data")
