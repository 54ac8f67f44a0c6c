"""The book's configuration as Sphinx reads it, for the live preview (``make serve``).

It is worked out from ``_config.yml`` each time, by Jupyter Book itself.
"""

import sys
from pathlib import Path

from jupyter_book.config import get_final_config

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

configuration, _ = get_final_config(
    user_yaml=ROOT / "_config.yml",
    cli_config={"external_toc_path": "_toc.yml", "latex_individualpages": False},
    sourcedir=ROOT,
)
# Sphinx would look for these beside this file.
for name in ("html_favicon", "html_logo"):
    configuration[name] = str(ROOT / configuration[name])
configuration["bibtex_bibfiles"] = [str(ROOT / path) for path in configuration["bibtex_bibfiles"]]
configuration["extensions"].append("sphinx_multitoc_numbering")
globals().update(configuration)
# The preview puts a script into each page that the policy would refuse.
finish_policy = False
# It changes while it is read, so no browser keeps it.
offline = False
