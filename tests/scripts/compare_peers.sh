#!/usr/bin/env bash
# Tests scripts/compare-peers with stubs of PyTorch, of the opponents and of triad-bench, which only print numbers:
#   compare_peers.sh ROOT FOLDER PYTHON
set -euo pipefail
root=$1 folder=$2 real_python=$3
rm -rf "$folder"
mkdir -p "$folder/peers" "$folder/torch"
for peer in edge_compiled edge_layer dtm_gather dtm_step seq2seq_step; do touch "$folder/peers/$peer.py"; done
cat > "$folder/python" <<'STUB'
#!/usr/bin/env bash
# Prints numbers like the other programs. One round is slower than the others, and the compiler warns.
echo "a warning" >&2
if [[ $1 == -c ]]; then echo 9.9 && exit; fi
if [[ $1 == */products.py ]]; then echo "torch's products of float32: 100 GFLOP/s a core" && exit; fi
if [[ -n ${STUB_BREAKS:-} ]]; then exit 1; fi
echo "$*" >> "$CALLS"
ms=30
case "$(basename "$1") $2" in
  "edge_compiled.py broadcast") ms=10 ;;
  "edge_compiled.py einsum") ms=20 ;;
  "dtm_gather.py compiled") ms=40 ;;
  "dtm_gather.py eager") ms=50 ;;
  "dtm_step.py "* | "seq2seq_step.py "*) ms=2000 ;;
esac
if [[ ${*: -1} == bf16 ]]; then ms=$((ms / 2)); fi
if (($(grep -cxF -e "$*" "$CALLS") == 2)); then ms=$((ms * 1000)); fi
case "$(basename "$1")" in
  dtm_step.py | seq2seq_step.py) echo "median_s=$((ms / 1000)).000 peak_mib=88 torch=9.9" ;;
  *) echo "$2 B=$4 median_ms=$ms.00 first_s=1.5 peak_mib=77 torch=9.9" ;;
esac
STUB
cat > "$folder/bench" <<'STUB'
#!/usr/bin/env bash
# Has a row in bf16 for one of the works. Kernels are chosen by no variable.
if [[ $1 == --benchmark_list_tests ]]; then echo "triangular_attention/train/b:1/n:64/d:200/h:4/bf16" && exit; fi
echo "products: products by a BLAS${OPENBLAS_CORETYPE:+, forced}" >&2
echo "products of bf16: products by an engine, of bf16" >&2
echo "multiply-adds: in registers" >&2
ms=5
if [[ $1 == */bf16\$ ]]; then ms=2; fi
printf 'name,iterations,"ms","planned_MiB","total_MiB"\n"%s",1,%s,3,4\n' "$1" "$ms"
STUB
chmod +x "$folder/python" "$folder/bench"
export CALLS=$folder/calls TRIAD_BENCH=$folder/bench TRIAD_LOGS=$folder TRIAD_THREADS=2 OPENBLAS_CORETYPE=Prescott
failed() { echo "compare-peers: $1" >&2 && exit 1; }
output=$("$root/scripts/compare-peers" "$folder/peers" "$folder/python" 3 2>&1) || failed "status $?: $output"
prints() {  # PREFIX EXPECTED: the lines that begin with PREFIX, with single spaces and without PREFIX
  local found
  found=$(grep -e "^$1 " <<< "$output" | sed -E "s#^$1 ##; s/ +/ /g; s/^ //") || failed "no $1 in: $output"
  [[ $found == "$2" ]] || failed "$1: prints$(printf '\n%s' "$found")"
}
# The fastest opponent comes first. Each is named by its method, and has the median of the rounds. The second time and
# ratio are those of our row in bf16, if there is one.
prints triangular_attention/train/b:1/n:128/d:200/h:4 'compiled broadcast 10.00 5.00 2.00 - - 77 3 4
compiled broadcast bf16 5.00 5.00 1.00 - - 77 3 4
compiled einsum 20.00 5.00 4.00 - - 77 3 4
compiled einsum bf16 10.00 5.00 2.00 - - 77 3 4
eager einsum 30.00 5.00 6.00 - - 77 3 4
eager einsum bf16 15.00 5.00 3.00 - - 77 3 4'
prints triangular_attention/train/b:1/n:64/d:200/h:4 'compiled broadcast 10.00 5.00 2.00 2.00 5.00 77 3 4
compiled broadcast bf16 5.00 5.00 1.00 2.00 2.50 77 3 4
compiled einsum 20.00 5.00 4.00 2.00 10.00 77 3 4
compiled einsum bf16 10.00 5.00 2.00 2.00 5.00 77 3 4
eager einsum 30.00 5.00 6.00 2.00 15.00 77 3 4
eager einsum bf16 15.00 5.00 3.00 2.00 7.50 77 3 4'
for depth in 10 12; do
  prints "tree_machine_step/depth:$depth/steps:16/b:16/f:101/d:64" 'compiled look-ups 40.00 5.00 8.00 - - 77 3 4
compiled look-ups bf16 20.00 5.00 4.00 - - 77 3 4
eager look-ups 50.00 5.00 10.00 - - 77 3 4
eager look-ups bf16 25.00 5.00 5.00 - - 77 3 4
dense matrices 2000.00 5.00 400.00 - - 88 3 4'
done
for n in 1/n:32 400/n:5; do grep -q "b:$n/.* compiled broadcast" <<< "$output" || failed "no row for $n: $output"; done
prints edge_transformer_layer/train/b:400/n:5/d:200/h:4 'eager einsum 30.00 5.00 6.00 - - 77 3 4'
prints transformer_step/b:32/s:20/l:6/d:512/ff:1024/h:4/v:5500 'eager nn.Transformer 2000.00 5.00 400.00 - - 88 3 4'
# Both sides say which kernels computed. No variable forces ours.
grep -qxF "torch's products of float32: 100 GFLOP/s a core" <<< "$output" || failed "no kernels of torch: $output"
kernels=$'triad: products by a BLAS\ntriad: products by an engine, of bf16\ntriad: in registers'
[[ $(tail -n 3 <<< "$output") == "$kernels" ]] || failed "no kernels: $output"
# The opponents take turns. No opponent has its three rounds one after another.
[[ $(head -n 6 "$CALLS" | sort -u | wc -l) == 6 ]] || failed "rounds are not in turn: $(head -n 6 "$CALLS")"
[[ $(sed -n '1p; 7p; 13p' "$CALLS" | sort -u | wc -l) == 1 ]] || failed "rounds are not in turn: $(head -n 13 "$CALLS")"
# An expression chooses rows, and only the opponents of these rows run.
: > "$CALLS"
output=$("$root/scripts/compare-peers" "$folder/peers" "$folder/python" 1 'depth:10/.* look-ups$' 2>&1)
prints tree_machine_step/depth:10/steps:16/b:16/f:101/d:64 'compiled look-ups 40.00 5.00 8.00 - - 77 3 4
eager look-ups 50.00 5.00 10.00 - - 77 3 4'
[[ $(wc -l < "$CALLS") == 2 ]] || failed "other opponents ran: $(cat "$CALLS")"
# Errors are reported.
says() {  # TEXT ARGUMENTS...
  if output=$("$root/scripts/compare-peers" "${@:2}" 2>&1); then failed "passes: ${*:2}"; fi
  grep -qF -e "$1" <<< "$output" || failed "no \"$1\" in: $output"
}
STUB_BREAKS=1 says "edge_compiled.py broadcast 2 1 128 200 4 failed; $folder/compare-peers.log says why" \
  "$folder/peers" "$folder/python"
says "no row matches depth:11" "$folder/peers" "$folder/python" 1 depth:11
says "0 rounds; give a number above 0" "$folder/peers" "$folder/python" 0
rm "$folder/peers/dtm_gather.py"
says "no dtm_gather.py in" "$folder/peers" "$folder/python"
says "no folder" "$folder/nothing"

# products.py names the library of PyTorch's products by what the library prints. The stub of torch prints like MKL and
# oneDNN, or like a library that prints nothing.
cat > "$folder/torch/torch.py" <<'STUB'
import os
from types import SimpleNamespace as namespace

float32, bfloat16 = "float32", "bfloat16"
quiet = "STUB_IS_QUIET" in os.environ
set_num_threads = lambda count: None
ones = lambda rows, columns, dtype: dtype
__config__ = namespace(show=lambda: "Build settings: BLAS_INFO=open, BUILD_TYPE=Release")


def linear(a, b):
    if quiet:
        return
    if a == float32 and os.environ["MKL_VERBOSE"] == "1":
        print(
            "MKL_VERBOSE oneMKL 2024.0 Update 2 Product build 20240605 for Intel(R) 64 architecture Intel(R) Advanced "
            "Vector Extensions 512 (Intel(R) AVX-512) with support for INT8, Lnx 2.60GHz lp64 gnu_thread"
        )
        print("MKL_VERBOSE SGEMM(T,N,1024,1024,1024,0x7ffd) 32.87ms CNR:OFF")
    if a == bfloat16 and os.environ["ONEDNN_VERBOSE"] == "1":
        print("onednn_verbose,v1,info,oneDNN v3.13.3 (commit b38f97e)")
        print("onednn_verbose,v1,primitive,exec,cpu,matmul,brg_matmul:avx512_core_bf16,undef,src:bf16::blocked:ab")


nn = namespace(functional=namespace(linear=linear))
STUB
names() {  # EXPECTED: what products.py prints, without the rates
  local found
  found=$(PYTHONPATH=$folder/torch "$real_python" "$root/scripts/compare-peers.d/products.py" | sed 's/: [0-9]* /: N /')
  [[ $found == "$1" ]] || failed "products.py prints$(printf '\n%s' "$found")"
}
names "torch's products of float32: N GFLOP/s a core, by oneMKL 2024.0 Update 2 with AVX-512
torch's products of bfloat16: N GFLOP/s a core, by oneDNN v3.13.3 with brg_matmul:avx512_core_bf16"
unknown='N GFLOP/s a core, by a library that does not name its kernels (BLAS_INFO=open)'
STUB_IS_QUIET=1 names "torch's products of float32: $unknown
torch's products of bfloat16: $unknown"
