# shellcheck shell=bash disable=SC2154
# Checks whether anything can run here: the driver, the libraries, one case on the device.

missing_libraries() {  # PROGRAM...
  local program name
  for program in "$@"; do
    name=$(ldd "$program" | sed -n 's/ => not found.*//p' | tr -d '\t' | sort -u | tr '\n' ' ')
    if [[ -n $name ]]; then echo "$(basename "$program") lacks $name"; fi
  done
}

all_libraries() {
  local lacking programs=()
  mapfile -t programs < <(find "$(dirname "$(bin triad-test-cuda)")" -maxdepth 1 -type f -perm -u+x | sort)
  lacking=$(missing_libraries "${programs[@]}")
  if [[ -n $lacking ]]; then echo "$lacking" && return 1; fi
  echo "every library of ${#programs[@]} programs is found"
  ((${#programs[@]}))
}

stage_check() {
  step driver nvidia-smi || true
  step device nvidia-smi --query-gpu=name,compute_cap,driver_version,memory.total --format=csv,noheader || true
  step processor bash -c 'nproc; sed -n "s/model name.*: //p" /proc/cpuinfo | head -n 1' || true
  need_program triad-test-cuda
  step libraries all_libraries || true
  step first-cases "$(bin triad-test-cuda)" "sums on a device*" || true
}
