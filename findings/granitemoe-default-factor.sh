#!/usr/bin/env bash
# transformers 5.24.0 and sglang 0.5.23, seen on 2026-11-28.
#
# A configuration of Granite MoE that does not give attention_multiplier. transformers multiplies
# q.k by 1.0, that is by nothing; sglang multiplies it by 1/head_dim. With the default head of
# 128 the logits of one checkpoint differ 128-fold. The guess was that both have one default.
#
# Published configurations give the field, so who loads those sees no difference.
#
# Output seen:
#   transformers: attention_multiplier 1.0, heads of 128
#   sglang: attention_multiplier if attention_multiplier is not None else self.head_dim ** (-1)
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check transformers==5.24.0
env/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --target other sglang==0.5.23

env/bin/python - <<'PY' 2> log
from transformers import GraniteMoeConfig

config = GraniteMoeConfig()
width = config.hidden_size // config.num_attention_heads
print(f"transformers: attention_multiplier {config.attention_multiplier}, heads of {width}")
assert (config.attention_multiplier, width) == (1.0, 128)
PY
python3 - <<'PY'
import ast
from pathlib import Path

tree = ast.parse(Path("other/sglang/srt/models/granitemoe.py").read_text())
(attention,) = [node for node in tree.body if getattr(node, "name", "") == "GraniteMoeAttention"]
(scaling,) = [
    ast.unparse(node.value)
    for node in ast.walk(attention)
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "self.scaling"
]
print(f"sglang: {scaling}")
assert scaling == "attention_multiplier if attention_multiplier is not None else self.head_dim ** (-1)"
PY
