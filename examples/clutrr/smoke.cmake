# Every verb of the program once, on small things: train, interrupt-free resume, evaluate, predict, explain, generate.
file(REMOVE_RECURSE ${FOLDER})
include(${CMAKE_CURRENT_LIST_DIR}/../common/program_test.cmake)

run(2 train --preset smoke --width 24 --heads 3 --attention attention-ablation --train-lengths 2,4 --out ${FOLDER}/run)  # too short to learn: the program says that the run failed
expect_run(run 2 metrics.csv config.toml model.safetensors plots/accuracy.svg plots/loss.svg)
run(0 evaluate ${FOLDER}/run --test-size 20)
expect("k=10 ")
run(0 generate --out ${FOLDER}/data --count 500 --test-size 10)
run(0 predict ${FOLDER}/run --data ${FOLDER}/data/1.4_test.csv)
run(0 predict ${FOLDER}/run --facts "ann:mother:bea bea:brother:carl" --ask ann:carl)
run(1 predict ${FOLDER}/run --facts "ann:colleague:bea" --ask ann:bea)
expect("knows no relation")
run(0 explain ${FOLDER}/run --length 4 --out ${FOLDER}/proof)
run(2 train --preset smoke --data ${FOLDER}/data --attention value-ablation --untied --recompute --seeds 2 --out ${FOLDER}/two)
if(NOT CUDA)
  run(1 train --preset smoke --backend cuda)
  expect("built without CUDA.*cmake --preset cuda")
endif()
