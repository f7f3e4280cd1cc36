# shellcheck shell=bash
# Sourced by the other scripts: reads what the programs' folders, examples/programs/FAMILY and FAMILY/TASK, contain for
# them.

programs_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../examples/programs" && pwd)

# Prints the files of this name, ordered by the number in their line "# Order: N"; files without such a line are last.
files_of_programs() {  # NAME
  local file order
  for file in "$programs_root"/*/"$1" "$programs_root"/*/*/"$1"; do
    if [[ ! -f $file ]]; then continue; fi
    order=$(sed -nE 's/^# Order: ([0-9]+)$/\1/p' "$file")
    printf '%d\t%s\n' "${order:-999}" "$file"
  done | sort -s -n -k 1,1 | cut -f 2
}

# Prints the names of all programs, with older names, from the CMake files.
names_of_programs() {
  sed -nE 's/^triad_app\(([a-z-]+).*OLD_NAME ([a-z-]+).*/\1\n\2/p; t; s/^triad_app\(([a-z-]+).*/\1/p' \
    "$programs_root"/*/CMakeLists.txt "$programs_root"/*/*/CMakeLists.txt
}
