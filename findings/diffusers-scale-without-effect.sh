#!/usr/bin/env bash
# diffusers 0.42.1 with torch 2.14.1 (CPU), seen on 2026-11-29.
#
# diffusers' Attention has a public attribute, scale, 1/sqrt(dim_head) at first. Who wants a sharper
# or flatter softmax writes another number there. AttnProcessor multiplies the scores by it. The
# processor that is chosen by default, AttnProcessor2_0, calls PyTorch without a scale, so nothing
# changes, and nothing is said. The guess was that processors differ in speed only.
#
# Below: what the output does when scale is tripled.
#
# Output seen:
#   chosen by default: AttnProcessor2_0
#   AttnProcessor: changed
#   AttnProcessor2_0: equal
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check diffusers==0.42.1 torch==2.14.1 \
	numpy==2.4.6

cat > probe.py <<'PY'
import torch
from diffusers.models.attention_processor import Attention, AttnProcessor, AttnProcessor2_0

torch.manual_seed(0)
x = 2 * torch.randn(1, 10, 64)
attention = Attention(64, heads=4, dim_head=16).eval()
scale = attention.scale
assert scale == 1 / 16**0.5
print("chosen by default:", type(attention.processor).__name__)
for processor in (AttnProcessor(), AttnProcessor2_0()):
    attention.set_processor(processor)
    with torch.no_grad():
        attention.scale = scale
        before = attention(x)
        attention.scale = 3 * scale
        after = attention(x)
    same = torch.equal(before, after)
    print(f"{type(processor).__name__}: {'equal' if same else 'changed'}")
PY
env/bin/python probe.py 2> log | tee seen
diff seen - <<'SEEN'
chosen by default: AttnProcessor2_0
AttnProcessor: changed
AttnProcessor2_0: equal
SEEN
