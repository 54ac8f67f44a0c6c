#!/usr/bin/env bash
# onnx 1.23.2 (operator Attention, opsets 23 and 24; Python 3.11), seen on 2026-11-28.
#
# The fourth output of Attention with qk_matmul_output_mode=0 is the product of queries and keys
# before softcap, by the operator's text, by the function body that the standard ships, and in
# ONNX Runtime 1.32.0. The reference evaluator, which is there to check others against, returns the
# logits after softcap if softcap is set: the same as in mode 1. The output Y is right. The guess was
# that the reference follows the text.
#
# Below: the largest logit, softcap 2.
#
# Output seen:
#   opset 23: reference 1.988, function body 5.782, ONNX Runtime 5.782
#   opset 24: reference 1.988, function body 5.782, ONNX Runtime 5.782
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6

cat > probe.py <<'PY'
import numpy as np
import onnxruntime
from onnx import TensorProto, helper, inliner
from onnx.reference import ReferenceEvaluator

draw = np.random.default_rng(0).standard_normal
feed = {name: (2 * draw((1, 1, 3, 8))).astype(np.float32) for name in "QKV"}
cap = 2.0
product = feed["Q"] @ feed["K"].swapaxes(-1, -2) / np.sqrt(8)
expected = {"before": product.max(), "after": (cap * np.tanh(product / cap)).max()}

for opset in 23, 24:
    node = helper.make_node(
        "Attention", [*"QKV"], ["Y", "", "", "logits"], softcap=cap, qk_matmul_output_mode=0
    )
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, x.shape) for n, x in feed.items()]
    outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("Y", "logits")]
    graph = helper.make_graph([node], "graph", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=11)
    body = inliner.inline_selected_functions(
        model, [("", "Attention")], exclude=False, inline_schema_functions=True
    )
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    logits = {
        "reference": ReferenceEvaluator(model).run(None, feed)[1],
        "function body": ReferenceEvaluator(body).run(None, feed)[1],
        "ONNX Runtime": session.run(None, feed)[1],
    }
    assert np.isclose(logits["reference"].max(), expected["after"], atol=1e-5)
    assert np.isclose(logits["function body"].max(), expected["before"], atol=1e-5)
    assert np.isclose(logits["ONNX Runtime"].max(), expected["before"], atol=1e-5)
    listed = ", ".join(f"{name} {found.max():.3f}" for name, found in logits.items())
    print(f"opset {opset}: {listed}")
PY
seen=$(env/bin/python probe.py)
echo "$seen"
test "$seen" = "opset 23: reference 1.988, function body 5.782, ONNX Runtime 5.782
opset 24: reference 1.988, function body 5.782, ONNX Runtime 5.782"
