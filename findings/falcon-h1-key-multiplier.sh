#!/usr/bin/env bash
# transformers 5.24.0 and mlx-lm 0.32.2, seen on 2026-11-28.
#
# A configuration of Falcon-H1 that does not give key_multiplier. transformers multiplies keys by
# 1.0; mlx-lm by 0.390625, so its attention logits are 2.56 times as small. The guess was that both
# have one default.
#
# Output seen:
#   transformers: 1.0
#   mlx-lm: 0.390625
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check transformers==5.24.0
env/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --target other mlx-lm==0.32.2

env/bin/python - <<'PY' 2> log
from transformers import FalconH1Config

print(f"transformers: {FalconH1Config().key_multiplier}")
assert FalconH1Config().key_multiplier == 1.0
PY
python3 - <<'PY'
import ast
from pathlib import Path

tree = ast.parse(Path("other/mlx_lm/models/falcon_h1.py").read_text())
(default,) = [
    ast.literal_eval(node.value)
    for node in ast.walk(tree)
    if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "key_multiplier"
]
print(f"mlx-lm: {default}")
assert default == 0.390625
PY
