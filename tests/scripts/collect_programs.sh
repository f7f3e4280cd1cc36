#!/usr/bin/env bash
# Tests scripts/reproduce --collect on real files. The programs of a build write them in short trainings with the preset
# smoke:
#   collect_programs.sh ROOT FOLDER BUILD
set -euo pipefail
root=$1 folder=$2 build=$3
rm -rf "$folder"
mkdir -p "$folder/programs"
failed() { echo "collect: $1" >&2 && exit 1; }
export SMOKE=$build/bin QUESTIONS=$folder/questions
# Each program is called as for the published data. But it trains its preset smoke on generated data, and records the
# options of the call.
for program in clutrr cogs tree-transforms cognition cfq; do
  cat > "$folder/programs/$program" <<'STUB'
#!/usr/bin/env bash
set -euo pipefail
program=$SMOKE/${0##*/} arguments=() status=0
while (($#)); do
  case $1 in
    --preset) preset=$2 && arguments+=(--preset smoke) && shift ;;
    --out) out=$2 && arguments+=(--out "$2") && shift ;;
    --data) if [[ $program == */cfq ]]; then arguments+=(--data "$QUESTIONS/mcd"); fi && shift ;;
    --task) if [[ $program == */cfq ]]; then arguments+=(--task "$2"); fi && shift ;;
    --depth | --split) shift ;;
    *) arguments+=("$1") ;;
  esac
  shift
done
if [[ $program == */cfq ]]; then arguments+=(--updates 20); fi
"$program" "${arguments[@]}" --threads 1 ${DIVERGES:+--learning-rate 1e30 --clip-norm 1e30} || status=$?
# Without the options that differ from the call.
sed -E -i "s/^preset = .*/preset = \"$preset\"/; /^(learning-rate|clip-norm|depth|split|task|updates) = /d" \
  "$out/config.toml"
exit $status
STUB
  chmod +x "$folder/programs/$program"
done
"$build/bin/cfq" generate --out "$QUESTIONS" --count 400 --seed 3 > "$folder/log"
"$build/bin/cfq" split --data "$QUESTIONS/rules.jsonl" --out "$QUESTIONS/mcd" --train 120 --dev-and-test 20 \
  --atom-limit 0.2 >> "$folder/log"
export TRIAD_PROGRAMS=$folder/programs TRIAD_RUNS=$folder/runs
mkdir -p "$folder/runs"
ln -s "$QUESTIONS" "$folder/runs/cfq-generated"  # these data exist already
runs=(clutrr-k234-s1 clutrr-k234-s2 cogs-s1 cogs-s2 trees-active-s1 trees-active-s2 lrf-scan-length-s1
  lrf-scan-length-s2 cfq-parse-transformer-s1 cfq-parse-transformer-s2 cfq-semantic-small-lrf-s1)
made() {  # NAME: makes a run by its number among all named runs
  "$root/scripts/reproduce" all "${runs[@]}" --array \
    "$("$root/scripts/reproduce" all "${runs[@]}" --array --list | sed -n "s/\t$1\t.*//p")" >> "$folder/log" 2>&1 ||
    failed "$1: $(tail -n 5 "$folder/log")"
}
for name in "${runs[@]}"; do if [[ $name != *-s2 ]]; then made "$name"; fi; done
# In all programs except one, the losses of the second seed become infinite or NaN.
for name in "${runs[@]}"; do
  if [[ $name == clutrr-k234-s2 ]]; then made "$name"; elif [[ $name == *-s2 ]]; then DIVERGES=1 made "$name"; fi
done
table=$("$root/scripts/reproduce" all "${runs[@]}" --collect) || failed "status $?: $table"
has() { grep -qE -e "$1" <<< "$table" || failed "no \"$1\" in: $table"; }
has '^Of 11 runs 11 are finished here, 11 of them failed'
has '^\| run \| k=6 \| k=7 \| k=8 \| k=9 \| k=10 \| failed \| time \| machine \| commit \|$'
has '^\| run \| generalisation \| as trees \| dev \| test \| failed '
has '^\| run \| train \| test \| OOD lexical \| OOD structural \| failed '
has '^\| run \| test, exact match \| test, BLEU none \| test, chrF \| gen, exact match \| gen, BLEU none \| gen, chrF \| failed '
has '^\| run \| dev, exact match \| dev, UAS \| dev, LAS \| test, exact match \| test, UAS \| test, LAS \| failed '
has '^\| run \| dev, exact match \| dev, up to the order of conjuncts \| test, exact match '
for name in "${runs[@]}"; do
  if [[ $name == *-s2 && $name != clutrr-* ]]; then
    has "^\| seed 2 \(\`$name\`\) (\| - )+\| \*\*diverged\*\* "
  else
    has "^\| seed . \(\`$name\`\) (\| [0-9.]+ )+\| \*\*yes\*\* \| [0-9.]+ s "
  fi
done
has '^\| mean ± standard error, 2 seeds (\| [0-9.]+ ± [0-9.]+ )+\| 2 of 2 \|'
# The collected figures are those that the programs have printed.
for k in 6 10; do
  printed=$(sed -n "s/^k=$k  *//p" "$folder/runs/clutrr-k234-s1.log")
  shown=$(grep -F clutrr-k234-s1 <<< "$table" | cut -d '|' -f $((k - 3)))
  [[ $(awk "BEGIN { printf \"%.1f\", 100 * $printed }") == "${shown// /}" ]] ||
    failed "k=$k is $printed, the table has $shown"
done
# A failed run is also found if its status was not recorded.
rm "$folder/runs"/*.sittings
again=$("$root/scripts/reproduce" all "${runs[@]}" --collect) || failed "status $?: $again"
verdicts() { grep -oE '^\| seed [^)]*\)|\*\*[a-z]+\*\*' <<< "$1"; }
diff <(verdicts "$table") <(verdicts "$again") || failed "other verdicts without the status"
