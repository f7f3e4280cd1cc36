# Tests a run with --backend cuda in several processes that share a GPU, or the stand-in for a GPU.  The run must have
# the same bits as a run in one process, and print one line about how gradients are exchanged.  MPIRUN is the path of
# mpirun.
include(${CMAKE_CURRENT_LIST_DIR}/program_test.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/mpirun.cmake)

set(learn train --preset smoke --epochs 1 --backend cuda --shares 4)
set(said "gradients go from GPU to GPU through the memory of the host, not by NCCL: [^\n]*NCCL")
run("0|3" ${learn} --out ${FOLDER}/one)
expect_absent("${said}" "one process says how gradients go to others")
set(program ${PROGRAM})
set(PROGRAM ${MPIRUN})
foreach(processes IN ITEMS 2 4)
  run("0|3" -n ${processes} ${program} ${learn} --out ${FOLDER}/of_${processes})
  expect_times(1 "${said}")
  expect_same_files(one/model.safetensors of_${processes}/model.safetensors "${processes} processes leave another model than one")
endforeach()
message("several processes that share a GPU leave what one leaves, and say by which way gradients go")
