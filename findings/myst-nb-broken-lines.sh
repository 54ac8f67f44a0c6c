#!/usr/bin/env bash
# MyST-NB 1.4.0 (with Sphinx 7.4.7), seen on 2026-11-28.
#
# With nb_merge_streams, which is to make outputs deterministic, a line is broken in two where the
# kernel happened to send it in two messages, and an empty line between two messages is lost. One
# cell that prints "p = 0.599  H = 0.675" comes out on one line, or on two if the machine was busy.
# The guess was that pieces of a stream are joined as they are.
#
# myst_nb.core.utils.coalesce_streams takes the white space off the end of each piece and puts a line
# break there. The function of the same purpose in nbclient joins them as they are.
#
# Output seen:
#   in one piece:  p = 0.599  H = 0.675 | | exp H = 1.96
#   in two pieces: p = 0.599 |   H = 0.675 | exp H = 1.96
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check myst-nb==1.4.0 sphinx==7.4.7

mkdir book
cat > book/conf.py <<'PY'
extensions = ["myst_nb"]
nb_execution_mode = "off"
nb_merge_streams = True
PY
cat > make.py <<'PY'
import sys

import nbformat
from nbformat import v4

pieces = sys.argv[1:]
outputs = [v4.new_output("stream", name="stdout", text=piece.replace("|", "\n")) for piece in pieces]
cells = [v4.new_markdown_cell("# Title"), v4.new_code_cell("print()", outputs=outputs)]
nbformat.write(v4.new_notebook(cells=cells), "book/index.ipynb")
PY
cat > shown.py <<'PY'
import re
from html import unescape

page = open("out/index.html", encoding="utf-8").read()
(text,) = re.findall(r'class="output stream.*?<pre>(.*?)</pre>', page, re.DOTALL)
print(unescape(re.sub("<[^>]*>", "", text)).strip().replace("\n", " | ").replace("|  |", "| |"))
PY
shown() {
  env/bin/python make.py "$@"
  env/bin/python -m sphinx -q -E book out
  env/bin/python shown.py
}

whole=$(shown "p = 0.599  H = 0.675||exp H = 1.96|")
pieces=$(shown "p = 0.599" "  H = 0.675||" "exp H = 1.96|")
echo "in one piece:  $whole"
echo "in two pieces: $pieces"
test "$whole" = "p = 0.599  H = 0.675 | | exp H = 1.96"
test "$pieces" = "p = 0.599 |   H = 0.675 | exp H = 1.96"
