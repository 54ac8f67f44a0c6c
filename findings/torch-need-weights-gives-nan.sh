#!/usr/bin/env bash
# torch 2.14.1 (CPU, Python 3.11), seen on 2026-11-28.
#
# torch.nn.MultiheadAttention(need_weights=True), the default, is to return the weights beside the
# same output. In a row in which the mask hides every key the output itself changes: NaN with the
# weights, zeros without them, in training and in evaluation alike. So a model that runs clean with
# need_weights=False gives NaN as soon as somebody looks at its weights. The guess was that returning
# more changes nothing.
#
# Below: the hidden row.
#
# Output seen:
#   need_weights=True: nan nan
#   need_weights=False: 0.0 0.0
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check torch==2.14.1 numpy==2.4.6

cat > probe.py <<'PY'
import torch

module = torch.nn.MultiheadAttention(2, 1, bias=False, batch_first=True)
with torch.no_grad():
    module.in_proj_weight.copy_(torch.eye(2).repeat(3, 1))
    module.out_proj.weight.copy_(torch.eye(2))
x = torch.eye(2)[None]
hidden = torch.tensor([[False, False], [True, True]])  # the second query may see nothing
for need_weights in True, False:
    out = {
        training: module.train(training)(x, x, x, attn_mask=hidden, need_weights=need_weights)[0]
        for training in (True, False)
    }
    assert torch.equal(out[True].isnan(), out[False].isnan())
    print(f"need_weights={need_weights}:", *out[False][0, 1].tolist())
PY
seen=$(env/bin/python probe.py 2>/dev/null)
echo "$seen"
test "$seen" = "need_weights=True: nan nan
need_weights=False: 0.0 0.0"
