#!/usr/bin/env bash
# transformers 5.14.1 and 5.15.0, seen on 2026-11-28.
#
# DeepSeek-V2 with a context stretched by YaRN and mscale_all_dim set. Up to 5.14.1 transformers
# multiplies q.k by qk_head_dim**-0.5 alone, from 5.15.0 on by mscale squared as well: with a
# stretch of 40 and mscale_all_dim 0.707 by 1.59. One checkpoint gives other outputs after an
# update within one major version. The guess was that such a change comes with a major version.
#
# Output seen:
#   5.14.1: self.qk_head_dim ** (-0.5)
#   5.15.0: yarn_apply_mscale(config.rope_parameters, self.qk_head_dim ** (-0.5))
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --no-deps --target 5.14.1 transformers==5.14.1
python3 -m pip install --quiet --disable-pip-version-check --no-deps --target 5.15.0 transformers==5.15.0

python3 - <<'PY'
import ast
from pathlib import Path


def scaling(version):
    path = Path(version, "transformers/models/deepseek_v2/modeling_deepseek_v2.py")
    (attention,) = [
        node
        for node in ast.parse(path.read_text()).body
        if getattr(node, "name", "") == "DeepseekV2Attention"
    ]
    found = [
        ast.unparse(node.value)
        for node in ast.walk(attention)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "self.scaling"
    ]
    print(f"{version}: {'; '.join(found)}")
    return found


assert scaling("5.14.1") == ["self.qk_head_dim ** (-0.5)"]
assert scaling("5.15.0") == ["yarn_apply_mscale(config.rope_parameters, self.qk_head_dim ** (-0.5))"]
PY
