#!/usr/bin/env bash
# Tests every stage of scripts/gpu that runs programs. The kernels of these programs run on the host, and the tools of a
# machine with a GPU are stubs. Also tests failures on such a machine, which the report must name:
#   gpu_stages.sh ROOT FOLDER BUILD
set -euo pipefail
root=$1 folder=$2 programs=$3/bin
unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
rm -rf "$folder"
mkdir -p "$folder/tools" "$folder/build/gpu/bin" "$folder/golden" "$folder/data"
failed() { echo "gpu stages: $1" >&2 && exit 1; }
for part in scripts tests docs bench; do ln -s "$root/$part" "$folder/$part"; done

stub() {  # FOLDER/NAME: makes a stub; its commands are on standard input
  { echo '#!/usr/bin/env bash' && cat; } > "$folder/$1"
  chmod +x "$folder/$1"
}
stub tools/nvidia-smi <<< 'echo "NVIDIA stub, 9.0, 580, 81559 MiB"'
# Runs its argument, which may end by itself, and prints stored output.
stub tools/ncu <<'STUB'
while (($#)); do
  case $1 in
    --export) report=$2 && shift ;;
    --import) cat "$2" && exit ;;
    */triad-bench-cuda) "$@" > "$report" && echo "==PROF== stub" && exit ;;
  esac
  shift
done
exit 1
STUB
# Runs the command that follows its options.
stub tools/compute-sanitizer <<'STUB'
while [[ $1 == --* ]]; do if [[ $1 == --*=* ]]; then shift; else shift 2; fi; done
exec "$@"
STUB
stub tools/python3 <<'STUB'
case $1 in
  -c) [[ $2 == *torch* ]] ;;  # there is a PyTorch, but its packages have no toolkit
  bench/torch_on_cuda.py) printf '%s\n' "name eager compiled MiB python graphs" "clutrr_step 3 2 50 1.5 1.25" ;;
esac
STUB
on_host() {  # PROGRAM [INSTEAD]: passes INSTEAD where the name of a device is expected
  echo "exec '$programs/$1' \"\${@/#cuda/${2:-cuda}}\""
}
on_host triad-test-cuda-on-host | stub build/gpu/bin/triad-test-cuda
on_host triad-golden cuda-on-host | stub build/gpu/bin/triad-golden
for program in clutrr cogs tree-transforms cognition cfq; do
  on_host $program-on-cuda-on-host | stub build/gpu/bin/$program
done
stub build/gpu/bin/triad-bench-cuda <<'STUB'
echo "NVIDIA stub; 1.00 T multiply-adds a second $*"
echo "name ms floor products triangle share TFLOP/s planned total"
echo "clutrr_step 1.0 0.5 0.5 0.0 2.00 1.0 10.0 20.0 100"
STUB
for file in dtm_DE__two_levels_wide_roles et_layer__narrow_block_flat; do
  cp "$root/tests/data/golden/$file".*.safetensors "$folder/golden/"
done

gpu() {  # STATUS ARGUMENTS...: its output is in `said`, and its last report in `report`
  local expected=$1 status=0
  shift
  rm -rf "$folder/build/gpu/log" "$folder/out"
  said=$(cd "$folder" && PATH=$folder/tools:$PATH TRIAD_GPU_CASES=${cases:-sums*} TRIAD_GPU_RUNS=2 \
    TRIAD_GOLDEN_DIR=$folder/golden TRIAD_DATA=$folder/data bash scripts/gpu "$@" 2>&1) || status=$?
  ((status == expected)) || failed "scripts/gpu $*: status $status, expected $expected: $said"
  report=$(cat "$folder/build/gpu/log/report.md" 2> /dev/null || true)
}
expect() { grep -qE -e "$1" <<< "$report" || failed "no \"$1\" in the report: $report"; }
expect_none() { if grep -qE -e "$1" <<< "$report"; then failed "\"$1\" in the report: $report"; fi; }

# ---- on a machine with a GPU, without failures
# ------------------------------------------------------------------------
gpu 0 check test --out "$folder/out"
expect '^ *device +passed +.*NVIDIA stub'
expect '^ *libraries +passed +.*every library of 8 programs is found'
expect '^ *first-cases +passed +.*All tests passed'
expect '^ *device-cases +passed +.* 2 passed, 0 failed, of 2$'
for golden in golden-ours golden-ours-tf32 golden-ours-bf16 golden-ours-f16; do
  expect "^ *$golden +passed +.*, 0 failed"
done
expect '^ *golden-published +passed +.* 4 files, 4 passed, 0 failed'
for program in clutrr cogs trees cognition cfq; do
  expect "^ *losses-$program +passed +.*[1-9][0-9]* epochs, largest relative difference of the loss [0-9]"
done
cmp -s "$folder/out/report.md" "$folder/build/gpu/log/report.md" || failed "--out has another report"
tar -tzf "$folder/out/logs.tar.gz" > "$folder/held"
grep -qx log/device-cases.results "$folder/held" || failed "the results of each case are not in logs.tar.gz"
if grep -q safetensors "$folder/held"; then failed "checkpoints are in logs.tar.gz"; fi

gpu 0 bench torch profile
expect '^ *clutrr_step +1\.0 +0\.5'
# What was never timed comes first, because the stage may be cut anywhere.
[[ $(sed -n 's/^ *\(bench[-a-z0-9]*\) .*/\1/p' <<< "$report" | tr '\n' ' ') == "bench-triangle-float32 bench-triangle-f16 \
bench-triangle-tf32 bench-triangle-bf16 bench-changed bench bench-f16 bench-tf32 bench-bf16 bench-tf32x3 " ]] ||
  failed "the benchmarks: $report"
expect_none '^ *bench[-a-z0-9]* +(FAILED|OUT)'
# The columns are triad's time, PyTorch's times, the ratio to the better of these, and the time of calls from Python,
# without and with a CUDA graph.
expect '^ *clutrr_step +1\.000 +3 +2 +2\.00 +20\.0 +50 +1\.5 +1\.25$'
expect '^ *ncu-b-1-n-512-d-128 +passed'
expect '^ *ncu-tree_machine_step +passed'
grep -q -e '--once --filter=^triangle/forward/b:1/n:512/d:128 --precision=bf16' "$folder/build/gpu/log/b-1-n-512-bf16.csv" ||
  failed "the tensor cores' triangle is not what was profiled"

# Two calls run the most important stages. A call that is killed leaves the report of the stages that have ended.
gpu 0 first --dry-run
[[ $(grep '^## ' <<< "$report" | sed 's/^## \([a-z]*\),.*/\1/' | tr '\n' ' ') == "check test bench torch " ]] ||
  failed "the stages of the first call: $report"
gpu 0 second --dry-run -- clutrr
[[ $(grep '^## ' <<< "$report" | sed 's/^## \([a-z]*\),.*/\1/' | tr '\n' ' ') == "profile train " ]] ||
  failed "the stages of the second call: $report"
mv "$folder/build/gpu/bin/triad-bench-cuda" "$folder/triad-bench-cuda.kept"
stub build/gpu/bin/triad-bench-cuda <<< "echo begun > '$folder/bench-began' && sleep 60"
rm -rf "$folder/build/gpu/log" "$folder/out"
(cd "$folder" && PATH=$folder/tools:$PATH TRIAD_GPU_CASES=sums* TRIAD_GOLDEN_DIR=$folder/golden \
  exec setsid bash scripts/gpu first --out "$folder/out" > "$folder/killed.log" 2>&1) &
killed=$!
while [[ ! -e $folder/bench-began ]] && kill -0 $killed; do sleep 0.1; done  # a busy machine takes minutes
kill -KILL -- -$killed
wait $killed 2> /dev/null || true
report=$(cat "$folder/out/report.md")
expect '^ *device-cases +passed'
tar -tzf "$folder/out/logs.tar.gz" | grep -x log/device-cases.results > /dev/null || failed "a killed call left no logs"
mv "$folder/triad-bench-cuda.kept" "$folder/build/gpu/bin/triad-bench-cuda"

# ---- runs: one ends, one is interrupted, and one fails
# -----------------------------------------------------------------
mv "$folder/build/gpu/bin/clutrr" "$folder/clutrr"
stub build/gpu/bin/clutrr <<'STUB'
while (($#)); do
  case $1 in --out) out=$2 ;; --seed) seed=$2 ;; --backend) backend=$2 ;; esac
  shift
done
mkdir -p "$out"
[[ $backend == cuda ]] || { echo "backend ${backend-none}" && exit 1; }
case $seed in
  9) echo "cannot read the data" && exit 1 ;;
  10) trap 'echo "interrupted; the checkpoint is in $out" && exit 130' INT
    touch "$out/model.safetensors"
    while true; do sleep 0.1; done ;;
esac
echo "k=10 1.0"
STUB
# The service that lets kernels of several runs execute at once is started before the runs, and stopped after them.
stub tools/nvidia-cuda-mps-control <<'STUB'
if [[ ${1:-} == -d ]]; then echo "begun in $CUDA_MPS_PIPE_DIRECTORY"; else echo "$(cat) in $CUDA_MPS_PIPE_DIRECTORY"; fi \
  >> "${CUDA_MPS_LOG:?}"
STUB
export CUDA_MPS_LOG=$folder/service
# A folder that a variable of the caller names must not be treated as the service's folder.
mkdir -p "$folder/precious"
export service=$folder/precious
export TRIAD_GPU_STAGE_SECONDS=10
gpu 1 train -- clutrr/clutrr-k23-s8 clutrr/clutrr-k23-s9 clutrr/clutrr-k23-s10
unset TRIAD_GPU_STAGE_SECONDS
expect "^ *kernels of several runs at once: NVIDIA's"
[[ $(sed 's/ in .*//' "$CUDA_MPS_LOG") == $'begun\nquit -t 10' ]] || failed "the service: $(cat "$CUDA_MPS_LOG")"
[[ $(sed 's/.* in //' "$CUDA_MPS_LOG" | sort -u | wc -l) == 1 ]] || failed "two services: $(cat "$CUDA_MPS_LOG")"
[[ -d $folder/precious ]] || failed "a folder of the caller's is gone"
unset service
expect '^ *clutrr-k23-s8: finished'
expect '^ *clutrr-k23-s9: FAILED'
expect '^ *cannot read the data'
expect '^ *clutrr-k23-s10: NOT FINISHED'
gpu 2 train -- nothing
# If the service does not start, the runs take turns.
stub tools/nvidia-cuda-mps-control <<< '[[ ${1:-} != -d ]]'
gpu 0 train -- clutrr/clutrr-k23-s7
expect "^ *runs take turns: NVIDIA's"
expect '^ *clutrr-k23-s7: finished'
# The name of a group stands for all of its runs that are not finished.
gpu 0 train --dry-run -- clutrr
expect 'clutrr/clutrr-k23-s9 '
expect_none 'clutrr/clutrr-k23-s8 '

# ---- failures on a machine with a GPU
# ---------------------------------------------------------------------------------
# One test case fails, one name matches no case, and one case kills its process. Each is named, with its output.
stub build/gpu/bin/triad-test-cuda <<'STUB'
if [[ $1 == --list-test-names-only ]]; then printf '%s\n' good bad absent crash && exit 4; fi
case $1 in
  good) echo "All tests passed" ;;
  bad) echo "element 7 is 3, expected 4" && exit 1 ;;
  absent) echo "No test cases matched 'absent'" && echo "No tests ran" ;;
  crash) kill -SEGV $$ ;;
  *) echo "No tests ran" ;;
esac
STUB
# More failures: a truncated golden file; losses that differ, are NaN, or are missing on the device; and a program that
# fails. Status 3 means that a run has not learned, because it has few updates.
head -c 4000 "$folder/golden/et_layer__narrow_block_flat.f32.safetensors" > "$folder/golden/broken.f32.safetensors"
trains() {  # PROGRAM LOSSES STATUS: the program's losses and status on the device
  stub "build/gpu/bin/$1" <<STUB
while ((\$#)); do case \$1 in --out) out=\$2 ;; --backend) backend=\$2 ;; esac && shift; done
losses=(1.5 1.25)
if [[ \$backend == cuda ]]; then losses=($2); fi
mkdir -p "\$out"
{ echo epoch,loss,seconds && for i in \${!losses[@]}; do echo "\$i,\${losses[i]},9"; done; } > "\$out/metrics.csv"
if [[ \$backend == cuda ]]; then exit $3; fi
STUB
}
trains clutrr "1.5 1.26" 3
trains cogs "1.5 1.30" 0
trains tree-transforms "1.5 nan" 0
trains cognition "1.5" 0
trains cfq "1.5 1.25" 1
gpu 1 check test
expect '^ *first-cases +FAILED \(66\)'
expect '^ *device-cases +FAILED \(1\) +.* 1 passed, 3 failed, of 4$'
for line in 'FAILED \(1\): bad' 'element 7 is 3, expected 4' 'FAILED \(66\): absent' 'FAILED \(139\): crash'; do
  grep -qE "^$line" "$folder/build/gpu/log/device-cases.log" || failed "no \"$line\" in device-cases.log"
done
expect '^ *golden-published +FAILED'
expect '^ *losses-clutrr +passed +.* 2 epochs, largest relative difference of the loss 8\.00e-03'
expect '^ *losses-cogs +FAILED'
expect '^ *losses-trees +FAILED'
expect '^ *losses-cognition +FAILED'
expect '^ *losses-cfq +FAILED'
# The cases for the sanitizer have other names. Names that this build does not have must not count as passed.
gpu 1 sanitize
expect '^ *memcheck-small +FAILED \(66\)'
# With a stub that has all of these names, all must pass. Each name is also one of the device tests.
cp "$folder/build/gpu/bin/triad-test-cuda" "$folder/triad-test-cuda.kept"
stub build/gpu/bin/triad-test-cuda <<< 'echo "All tests passed ($*)"'
gpu 0 sanitize
expect '^ *racecheck-tiled +passed .*larger graphs'
while IFS= read -r name; do
  # With Catch2 version 2, the exit status is the number of cases.
  found=$("$programs/triad-test-cuda-on-host" --list-test-names-only "$name" 2> /dev/null || true)
  found=${found:-$("$programs/triad-test-cuda-on-host" --list-tests --verbosity quiet "$name" || true)}  # version 3
  [[ -n $found ]] || failed "no device test is called $name"
done < <(sed -n 's/^ *sanitized .* "\(.*\)" &.*/\1/p' "$root/scripts/gpu.d/sanitize.sh")
# If a program was not packed, the report names it, and the other programs run.
mv "$folder/build/gpu/bin/cognition" "$folder/cognition.kept"
gpu 1 test
expect '^ *losses-cognition +there is no cognition here: not compared'
mv "$folder/cognition.kept" "$folder/build/gpu/bin/cognition"
# If a step takes too long, it is stopped, and the report says so.
stub build/gpu/bin/triad-test-cuda <<STUB
if [[ \$1 == --list* ]]; then echo a case; else echo \$\$ >> "$folder/pids" && exec sleep 60; fi
STUB
TRIAD_GPU_STAGE_SECONDS=3 TRIAD_GPU_CASE_SECONDS=60 gpu 1 test
expect '^ *device-cases +OUT OF TIME'
for _ in {1..50}; do
  alive=$(while IFS= read -r pid; do if kill -0 "$pid" 2> /dev/null; then echo "$pid"; fi; done < "$folder/pids")
  if [[ -z $alive ]]; then break; fi
  sleep 0.1
done
[[ -z $alive ]] || failed "cases go on after their stage's time: $alive"
# A case that hangs leaves time for the others, and for the counts.
stub build/gpu/bin/triad-test-cuda <<'STUB'
case $1 in
  --list*) printf '%s\n' good hanging ;;
  good) echo "All tests passed" ;;
  *) exec sleep 60 ;;
esac
STUB
TRIAD_GPU_STAGE_SECONDS=60 TRIAD_GPU_CASE_SECONDS=2 gpu 1 test
expect '^ *device-cases +FAILED \(1\) +.* 1 passed, 1 failed, of 2$'
grep -qx 'FAILED (124): hanging' "$folder/build/gpu/log/device-cases.log" || failed "no verdict on a case that hangs"
# A case that fails runs again with blocking launches, and only then.
stub build/gpu/bin/triad-test-cuda <<'STUB'
if [[ $1 == --list* ]]; then echo bad && exit 1; fi
echo "blocking: ${CUDA_LAUNCH_BLOCKING-no}" && exit 1
STUB
gpu 1 test
[[ $(grep '^blocking: ' "$folder/build/gpu/log/device-cases.log" | tr '\n' ' ') == "blocking: no blocking: 1 " ]] ||
  failed "the blocking launches: $(cat "$folder/build/gpu/log/device-cases.log")"
# Catch2 version 3 has another option to list cases.
stub build/gpu/bin/triad-test-cuda <<'STUB'
case $1 in
  --list-test-names-only) echo "Unrecognised token: $1" >&2 && exit 255 ;;
  --list-tests) printf '%s\n' good better ;;
  *) echo "All tests passed" ;;
esac
STUB
gpu 1 test
expect '^ *device-cases +passed +.* 2 passed, 0 failed, of 2$'
# The stage succeeds if a run writes at the same time. It fails if the archive cannot be written.
real_tar=$(command -v tar)
stub tools/tar <<< "$real_tar"' "$@" && exit 1'
gpu 0 check --out "$folder/out"
stub tools/tar <<< 'exit 2'
gpu 1 check --out "$folder/out"
rm "$folder/tools/tar"
mv "$folder/triad-test-cuda.kept" "$folder/build/gpu/bin/triad-test-cuda"

# Without a program, nothing is tested, and the report says so. Without a driver, there is no GPU.
rm "$folder/build/gpu/bin/triad-test-cuda"
gpu 2 test
grep -q "there is no triad-test-cuda: carry build/gpu.tar.xz here" <<< "$said" || failed "$said"
