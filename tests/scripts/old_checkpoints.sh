#!/usr/bin/env bash
# Tests runs of version 0.1, which are in tests/data/version_0.1: the programs of a build must answer with them and
# resume them:
#   old_checkpoints.sh ROOT FOLDER BUILD
set -euo pipefail
root=$1 folder=$2 build=$3
rm -rf "$folder"
mkdir -p "$folder"
cp -r "$root/tests/data/version_0.1/." "$folder"
failed() { echo "old-checkpoints: $1" >&2 && exit 1; }
metadata() {  # FILE: prints the JSON that is stored with the tensors
  python3 -c 'import json, struct, sys
data = open(sys.argv[1], "rb").read()
print(json.dumps(json.loads(data[8 : 8 + struct.unpack("<Q", data[:8])[0]])["__metadata__"]))' "$1"
}
call() {  # STATUS COMMAND...: also accepts status 3, since so short a run may not have learned
  local status=0
  output=$("${@:2}" 2>&1) || status=$?
  [[ $status =~ ^($1)$ ]] || failed "status $status of ${*:2}: $output"
}

# These are the old names in examples/programs/shared/cli/renames.hpp.
old_options=$(sed -nE 's/^    \{"([a-z-]+)", "[a-z-]+".*/\1/p' "$root/examples/programs/shared/cli/renames.hpp" | paste -sd'|')
[[ $old_options == *rate*words* ]] || failed "no old options in renames.hpp: $old_options"

goes_on() {  # PROGRAM RUN SETTINGS OF THE MODEL...: no name of version 0.1 may be in its new files
  local bin=$build/bin/$1 run=$folder/$2 data=$folder/$1/data lines
  local model=$run/model.safetensors
  [[ $(metadata "$model") == *triad-checkpoint-1* ]] || failed "$model is not of format 1"
  cp "$model" "$folder/begun.safetensors"
  lines=$(wc -l < "$run/metrics.csv")
  cp "$run/metrics.csv" "$folder/metrics.csv"
  call 0 "$bin" evaluate "$run" --data "$data" --threads 1
  call 1 "$bin" train --config "$run/config.toml" --data "$data" --out "$run" --resume --learning-rate 0.5
  [[ $output == *"was trained with learning-rate = 0.0"*"this run has learning-rate = 0.5"* ]] || failed "another rate: $output"
  call '0|3' "$bin" train --config "$run/config.toml" --data "$data" --out "$run" --resume --threads 1
  cmp -s <(head -n "$lines" "$run/metrics.csv") "$folder/metrics.csv" || failed "$2: its first epochs are lost"
  (($(wc -l < "$run/metrics.csv") > lines)) || failed "$2: it did not go on"
  [[ $(metadata "$model") == *triad-checkpoint-2* ]] || failed "$model is not of format 2"
  for setting in "${@:3}"; do
    [[ $(metadata "$model") == *"$setting"* ]] || failed "$model: no $setting in $(metadata "$model")"
  done
  if grep -qE "^($old_options) " "$run/config.toml"; then
    failed "$2: config.toml has an option of 0.1"
  fi
  call 0 "$bin" evaluate "$run" --data "$data" --threads 1
}
goes_on clutrr clutrr/run '\"tied\":false' '\ntied = false'
goes_on cogs cogs/run '\"tied\":true' 'weight-decay = '
goes_on cognition cognition/run 'label-smoothing = ' '\ntied = true'
# One parameter of this run had another name, which scripts/renames-0.1 also has.
status=0
compared=$("$root/scripts/same-weights" "$folder/begun.safetensors" "$folder/cognition/run/model.safetensors" "$root/scripts/renames-0.1") || status=$?
((status == 1)) && [[ $compared != *" is missing in NEW"* && $compared != *" is in NEW only"* ]] || failed "status $status: $compared"
goes_on cfq cfq/run '\"tied\":false' '\ntied = false' 'joined-dictionary = true'
goes_on cfq cfq/parse '\"tied\":true' '\ntokens = 30'
goes_on tree-transforms tree-transforms/run 'clip-norm = '

# For a renamed option, the error message has the new name. For a renamed flag, it has the opposite flag.
call '[1-9][0-9]*' "$build/bin/clutrr" train --rate 0.1 --clip=2
[[ $output == *"--rate is called --learning-rate now"* && $output == *"--clip is called --clip-norm now"* ]] || failed "$output"
call '[1-9][0-9]*' "$build/bin/cfq" train --task parse --words 50
[[ $output == *"--words is called --tokens now"* ]] || failed "$output"
call '[1-9][0-9]*' "$build/bin/clutrr" train --words 3 --no-such-option
[[ $output != *"is called"* ]] || failed "$output"
