# shellcheck shell=bash
# Tests of job arrays source this file. It makes a program `clutrr` that does not train, but writes the same files as
# the real program.

make_stub() {  # FOLDER: makes the program in this folder
  mkdir -p "$1"
  cat > "$1/clutrr" <<'STUB'
#!/usr/bin/env bash
# Runs three epochs. The checkpoint has the number of finished epochs, and the next call continues after them. Appends a
# line to the file CALLS for each start, epoch and end. STUB_KILL=EPOCH: dies at this epoch, as by kill -9.
# STUB_HOLD=FILE: waits after the first epoch until that file exists, or until SIGTERM. STUB_STATUS=3: the run did not
# learn. STUB_DIVERGES=1: the loss is infinite or NaN after the first epoch.
set -euo pipefail
resume=false
while (($#)); do
  case $1 in --seed) seed=$2 ;; --out) out=$2 ;; --resume) resume=true ;; --preset) preset=$2 ;; esac
  shift
done
note() { echo "$seed $1" >> "$CALLS"; }
mkdir -p "$out"
if ! mkdir "$out/busy" 2> /dev/null && ! $resume; then note OVERLAP && exit 1; fi
epoch=0
if $resume; then epoch=$(($(wc -l < "$out/metrics.csv") - 1)) && note "resumes after $epoch"; fi
stopped=false
trap 'stopped=true' TERM
note begins
printf 'preset = "%s"\nseed = %d\nthreads = %d\nepochs = 3\n' "$preset" "$seed" "${OMP_NUM_THREADS:-1}" \
  > "$out/config.toml"
if ((epoch == 0)); then echo epoch,step,loss,rate,norm,validation,seconds,examples_per_second > "$out/metrics.csv"; fi
while ((epoch < 3)); do
  epoch=$((epoch + 1))
  sleep 0.05 || true
  note "epoch $epoch"
  echo "$epoch,$((10 * epoch)),0.$((90 - 10 * epoch - seed)),0.001,1,0.9$((seed % 10))00,$((20 * epoch)).50,100" \
    >> "$out/metrics.csv"
  header="{\"__metadata__\":{\"step\":\"$((10 * epoch))\"}}"
  # shellcheck disable=SC2059
  { printf "\\x$(printf %02x ${#header})\\0\\0\\0\\0\\0\\0\\0" && printf %s "$header"; } > "$out/model.safetensors"
  if [[ ${STUB_KILL:-} == "$epoch" ]]; then kill -KILL $$; fi
  while ((epoch == 1)) && ! $stopped && [[ -n ${STUB_HOLD:-} && ! -e $STUB_HOLD ]]; do sleep 0.05 || true; done
  if [[ -n ${STUB_DIVERGES:-} ]]; then
    echo "the loss is nan at update 11 (batch 1 of epoch 2), the gradient's norm nan: stopped"
    rmdir "$out/busy"
    exit 3
  fi
  if $stopped; then
    echo "interrupted; the checkpoint is in $out"
    rmdir "$out/busy"
    exit 143
  fi
done
for k in 2 6 10; do printf 'k=%-2d  0.%d%d%d\n' "$k" $((9 - seed % 5)) $((seed % 10)) $((k % 10)); done
note ends
rmdir "$out/busy"
exit "${STUB_STATUS:-0}"
STUB
  chmod +x "$1/clutrr"
}
