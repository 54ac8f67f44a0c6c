#!/usr/bin/env bash
# transformers 5.24.0 and torchtitan 0.3.0, seen on 2026-11-28.
#
# DeepSeek-V3 with a context stretched by YaRN, and settings that do not name mscale_all_dim.
# transformers then multiplies q.k by 1/sqrt(d) alone, torchtitan by the square of
# 0.1 mscale ln(stretch) + 1 as well, which is 1.874 for a stretch of 40. torchtitan's settings
# have no such field and cannot turn the square off. The guess was that code for one family reads
# one setting in one way; with mscale_all_dim set to 1 the two agree.
#
# Output seen:
#   transformers: 1 without mscale_all_dim, 1.874 with 1
#   torchtitan: 1.874, for yarn with a stretch above 1
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --no-deps --target there transformers==5.24.0
python3 -m pip install --quiet --disable-pip-version-check --no-deps --target other torchtitan==0.3.0

python3 - > out.txt <<'PY'
import ast
import math
from pathlib import Path
from types import SimpleNamespace

model = "models/deepseek_v3/"
tree = ast.parse(Path("there/transformers", model, "modeling_deepseek_v3.py").read_text())
tree.body = [node for node in tree.body if getattr(node, "name", "").startswith("yarn_")]
held = {"math": math}
exec(compile(tree, "transformers", "exec"), held)
settings = {"rope_type": "yarn", "factor": 40.0}
without, given = (
    held["yarn_apply_mscale"](settings | more, 1.0) for more in ({}, {"mscale_all_dim": 1.0})
)
print(f"transformers: {without:.4g} without mscale_all_dim, {given:.4g} with 1")

text = Path("other/torchtitan", model, "model.py").read_text()
assert "mscale_all_dim" not in text
(switch,) = [
    node
    for node in ast.walk(ast.parse(text))
    if isinstance(node, ast.If) and "mscale" in ast.unparse(node.body)
]
rope = SimpleNamespace(scaling="yarn", rope_factor=40.0)
config = SimpleNamespace(mscale=1.0, rope=rope)
held = {"math": math, "config": config, "self": SimpleNamespace(softmax_scale=1.0)}
exec(compile(ast.unparse(switch), "torchtitan", "exec"), held)
print(f"torchtitan: {held['self'].softmax_scale:.4g}, for yarn with a stretch above 1")
PY
cat out.txt
diff out.txt - <<'SEEN'
transformers: 1 without mscale_all_dim, 1.874 with 1
torchtitan: 1.874, for yarn with a stretch above 1
SEEN
