"""Sample what the chapter on initialization shows beside its predictions, and write the table.

``python tools/initializers.py`` takes about three minutes on one core.
"""

from __future__ import annotations

import json
import sys
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from attnbook.figures import initializers  # noqa: E402

TABLE = ROOT / "attnbook" / "figures" / "initializers.json"


def main() -> None:
    """Measure at every stop, the later controls changing faster."""
    each = (
        tuple(initializers.SCHEMES),
        initializers.COSINES,
        initializers.MODEL_WIDTHS,
        initializers.HEAD_WIDTHS,
    )
    stops = dict(zip(initializers.STOPS, each, strict=True))
    excess, errors = [], []
    for scheme, cosine, d_model, d_k in product(*each):
        above, error = initializers.measure(scheme, d_model, d_k, cosine)
        excess.append(above)
        errors.append(error)
    table = stops | {"draws": initializers.DRAWS, "excess": excess, "errors": errors}
    lines = (f'"{name}": {json.dumps(part)}' for name, part in table.items())
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
