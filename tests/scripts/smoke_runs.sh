#!/usr/bin/env bash
# Tests scripts/smoke-runs with the programs of a build, and scripts/same-weights on the result:
#   smoke_runs.sh ROOT FOLDER BUILD
set -euo pipefail
root=$1 folder=$2 build=$3
rm -rf "$folder"
mkdir -p "$folder"
failed() { echo "smoke-runs: $1" >&2 && exit 1; }
names=$("$root/scripts/smoke-runs" "$build" "$folder/runs") || failed "status $?: $names"
for program in clutrr cogs tree-transforms cognition cfq-semantic cfq-parse-edge-transformer meanings-edges; do
  grep -qx "$program" <<< "$names" || failed "no run of $program: $names"
done
"$root/scripts/same-weights" "$folder/runs" "$folder/runs" | grep -q " in $(wc -l <<< "$names") files" || failed "not a file for each run"
if output=$("$root/scripts/smoke-runs" "$build" "$folder/runs" 2>&1); then failed "overwrites a folder"; fi
grep -q "is there already" <<< "$output" || failed "$output"
# Another seed gives another run. This shows that the comparison can fail.
status=0
"$build/bin/cogs" train --preset smoke --seed 2 --threads 1 --dropout 0.1 --out "$folder/other" > "$folder/other.log" 2>&1 || status=$?
((status == 0 || status == 3)) || failed "cogs: status $status"
status=0
output=$("$root/scripts/same-weights" "$folder/runs/cogs" "$folder/other") || status=$?
((status == 1)) || failed "two seeds, status $status: $output"
