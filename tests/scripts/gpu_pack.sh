#!/usr/bin/env bash
# Tests scripts/gpu pack in a folder of its own, and checks the content of the archive:  gpu_pack.sh ROOT FOLDER
set -euo pipefail
root=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder/root/scripts" "$folder/golden" "$folder/data/clutrr/some"
cp -R "$root/scripts/gpu" "$root/scripts/gpu.d" "$root"/scripts/{packages.sh,usage.sh} "$folder/root/scripts/"
echo golden > "$folder/golden/one.safetensors"
echo rows > "$folder/data/clutrr/some/1.2_train.csv"
failed() { echo "gpu pack: $1" >&2 && exit 1; }
archive=$folder/root/build/gpu.tar.xz
pack() {
  output=$(TRIAD_GOLDEN_DIR=$folder/golden TRIAD_DATA=$folder/data "$folder/root/scripts/gpu" pack 2>&1) ||
    failed "status $?: $output"
  [[ -f $archive ]] || failed "no $archive"
  held=$(tar -tJf "$archive")
}
expect() { grep -qE "^gpu/$1\$" <<< "$held" || failed "no $1 in the archive: $held"; }

# If nothing was built before, the archive is for building on the other machine.
pack
expect golden/one.safetensors
expect data/clutrr/some/1.2_train.csv
# The archive has the headers that this machine's compiler finds. A message names those that it does not find.
for header in catch2/catch.hpp catch2/catch_all.hpp CLI/CLI.hpp nlohmann/json.hpp zlib.h zconf.h cblas.h \
  openblas_config.h; do
  if printf '#include <%s>\n' "$header" | "${CXX:-c++}" -std=c++20 -E -x c++ - > /dev/null 2>&1; then
    expect "include/$header"
  else
    grep -q "not on this machine, so not in the pack: .*$header" <<< "$output" ||
      failed "does not say that $header is absent: $output"
  fi
done
for library in libz.a libopenblas.so; do
  if [[ $("${CXX:-c++}" -print-file-name=$library) == /* ]]; then expect "lib/$library"; fi
done

# If programs were built before, they are packed with all libraries that they load, except the system's, and without
# headers.
mkdir -p "$folder/root/build/gpu/bin"
echo 'int main() {}' > "$folder/one.cpp"
options=()
if [[ $("${CXX:-c++}" -print-file-name=libz.so) == /* ]]; then options=("-Wl,--no-as-needed" -lz); fi
"${CXX:-c++}" "$folder/one.cpp" ${options[@]+"${options[@]}"} -o "$folder/root/build/gpu/bin/one"
pack
expect bin/one
expect golden/one.safetensors
if ((${#options[@]})); then expect 'lib/libz\.so[.0-9]*'; fi
if grep -q '^gpu/include/.' <<< "$held"; then failed "headers beside prebuilt programs: $held"; fi
# A program that loads no such library is packed, too.
printf '#!/bin/sh\n' > "$folder/root/build/gpu/bin/one"
pack
expect bin/one

# Without xz, Python writes and reads the archive instead.
mkdir -p "$folder/no_xz" "$folder/unpacked/build"
ln -s "$(python3 -c 'import sys; print(sys.executable)')" "$folder/no_xz/python3"
for tool in bash "${CXX:-c++}" tar cp rm mkdir mv du sed awk grep tr sort cut chmod dirname env cat ln head ldd find \
  as ld uname; do
  if [[ -x $(command -v $tool) ]]; then ln -s "$(command -v $tool)" "$folder/no_xz/${tool##*/}"; fi
done
whole_path=$PATH
PATH=$folder/no_xz
if command -v xz > /dev/null; then failed "the path without xz has one"; fi
output=$(TRIAD_GOLDEN_DIR=$folder/golden TRIAD_DATA=$folder/data "$folder/root/scripts/gpu" pack 2>&1) ||
  failed "$output"
python3 -m tarfile -e "$archive" "$folder/unpacked/build"
PATH=$whole_path
[[ -f $folder/unpacked/build/gpu/bin/one ]] || failed "the archive that Python wrote lacks gpu/bin/one"

# In a folder with only the scripts and the archive, `check` finds every library of the archive's programs, even a
# library that the system does not have. It names a library that is missing everywhere.
rm "$folder/root/build/gpu/bin/one"
mkdir -p "$folder/own" "$folder/tools" "$folder/there/build"
echo 'int carried() { return 0; }' > "$folder/own/carried.cpp"
"${CXX:-c++}" -shared -fPIC -Wl,-soname,libutf8proc.so.99 "$folder/own/carried.cpp" -o "$folder/own/libutf8proc.so.99"
printf '#include <cstdio>\nint carried();\nint main() { return std::puts("All tests passed") < 0 ? 1 : carried(); }\n' \
  > "$folder/one.cpp"
"${CXX:-c++}" "$folder/one.cpp" "$folder/own/libutf8proc.so.99" -o "$folder/root/build/gpu/bin/triad-test-cuda"
LD_LIBRARY_PATH=$folder/own${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} pack
expect 'lib/libutf8proc\.so\.99'
rm -r "$folder/own"
cp -R "$folder/root/scripts" "$folder/there/"
cp "$archive" "$folder/there/build/"
printf '#!/bin/sh\necho stub\n' > "$folder/tools/nvidia-smi"
chmod +x "$folder/tools/nvidia-smi"
check() {  # STATUS REGEX: the report must match REGEX
  local status=0
  output=$(cd "$folder/there" && env -u LD_LIBRARY_PATH PATH="$folder/tools:$PATH" scripts/gpu check 2>&1) || status=$?
  ((status == $1)) || failed "check: status $status, expected $1: $output"
  grep -qE "$2" <<< "$output" || failed "check: no \"$2\": $output"
}
check 0 '^ *libraries +passed +.*every library of 1 programs is found'
check 0 '^ *first-cases +passed +.*All tests passed'
rm "$folder/there/build/gpu/lib/libutf8proc.so.99"
check 1 '^ *libraries +FAILED \(1\) +.*triad-test-cuda lacks libutf8proc.so.99'

# The first stage unpacks the archive. It unpacks a newer archive again, and lets programs be that were compiled there.
there=$folder/again
mkdir -p "$there/build"
cp -R "$folder/root/scripts" "$there/"
arrive() {  # TEXT: an archive comes whose program says so
  echo "$1" > "$folder/root/build/gpu/bin/one"
  pack
  sleep 1  # archives are compared by their times
  cp "$archive" "$there/build/"
  "$there/scripts/gpu" check --dry-run > /dev/null
  [[ $(cat "$there/build/gpu/bin/one") == "$2" ]] || failed "unpacked $(cat "$there/build/gpu/bin/one"), expected $2"
}
arrive '#!/bin/sh first' '#!/bin/sh first'
arrive '#!/bin/sh second' '#!/bin/sh second'
rm "$there/build/gpu.unpacked"
arrive '#!/bin/sh third' '#!/bin/sh second'
