#!/usr/bin/env bash
# nbgrader 0.9.6 with NumPy 2.4.6, and with NumPy 1.26.4; seen on 2026-11-28.
#
# A check ends with the share of its cases that passed, as nbgrader's partial credit asks for:
# np.mean of one True and three False, for a question of 1 point. The guess was 0.25 points. With
# NumPy 1.26.4 it is 0.25; with NumPy 2 it is the full point, and the only word of it is in a log.
#
# nbgrader reads the cell's output as text and converts it to a float. Since NumPy 2 a scalar's text
# is "np.float64(0.25)", which is no float, and what is no float earns the full points. The value of
# float(np.mean(...)) is read as meant.
#
# Output seen:
#   NumPy 1.26.4: 0.25 of 1.0 points, with float() 0.25
#   NumPy 2.4.6: 1.0 of 1.0 points, with float() 0.25
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat > points.py <<'PY'
import nbformat
import numpy as np
from nbclient import execute
from nbgrader.utils import determine_grade

about = {"grade": True, "solution": False, "locked": True, "points": 1, "grade_id": "check"}


def points(source: str) -> tuple[float | None, float]:
    cell = nbformat.v4.new_code_cell(f"import numpy as np\n{source}", metadata={"nbgrader": about})
    notebook = execute(nbformat.v4.new_notebook(cells=[cell]))
    return determine_grade(notebook.cells[0])


share = "np.mean([True, False, False, False])"
(got, most), (as_float, _) = points(share), points(f"float({share})")
print(f"NumPy {np.__version__}: {got} of {most} points, with float() {as_float}")
PY
for version in 1.26.4 2.4.6; do
  python3 -m venv "env-$version"
  "env-$version/bin/python" -m pip install --quiet nbgrader==0.9.6 ipykernel==7.1.0 "numpy==$version"
  PATH="$PWD/env-$version/bin:$PATH" JUPYTER_PATH="$PWD/env-$version/share/jupyter" \
    "env-$version/bin/python" points.py >> out.txt
done
cat out.txt
diff out.txt - <<'SEEN'
NumPy 1.26.4: 0.25 of 1.0 points, with float() 0.25
NumPy 2.4.6: 1.0 of 1.0 points, with float() 0.25
SEEN
