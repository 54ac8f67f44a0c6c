#!/usr/bin/env bash
# keras 3.15.1 (backend JAX 0.10.2, Python 3.11), seen on 2026-11-28.
#
# keras.layers.MultiHeadAttention(return_attention_scores=True) is to return the scores beside the
# same output. In a row in which the mask hides every key the output itself changes: it is the mean
# of the values without the scores, and zeros with them. So whoever looks at the scores of a padded
# batch looks at another model. The guess was that returning more changes nothing.
#
# Below: the hidden row; the mean of the values is 0.5 in each place.
#
# Output seen:
#   return_attention_scores=False: 0.5 0.5
#   return_attention_scores=True: 0.0 0.0
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check keras==3.15.1 jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6

cat > probe.py <<'PY'
import os

os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np

layer = keras.layers.MultiHeadAttention(num_heads=1, key_dim=2, use_bias=False)
x = np.array([[[1.0, 0.0], [0.0, 1.0]]], np.float32)
layer.build(x.shape, x.shape)
layer.set_weights([np.eye(2, dtype=np.float32).reshape(w.shape) for w in layer.get_weights()])
mask = np.array([[[True, True], [False, False]]])  # the second query may see nothing
for scores in False, True:
    out = layer(x, x, attention_mask=mask, return_attention_scores=scores)
    row = np.asarray(out[0] if scores else out)[0, 1]
    print(f"return_attention_scores={scores}:", *row.round(3).tolist())
PY
seen=$(env/bin/python probe.py 2>/dev/null)
echo "$seen"
test "$seen" = "return_attention_scores=False: 0.5 0.5
return_attention_scores=True: 0.0 0.0"
