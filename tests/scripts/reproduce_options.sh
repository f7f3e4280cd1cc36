#!/usr/bin/env bash
# Tests that each program accepts the options of every run of scripts/reproduce. The programs check the options. They
# end when they would read data that are missing, or create a folder that cannot be created:
#   reproduce_options.sh ROOT FOLDER BUILD
set -euo pipefail
root=$1 folder=$2 build=$3
rm -rf "$folder"
mkdir -p "$folder/bin" "$folder"/runs/{slog,cogs-forms,mcwq-{mcd{1,2,3},random-split}}  # data that exist are not made
for program in clutrr cogs tree-transforms cognition cfq pairs meanings; do
  cat > "$folder/bin/$program" <<STUB
#!/usr/bin/env bash
# If a run needs data, they are an empty folder. Each run exits with the status of a run that did not learn, so that the
# next run starts.
name= given=()
while ((\$#)); do
  if [[ \$1 == --out ]]; then
    out=\$2 && name=\$(basename "\$out") && shift
  else
    given+=("\$1")
  fi
  shift
done
if [[ \${given[0]} != train ]]; then mkdir -p "\$out" && touch "\$out/split.json" && exit; fi
status=0
said=\$(timeout 20 "$build/bin/$program" "\${given[@]}" --out /dev/null/nowhere 2>&1) || status=\$?
echo "\$name" >> "$folder/asked"
if ((status != 1)) || [[ \$said != *"$folder/"* && \$said != *"cannot make the folder /dev/null/nowhere"* ]]; then
  echo "\$name: status \$status: \$said" >> "$folder/refused"
fi
exit 3
STUB
done
chmod +x "$folder"/bin/*
mkdir "$folder/encoder"
"$build/bin/triad-make-encoder" mpnet "$folder/encoder"
export TRIAD_PROGRAMS=$folder/bin TRIAD_RUNS=$folder/runs TRIAD_DATA=$folder/data TRIAD_ENCODER=$folder/encoder
"$root/scripts/reproduce" all '*' > "$folder/log" 2>&1 || {
  tail -n 3 "$folder/log" >&2
  exit 1
}
"$root/scripts/reproduce" all '*' --array --list | cut -f 2 | sort > "$folder/all"
sort "$folder/asked" | diff - "$folder/all" >&2
if [[ -e $folder/refused ]]; then
  cat "$folder/refused" >&2
  exit 1
fi
echo "$(wc -l < "$folder/all") runs, each with options that its program takes"
