# shellcheck shell=bash disable=SC2086,SC2154
# Runs every case of the device's tests in a process of its own, since an access outside of memory makes all later calls
# fail. A case that fails, and does not hang, runs again with blocking launches, so that the message names the launch
# that failed (work that is recorded may fail in another way then). Blocking launches in the first run would hide a
# missing wait between streams.

run_case() {  # PROGRAM NAME: prints the case's output
  # An unescaped comma would end the name, and a bracket would start a tag.
  # --foreground keeps it in the stage's process group, so that it ends with the stage.
  # shellcheck disable=SC2001
  timeout --foreground --kill-after=5 "$TRIAD_GPU_CASE_SECONDS" "$1" "$(sed 's/[][,\\]/\\&/g' <<< "$2")" 2>&1
}
one_case() {  # PROGRAM NAME: prints one line, and the end of the output if it fails
  local name=$2 status=0 text again=
  text=$(run_case "$@") || status=$?
  # With Catch2 version 2 the status is 0 if no case has the name.
  if ((status == 0)) && grep -q '^No tests ran' <<< "$text"; then status=66; fi
  if ((status == 0)); then echo "passed: $name" && return; fi
  if ((status != 66 && status != 124 && status != 137)); then again=$(CUDA_LAUNCH_BLOCKING=1 run_case "$@") || true; fi
  printf 'FAILED (%d): %s\n%s\n' $status "$name" "$(tail -n 40 <<< "$text")"
  if [[ -n $again ]]; then printf 'the same with blocking launches:\n%s\n' "$(tail -n 15 <<< "$again")"; fi
}
export -f one_case run_case

every_case() {  # PROGRAM LOG: runs 16 cases at once; the last line has the counts
  local cases="$log/$2.cases" results="$log/$2.results"
  # With Catch2 version 2 the status is the number of cases.
  "$1" --list-test-names-only ${TRIAD_GPU_CASES:+"$TRIAD_GPU_CASES"} > "$cases" 2> /dev/null || true
  # Version 3 does not have this option. Its own option prints more than names in version 2.
  if [[ ! -s $cases ]]; then
    "$1" --list-tests --verbosity quiet ${TRIAD_GPU_CASES:+"$TRIAD_GPU_CASES"} 2> /dev/null |
      grep -vE '^(Matching test cases:|0 matching test cases)' > "$cases" || true
  fi
  # A case that hangs must leave time for the others.
  export TRIAD_GPU_CASE_SECONDS=${TRIAD_GPU_CASE_SECONDS:-$(($(left) / 3 > 0 ? $(left) / 3 : 1))}
  # shellcheck disable=SC2016  # for the inner shell
  xargs -d '\n' -P 16 -I '{}' bash -c 'one_case "$1" "$2"' case "$1" '{}' \
    < <(grep -v '^ *$' "$cases") > "$results" 2>&1 || true
  local good bad all
  good=$(grep -c '^passed: ' "$results" || true)
  bad=$(grep -c '^FAILED ' "$results" || true)
  grep -A 60 '^FAILED ' "$results" || true
  grep '^FAILED ' "$results" || true
  all=$(grep -vc '^ *$' "$cases" || true)
  echo "$good passed, $bad failed, of $all"
  ((good == all && all > 0))
}

golden_folder() {  # prints the folder of the published files, or nothing
  local folder
  for folder in "$state/golden" "${TRIAD_GOLDEN_DIR:-../shared/golden}"; do
    if compgen -G "$folder/*.safetensors" > /dev/null; then echo "$folder" && return; fi
  done
}

# Compares the losses of a program's small run on the device with those on the processor.
same_losses() {  # PROGRAM ARGUMENTS...
  local program=$1 backend folder=$state/runs/same
  shift
  for backend in cpu cuda; do
    rm -rf "$folder/$program-$backend"
    mkdir -p "$folder"
    local status=0
    "$(bin "$program")" train "$@" --seed 1 --backend $backend --out "$folder/$program-$backend" \
      > "$folder/$program-$backend.log" 2>&1 || status=$?
    # Status 3: the model did not learn, as expected of so short a run.
    if ((status != 0 && status != 3)); then tail -n 5 "$folder/$program-$backend.log" && return 1; fi
  done
  paste -d , "$folder/$program-cpu/metrics.csv" "$folder/$program-cuda/metrics.csv" | awk -F , '
    NR == 1 { columns = NF / 2; for (i = 1; i <= columns; ++i) if ($i ~ /loss/) loss = i; next }
    { a = $loss; b = $(loss + columns); d = (a - b) / (a > 1e-9 ? a : 1e-9); if (d < 0) d = -d
      # Comparisons with a NaN are false, so its text is checked.
      if (a !~ /^[0-9.e+-]+$/ || b !~ /^[0-9.e+-]+$/) broken = 1
      if (d > worst) worst = d; ++rows; last = a " and " b }
    END { printf "%d epochs, largest relative difference of the loss %.2e, at the end %s\n", rows, worst, last
      exit !(rows > 0 && worst < 2e-2 && !broken) }'
}

# Compares one program's losses if the program was packed or built.
losses_of() {  # NAME PROGRAM ARGUMENTS...
  if [[ -x $(bin "$2") ]] || $dry_run; then
    step "losses-$1" same_losses "${@:2}" || true
  else
    say "$(printf '    %-28s there is no %s here: not compared' "losses-$1" "$2")"
  fi
}

small_questions() {
  local folder=$state/runs/same/questions
  rm -rf $folder
  mkdir -p $folder
  "$(bin cfq)" generate --out $folder --count 400 --seed 3 &&
    "$(bin cfq)" split --data $folder/rules.jsonl --out $folder/mcd --train 120 --dev-and-test 20 --atom-limit 0.2
}

stage_test() {
  need_program triad-test-cuda triad-golden clutrr
  step device-cases every_case "$(bin triad-test-cuda)" device-cases || true
  step golden-ours "$(bin triad-golden)" tests/data/golden --backend cuda || true
  local published precision
  published=$(golden_folder)
  if [[ -n $published ]]; then
    step golden-published "$(bin triad-golden)" "$published" --backend cuda || true
  else
    say "    golden-published             no files: TRIAD_GOLDEN_DIR is where they lie, and pack carries them"
  fi
  for precision in tf32 bf16 f16; do
    step golden-ours-$precision "$(bin triad-golden)" tests/data/golden --backend cuda-$precision || true
  done
  losses_of clutrr clutrr --preset smoke --dropout 0.1
  losses_of cogs cogs --preset smoke --dropout 0.1
  losses_of trees tree-transforms --preset smoke
  losses_of cognition cognition --preset smoke --dropout 0.1
  if [[ -x $(bin cfq) ]] || $dry_run; then step questions small_questions || true; fi
  losses_of cfq cfq --task parse --preset smoke --updates 20 --data $state/runs/same/questions/mcd
  if [[ -x $(bin triad-test-cuda-typed) ]]; then
    step typed-cases every_case "$(bin triad-test-cuda-typed)" typed-cases || true
  fi
}
