# shellcheck shell=bash
# Data that runs of scripts/reproduce need and that are made: generated, or linked under other names.
# shellcheck disable=SC2154  # data is scripts/reproduce's

# Generates questions and splits them: split 1 in mcd, split 2 in mcd2. Only one call of this script does it at a time.
make_questions() {  # FOLDER SPLIT
  local lock part=$1/mcd
  (($2 == 1)) || part+=$2
  lock_file "$1.lock"
  # Written last; status 3, for a split whose atoms differ too much, ends this script.
  if [[ ! -e $part/split.json ]]; then
    if [[ $2 == 1 || ! -e $1/rules.jsonl ]]; then
      "$(path_of cfq)" generate --out "$1" --count 20000 --seed 1
    fi
    rm -rf "$1/trial"
    "$(path_of cfq)" split --data "$1/rules.jsonl" --out "$1/trial" --seed "$2"
    rm -rf "$part"
    mv "$1/trial" "$part"
  fi
  exec {lock}>&-
}

# Calls COMMAND with a folder that it must make, unless FOLDER exists. A lock stops two calls of this script from making
# the same data.
make_data() {  # FOLDER COMMAND...
  local lock made=$1
  shift
  lock_file "$made.lock"
  if [[ ! -e $made ]]; then
    rm -rf "$made.part"
    "$@" "$made.part"
    mv "$made.part" "$made"
  fi
  exec {lock}>&-
}
link_parts() {  # NAME=FILE... FOLDER
  local to=${*: -1} each
  mkdir -p "$to"
  for each in "${@:1:$#-1}"; do ln -s "$(realpath "${each#*=}")" "$to/${each%%=*}.tsv.gz"; done
}
# The authors of SLOG lock its generalisation set with the password SLOG, so that it does not get into training corpora.
slog_parts() {  # FOLDER
  local from=$data/slog/varfree_
  link_parts "train=${from}train.tsv.gz" "dev=${from}dev.tsv.gz" "test=${from}test.tsv.gz" "$1"
  python3 -c 'import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z, open(sys.argv[2], "wb") as out:
    out.write(z.read("generalization_sets/gen_varfreeLF.tsv", pwd=b"SLOG"))' \
    "$data/slog/generalization_sets.zip" "$1/test_gen.tsv"
}
commands_of() { "$(path_of meanings)" generate --out "$1" --seed 1; }  # FOLDER
translation_of() { "$(path_of cognition)" generate --translation --out "$1"; }  # FOLDER
trees_as_sequences() {  # ARGUMENTS... FOLDER
  "$(path_of tree-transforms)" generate --as sequences "${@:1:$#-1}" --out "${*: -1}"
}
