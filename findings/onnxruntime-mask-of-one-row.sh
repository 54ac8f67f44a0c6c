#!/usr/bin/env bash
# ONNX Runtime 1.32.0 and ONNX 1.23.2, on a processor, seen on 2026-11-28.
#
# The operator Attention with a padding mask of shape (batch, 1, 1, keys). The standard says of the
# mask that its shape must be broadcastable to (batch, heads, queries, keys), and its reference
# evaluator takes this one. ONNX Runtime refuses it in models of opset 23 and 24 and takes it in
# those of opset 25. The guess was that a mask that the standard allows runs in every opset that
# the release supports.
#
# Output seen:
#   opset 23: reference 0.50 0.50 0.00, ONNX Runtime refuses it
#   opset 24: reference 0.50 0.50 0.00, ONNX Runtime refuses it
#   opset 25: reference 0.50 0.50 0.00, ONNX Runtime 0.50 0.50 0.00
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/python -m pip install --quiet onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6

cat > masks.py <<'PY'
import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

onnxruntime.set_default_logger_severity(4)
value = np.eye(3, dtype=np.float32)[None, None]  # the output is the weights
zeros = np.zeros_like(value)
feed = {"Q": zeros, "K": zeros, "V": value, "M": np.array([1, 1, 0], bool)[None, None, None]}
inputs = [
    helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
    for name, x in feed.items()
]
output = helper.make_tensor_value_info("Y", TensorProto.FLOAT, None)
graph = helper.make_graph([helper.make_node("Attention", list(feed), ["Y"])], "g", inputs, [output])


def row(outputs):
    return " ".join(f"{weight:.2f}" for weight in outputs[0][0, 0, 1])


for opset in (23, 24, 25):
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=11)
    said = f"opset {opset}: reference {row(ReferenceEvaluator(model).run(None, feed))}, ONNX Runtime"
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    try:
        print(said, row(session.run(None, feed)))
    except Exception as error:
        assert "inconsistent q_sequence_length" in str(error)
        print(said, "refuses it")
PY
env/bin/python masks.py > out.txt
cat out.txt
diff out.txt - <<'SEEN'
opset 23: reference 0.50 0.50 0.00, ONNX Runtime refuses it
opset 24: reference 0.50 0.50 0.00, ONNX Runtime refuses it
opset 25: reference 0.50 0.50 0.00, ONNX Runtime 0.50 0.50 0.00
SEEN
