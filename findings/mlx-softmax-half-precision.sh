#!/usr/bin/env bash
# MLX 0.32.4 on the processor (package mlx-cpu, x86-64), seen on 2026-11-28.
#
# softmax of 4,096 equal float16 scores gives weights that sum to 2, and of 2,048 equal bfloat16
# scores weights that sum to 8. Nothing is said. The guess was that weights of softmax sum to 1 up
# to rounding.
#
# softmax sums the exponentials in the type of its input unless it is called with precise=True. A
# float16 sum of ones stops at 2,048, since 2,049 is no float16 number, and a bfloat16 sum at 256;
# so the weights of n equal scores sum to n/2048 and n/256. With precise=True they sum to 1, and
# mx.fast.scaled_dot_product_attention does not have the fault.
#
# Output seen:
#   float16, 2048 scores: weights sum to 1, precise 1
#   float16, 4096 scores: weights sum to 2, precise 1
#   float16, 65536 scores: weights sum to 32, precise 1
#   bfloat16, 2048 scores: weights sum to 8, precise 1
#   attention to 65536 values of 1: 1
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/python -m pip install --quiet mlx==0.32.4 mlx-cpu==0.32.4 numpy==2.4.6

cat > sums.py <<'PY'
import mlx.core as mx
import numpy as np


def total(weights: mx.array) -> float:
    return float(np.array(weights.astype(mx.float32)).sum(dtype=float))


for name, count in (("float16", 2048), ("float16", 4096), ("float16", 65536), ("bfloat16", 2048)):
    scores = mx.zeros(count, dtype=getattr(mx, name))
    plain, precise = total(mx.softmax(scores)), total(mx.softmax(scores, precise=True))
    print(f"{name}, {count} scores: weights sum to {plain:.0f}, precise {precise:.0f}")
query, key = (mx.zeros((1, 1, n, 64), dtype=mx.float16) for n in (1, 65536))
mean = mx.fast.scaled_dot_product_attention(query, key, mx.ones_like(key), scale=0.125)
print(f"attention to 65536 values of 1: {float(mean[0, 0, 0, 0]):.0f}")
PY
env/bin/python sums.py > out.txt
cat out.txt
diff out.txt - <<'SEEN'
float16, 2048 scores: weights sum to 1, precise 1
float16, 4096 scores: weights sum to 2, precise 1
float16, 65536 scores: weights sum to 32, precise 1
bfloat16, 2048 scores: weights sum to 8, precise 1
attention to 65536 values of 1: 1
SEEN
