"""Read a deck and a citation as the programs do that are made for it; prints JSON.

``python clients.py deck.txt CITATION.cff`` in an environment of ``requirements.txt``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from anki.collection import Collection, ImportCsvRequest

deck, citation = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    collection = Collection(str(Path(folder) / "collection.anki2"))
    told = collection.get_csv_metadata(path=deck, delimiter=None)
    log = collection.import_csv(ImportCsvRequest(path=deck, metadata=told)).log
    notes = [collection.get_note(note) for note in collection.find_notes("")]
    cards = [[*note.fields, note.tags] for note in notes]
    collection.close()
valid = subprocess.run(
    [str(Path(sys.executable).with_name("cffconvert")), "--validate", "-i", citation],
    capture_output=True,
    text=True,
    check=False,
)
print(
    json.dumps(
        {
            "cards": cards,
            "new": len(log.new),
            "left out": len(log.duplicate) + len(log.conflicting) + len(log.empty_first_field),
            "citation": valid.stdout + valid.stderr,
        }
    )
)
