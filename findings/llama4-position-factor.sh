#!/usr/bin/env bash
# transformers 5.24.0 and vllm 0.33.0, seen on 2026-11-28.
#
# Llama 4 multiplies the queries of layers without rotation by a factor that grows with the
# position, from position 8,191 on. The default of the configuration is on, and transformers
# follows it. vllm overwrites the configuration: the factor is on only if the longest context that
# it is started with is above 32,768 tokens. Started with 32,768, one checkpoint gives other logits
# at positions 8,191 to 32,767. The guess was that the configuration decides.
#
# The generation configuration can turn it on in vllm; the model's own configuration cannot.
#
# Output seen:
#   transformers: attn_temperature_tuning True
#   vllm: default_attn_temperature_tuning = vllm_config.model_config.max_model_len > 32768
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check transformers==5.24.0
env/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --target other vllm==0.33.0

env/bin/python - <<'PY' 2> log
from transformers import Llama4TextConfig

print(f"transformers: attn_temperature_tuning {Llama4TextConfig().attn_temperature_tuning}")
assert Llama4TextConfig().attn_temperature_tuning
PY
python3 - <<'PY'
import ast
from pathlib import Path

tree = ast.parse(Path("other/vllm/model_executor/models/llama4.py").read_text())
assigned = {
    ast.unparse(node.targets[0]): ast.unparse(node)
    for node in ast.walk(tree)
    if isinstance(node, ast.Assign)
}
print("vllm:", assigned["default_attn_temperature_tuning"])
assert assigned["default_attn_temperature_tuning"].endswith("max_model_len > 32768")
assert "vllm_config.model_config.hf_config.attn_temperature_tuning" in assigned
PY
