#!/usr/bin/env bash
# torch 2.14.1 (CPU, Python 3.11), seen on 2026-11-28.
#
# scaled_dot_product_attention with is_causal=True and a scale of zero: every row but the last is NaN.
# The kernel that the CPU takes by default hides keys by minus infinity and multiplies by the scale
# after that. With the same mask as a tensor, or with the plain kernel, the weights of a row are
# equal and the output is a mean of values. So a learned or swept scale that passes zero gives NaN in
# causal models alone. The guess was that the two ways to say "causal" agree.
#
# Below: the share of NaN in the output, of four queries and keys.
#
# Output seen:
#   is_causal: 0.75
#   mask: 0.0
#   is_causal, plain kernel: 0.0
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check torch==2.14.1 numpy==2.4.6

cat > probe.py <<'PY'
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention as attention

torch.manual_seed(0)
query, key, value = torch.randn(3, 1, 1, 4, 8)
mask = torch.ones(4, 4).tril().bool()


def share(**how):
    output = attention(query, key, value, scale=0.0, **how)
    return float(output.isnan().float().mean())


print("is_causal:", share(is_causal=True))
print("mask:", share(attn_mask=mask))
with sdpa_kernel(SDPBackend.MATH):
    print("is_causal, plain kernel:", share(is_causal=True))
PY
seen=$(env/bin/python probe.py 2>/dev/null)
echo "$seen"
test "$seen" = "is_causal: 0.75
mask: 0.0
is_causal, plain kernel: 0.0"
