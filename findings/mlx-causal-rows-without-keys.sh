#!/usr/bin/env bash
# mlx 0.32.4 (mlx-cpu 0.32.4, Python 3.11), seen on 2026-11-28.
#
# mlx.core.fast.scaled_dot_product_attention(..., mask="causal") aligns the mask at the lower right.
# With more queries than keys the first queries may then see no key, and they return the mean of all
# values: the rows that may see nothing see everything, later keys included. The guess was zeros or
# NaN. The rows that see a key are right.
#
# Below: weights of 2 keys in 5 rows; values are the unit matrix.
#
# Output seen:
#   [0.5, 0.5] [0.5, 0.5] [0.5, 0.5] [1.0, 0.0] [0.25, 0.75]
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check mlx==0.32.4 mlx-cpu==0.32.4 numpy==2.4.6

cat > probe.py <<'PY'
import mlx.core as mx
import numpy as np

draw = np.random.default_rng(0).standard_normal
query, key = (mx.array(draw((1, 1, n, 2)).astype(np.float32)) for n in (5, 2))
value = mx.array(np.eye(2, dtype=np.float32)[None, None])
out = mx.fast.scaled_dot_product_attention(query, key, value, scale=2**-0.5, mask="causal")
print(*np.array(out)[0, 0].round(2).tolist())
PY
seen=$(env/bin/python probe.py)
echo "$seen"
test "$seen" = "[0.5, 0.5] [0.5, 0.5] [0.5, 0.5] [1.0, 0.0] [0.25, 0.75]"
