#!/usr/bin/env bash
# PaddlePaddle 3.3.1 (CPU, x86-64 with AVX, Python 3.11), seen on 2026-11-28.
#
# Softmax of a row of -inf, which is what a mask makes of a query that may see no key, depends on the
# length of the row: NaN in general, and equal weights if the length is a multiple of eight. So the
# same masked attention is NaN for 7 or 9 keys and the mean of all hidden values for 8 or 16. A
# guard that looks for NaN is silent at the usual, round lengths. The guess was one answer for all
# lengths. Both are answers that other libraries give; none that we tried mixes them.
#
# Output seen:
#   NaN: 1 2 3 4 5 6 7 9 10 12 15 17 31 33 100
#   equal weights: 8 16 24 32 64 600
#   attention over 7 keys: NaN, over 8 keys: the mean of all values
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check paddlepaddle==3.3.1 setuptools==80.9.0

cat > probe.py <<'PY'
import numpy as np
import paddle
from paddle.nn import functional as F

verdicts = {"NaN": [], "equal weights": []}
for length in 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 24, 31, 32, 33, 64, 100, 600:
    rows = np.zeros((2, length), np.float32)
    rows[0] = -np.inf
    weights = F.softmax(paddle.to_tensor(rows), axis=-1).numpy()[0]
    equal = np.allclose(weights, 1 / length)
    assert equal or np.isnan(weights).all()
    verdicts["equal weights" if equal else "NaN"].append(length)
for verdict, lengths in verdicts.items():
    print(f"{verdict}:", *lengths)

said = []
for length in 7, 8:
    draw = np.random.default_rng(0).standard_normal
    query, key, value = (
        paddle.to_tensor(draw((1, n, 1, 16)).astype(np.float32)) for n in (2, length, length)
    )
    mask = np.ones((1, 1, 2, length), bool)
    mask[..., 1, :] = False  # the second query may see nothing
    out = F.scaled_dot_product_attention(query, key, value, attn_mask=paddle.to_tensor(mask))
    row, mean = out.numpy()[0, 1, 0], value.numpy()[0, :, 0].mean(axis=0)
    what = "NaN" if np.isnan(row).all() else "the mean of all values"
    assert what == "NaN" or np.allclose(row, mean, atol=1e-5)
    said.append(f"over {length} keys: {what}")
print("attention", ", ".join(said))
PY
seen=$(env/bin/python probe.py 2>/dev/null)
echo "$seen"
test "$seen" = "NaN: 1 2 3 4 5 6 7 9 10 12 15 17 31 33 100
equal weights: 8 16 24 32 64 600
attention over 7 keys: NaN, over 8 keys: the mean of all values"
