#!/usr/bin/env bash
# SciPy 1.17.1, JAX 0.10.2 and ONNX 1.23.2's reference evaluator, on a processor, seen on 2026-11-28.
# Beside them is ONNX Runtime 1.32.0, which does otherwise.
#
# softmax of 70,000 equal float16 scores gives weights that are all exactly 0, and the logarithms
# of the weights in SciPy and JAX are all -inf. JAX says nothing; NumPy warns of an overflow in
# SciPy and in the evaluator. The guess was 1/70,000 each: float16 can hold that number, and the
# largest score is subtracted first, so nothing was expected to overflow.
#
# The sum of the exponentials is returned as float16, whose largest number is 65,504: with more
# keys than that and equal scores it is infinite, and 1/inf is 0. ONNX Runtime sums in a wider type.
#
# Output seen:
#   SciPy: largest weight 0.0, largest logarithm -inf
#   JAX: largest weight 0.0, largest logarithm -inf
#   JAX, compiled: largest weight 0.0, largest logarithm -inf
#   ONNX reference: largest weight 0.0
#   ONNX Runtime: largest weight 1.4e-05
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/python -m pip install --quiet scipy==1.17.1 numpy==2.4.6 \
  jax==0.10.2 jaxlib==0.10.2 onnx==1.23.2 onnxruntime==1.32.0

cat > rows.py <<'PY'
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import onnxruntime
import scipy.special
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

warnings.simplefilter("ignore")
row = np.zeros(70_000, np.float16)
for name, softmax, log_softmax in (
    ("SciPy", scipy.special.softmax, scipy.special.log_softmax),
    ("JAX", jax.nn.softmax, jax.nn.log_softmax),
    ("JAX, compiled", jax.jit(jax.nn.softmax), jax.jit(jax.nn.log_softmax)),
):
    given = row if name == "SciPy" else jnp.asarray(row)
    weight, logarithm = float(softmax(given).max()), float(log_softmax(given).max())
    print(f"{name}: largest weight {weight}, largest logarithm {logarithm}")

half = TensorProto.FLOAT16
ends = [helper.make_tensor_value_info(name, half, [None]) for name in ("scores", "weights")]
node = helper.make_node("Softmax", ["scores"], ["weights"], axis=-1)
graph = helper.make_graph([node], "row", ends[:1], ends[1:])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=10)
(weights,) = ReferenceEvaluator(model).run(None, {"scores": row})
print(f"ONNX reference: largest weight {float(weights.max())}")
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
(weights,) = session.run(None, {"scores": row})
print(f"ONNX Runtime: largest weight {weights.max():.1e}")
PY
env/bin/python rows.py > out.txt
cat out.txt
diff out.txt - <<'SEEN'
SciPy: largest weight 0.0, largest logarithm -inf
JAX: largest weight 0.0, largest logarithm -inf
JAX, compiled: largest weight 0.0, largest logarithm -inf
ONNX reference: largest weight 0.0
ONNX Runtime: largest weight 1.4e-05
SEEN
