#!/usr/bin/env bash
# tokenizers cuts texts for BERT by the classes of Unicode 8, of 2015, and does not know 256 Chinese characters.
# One would guess: punctuation and non-spacing marks are what Unicode calls so today, and each Chinese character is a
#   word, as in transformers' BasicTokenizer, which is in Python and whose CJK extension E begins at U+2B820.
# What happens: newer punctuation is not split off, newer marks stay in spite of `strip_accents`, and extension E begins
#   at U+2B920. Such a character is a letter of the word around it.
# Seen in: tokenizers 0.23.3, next to transformers 5.24.0 and the tables of Unicode 18.
# Why it matters: a word with one such character can become [UNK]. The fast tokeniser of a vocabulary and the one in
#   Python give different tokens, and so does one written with the tables of today.
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
packages tokenizers==0.23.3 transformers==5.24.0 unicodedata2==18.0.0
cat > show.py <<'PYTHON'
import unicodedata2
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from transformers.models.bert.tokenization_bert_legacy import BasicTokenizer
cut = BertPreTokenizer().pre_tokenize_str
off = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
strip = BertNormalizer(**{**off, "strip_accents": True}).normalize_str
chinese = BertNormalizer(**{**off, "handle_chinese_chars": True}).normalize_str
uncased, basic = BertNormalizer(lowercase=True), BasicTokenizer(do_lower_case=True)

def category(c):
    return unicodedata2.category(chr(c))

def compare(name, found, expected, numbers):
    missed = [c for c in numbers if expected(c) and not found(c)]
    more = [c for c in numbers if found(c) and not expected(c)]
    print(f"{name}: {len(missed)} of {sum(map(expected, numbers))} missed, {len(more)} too many")

points = [c for c in range(128, 0x110000) if not 0xD800 <= c < 0xE000]
print("Unicode", unicodedata2.unidata_version)
compare("punctuation", lambda c: len(cut(f"a{chr(c)}b")) == 3, lambda c: category(c)[0] == "P", points)
compare("non-spacing marks", lambda c: strip(f"a{chr(c)}b") == "ab", lambda c: category(c) == "Mn", points)
compare("Chinese characters", lambda c: chinese(chr(c)) != chr(c), basic._is_chinese_char, points)
for c in 0x2E42, 0x2E43, 0x8E3, 0x8D4, 0x2B920, 0x2B820, 0x2B91F:
    text = f"a{chr(c)}b"
    words = [word for word, _ in cut(uncased.normalize_str(text))]
    print(f"a U+{c:04X} b, {category(c)}: tokenizers {ascii(words)}, transformers {ascii(basic.tokenize(text))}")
PYTHON
HF_HUB_OFFLINE=1 "$python" show.py | expect "Unicode 18.0.0
punctuation: 145 of 837 missed, 2 too many
non-spacing marks: 525 of 2090 missed, 2 too many
Chinese characters: 256 of 81520 missed, 0 too many
a U+2E42 b, Ps: tokenizers ['a', '\u2e42', 'b'], transformers ['a', '\u2e42', 'b']
a U+2E43 b, Po: tokenizers ['a\u2e43b'], transformers ['a', '\u2e43', 'b']
a U+08E3 b, Mn: tokenizers ['ab'], transformers ['ab']
a U+08D4 b, Mn: tokenizers ['a\u08d4b'], transformers ['ab']
a U+2B920 b, Lo: tokenizers ['a', '\U0002b920', 'b'], transformers ['a', '\U0002b920', 'b']
a U+2B820 b, Lo: tokenizers ['a\U0002b820b'], transformers ['a', '\U0002b820', 'b']
a U+2B91F b, Lo: tokenizers ['a\U0002b91fb'], transformers ['a', '\U0002b91f', 'b']"
