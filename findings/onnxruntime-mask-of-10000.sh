#!/usr/bin/env bash
# ONNX Runtime 1.32.0, on a processor, seen on 2026-11-28.
#
# Its own operator MultiHeadAttention (com.microsoft), which the optimizer in the same package
# writes in the place of attention. If the mask hides all keys of a text, the weights are those
# without a mask. If it hides one key whose logit is higher by more than 10,000, that key has all
# of the weight. Nothing is said. The guess was that a hidden key has no weight, and that a text
# of padding gives zeros or the mean.
#
# The mask adds mask_filter_value, by default -10,000, which softmax does not see if all keys have
# it. The operator Attention of the ONNX standard gives zeros in the same release.
#
# Output seen:
#   no mask: 0.03 0.09 0.24 0.64
#   all keys hidden: 0.03 0.09 0.24 0.64
#   last key hidden, its logit 9,000: 0.33 0.33 0.33 0.00
#   last key hidden, its logit 11,000: 0.00 0.00 0.00 1.00
#   ONNX's Attention, all keys hidden: 0.00 0.00 0.00 0.00
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/python -m pip install --quiet onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6

cat > weights.py <<'PY'
import numpy as np
import onnxruntime
from onnx import TensorProto, helper

onnxruntime.set_default_logger_severity(4)


def run(operator, domain, feed, names, **attributes):
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for name, x in feed.items()
    ]
    output = helper.make_tensor_value_info("output", TensorProto.FLOAT, None)
    node = helper.make_node(operator, names, ["output"], domain=domain, **attributes)
    versions = [helper.make_opsetid("", 24), helper.make_opsetid("com.microsoft", 1)]
    graph = helper.make_graph([node], "graph", inputs, [output])
    model = helper.make_model(graph, opset_imports=versions, ir_version=11)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, feed)[0].reshape(-1)


def told(words, weights):
    print(f"{words}:", *(f"{weight:.2f}" for weight in weights))


value = np.eye(4, dtype=np.float32)[None]  # the output is the weights
query = np.full((1, 1, 4), 2, np.float32)  # divided by 2, the root of the width


def own(words, logits, mask):
    key = np.zeros((1, 4, 4), np.float32)
    key[0, :, 0] = logits
    feed = {"query": query, "key": key, "value": value, "mask": np.array([mask], np.int32)}
    names = ["query", "key", "value", "", "mask"]
    told(words, run("MultiHeadAttention", "com.microsoft", feed, names, num_heads=1))


own("no mask", [0, 1, 2, 3], [1, 1, 1, 1])
own("all keys hidden", [0, 1, 2, 3], [0, 0, 0, 0])
own("last key hidden, its logit 9,000", [0, 0, 0, 9e3], [1, 1, 1, 0])
own("last key hidden, its logit 11,000", [0, 0, 0, 11e3], [1, 1, 1, 0])
feed = {"query": query[None], "key": value[None], "value": value[None]}
feed["mask"] = np.zeros((1, 1, 1, 4), bool)
told("ONNX's Attention, all keys hidden", run("Attention", "", feed, list(feed)))
PY
env/bin/python weights.py > out.txt
cat out.txt
diff out.txt - <<'SEEN'
no mask: 0.03 0.09 0.24 0.64
all keys hidden: 0.03 0.09 0.24 0.64
last key hidden, its logit 9,000: 0.33 0.33 0.33 0.00
last key hidden, its logit 11,000: 0.00 0.00 0.00 1.00
ONNX's Attention, all keys hidden: 0.00 0.00 0.00 0.00
SEEN
