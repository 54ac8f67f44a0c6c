#!/usr/bin/env bash
# PaddlePaddle 3.3.1 (CPU, Python 3.11), seen on 2026-11-28.
#
# paddle.nn.functional.scaled_dot_product_attention(scale=0.0) is computed with the default scale,
# 1/√(head width), because the code reads `scale or default`. Zero is a valid scale: all logits are
# zero and the output is the mean of the values, as in PyTorch, JAX, Keras, ONNX and MLX. A learned or
# scheduled scale that starts at zero starts sharp. Any other number is taken as it is. The guess was
# that only None means the default.
#
# Output seen:
#   scale=0.0: equals the default, is 1.01 off the mean of the values
#   scale=1e-20: equals the mean of the values
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check paddlepaddle==3.3.1 setuptools==80.9.0

cat > probe.py <<'PY'
import numpy as np
import paddle
from paddle.nn.functional import scaled_dot_product_attention as attend

draw = np.random.default_rng(0).standard_normal
query, key, value = (paddle.to_tensor(x) for x in draw((3, 1, 4, 1, 16)).astype(np.float32))
mean = value.numpy().mean(axis=1, keepdims=True)
default = attend(query, key, value).numpy()
for scale in 0.0, 1e-20:
    out = attend(query, key, value, scale=scale).numpy()
    off = np.abs(out - mean).max()
    if np.allclose(out, default):
        print(f"scale={scale}: equals the default, is {off:.2f} off the mean of the values")
    elif off < 1e-5:
        print(f"scale={scale}: equals the mean of the values")
PY
seen=$(env/bin/python probe.py 2>/dev/null)
echo "$seen"
test "$seen" = "scale=0.0: equals the default, is 1.01 off the mean of the values
scale=1e-20: equals the mean of the values"
