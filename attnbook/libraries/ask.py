"""Ask one library all questions: ``python -m libraries.ask NAME`` prints verdicts as JSON."""

from __future__ import annotations

import json
import os
import sys
import warnings

os.environ |= {"TF_CPP_MIN_LOG_LEVEL": "3", "GLOG_minloglevel": "3"}

from .calls import make_call
from .questions import QUESTIONS, answer


def main(name: str, *questions: str) -> None:
    """Print the release and the verdicts of one call; errors go to standard error."""
    warnings.simplefilter("ignore")
    call = make_call(name)
    if call.names and QUESTIONS["axes"](call) != call.axes:
        raise RuntimeError(f"{name} does not answer a plain question")
    verdicts = {}
    for question in questions or QUESTIONS:
        verdicts[question], words = answer(call, question)
        if words:
            sys.stderr.write(f"{name}, {question}: {words}\n")
    print(json.dumps({"package": call.package, "version": call.version, "verdicts": verdicts}))


if __name__ == "__main__":
    main(*sys.argv[1:])
