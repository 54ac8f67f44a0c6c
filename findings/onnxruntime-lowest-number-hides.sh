#!/usr/bin/env bash
# onnxruntime 1.32.0 (CPU, operator Attention, opset 24; Python 3.11), seen on 2026-11-28.
#
# A float mask is added to the logits. With the lowest number of float32, -3.4028235e38, in a whole
# row every logit becomes that number, softmax of equal logits is uniform, and the output is the mean
# of the values: so say the reference evaluator of onnx 1.23.2, the function body and ONNX Runtime
# itself at opset 25, where it runs that body. Its kernel for opset 23 and 24 returns zeros, as if the
# mask were -inf; with -3.4e38, a little higher, it returns the mean. So the same model changes its
# output with the opset or the runtime, and torch.finfo(torch.float32).min is a usual mask. The guess
# was that the value in a float mask is only added.
#
# Below: the row's first number; the mean of the values is 0.5.
#
# Output seen:
#   opset 24: finfo.min 0.0, -3.4e38 0.5, reference with finfo.min 0.5
#   opset 25: finfo.min 0.5, -3.4e38 0.5, reference with finfo.min 0.5
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6

cat > probe.py <<'PY'
import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

draw = np.random.default_rng(0).standard_normal
query, key = draw((2, 1, 1, 2, 8)).astype(np.float32)
value = np.zeros((1, 1, 2, 8), np.float32)
value[0, 0, 1] = 1
for opset in 24, 25:
    node = helper.make_node("Attention", ["Q", "K", "V", "mask"], ["Y"])
    shapes = {"Q": (1, 1, 2, 8), "K": (1, 1, 2, 8), "V": (1, 1, 2, 8), "mask": (2, 2)}
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in shapes.items()]
    output = helper.make_tensor_value_info("Y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "graph", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=11)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )

    def first_number(run, low):
        mask = np.array([[0, 0], [low, low]], np.float32)  # the second row is hidden
        return run(None, {"Q": query, "K": key, "V": value, "mask": mask})[0][0, 0, 1, 0]

    lowest = np.finfo(np.float32).min
    print(
        f"opset {opset}: finfo.min {first_number(session.run, lowest):.1f}, "
        f"-3.4e38 {first_number(session.run, -3.4e38):.1f}, reference with finfo.min "
        f"{first_number(ReferenceEvaluator(model).run, lowest):.1f}"
    )
PY
seen=$(env/bin/python probe.py)
echo "$seen"
test "$seen" = "opset 24: finfo.min 0.0, -3.4e38 0.5, reference with finfo.min 0.5
opset 25: finfo.min 0.5, -3.4e38 0.5, reference with finfo.min 0.5"
