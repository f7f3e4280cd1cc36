#!/usr/bin/env bash
# Every stage of scripts/gpu that runs programs, with programs whose kernels run on the host and stubs of the tools of a
# machine with a GPU; then a device test that fails, which the report must name:  gpu_stages.sh ROOT FOLDER BUILD
set -euo pipefail
root=$1 folder=$2 programs=$3/bin
rm -rf "$folder"
mkdir -p "$folder/tools" "$folder/build/gpu/bin" "$folder/golden"
failed() { echo "gpu stages: $1" >&2 && exit 1; }
for part in scripts tests docs; do ln -s "$root/$part" "$folder/$part"; done

stub() {  # FOLDER/NAME: the commands on standard input
  { echo '#!/usr/bin/env bash' && cat; } > "$folder/$1"
  chmod +x "$folder/$1"
}
stub tools/nvidia-smi <<< 'echo "NVIDIA stub, 9.0, 580, 81559 MiB"'
stub tools/ncu <<< 'echo "==PROF== stub" ; for last; do :; done'
# What follows its options is run as it would run it.
stub tools/compute-sanitizer <<< 'while [[ $1 == --* ]]; do case $1 in --*=*) shift ;; *) shift 2 ;; esac; done; exec "$@"'
stub tools/python3 <<< 'exit 1'  # no PyTorch here
exec_on_host() { echo "exec '$programs/$1' \"\${@/#cuda/${2:-cuda}}\""; }
exec_on_host triad-test-cuda-on-host | stub build/gpu/bin/triad-test-cuda
exec_on_host triad-golden cuda-on-host | stub build/gpu/bin/triad-golden
for program in clutrr cogs tree-transforms cognition cfq; do
  exec_on_host $program-on-cuda-on-host | stub build/gpu/bin/$program
done
stub build/gpu/bin/triad-bench-cuda <<< 'echo "name ms floor"; echo "clutrr_step 1.0 0.5"'
cp "$root"/tests/data/golden/*.safetensors "$folder/golden/"

gpu() {
  (cd "$folder" && PATH=$folder/tools:$PATH TRIAD_GPU_CASES="${cases:-sums*}" TRIAD_GOLDEN_DIR=$folder/golden TRIAD_DATA=$folder/data \
    bash scripts/gpu "$@" --out out > out.txt 2>&1)
}
