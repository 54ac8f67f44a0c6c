#!/usr/bin/env bash
# PaddlePaddle 3.3.1 (CPU, Python 3.11), seen on 2026-11-28.
#
# F.log_softmax of [0, -10000] is [0, -64] where the logarithm of the weight is -10000, which float32
# holds. Every logarithm below -64 becomes -64, without a word in the documentation, so a loss or an
# entropy of a confident model is flat from there on. The guess was x - log(sum(exp(x))), as the
# documentation writes it. F.cross_entropy on the same logits is clamped too.
#
# Output seen:
#   log_softmax([0, -50]): 0 -50
#   log_softmax([0, -64]): 0 -64
#   log_softmax([0, -100]): 0 -64
#   log_softmax([0, -10000]): 0 -64
#   cross_entropy([0, -10000], class 1): 64
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check paddlepaddle==3.3.1 setuptools==80.9.0

cat > probe.py <<'PY'
import paddle
from paddle.nn import functional as F

for low in 50, 64, 100, 10000:
    logs = F.log_softmax(paddle.to_tensor([[0.0, -float(low)]]), axis=-1).numpy()[0]
    print(f"log_softmax([0, -{low}]): {logs[0]:.0f} {logs[1]:.0f}".replace(" -0 ", " 0 "))
loss = F.cross_entropy(paddle.to_tensor([[0.0, -10000.0]]), paddle.to_tensor([1]))
print(f"cross_entropy([0, -10000], class 1): {float(loss):.0f}")
PY
seen=$(env/bin/python probe.py 2>/dev/null)
echo "$seen"
test "$seen" = "log_softmax([0, -50]): 0 -50
log_softmax([0, -64]): 0 -64
log_softmax([0, -100]): 0 -64
log_softmax([0, -10000]): 0 -64
cross_entropy([0, -10000], class 1): 64"
