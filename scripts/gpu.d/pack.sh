# shellcheck shell=bash disable=SC2086,SC2115,SC2154  # $state is a constant without spaces
# Copies what the machine with the GPU may lack into build/gpu, and packs build/gpu into build/gpu.tar.xz.

include_of() {  # HEADER: prints the folder in which the compiler finds it, or nothing
  { printf '#include <%s>\n' "$1" | "${CXX:-c++}" -std=c++20 -M -x c++ - 2> /dev/null || true; } |
    tr -d '\134' | tr ' ' '\n' |
    awk -v end="/$1" '!found && length($0) > length(end) && substr($0, length($0) - length(end) + 1) == end {
      print substr($0, 1, length($0) - length(end)); found = 1 }'
}

# Copies the libraries that programs load, except those of the C++ runtime, the driver and the toolkit.
copy_loaded() {
  local library
  # A static program loads none, and ldd then returns an error.
  { ldd "$@" 2> /dev/null || true; } | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    { grep -E '/lib(openblas|gfortran|quadmath|z|fmt|utf8proc|cudart)[.-]' || true; } | while IFS= read -r library; do
    cp -L "$library" $state/lib/
  done
}

# Copies headers and libraries for `build`, since a bare machine has no packages of them.
copy_for_building() {
  local header folder library found absent=()
  for header in catch2/catch.hpp catch2/catch_all.hpp CLI/CLI.hpp nlohmann/json.hpp fmt/core.h toml++/toml.h; do
    folder=$(include_of $header)
    if [[ -n $folder ]]; then cp -RL "$folder/${header%%/*}" $state/include/; else absent+=("$header"); fi
  done
  for header in zlib.h zconf.h utf8proc.h cblas.h openblas_config.h; do
    folder=$(include_of $header)
    if [[ -n $folder ]]; then cp -L "$folder/$header" $state/include/; else absent+=("$header"); fi
  done
  # Files that find_package reads, with their headers.
  for folder in /usr/{lib,share}/cmake/{Catch2,CLI11,nlohmann_json}; do
    if [[ -d $folder ]]; then mkdir -p "$state/lib/cmake" && cp -RL "$folder" $state/lib/cmake/; fi
  done
  for library in libCatch2WithMain.a libCatch2.a libCatch2Main.a libz.a libutf8proc.a libopenblas.so \
    libgfortran.so.5 libquadmath.so.0; do
    found=$("${CXX:-c++}" -print-file-name="$library")
    if [[ $found == /* ]]; then cp -L "$found" $state/lib/; fi
  done
  if [[ -f $state/lib/libopenblas.so && ! -e $state/lib/libopenblas.so.0 ]]; then
    ln -s libopenblas.so $state/lib/libopenblas.so.0
  fi
  # One of Catch2's two headers is always absent: the first is version 2's, the second version 3's.
  if ((${#absent[@]})); then echo "not on this machine, so not in the pack: ${absent[*]}"; fi
}

# The programs have much in common, which a dictionary of this size finds: about 60 MB, where gzip makes 107.
# Compressing needs 2 GB of memory, and unpacking 200 MB.
compressed() {
  if command -v xz > /dev/null; then xz -c --lzma2=preset=6,dict=192MiB && return; fi
  python3 -c '
import lzma, shutil, sys
how = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 192 << 20}]
with lzma.open(sys.stdout.buffer, "wb", filters=how) as packed: shutil.copyfileobj(sys.stdin.buffer, packed)'
}

stage_pack() {
  local golden=${TRIAD_GOLDEN_DIR:-../shared/golden} data=${TRIAD_DATA:-../shared/data} part
  if $dry_run; then echo "    libraries, headers, $golden and $data into $state.tar.xz" && return; fi
  if ! command -v xz > /dev/null && ! command -v python3 > /dev/null; then
    echo "gpu: there is neither xz nor python3 to pack with: install xz-utils" >&2 && exit 2
  fi
  if ! command -v "${CXX:-c++}" > /dev/null; then
    echo "gpu: no compiler ${CXX:-c++}, which knows where headers are: install g++ or set CXX" >&2 && exit 2
  fi
  rm -rf $state/{include,lib,golden,data} $state.tar.xz
  mkdir -p $state/{include,lib,golden,data}
  if [[ -d $state/bin ]]; then copy_loaded $state/bin/*; else copy_for_building; fi
  if [[ -d $golden ]]; then cp -L "$golden"/*.safetensors $state/golden/; fi
  for part in clutrr cogs bst cfq scan cognition; do
    if [[ -d $data/$part ]]; then cp -RL "$data/$part" $state/data/; fi
  done
  chmod -R u+w $state
  tar -C build -cf - gpu | compressed > $state.tar.xz.part
  mv $state.tar.xz.part $state.tar.xz
  du -sh $state/* | sed "s|$state/||"
  echo "$(du -sh $state.tar.xz | cut -f 1) in $state.tar.xz"
}
