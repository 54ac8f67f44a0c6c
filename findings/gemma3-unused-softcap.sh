#!/usr/bin/env bash
# transformers 5.24.0 and keras-hub 0.32.0, seen on 2026-11-28.
#
# Gemma 3 and T5Gemma 2 have the documented field attn_logit_softcapping. transformers stores it in
# the attention and never reads it again: a cap that is set changes nothing, and nothing says so.
# Gemma 2 hands it to the attention, and keras-hub applies it in T5Gemma 2. The guess was that a
# field of the configuration is used or refused.
#
# Output seen:
#   transformers gemma2: stored 1 time, read 1 time
#   transformers gemma3: stored 1 time, read 0 times
#   transformers t5gemma2: stored 2 times, read 0 times
#   keras-hub t5gemma2: attn_weights / self.logit_soft_cap
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --no-deps --target there transformers==5.24.0
python3 -m pip install --quiet --disable-pip-version-check --no-deps --target other keras-hub==0.32.0

python3 - <<'PY'
import ast
from pathlib import Path


def uses(path):
    found = [
        type(node.ctx)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "self.attn_logit_softcapping"
    ]
    return found.count(ast.Store), found.count(ast.Load)


def times(count):
    return f"{count} time" + "s" * (count != 1)


for family, expected in (("gemma2", (1, 1)), ("gemma3", (1, 0)), ("t5gemma2", (2, 0))):
    stored, read = uses(Path(f"there/transformers/models/{family}/modeling_{family}.py"))
    print(f"transformers {family}: stored {times(stored)}, read {times(read)}")
    assert (stored, read) == expected

text = Path("other/keras_hub/src/models/t5gemma2/t5gemma2_attention.py").read_text()
divisions = {
    ast.unparse(node)
    for node in ast.walk(ast.parse(text))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and "soft_cap" in ast.unparse(node)
}
print("keras-hub t5gemma2:", *divisions)
assert divisions == {"attn_weights / self.logit_soft_cap"}
PY
