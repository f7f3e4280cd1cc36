# Every verb of the program once, on small things: train, interrupt-free resume, evaluate, predict, explain, generate.
include(${CMAKE_CURRENT_LIST_DIR}/../apps/program_test.cmake)

run(3 train --preset smoke --width 24 --heads 3 --attention attention-ablation --train-lengths 2,4 --out ${FOLDER}/run)  # too short to learn: the program says that the run failed
expect_run(run 3 metrics.csv config.toml model.safetensors plots/accuracy.svg plots/loss.svg)
expect_scores_of_run("k=[0-9]+ +[0-9.]+" ${FOLDER}/run)
run(0 evaluate ${FOLDER}/run --test-size 10)
expect("k=10 +[0-9.]+ +\\(10 questions\\)")
run(0 generate --out ${FOLDER}/data --count 500 --test-size 10)
run(0 predict ${FOLDER}/run --data ${FOLDER}/data/1.4_test.csv)
run(0 predict ${FOLDER}/run --facts "ann:mother:bea bea:brother:carl" --ask ann:carl)
run(1 predict ${FOLDER}/run --facts "ann:colleague:bea" --ask ann:bea)
expect("knows no relation")
string(ASCII 27 escape)
run("[1-9][0-9]*" train "--pre${escape}[31mset")  # what others wrote commands no terminal
expect("--pre.\\[31mset")
if(output MATCHES "${escape}")
  message(FATAL_ERROR "a control character of the command line was printed:\n${output}")
endif()
run(0 explain ${FOLDER}/run --length 4 --out ${FOLDER}/proof)
run(3 train --preset smoke --data ${FOLDER}/data --attention value-ablation --untied --recompute --seeds 2 --out ${FOLDER}/two)
expect("mean of 2 seeds; seeds 1 and 2 did not learn and are in it")

# A trained model is asked about the data of its run, where nothing else is said.
run(3 train --preset smoke --data ${FOLDER}/data --out ${FOLDER}/published)
expect_scores_of_run("k=[0-9]+ +[0-9.]+" ${FOLDER}/published)
expect("data: ${FOLDER}/data, those of the run\nk=2 +[0-9.]+ +\\(10 questions\\)")
run(0 evaluate ${FOLDER}/published --data ${FOLDER}/data/1.4_test.csv)
expect("data: ${FOLDER}/data/1.4_test.csv; those of the run: ${FOLDER}/data\nk=4 ")
run(0 evaluate ${FOLDER}/run --data ${FOLDER}/data)
expect("data: ${FOLDER}/data; those of the run: generated\n")
run(0 explain ${FOLDER}/published --length 4)
file(COPY ${FOLDER}/published/model.safetensors DESTINATION ${FOLDER}/alone)
run(0 evaluate ${FOLDER}/alone)
expect("there is no config.toml beside this checkpoint, so the data of its run are not known")

# One file of few rows: nothing is held out, nothing was measured, and there is nothing else to evaluate on.
file(STRINGS ${FOLDER}/data/1.4_test.csv rows LIMIT_COUNT 5)
string(REPLACE ";" "\n" rows "${rows}")
file(WRITE ${FOLDER}/four.csv "${rows}\n")
run(0 train --preset smoke --data ${FOLDER}/four.csv --out ${FOLDER}/four)
expect("no test files, and nothing was held out: how good this model is was not measured")
run(1 evaluate ${FOLDER}/four)
expect("four.csv is the file that this run was trained on, and there is no other: give one to evaluate it on with --data")

# Weights that are no numbers have no score.
file(SIZE ${FOLDER}/run/model.safetensors size)
file(MAKE_DIRECTORY ${FOLDER}/lost)
file(WRITE ${FOLDER}/lost.sh "set -e
head=$(od -A n -t u8 -N 8 \"$1\")
head -c $((head + 8)) \"$1\" > \"$2\"
head -c $(($3 - head - 8)) /dev/zero | tr '\\0' '\\377' >> \"$2\"
")
execute_process(COMMAND sh ${FOLDER}/lost.sh ${FOLDER}/run/model.safetensors ${FOLDER}/lost/model.safetensors ${size} COMMAND_ERROR_IS_FATAL ANY)
run(1 evaluate ${FOLDER}/lost)
expect("lost/model.safetensors: value 0 of [a-z0-9_.]+ is not finite, so this model has no answers: its run diverged")

# Runs that diverge have no score, and are in no mean.
run(3 train --preset smoke --epochs 1 --learning-rate 1e30 --clip-norm 0 --seeds 2)
expect("mean of 0 of 2 seeds; seeds 1 and 2 diverged\n2 of 2 runs failed")
if(output MATCHES "k=[0-9]+ +[0-9n]")
  message(FATAL_ERROR "runs that diverged are scored:\n${output}")
endif()

expect_seeds_of_jobs(3 train --preset smoke --data ${FOLDER}/data --dropout 0.2)

# Seeds that would come round; another program's run.
expect_bounded_seeds(train --preset smoke)
run(2 generate --seed -1 --out ${FOLDER}/none)
run(2 train --preset smoke --chains 9223372036854775808)
expect("--chains: 9223372036854775808 is not a whole number")
file(WRITE ${FOLDER}/cogs/config.toml "labels = \"2020\"\nfrom-parent = false\n")
run(1 evaluate ${FOLDER}/cogs)
expect("cogs is a run of cogs, and this is clutrr: give it to cogs evaluate")
run(1 train --config ${FOLDER}/cogs/config.toml)
expect("no option of this program's train is called labels; it is of a run of cogs")
run(1 train --preset smoke --attention value-ablation --untied --recompute --resume --out ${FOLDER}/two/seed-1)
expect("was trained with training-data = \"[0-9]+ examples, digest [0-9a-f]+\", this run has training-data = \"generated\"")
if(NOT CUDA)
  run(1 train --preset smoke --backend cuda)
  expect("built without CUDA.*cmake --preset cuda")
endif()
