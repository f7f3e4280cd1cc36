#!/usr/bin/env bash
# transformers makes lower case of a text although the tokenizer.json of a BERT says `"lowercase": false`.
# One would guess: tokenizer.json is the whole tokeniser, and transformers cuts a text as tokenizers does.
# What happens: BertTokenizer makes the normaliser anew from `do_lower_case` of tokenizer_config.json, which is true if
#   that file or the entry is missing. Accents are gone too. PreTrainedTokenizerFast, its base, keeps upper case.
# Seen in: transformers 5.24.0 with tokenizers 0.23.3.
# Why it matters: a vocabulary with upper case gets other tokens than in its training, or [UNK], without a warning.
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
packages transformers==5.24.0 tokenizers==0.23.3
cat > show.py <<'PYTHON'
import json, pathlib
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import AutoTokenizer, BertTokenizer, PreTrainedTokenizerFast
text = "The Paris caf\u00e9"
words = "[PAD] [UNK] [CLS] [SEP] [MASK] The the Paris caf\u00e9 cafe".split()
tokenizer = Tokenizer(models.WordPiece({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
folder = pathlib.Path("bert")
folder.mkdir()
tokenizer.save("bert/tokenizer.json")
(folder / "config.json").write_text(json.dumps({"model_type": "bert"}))
lower = json.loads((folder / "tokenizer.json").read_text())["normalizer"]["lowercase"]
print('tokenizer.json: "lowercase":', json.dumps(lower))

def show(name, tokens):
    print(f"{name}:", " ".join(tokens).encode("ascii", "backslashreplace").decode())

show("tokenizers", Tokenizer.from_file("bert/tokenizer.json").encode(text).tokens)
show("PreTrainedTokenizerFast", PreTrainedTokenizerFast.from_pretrained("bert").tokenize(text))
for config in None, {}, {"do_lower_case": False}:
    if config is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer", **config}))
    print("tokenizer_config.json:", "none" if config is None else (folder / "tokenizer_config.json").read_text())
    for kind in AutoTokenizer, BertTokenizer:
        show(f"  {kind.__name__}", kind.from_pretrained("bert").tokenize(text))
PYTHON
HF_HUB_OFFLINE=1 "$python" show.py | expect 'tokenizer.json: "lowercase": false
tokenizers: The Paris caf\xe9
PreTrainedTokenizerFast: The Paris caf\xe9
tokenizer_config.json: none
  AutoTokenizer: the [UNK] cafe
  BertTokenizer: the [UNK] cafe
tokenizer_config.json: {"tokenizer_class": "BertTokenizer"}
  AutoTokenizer: the [UNK] cafe
  BertTokenizer: the [UNK] cafe
tokenizer_config.json: {"tokenizer_class": "BertTokenizer", "do_lower_case": false}
  AutoTokenizer: The Paris caf\xe9
  BertTokenizer: The Paris caf\xe9'
