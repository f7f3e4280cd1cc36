# Tests the program on a GPU, or on the stand-in for a GPU. The losses equal those of the reference backend up to
# rounding, with dropout. A run that began on the GPU can be resumed on the reference backend. Every verb works.
include(${CMAKE_CURRENT_LIST_DIR}/../../shared/tests/program_test.cmake)
set(arguments train --preset smoke --dropout 0.1 --epochs 40 --chains 1280 --test-size 2)  # one update per epoch

run("0|3" ${arguments} --backend reference --out ${FOLDER}/plain)
run("0|3" ${arguments} --backend cuda --out ${FOLDER}/device)
expect_close(device)

# A run is interrupted on the GPU after its first checkpoint, and is resumed on the reference backend.
file(WRITE ${FOLDER}/stopped.sh "\
\"$@\" > ${FOLDER}/stopped.txt 2>&1 &
run=$!
while kill -0 $run 2> /dev/null && ! test -f ${FOLDER}/stopped/model.safetensors; do sleep 0.01; done
kill -INT $run
wait $run
")
execute_process(COMMAND sh ${FOLDER}/stopped.sh ${PROGRAM} ${arguments} --backend cuda --out ${FOLDER}/stopped RESULT_VARIABLE status)
file(READ ${FOLDER}/stopped.txt text)
expect_same("status of an interrupted run that says\n${text}" "${status}" 130)
file(STRINGS ${FOLDER}/stopped/metrics.csv lines REGEX "^[0-9]")
list(LENGTH lines count)
if(count GREATER 39)
  message(FATAL_ERROR "the run was interrupted after its last epoch: make it longer\n${text}")
endif()
run("0|3" ${arguments} --backend reference --resume --out ${FOLDER}/stopped)
expect_close(stopped)
message("interrupted after ${count} of 40 epochs, and ended on the reference")

foreach(model --model=rat --model=rrat --model=gat --paper-form --attention=value-ablation --untied --recompute)
  run("0|3" train --preset smoke --chains 64 --test-size 2 --backend cuda --width 8 --layers 2 ${model})
endforeach()
foreach(arithmetic tf32x3 tf32 f16 bf16)
  run("0|3" train --preset smoke --chains 64 --test-size 2 --backend cuda --width 8 --precision ${arithmetic})
endforeach()
says("k=10 " evaluate ${FOLDER}/device --test-size 5 --backend cuda)
set(question --facts "ann:mother:bea bea:brother:carl" --ask ann:carl)
expect_same_answer(predict ${FOLDER}/device ${question})
expect_same_answer(explain ${FOLDER}/device ${question})
refused("is for --backend cuda" train --preset smoke --backend reference --precision bf16)
