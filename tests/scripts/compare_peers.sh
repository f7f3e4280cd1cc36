#!/usr/bin/env bash
# Tests scripts/compare-peers with stubs of Python and triad-bench, which only print numbers:  compare_peers.sh ROOT
# FOLDER
set -euo pipefail
root=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder/peers"
touch "$folder/peers/edge_compiled.py" "$folder/peers/edge_layer.py"
cat > "$folder/python" <<'STUB'
#!/usr/bin/env bash
# Prints numbers like the other programs. One round is slower than the others, and the compiler warns.
echo "a warning" >&2
if [[ $1 == -c ]]; then echo 9.9 && exit; fi
if [[ -n ${STUB_BREAKS:-} ]]; then exit 1; fi
echo "$*" >> "$CALLS"
ms=30
case "$(basename "$1") $2" in
  "edge_compiled.py broadcast") ms=10 ;;
  "edge_compiled.py einsum") ms=20 ;;
esac
if (($(grep -cxF -e "$*" "$CALLS") == 2)); then ms=1000; fi
echo "$2 B=$4 median_ms=$ms.00 first_s=1.5 peak_mib=77 torch=9.9"
STUB
cat > "$folder/bench" <<'STUB'
#!/bin/sh
printf 'name,iterations,"ms","planned_MiB","total_MiB"\n"%s",1,5,3,4\n' "$1"
STUB
chmod +x "$folder/python" "$folder/bench"
export CALLS=$folder/calls TRIAD_BENCH=$folder/bench TRIAD_LOGS=$folder TRIAD_THREADS=2
failed() { echo "compare-peers: $1" >&2 && exit 1; }
output=$("$root/scripts/compare-peers" "$folder/peers" "$folder/python" 3 2>&1) || failed "status $?: $output"
# The fastest opponent comes first. Each is named by its method, and has the median of the rounds.
rows=$(grep '^triangular_attention/train/b:1/n:128/' <<< "$output" | sed -E 's/ +/ /g')
expected='triangular_attention/train/b:1/n:128/d:200/h:4 compiled broadcast 10.00 5.00 2.00 77 3 4
triangular_attention/train/b:1/n:128/d:200/h:4 compiled einsum 20.00 5.00 4.00 77 3 4
triangular_attention/train/b:1/n:128/d:200/h:4 eager einsum 30.00 5.00 6.00 77 3 4'
[[ $rows == "$expected" ]] || failed "prints$(printf '\n%s' "$rows")"
for n in 64 32; do grep -q "n:$n/.* compiled broadcast" <<< "$output" || failed "no row for n = $n: $output"; done
grep -q 'b:400/n:5/.* compiled broadcast' <<< "$output" || failed "no row for small graphs: $output"
grep -q '^edge_transformer_layer/.* eager einsum' <<< "$output" || failed "no row for the layer: $output"
# The opponents take turns. No opponent has its three rounds one after another.
[[ $(head -n 3 "$CALLS" | sort -u | wc -l) == 3 ]] || failed "rounds are not in turn: $(head -n 3 "$CALLS")"
# Errors are reported.
says() {  # TEXT ARGUMENTS...
  if output=$("$root/scripts/compare-peers" "${@:2}" 2>&1); then failed "passes: ${*:2}"; fi
  grep -qF -e "$1" <<< "$output" || failed "no \"$1\" in: $output"
}
STUB_BREAKS=1 says "edge_compiled.py broadcast 2 1 128 200 4 failed; $folder/compare-peers.log says why" "$folder/peers" "$folder/python"
says "0 rounds; give a number above 0" "$folder/peers" "$folder/python" 0
rm "$folder/peers/edge_compiled.py"
says "no edge_compiled.py in" "$folder/peers" "$folder/python"
says "no folder" "$folder/nothing"
