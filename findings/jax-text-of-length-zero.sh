#!/usr/bin/env bash
# JAX 0.10.2, on a processor, seen on 2026-11-28.
#
# jax.nn.dot_product_attention takes the lengths of texts. A query beyond its text gives zeros, and
# a text without any key gives the mean of all values, which are padding only. The guess was zeros
# for both, because neither has anything to read.
#
# Lengths of the keys become a mask that is filled with a large negative number, so all keys of an
# empty text get the same weight; beyond the lengths of the queries the output is set to zero.
#
# Output seen:
#   2 queries, 2 keys: 1.50 1.50 0.00 0.00
#   4 queries, 0 keys: 3.75 3.75 3.75 3.75, the mean of all values 3.75
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/python -m pip install --quiet jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6

cat > lengths.py <<'PY'
import jax
import jax.numpy as jnp

query = key = jnp.ones((1, 4, 1, 8))
value = jnp.broadcast_to(jnp.array([1.0, 2, 4, 8])[None, :, None, None], (1, 4, 1, 8))


def told(queries, keys):
    output = jax.nn.dot_product_attention(
        query,
        key,
        value,
        query_seq_lengths=jnp.array([queries]),
        key_value_seq_lengths=jnp.array([keys]),
    )
    numbers = " ".join(f"{x:.2f}" for x in output[0, :, 0, 0])
    return f"{queries} queries, {keys} keys: {numbers}"


print(told(2, 2))
print(f"{told(4, 0)}, the mean of all values {value.mean():.2f}")
PY
env/bin/python lengths.py > out.txt
cat out.txt
diff out.txt - <<'SEEN'
2 queries, 2 keys: 1.50 1.50 0.00 0.00
4 queries, 0 keys: 3.75 3.75 3.75 3.75, the mean of all values 3.75
SEEN
