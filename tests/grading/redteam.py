"""Submissions that attack the grader, and submissions that are broken, each with what it is to get.

What an attack is to get was written down before it was tried, as a fair instructor would: nobody
gains a point, and an attack in one question costs nothing in another, unless it uses up the time
of the whole notebook or replaces what the student's own later code calls.

An attack that reached what it must not reach prints `BREACH`; the two halves of the word keep the
source itself free of it. What an attack prints last, or what is said of it, shows that it ran.
"""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from grading.problem_set import ProblemSet, read
from grading.release import worked

SOURCE = Path(__file__).resolve().parent / "source"
NOTHING = {"q1": 0.0, "q2": 0.0, "q3": 0.0}
WRONG = "variance = 1.0"
RIGHT = 'variance = float(personal_numbers(student_id, "q1")["d_k"])'
BREACH = "BREACH"
OVER = "attempt over"
CELL_SECONDS = 4
TOO_LONG = f"longer than {CELL_SECONDS}"
SLEEPER = "sleep 98765.4321"
"""What is left running somewhere would be called so."""

Notebook = dict[str, Any]


@dataclass(frozen=True)
class Attack:
    """One hostile or broken submission."""

    name: str  # a few words with hyphens, which are also the student's identifier
    tries: str  # what it tries, and why that must fail or be forgiven
    # sources of answer cells by their names, or what makes the bytes of the notebook
    answers: Mapping[str, str] | Callable[[], bytes]
    # the points of each question that does not earn all of them
    earns: Mapping[str, float] = field(default_factory=dict)
    status: str = "graded"  # how marking ends
    says: str = ""  # in what the notebook showed, or the student or the instructor is told
    # questions whose answers run through what the attack broke: all of their points or none
    may_lose: tuple[str, ...] = ()

    def notebook(self) -> bytes:
        if callable(self.answers):
            return self.answers()
        sources = {name: textwrap.dedent(source) for name, source in self.answers.items()}
        return worked(tiny(), self.name, sources, SOURCE)


@cache
def tiny() -> ProblemSet:
    """Return the problem set that all of them answer."""
    return read(SOURCE / "tiny" / "tiny.ipynb")


def edited(name: str, change: Callable[[Notebook], None], **answers: str) -> Callable[[], bytes]:
    """Return what makes a notebook that was changed by hand."""

    def made() -> bytes:
        sources = {key: textwrap.dedent(source) for key, source in answers.items()}
        notebook = json.loads(worked(tiny(), name, sources, SOURCE))
        change(notebook)
        return json.dumps(notebook).encode()

    return made


def cell(notebook: Notebook, name: str) -> Notebook:
    return next(each for each in notebook["cells"] if called(each) == name)


def called(each: Notebook) -> str | None:
    """Return the name of a cell."""
    return each["metadata"].get("nbgrader", {}).get("grade_id")


def code(source: str, metadata: Notebook | None = None) -> Notebook:
    """Return a cell of the student's own."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": metadata or {},
        "outputs": [],
        "source": textwrap.dedent(source),
    }


def own(before: str, *sources: str) -> Callable[[Notebook], None]:
    """Return what puts cells of the student's own before a cell."""

    def change(notebook: Notebook) -> None:
        place = notebook["cells"].index(cell(notebook, before))
        notebook["cells"][place:place] = [code(source) for source in sources]

    return change


def metadata_of(**values: Any) -> Callable[[Notebook], None]:
    """Return what writes into nbgrader's metadata of every cell."""

    def change(notebook: Notebook) -> None:
        for each in notebook["cells"]:
            if called(each):
                each["metadata"]["nbgrader"] |= values

    return change


def every(change: Callable[[Notebook], None]) -> Callable[[Notebook], None]:
    """Return what changes every cell."""

    def changed(notebook: Notebook) -> None:
        for each in notebook["cells"]:
            change(each)

    return changed


def tried(source: str, then: str = WRONG) -> dict[str, str]:
    """Return an answer to the first question that attacks first, and says when it is over."""
    return {"q1": f'{textwrap.dedent(source)}\nprint("attempt " "over")\n{then}\n'}


def guarded(*attempts: str, then: str = RIGHT) -> dict[str, str]:
    """Return an honest answer that tries several things first, each of which has to raise."""
    parts = [
        f"try:\n{textwrap.indent(textwrap.dedent(each).strip(), '    ')}\n"
        "except BaseException as error:\n    print(type(error).__name__)\n"
        'else:\n    print("BRE" "ACH")\n'
        for each in attempts
    ]
    return tried("\n".join(parts), then)


def function(body: str, before: str = "") -> dict[str, str]:
    """Return an answer to the second question."""
    body = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return {"q2": f"{textwrap.dedent(before)}\ndef sharpen(scores, tau):\n{body}\n"}


def array(expression: str, before: str = "") -> dict[str, str]:
    """Return an answer to the third question, made of the sorted numbers `right`."""
    return {
        "q3": 'right = sorted(personal_numbers(student_id, "q3").values(), reverse=True)\n'
        f"{textwrap.dedent(before)}\nordered = {expression}\n"
    }


# the notebook is not what was handed out


def delete_checks(notebook: Notebook) -> None:
    notebook["cells"] = [
        each for each in notebook["cells"] if not (called(each) or "").endswith("_check")
    ]


def soften_checks(notebook: Notebook) -> None:
    for each in notebook["cells"]:
        if (called(each) or "").endswith("_check"):
            each["source"] = "print('all tests passed')"
            each["metadata"]["nbgrader"]["points"] = 1000


def swap_names(notebook: Notebook) -> None:
    first, second = cell(notebook, "q1"), cell(notebook, "q1_check")
    first["metadata"], second["metadata"] = second["metadata"], first["metadata"]


def copied(first: str, second: str) -> Callable[[Notebook], None]:
    """Return what makes two cells of one name."""

    def change(notebook: Notebook) -> None:
        original = cell(notebook, "q1")
        original["source"] = first
        place = notebook["cells"].index(original)
        notebook["cells"].insert(place + 1, original | {"source": second, "id": "again"})

    return change


def retype(notebook: Notebook) -> None:
    answer = cell(notebook, "q1")
    answer["cell_type"] = "markdown"
    for key in ("outputs", "execution_count"):
        answer.pop(key, None)


def text_of(name: str, source: Any) -> Callable[[Notebook], None]:
    """Return what writes something else into a cell."""
    return lambda notebook: cell(notebook, name).update(source=source)


def stored_outputs(notebook: Notebook) -> None:
    page = {"text/html": ["<script>steal()</script>"], "application/javascript": "steal()"}
    for each in notebook["cells"]:
        if each["cell_type"] == "code":
            each["outputs"] = [
                {"output_type": "display_data", "data": page, "metadata": {}},
                {"output_type": "stream", "name": "stdout", "text": "BREACH " * 9},
                {"output_type": "page", "nonsense": None},
                7,
            ]
    notebook["metadata"]["widgets"] = {"state": {"x": page}}


def older_format(notebook: Notebook) -> None:
    cells = notebook.pop("cells")
    for each in cells:
        if each["cell_type"] == "code":
            each["input"] = each.pop("source")
    notebook |= {"nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": cells}]}


def many_cells(count: int) -> Callable[[Notebook], None]:
    """Return what adds cells of the student's own, by which nothing is wrong but their number."""

    def change(notebook: Notebook) -> None:
        own("q1_text", *(f"x{i} = {i}" for i in range(count)))(notebook)

    return change


def claims(**values: Any) -> Callable[[Notebook], None]:
    """Return what claims another format, or another kernel."""
    return lambda notebook: notebook.update(values)


def rendered_slowly(notebook: Notebook) -> None:
    """Add what takes a coloring of Python code quadratic time, were nothing done about it."""
    notebook["cells"].append(code("first = 1" + "  \n" * 300 + "last = 1"))
    notebook["cells"].append(
        {"cell_type": "markdown", "metadata": {}, "source": "[" * 9000 + "**a" * 3000}
    )


DOCUMENTS = (
    Attack("checks-deleted", "Without checks nothing is wrong; the original ones are used.",
           edited("checks-deleted", delete_checks, q1=WRONG), {"q1": 0.0}, says="was missing"),
    Attack("checks-softened", "Checks that always pass and give a thousand points are ignored.",
           edited("checks-softened", soften_checks, q1=WRONG), {"q1": 0.0}, says="was changed"),
    Attack("thousand-points", "Points in the metadata are those of the problem set.",
           edited("thousand-points", metadata_of(points=1000))),
    Attack("nothing-graded", "A question stays graded whatever the metadata says.",
           edited("nothing-graded", metadata_of(grade=False, solution=False, locked=False),
                  q1=WRONG), {"q1": 0.0}),
    Attack("schema-of-old", "An old schema must not stop the batch, as it stops nbgrader's.",
           edited("schema-of-old", metadata_of(schema_version=1))),
    Attack("schema-of-words", "Nor must metadata of wrong types.",
           edited("schema-of-words", metadata_of(schema_version=[], points={}, locked="no"))),
    Attack("metadata-lost", "An editor that drops metadata costs an honest student nothing.",
           edited("metadata-lost", every(lambda each: each.update(metadata={}))),
           says="had lost the name"),
    Attack("metadata-no-object", "Metadata may be anything in JSON.",
           edited("metadata-no-object", every(lambda each: each.update(metadata=[1])))),
    Attack("names-swapped", "A check that is called an answer is an answer, and a bad one.",
           edited("names-swapped", swap_names), {"q1": 0.0}),
    Attack("answer-renamed", "A renamed answer is found by its place.",
           edited("answer-renamed", lambda notebook: cell(notebook, "q1")["metadata"]["nbgrader"]
                  .update(grade_id="q1000")), says="had lost the name"),
    Attack("answer-twice-right-last", "Of two answers the last counts, as when the notebook runs.",
           edited("answer-twice-right-last", copied(WRONG, RIGHT)), says="came 2 times"),
    Attack("answer-twice-wrong-last", "Two answers are not two chances.",
           edited("answer-twice-wrong-last", copied(RIGHT, WRONG)), {"q1": 0.0}),
    Attack("answer-retyped", "Code in a cell that became Markdown by a slip is still the answer.",
           edited("answer-retyped", retype), says="another type"),
    Attack("answer-deleted", "A deleted answer costs its own question only.",
           edited("answer-deleted", lambda notebook: notebook["cells"].remove(
               cell(notebook, "q1"))), {"q1": 0.0}),
    Attack("foreign-cell-pasted", "A cell of another course stops plain nbgrader's whole batch.",
           edited("foreign-cell-pasted", lambda notebook: notebook["cells"].insert(0, code(
               "assert True", {"nbgrader": {"grade_id": "problem-9", "grade": True,
                                            "points": 50, "checksum": "0"}})))),
    Attack("easier-numbers", "An edited locked cell is replaced by the original one.",
           edited("easier-numbers", text_of("numbers", "RANGES = {}\n"
               'def personal_numbers(student_id, question):\n    return {"d_k": 1}\n')),
           says="was changed"),
    Attack("own-personal-numbers", "Numbers redefined in an own cell change only what is wrong.",
           edited("own-personal-numbers", own("q1", """
               def personal_numbers(student_id, question):
                   return {"d_k": 1, "first": 11, "second": 12}
               """)), {"q1": 0.0, "q3": 0.0}),
    Attack("own-ranges", "The judge has ranges of its own.",
           {"q1": 'RANGES["q1"] = {"d_k": (1, 1)}\n' + RIGHT}, {"q1": 0.0}),
    Attack("own-identity", "Another identity in an own cell gives another student's numbers.",
           edited("own-identity", own("q1", 'student_id = "honest-ada"')),
           {"q1": 0.0, "q3": 0.0}),
    Attack("stored-outputs", "Outputs that came with the notebook are never looked at.",
           edited("stored-outputs", stored_outputs)),
    Attack("format-3", "A notebook in the format of old is refused.",
           edited("format-3", older_format), status="invalid", says="format 3"),
    Attack("format-99", "A format from the future is refused.",
           edited("format-99", claims(nbformat=99)), status="invalid", says="format 99"),
    Attack("format-no-number", "So is one that is no number.",
           edited("format-no-number", claims(nbformat={"a": [float("nan")]})), status="invalid"),
    Attack("kernel-of-r", "A kernel that is not installed is not needed.",
           edited("kernel-of-r", claims(metadata={"kernelspec": {
               "name": "ir", "language": "R", "display_name": "R"}})), says="written in r"),
    Attack("source-of-numbers", "A source that is no text is refused.",
           edited("source-of-numbers", text_of("q1", [1, 2, 3])), status="invalid",
           says="not text"),
    Attack("halves-of-characters", "Lone surrogates and NUL must not stop a file or a database.",
           edited("halves-of-characters", text_of("q4", "because \ud800 and \udfff, and a NUL \0")),
           says="not text were replaced"),
    Attack("cells-1200", "A long notebook is an honest one.",
           edited("cells-1200", many_cells(1200))),
    Attack("cells-3000", "One without end is refused.",
           edited("cells-3000", many_cells(3000)), status="invalid", says="cells; at most"),
    Attack("cell-too-large", "A cell of a megabyte is refused.",
           edited("cell-too-large", text_of("q1", "#" * 1_100_000)), status="invalid",
           says="larger than 1 MB"),
    Attack("another-problem-set", "The wrong notebook is no zero but invalid, with its title.",
           edited("another-problem-set", every(lambda each: each.update(
               metadata={}, source="# Problem set 7\nSomething else altogether"))),
           status="invalid", says="Problem set 7"),
    Attack("empty-file", "An upload that broke is invalid.", lambda: b"", status="invalid",
           says="empty"),
    Attack("not-json", "What is no JSON is invalid.", lambda: b'{"cells": [', status="invalid",
           says="not JSON"),
    Attack("not-utf-8", "What is no UTF-8 is invalid.", lambda: b'{"cells": "\xff\xfe"}',
           status="invalid", says="not UTF-8"),
    Attack("json-deep", "JSON nested without end must not exhaust the stack.",
           lambda: b'{"cells": ' + b"[" * 100_000, status="invalid", says="nested too deep"),
    Attack("json-of-brackets", "Nor may a million lists exhaust the memory.",
           lambda: b"[" + b"[]," * 1_500_000 + b"[]]", status="invalid", says="parts"),
    Attack("json-big-number", "A number of a million digits takes hours to read.",
           lambda: b'{"nbformat": 4, "cells": [' + b"9" * 1_000_000 + b"]}", status="invalid"),
    Attack("json-a-list", "JSON that is no notebook is invalid.", lambda: b"[1, 2]",
           status="invalid", says="not a notebook"),
    Attack("cells-no-cells", "Cells that are none are invalid.",
           lambda: b'{"nbformat": 4, "cells": [null, 3]}', status="invalid"),
    Attack("file-too-large", "More than twenty megabytes besides outputs are not read.",
           lambda: b'{"cells": [], "more": "' + b"a" * 20_000_001 + b'"}',
           status="invalid", says="larger than 20 MB"),
    Attack("pages-slow-to-write", "Text that a renderer takes long for is shown all the same.",
           edited("pages-slow-to-write", rendered_slowly)),
)  # fmt: skip

# whose work it is

IDENTITIES = (
    Attack("friends-identity", "A friend's number would give the friend's personal numbers.",
           lambda: worked(tiny(), "honest-ada", {}, SOURCE), status="needs-review",
           says="whose personal numbers"),
    Attack("no-identity", "Without a number it is not clear which personal numbers were used.",
           {"identity": 'student_id = ""'}, status="needs-review", says="no student number"),
    Attack("identity-by-code", "A number that code makes could be anybody's.",
           {"identity": 'student_id = "identity-by" + "-code"'}, status="needs-review"),
    Attack("identity-twice", "Of two numbers the last would count; it is another student's.",
           {"identity": 'student_id = "identity-twice"\nstudent_id = "honest-ada"'},
           status="needs-review"),
    Attack("identity-with-import", "An import in the cell of the number is not lost.",
           {"identity": 'student_id = "identity-with-import"\nfactor = 1',
            "q1": f"{RIGHT} * factor"}),
    Attack("identity-with-attack", "Code beside the number changes nobody's identity.",
           {"identity": 'student_id = "identity-with-attack"\n'
                        "import sys\nsys.modules[__name__].__dict__['student_id'] = 'honest-ada'\n"
                        "del globals()['student_id']"}),
    Attack("identity-in-odd-case", "Of all ways to write a number one may give a friend's numbers.",
           {"identity": 'student_id = "@CASED@"', "q1": "variance = @ADA_Q1@"},
           status="needs-review", says="identity-in-odd-case"),
    Attack("identity-in-capitals", "Who writes the own number in capitals is the same person.",
           {"identity": 'student_id = "IDENTITY-IN-CAPITALS"'}),
    Attack("copied-numbers", "Another student's results are wrong here.",
           {"q1": "variance = @ADA_Q1@", "q3": "ordered = @ADA_Q3@"}, {"q1": 0.0, "q3": 0.0}),
    Attack("not-on-roster", "Somebody unknown is left to a human.", {}, status="needs-review",
           says="not on the roster"),
    Attack("two-notebooks", "Of two different notebooks nobody knows which counts.", {},
           status="needs-review", says="2 different notebooks"),
    Attack("linked-to-ada", "A link to another submission is not followed.", {},
           status="needs-review", says="link"),
    Attack("linked-folder", "Nor is a link to a folder.", {}, status="needs-review", says="link"),
    Attack("a-named-pipe", "A pipe would be read for ever.", {}, status="needs-review",
           says="not a file"),
    Attack("handed-in-nothing", "Nothing is missing, and no zero.", {}, status="missing"),
)  # fmt: skip

# the program that runs is replaced

# IPython cuts the chain of frames; where an answer is fetched it leads to the runner's own
FRAMES = """
if scores.shape == (1, 2):
    return np.full((1, 2), 0.5)
import json, os, sys
frame = sys._getframe()
while "replies" not in frame.f_locals:
    frame = frame.f_back
found = frame.f_locals
def forge(**reply):
    line = json.dumps({"token": found["request"]["token"], **reply}).encode()
    found["replies"].write(line + b"\\n")
"""
OPEN_FILES = """
import gc, io
files = [each for each in gc.get_objects() if isinstance(each, io.FileIO) and each.writable()]
"""

PATCHES = (
    Attack("patched-allclose", "Comparisons happen elsewhere.",
           tried("np.allclose = np.isclose = np.array_equal = lambda *a, **k: True"),
           {"q1": 0.0}, says=OVER),
    Attack("patched-asarray", "An array that answers for all the others is only wrong numbers.",
           tried("np.asarray = lambda *a, **k: np.zeros((4, 5))"),
           {"q1": 0.0, "q2": 0.0}, says=OVER, may_lose=("q3",)),
    Attack("patched-exponential", "Who breaks the library breaks the own later answers.",
           tried("np.exp = lambda x: x * 0 + 1", RIGHT), {"q2": 0.0}, says=OVER),
    Attack("patched-builtins", "The runner may fall, but no mark with it.",
           tried("import builtins\nbuiltins.float = builtins.int = lambda *a: 64.0\n"
                 "builtins.isinstance = lambda *a: True"), {"q1": 0.0}, may_lose=("q2", "q3")),
    Attack("patched-import", "Imports that return the student's own modules are the student's.",
           tried("import builtins\nbuiltins.__import__ = lambda *a, **k: 1 / 0", RIGHT),
           may_lose=("q1", "q2", "q3")),
    Attack("patched-assertion", "Public checks that cannot fail give nothing.",
           tried("import builtins\nbuiltins.AssertionError = type('Fine', (), {})\n"
                 "AssertionError = str", "variance = None"), {"q1": 0.0}, says=OVER),
    Attack("patched-json", "A JSON of the student's own writes what the judge then reads.",
           tried("import json\njson.dumps = json.loads = json.JSONEncoder.encode = "
                 "lambda *a, **k: '{}'"), {"q1": 0.0}, may_lose=("q2", "q3")),
    Attack("patched-wire", "What encodes answers can be replaced; what decodes them cannot.",
           tried("import _wire\n_wire.encode = lambda *a: {'array': [[1]], 'kind': 'no',"
                 " 'shape': [[]]}"), {"q1": 0.0}, says=OVER, may_lose=("q2", "q3")),
    Attack("patched-runner", "A runner that says that everything is right says it to nobody.",
           tried("""
               import gc
               for each in gc.get_objects():
                   if type(each).__name__ == "Runner":
                       type(each).collect = lambda *a: {"answer": True, "points": 1000}
               """), NOTHING, says=OVER),
    Attack("hooked-input", "Cells that are emptied before they run give no answers.",
           tried("get_ipython().input_transformers_cleanup.append(lambda lines: [])"),
           {"q1": 0.0}, may_lose=("q2", "q3")),
    Attack("hooked-syntax", "A transformer that removes every assertion removes nothing hidden.",
           tried("""
               import ast
               class Remove(ast.NodeTransformer):
                   def visit_Assert(self, node):
                       return ast.Pass()
               get_ipython().ast_transformers.append(Remove())
               """), {"q1": 0.0}, says=OVER),
    Attack("hooked-events", "Hooks before and after each cell see only the student's cells.",
           tried("""
               def peek(*a):
                   print("BRE" "ACH" if "ju" "dge(" in str(a) else "seen")
               for name in ("pre_run_cell", "post_run_cell"):
                   get_ipython().events.register(name, peek)
               """), {"q1": 0.0}, says="seen"),
    Attack("hooked-formatters", "A formatter can show text and nothing else.",
           tried("""
               get_ipython().display_formatter.active_types = ["text/html", "text/plain"]
               class Page:
                   def _repr_html_(self):
                       return "<script>steal()</script>"
                   def __repr__(self):
                       return "only text"
               display(Page())
               """), {"q1": 0.0}, says="only text"),
    Attack("hooked-trace", "A trace function sees the answer being fetched, and no expected one.",
           tried("""
               import sys, threading
               def trace(frame, event, argument):
                   if "expected" in frame.f_locals:
                       print("BRE" "ACH", frame.f_locals["expected"])
                   return trace
               sys.settrace(trace)
               sys.setprofile(trace)
               threading.settrace(trace)
               """), {"q1": 0.0}, says=OVER),
    Attack("all-objects", "Nothing of the judge is in memory.",
           tried("""
               import gc
               words = ["def ju" "dge", "hidden_" "check", "### BEGIN HID" "DEN"]
               mine = _ih + [In[-1]]
               for each in gc.get_objects():
                   if isinstance(each, dict):
                       for value in list(each.values()):
                           if type(value) is str and value not in mine:
                               if any(word in value for word in words):
                                   print("BRE" "ACH", value)
               """, RIGHT), says=OVER),
    Attack("all-frames", "Nor is it in the frames above, where the answer is fetched.",
           function("""
               import sys
               frame, here = sys._getframe(), 0
               while frame is not None:
                   here += "replies" in frame.f_locals
                   for name, value in {**frame.f_globals, **frame.f_locals}.items():
                       if name in ("expected", "right", "judge", "seed", "secret"):
                           return value(scores, tau) if callable(value) else value
                   frame = frame.f_back
               raise LookupError if here else ImportError
               """), {"q2": 0.0}, says="LookupError"),
    Attack("inputs-raised", "An exception must not carry the hidden inputs out.",
           function("raise ValueError(repr(scores.tolist()) + repr(tau))"), {"q2": 0.0}),
    Attack("inputs-as-a-type", "Nor must the name of a type.",
           function("return type(repr(scores.tolist())[:60], (), {})()"), {"q2": 0.0}),
    Attack("inputs-as-an-exception", "Nor must the name of an exception.",
           function("raise type(repr(scores.tolist())[:60], (ValueError,), {})()"), {"q2": 0.0}),
    Attack("inputs-printed", "What a function prints while it is checked is shown to nobody.",
           function("print(scores.tolist(), tau)\ndisplay(scores)\nreturn scores"), {"q2": 0.0}),
    Attack("inputs-kept-for-later", "Nor can a thread show it later, or a file keep it.",
           function("""
               open("/tmp/kept", "w").write(repr(scores.tolist()))
               get_ipython().kept = scores
               import os
               os._exit(0)
               """, """
               import os
               if os.path.exists("/tmp/kept"):
                   print(open("/tmp/kept").read())
               """), {"q2": 0.0}, says="ended itself"),
)  # fmt: skip

# forged answers

FORGERIES = (
    Attack("answer-printed", "An answer that is printed is an output.",
           tried("""
               import json
               print(json.dumps({"token": "ready", "answer": {"mapping": [["variance", 1]]}}))
               display({"points": 1000})
               """), {"q1": 0.0}, says=OVER),
    Attack("answer-to-every-file", "A line without the token ends the notebook's run there.",
           tried("""
               import os
               for number in range(128):
                   try:
                       os.write(number, b'{"token": "x", "points": 1000}\\n')
                   except OSError:
                       pass
               """), {"q1": 0.0}, says="wrote into the connection"),
    Attack("answer-ahead", "Replies for later steps, sent ahead, lack their tokens.",
           tried(OPEN_FILES + """
for file in files:
    for step in ("q1", "q2", "q3"):
        file.write(b'{"answer": {"mapping": [["variance", 1]]}, "token": "' + b'0' * 16 + b'"}\\n')
"""), {"q1": 0.0}, says="wrote into the connection"),
    Attack("answer-of-another-question", "A reply that names a question is still of this step.",
           function(FRAMES + """
forge(question="q1", key="q1", points=1000, answer={"mapping": [["variance", 64.0]]})
os._exit(0)
"""), {"q2": 0.0}, says="has no value"),
    Attack("answer-in-the-wrong-form", "What no encoder writes is no answer.",
           function(FRAMES + """
forge(answer={"array": [[1e400]] * 3, "kind": "object", "shape": [-1, "x"]})
os._exit(0)
"""), {"q2": 0.0}, says="no answer came out"),
    Attack("answer-with-a-class", "Nor is one that names a class to make.",
           function(FRAMES + """
forge(answer={"py/object": "os.system", "__reduce__": ["os.system", ["touch /tmp/made"]]})
os._exit(0)
"""), {"q2": 0.0}, says="no answer came out"),
    Attack("answer-twice", "A second reply belongs to no step, and ends the next one.",
           function(FRAMES.replace("(1, 2):", "(0,):") + """
forge(answer={"mapping": [["weights", 1]]})
forge(answer={"mapping": [["weights", 2]]}, points=1000)
os._exit(0)
"""), {"q2": 0.0}, may_lose=("q3",)),
    Attack("answer-right-by-hand", "Who sends the right answer by hand has answered.",
           function("""
               scaled = scores / tau
               weights = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
               weights /= weights.sum(axis=-1, keepdims=True)
               return weights
               """)),
    Attack("answer-without-end", "A reply that never ends has a size.",
           function(FRAMES + """
while True:
    found["replies"].write(b"9" * 65536)
"""), {"q2": 0.0}, says="larger than"),
    Attack("answer-half", "Half a reply spoils the whole one that follows it.",
           function(FRAMES + """
found["replies"].write(b'{"token": "')
return scores
"""), {"q2": 0.0}, says="wrote into the connection"),
    Attack("answer-of-a-million", "An answer of ten million numbers is none.",
           {"q1": "variance = list(range(10_000_000))"}, {"q1": 0.0}),
    Attack("answer-nested-deep", "Nor is one that contains itself.",
           {"q1": "variance = []\nvariance.append(variance)"}, {"q1": 0.0}),
    Attack("equals-everything", "A number that equals everything is the number it is.",
           {"q1": """
                class Fine(float):
                    def __eq__(self, other): return True
                    def __sub__(self, other): return 0.0
                    __rsub__ = __sub__
                    def __le__(self, other): return True
                    def __float__(self): return 1.0
                    __hash__ = None
                variance = Fine(1.0)
            """}, {"q1": 0.0}, says="another number"),
    Attack("arrays-that-lie", "An array that says something else each time says it once.",
           array("Liar()", """
               class Liar:
                   __array_priority__ = 1e9
                   def __array__(self, *a, **k): return np.zeros(2)
                   def __eq__(self, other): return True
                   def __array_ufunc__(self, *a, **k): return True
                   __hash__ = None
               """), {"q3": 0.0}, says="in another order"),
    Attack("conversion-raises", "A conversion that raises costs its own question.",
           {"q1": """
                class Trap:
                    def __array__(self, *a, **k): raise SystemExit(BaseException())
                variance = Trap()
            """}, {"q1": 0.0}),
    Attack("conversion-never-ends", "One that never ends has its time.",
           {"q1": """
                class Trap:
                    def __array__(self, *a, **k):
                        while True: pass
                variance = Trap()
            """}, {"q1": 0.0}, says="longer than"),
    Attack("exception-that-traps", "An exception that cannot be shown is not shown.",
           function("""
               class Trap(Exception):
                   def __str__(self): raise Trap()
                   __repr__ = __str__
               raise Trap()
               """), {"q2": 0.0}),
    Attack("not-finite", "NaN compares false with everything, also with what is wrong.",
           {"q1": "variance = float('nan')", "q3": "ordered = [float('inf'), float('-inf')]",
            **function("return np.full((4, 5), np.nan)")}, NOTHING, says="finite"),
    Attack("huge-integers", "Integers without end are read by nobody.",
           {"q1": "variance = 10 ** 5000", "q3": "ordered = [10 ** 400, -(10 ** 400)]"},
           {"q1": 0.0, "q3": 0.0}),
    Attack("numbers-as-text", "A text is no number, and says so.",
           {"q1": 'variance = str(personal_numbers(student_id, "q1")["d_k"])'}, {"q1": 0.0},
           says="it is a text"),
    Attack("format-strings", "Braces and percent signs are text.",
           function("raise ValueError('{0.__class__} %s %(x)d {{7*7}} {% raw %} ${7*7}')")
           | {"q4": "{{ 7*7 }} {% include '/etc/passwd' %} ${7*7} #{7*7}"}, {"q2": 0.0}),
)  # fmt: skip

# right answers in unusual types earn all points

NUMBER = 'personal_numbers(student_id, "q1")["d_k"]'
KINDS = {
    "fraction": f"__import__('fractions').Fraction({NUMBER})",
    "decimal": f"__import__('decimal').Decimal({NUMBER})",
    "float32": f"np.float32({NUMBER})",
    "float16": f"np.float16({NUMBER})",
    "longdouble": f"np.longdouble({NUMBER})",
    "integer": f"np.int64({NUMBER})",
    "zero-dimensions": f"np.array({NUMBER})",
    "one-entry": f"[{NUMBER}]",
    "subclass": f"type('Metres', (float,), {{}})({NUMBER})",
    "masked": f"np.ma.array({NUMBER})",
    "objects": f"np.array({NUMBER}, dtype=object)",
}
ARRAYS = {
    "fraction": "[__import__('fractions').Fraction(each) for each in right]",
    "decimal": "[__import__('decimal').Decimal(each) for each in right]",
    "float32": "np.array(right, dtype=np.float32)",
    "float16": "tuple(right)",
    "integer": "np.array(right, dtype=np.uint8)",
    "zero-dimensions": "[np.array(each) for each in right]",
    "one-entry": "np.asfortranarray(np.array([right, right]).T)[:, 0]",
    "subclass": "type('Row', (list,), {})(right)",
    "masked": "np.broadcast_to(np.array(right), (2, 2))[0]",
    "objects": "np.array(right, dtype=object)",
}
SERIES = """
class Series:
    def __init__(self, values): self.values = values
    def __array__(self, dtype=None, copy=None): return np.array(self.values, dtype=dtype)
    def __len__(self): return len(self.values)
    def __repr__(self): return "a series"
"""

HONEST = (
    *(Attack(f"right-as-{name}", "An honest answer in another type is right.",
             {"q1": f"variance = {number}"} | array(ARRAYS.get(name, "right")))
      for name, number in KINDS.items()),
    Attack("right-as-a-series", "So is one of another library.", array("Series(right)", SERIES)),
    Attack("right-as-bare-lists", "A function may return lists.",
           function("""
               from math import exp
               rows = [[each / tau for each in row] for row in scores.tolist()]
               rows = [[exp(each - max(row)) for each in row] for row in rows]
               return [[each / sum(row) for each in row] for row in rows]
               """)),
    Attack("names-used-again", "A later question may use the names of an earlier one.",
           {"q1": f"def helper(x):\n    return np.exp(x)\n{RIGHT}",
            **function("""
                scaled = np.asarray(scores) / tau
                weights = helper(scaled - scaled.max(axis=-1, keepdims=True))
                return weights / weights.sum(axis=-1, keepdims=True)
                """),
            "q3": "def helper(x):\n    return sorted(x, reverse=True)\n"
                  'ordered = helper(personal_numbers(student_id, "q3").values())'}),
    Attack("exits-politely", "`exit()` at the end of a cell is a habit, no attack.",
           {"q1": RIGHT + "\nexit()", "q3": array("right")["q3"] + "quit"}),
    Attack("warns-and-logs", "Warnings, standard error and logs are no mistakes.",
           tried("import warnings, sys, logging\nwarnings.warn('careful')\n"
                 "sys.stderr.write('odd')\nlogging.warning('x')", RIGHT), says="careful"),
    Attack("magics", "Magics of a notebook work or say why not.",
           {"q1": f"%matplotlib inline\n%time x = 1\n!echo hello\n{RIGHT}"}),
)  # fmt: skip

# what is on the machine

# an ordinary user's sandbox has no process of bubblewrap's: the first is the student's own
FIRST_IS_OWN = os.geteuid() != 0
# the first process of a namespace can neither kill nor stop itself, so that the cell goes on
NO_SIGNAL = "'variance' is not defined" if FIRST_IS_OWN else ""
PATHS = (
    "@HOME@/secret.txt", "@OTHER@", "@BOOK@", "@HIDDEN@", "@PROJECT@/grading/marking/judging.py",
    "@PROJECT@/attnlib/softmax.py", "/etc/shadow", "/etc/passwd", "/root/.bashrc",
    "/proc/1/environ", "/proc/@PID@/environ", "/proc/@PID@/mem", "/proc/@SELF@/environ",
    "/proc/1/root@HOME@/secret.txt", "/proc/1/cwd/secret.txt", "/proc/kcore", "/dev/mem",
    "/packages/0/attnlib/softmax.py", "/packages/0/grading/marking/judging.py",
    "../../../etc/shadow", "/proc/sys/kernel/core_pattern_", "/sys/kernel/notes", "/dev/sda",
    "/var/run/docker.sock",
)  # fmt: skip
READING = "\n".join(
    f'try:\n    print("BRE" "ACH", open({path!r}, "rb").read()[:300])\n'
    "except OSError as error:\n    print(type(error).__name__)"
    for path in PATHS
    if path != "/etc/passwd" and not (path == "/proc/1/environ" and FIRST_IS_OWN)
)
WALK = """
import os
skipped = ("/usr", "/proc", "/dev", "/packages", "/lib", "/bin", "/sys", "@PREFIX@")
for folder, below, files in os.walk("/"):
    if folder.startswith(skipped) and folder != "/":
        below.clear()
        continue
    for name in files:
        if name.endswith((".ipynb", ".db", ".csv", ".html", ".txt", ".env", ".pem")):
            print("BRE" "ACH", folder, name)
"""
WRITING = [
    f"open({path!r}, {mode!r}).write('x')"
    for path, mode in (
        ("@BOOK@", "a"), ("@HOME@/written.txt", "w"), ("@HIDDEN@", "a"), ("@OTHER@", "a"),
        ("@PROJECT@/grading/written.py", "w"), ("/grader/_inside.py", "a"), ("/grader/x.py", "w"),
        ("/packages/0/sitecustomize.py", "w"), ("/usr/lib/written", "w"), ("/etc/written", "w"),
        ("/written", "w"), ("/dev/x", "w"), ("/packages/0/nbgrader/x", "w"),
        ("/proc/sys/kernel/hostname", "w"),
        ("/proc/1/oom_score_adj", "w"), ("/proc/sysrq-trigger", "w"),
    )
    if not (path == "/proc/1/oom_score_adj" and FIRST_IS_OWN)
]  # fmt: skip
DELETING = [
    f"import os, shutil\n{call}"
    for call in (
        "os.remove('@BOOK@')", "os.rename('@HOME@', '@HOME@2')", "shutil.rmtree('@HOME@')",
        "os.unlink('@OTHER@')", "os.rmdir('/grader')", "os.symlink('/tmp', '/grader/tmp')",
        "shutil.rmtree('/packages')", "os.chmod('/', 0o777)", "os.mkdir('/work2')",
        "os.link('/grader/_inside.py', '/tmp/linked')", "os.mknod('/tmp/disk', 0o60600, 0x800)",
    )
]  # fmt: skip
SECRETS = """
import os, subprocess
print("BRE" "ACH" if "@SECRET@"[::-1] in str(dict(os.environ)) else "no secret")
for path in ["/proc/" + each for each in os.listdir("/proc") if each.isdigit()]:
    for name in ("environ", "cmdline", "maps"):
        try:
            text = open(f"{path}/{name}", "rb").read().decode(errors="replace")
        except OSError:
            continue
        if "@SECRET@"[::-1] in text or "@HOME@" in text:
            print("BRE" "ACH", path, name)
out = subprocess.run("env; ps aux; mount", shell=True, capture_output=True, text=True).stdout
if "@SECRET@"[::-1] in out:
    print("BRE" "ACH", out)
"""
CONNECTING = [
    f"import socket\nsocket.socket(socket.{family}, socket.{kind}).connect({address})"
    for family, kind, address in (
        ("AF_INET", "SOCK_STREAM", "('127.0.0.1', @PORT@)"),
        ("AF_INET", "SOCK_STREAM", "('@ADDRESS@', @PORT@)"),
        ("AF_INET6", "SOCK_STREAM", "('::1', @PORT@)"),
        ("AF_INET", "SOCK_DGRAM", "('127.0.0.1', @UDP@)"),
        ("AF_INET", "SOCK_RAW", "('127.0.0.1', 0)"),
        ("AF_UNIX", "SOCK_STREAM", "'@SOCKET@'"),
        ("AF_UNIX", "SOCK_STREAM", "'\\0@ABSTRACT@'"),
        ("AF_VSOCK", "SOCK_STREAM", "(2, 22)"),
        ("AF_NETLINK", "SOCK_RAW", "(0, 0)"),
        ("AF_PACKET", "SOCK_RAW", "('lo', 0)"),
    )
]  # fmt: skip
NETWORK = [
    *CONNECTING,
    "import socket\nsocket.create_connection(('127.0.0.1', @PORT@), 1)",
    "import socket\nsocket.getaddrinfo('example.org', 80)",
    "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:@PORT@/', timeout=1)",
    "import urllib.request\nurllib.request.urlopen('file://@HOME@/secret.txt')",
]
POWERS = [
    "import os\nos.setuid(0)",
    "import os\nos.seteuid(65534)",
    "import os\nos.chroot('/tmp')",
    "import os\nos.kill(@PID@, 9)",
    "import os\nos.nice(-10)",
    "import resource as r\nr.setrlimit(r.RLIMIT_NPROC, (10**5, 10**5))",
    "import resource as r\nr.setrlimit(r.RLIMIT_AS, (-1, -1))",
    "import ctypes\nlibc = ctypes.CDLL(None)\nassert libc.unshare(0x10000000) == 0",
    "import ctypes\nlibc = ctypes.CDLL(None)\nassert libc.mount(b'', b'/tmp', b'tmpfs', 0, 0) > -1",
    "import ctypes\nlibc = ctypes.CDLL(None)\nassert libc.ptrace(16, 1, 0, 0) == 0",
    "import subprocess\nsubprocess.run(['bwrap', '--dev-bind', '/', '/', 'true'], check=True)",
    "import subprocess\nsubprocess.run(['su', '-c', 'true'], check=True, input=b'')",
]

MACHINE = (
    Attack("reads-everything", "Nothing of the instructor's is there to read.",
           tried(READING, RIGHT), says="FileNotFoundError"),
    Attack("walks-everywhere", "Nor is it to be found under another name.",
           tried(WALK, RIGHT), says=OVER),
    Attack("reads-secrets", "No environment and no command line has the instructor's secrets.",
           tried(SECRETS, RIGHT), says="no secret"),
    Attack("reads-expected-answers", "A function that looks everywhere for the answer finds none.",
           function("""
               import glob, sys
               for path in glob.glob("**/*.ipynb", recursive=True, root_dir="/tmp"):
                   print("BRE" "ACH", path)
               for name in ("attnlib", "grading", "grading.hidden"):
                   try:
                       __import__(name)
                   except ImportError:
                       pass
                   else:
                       return __import__("attnlib").softmax(scores / tau)
               raise LookupError("nothing found")
               """), {"q2": 0.0}, says="LookupError"),
    Attack("imports-the-project", "The reference solution cannot be imported.",
           guarded("import attnlib", "import grading.hidden", "import tests.grading.redteam",
                   "import sys\ndel sys.modules['attnlib']\nimport attnlib",
                   "import sys\nsys.path.insert(0, '@PROJECT@')\ndel sys.modules['attnlib']\n"
                   "import attnlib.softmax",
                   "import sys\nsys.path.insert(0, '@PROJECT@')\nimport grading.marking.judging"),
           says="ModuleNotFoundError"),
    Attack("writes-everywhere", "Only an empty folder and a little shared memory can be written.",
           guarded(*WRITING), says="FileNotFoundError"),
    Attack("deletes-everything", "Nothing can be deleted.", guarded(*DELETING),
           says="FileNotFoundError"),
    Attack("calls-home", "There is no network of any family.", guarded(*NETWORK), says="Error"),
    Attack("gains-powers", "Nobody becomes more than a guest.", guarded(*POWERS),
           says="Error"),
    Attack("leaves-a-file", "What is written to the own folder goes with the sandbox.",
           tried("import os\nopen('/tmp/left-behind', 'w').write('x' * 1000)\n"
                 "os.makedirs('/tmp/a/b/c')", RIGHT), says=OVER),
    Attack("sends-datagrams", "A datagram is sent to nobody.",
           guarded("import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
                   ".sendto(b'x', ('127.0.0.1', @UDP@))"), says="Error"),
)  # fmt: skip

# too much of everything

BOMBS = (
    Attack("loops", "A loop without end costs its own question.",
           {"q1": "while True:\n    pass"}, {"q1": 0.0}, says=TOO_LONG),
    Attack("loops-in-the-function", "So does one in the function that is checked.",
           function("while True:\n    pass"), {"q2": 0.0}, says=TOO_LONG),
    Attack("loops-in-a-repr", "So does one in what is shown.",
           {"q1": f"""{RIGHT}
class Slow:
    def __repr__(self):
        while True: pass
Slow()"""},
           says=TOO_LONG),
    Attack("loops-in-a-thread", "A thread ends with the notebook.",
           tried("import threading\ndef spin():\n    while True: pass\n"
                 "threading.Thread(target=spin, daemon=True).start()", RIGHT), says=OVER),
    Attack("loops-in-the-end", "Nobody waits for what is to run at the end.",
           tried("import atexit, weakref\ndef spin():\n    while True: pass\n"
                 "atexit.register(spin)", RIGHT), says=OVER),
    Attack("loops-on-interrupt", "Who swallows every interrupt loses this cell's answer.",
           {"q1": """
                import signal
                for number in range(1, 65):
                    try: signal.signal(number, lambda *a: None)
                    except (OSError, ValueError): pass
                while True:
                    try:
                        while True: pass
                    except BaseException: pass
            """}, {"q1": 0.0}, says=TOO_LONG),
    Attack("loops-in-finally", "A loop in the clean-up of a loop is one loop.",
           {"q1": "try:\n    while True: pass\nfinally:\n    while True: pass"}, {"q1": 0.0},
           says=TOO_LONG),
    Attack("loops-in-c", "What cannot be interrupted is killed.",
           {"q1": "sum(range(10 ** 13))"}, {"q1": 0.0}, says=TOO_LONG),
    Attack("sleeps", "Sleep is time as well.", {"q1": "import time\ntime.sleep(10 ** 6)"},
           {"q1": 0.0}, says=TOO_LONG),
    Attack("waits-for-input", "Nobody answers.", {"q1": "input('password: ')"}, {"q1": 0.0}),
    Attack("burns-in-many", "Many processes have the time of one.",
           {"q1": """
                import os
                for _ in range(20):
                    if os.fork() == 0:
                        while True: pass
                while True: pass
            """}, {"q1": 0.0}, says="than"),
    Attack("forks", "A bomb of forks finds a wall.",
           {"q1": """
                import os
                while True:
                    try: os.fork()
                    except OSError: pass
            """}, {"q1": 0.0}),
    Attack("starts-threads", "So does one of threads.",
           {"q1": """
                import threading, time
                for _ in range(10_000):
                    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
            """}, {"q1": 0.0}, says="thread"),
    Attack("takes-memory", "Memory that is not there is a MemoryError.",
           {"q1": "taken = bytearray(10 ** 12)"}, {"q1": 0.0}, says="MemoryError"),
    Attack("takes-memory-slowly", "So is memory that grows.",
           {"q1": "taken = []\nwhile True:\n    taken.append(bytearray(b'x') * 10 ** 7)"},
           {"q1": 0.0}, says="Memory"),
    Attack("takes-memory-in-many", "Many processes have the memory of one.",
           {"q1": """
                import os, time
                for _ in range(8):
                    if os.fork() == 0:
                        taken = bytearray(b"x") * (150 * 10 ** 6)
                        time.sleep(100)
                time.sleep(100)
            """}, {"q1": 0.0}, says="of memory"),
    Attack("fills-the-disk", "The own folder is small.",
           {"q1": """
                with open("/tmp/big", "wb") as file:
                    while True:
                        file.write(b"x" * 10 ** 6)
            """}, {"q1": 0.0}),
    Attack("fills-the-table-of-files", "It holds few files.",
           {"q1": """
                number = 0
                while True:
                    open(f"/tmp/{number}", "w").close()
                    number += 1
            """}, {"q1": 0.0}, says="than"),
    Attack("talks-without-end", "Outputs are cut, and the answer counts.",
           {"q1": RIGHT + "\nfor i in range(200_000):\n    print(i, 'and so on')"},
           says="left out"),
    Attack("one-huge-output", "So is one output of a hundred megabytes.",
           {"q1": RIGHT + "\nprint('x' * 10 ** 8)"}, says="left out"),
    Attack("many-displays", "So are displays without end.",
           {"q1": RIGHT + "\nfor i in range(20_000):\n    display(i)"}),
    Attack("recursion", "Recursion without end is an exception.",
           {"q1": "def again():\n    return again()\nagain()"}, {"q1": 0.0},
           says="RecursionError"),
    Attack("recursion-in-c", "Recursion that breaks the stack costs its own question.",
           {"q1": "import sys\nsys.setrecursionlimit(10 ** 9)\n"
                  "def again():\n    return again()\n"
                  "import ctypes\nctypes.string_at(0)"}, {"q1": 0.0}, says="crashed"),
    Attack("crashes-in-the-function", "A crash in the function costs the function.",
           function("import ctypes\nctypes.string_at(0)"), {"q2": 0.0}, says="crashed"),
    Attack("crashes-six-times", "Six cells that crash belong to one question.",
           edited("crashes-six-times", own("q1", *[f"import os\nos._exit({i})" for i in range(6)]),
                  q1=WRONG), {"q1": 0.0}, says="ended itself"),
    Attack("crashes-once-everywhere", "A crash in the second question costs it alone.",
           edited("crashes-once-everywhere", own("q2", "import os\nos._exit(1)", "os._exit(2)"),
                  q2="import os\nos._exit(3)"), {"q2": 0.0}, says="ended itself"),
)  # fmt: skip

# the process

ENDINGS = {
    "ends-itself": ("import os\nos._exit(0)", "ended itself"),
    "raises-system-exit": ("raise SystemExit(1)", "SystemExit"),
    "kills-itself": ("import os\nos.kill(os.getpid(), 9)", NO_SIGNAL or "killed"),
    "kills-its-parent": ("import os\nos.kill(os.getppid(), 9)", ""),
    "kills-everything": ("import os\nos.kill(-1, 9)", ""),
    "stops-itself": ("import os\nos.kill(os.getpid(), 19)", NO_SIGNAL or TOO_LONG),
    "closes-every-file": ("import os\nos.closerange(0, 4096)", ""),
    "becomes-another": ("import os\nos.execv('/bin/sh', ['sh', '-c', 'sleep 100'])", ""),
    "aborts": ("import os\nos.abort()", "crashed"),
    "replaces-the-connection": (
        "import os\nnull = os.open('/dev/null', 2)\nfor i in range(64):\n    os.dup2(null, i)",
        "",
    ),
}
DAEMON = f"""
import os, subprocess
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv("/bin/sh", ["sh", "-c", "trap '' HUP TERM INT; {SLEEPER}"])
    os._exit(0)
os.wait()
subprocess.Popen(["setsid", "nohup", "sh", "-c", "{SLEEPER} & {SLEEPER}"])
"""

PROCESSES = (
    *(Attack(name, "Who ends the program loses this cell's answer.", {"q1": source},
             {"q1": 0.0}, says=says) for name, (source, says) in ENDINGS.items()),
    Attack("leaves-daemons", "What was left running ends with the notebook.",
           tried(DAEMON, RIGHT), says=OVER),
    Attack("kills-the-neighbors", "Other processes of the same user are not to be seen.",
           guarded("import os, signal\nos.kill(@PID@, signal.SIGKILL)",
                   "import os, signal\nos.kill(@SELF@, signal.SIGKILL)",
                   "import os, signal\nos.kill(1, signal.SIGSTOP)\nassert os.getpid() == 2"),
           says="ProcessLookupError"),
    Attack("forks-and-returns", "A copy of the runner answers nothing.",
           tried("import os\nos.fork()", RIGHT), says=OVER),
)  # fmt: skip

# what people look at

HTML = (
    "<script>steal()</script><img src=x onerror=steal()><svg onload=steal()>"
    "<iframe src='//example.org'></iframe><style>*{display:none}</style>"
    "<meta http-equiv=refresh content='0;url=//example.org'><base href='//example.org'>"
    "</pre></td></table></main></style></title><form action='//example.org'><input></form>"
)
MARKDOWN = f"""
{HTML}

[javascript](javascript:steal()) [data](data:text/html,<script>steal()</script>)
[mixed](JaVaScRiPt:steal()) [coded](&#106;avascript:steal()) <javascript:steal()>
![outside](https://example.org/track.png) ![data](data:image/svg+xml,<svg>) [ref] ![ref]
[quote](https://example.org/"onmouseover="steal()) [space](https://example.org/ "t" onclick=x)
[vb](vbscript:steal) [file](file:///etc/passwd) **[[nested](javascript:steal())](https://a)**

[ref]: javascript:steal()

<div onclick="steal()">

| a | b |
|---|---|
| {HTML} | `{HTML}` |

```html
{HTML}
```
$$ </script><script>steal()</script> $$ and $<img src=x onerror=steal()>$
"""

PAGES = (
    Attack("html-in-a-paragraph", "A paragraph is text and Markdown; a page runs nothing.",
           {"q4": MARKDOWN}),
    Attack("html-in-outputs", "Outputs are text and images.",
           tried(f"""
from IPython.display import HTML, Javascript, SVG, Image, IFrame, Markdown, display
text = {HTML!r}
print(text)
display(HTML(text), Javascript("steal()"), IFrame("https://example.org", 1, 1), Markdown(text))
display({{"text/html": text, "image/svg+xml": text, "image/png": text}}, raw=True)
get_ipython().run_cell_magic("html", "", text)
""", RIGHT), says=OVER),
    Attack("html-in-an-exception", "What an exception says is text.",
           {"q1": f"raise type({HTML!r}, (Exception,), {{}})({HTML!r})"}, {"q1": 0.0}),
    Attack("html-in-code", "So is code.", {"q1": f"{RIGHT}\n# {HTML}\nx = {HTML!r}"}),
    Attack("html-in-a-type", "So is the name of a type.",
           {"q1": f"variance = type({HTML[:70]!r}, (), {{}})()"}, {"q1": 0.0}),
    Attack("html-in-added-cells", "So are cells that were added.",
           edited("html-in-added-cells", lambda notebook: notebook["cells"].append(
               {"cell_type": "markdown", "metadata": {}, "source": MARKDOWN}))),
    Attack("escapes-for-terminals", "What steers a terminal or turns writing round is named.",
           tried("print('\\x1b]0;title\\x07\\x1b[2J\\x1b[31mred\\x9b1m \\u202e right to left')\n"
                 "import sys\nsys.stderr.write('\\r\\b\\0')", RIGHT), says="red"),
    Attack("line-breaks-in-messages", "A message cannot write lines into a table.",
           function("raise ValueError('x\\r\\n=cmd|calc!A1,honest-ada,tiny,1000\\r\\n')"),
           {"q2": 0.0}),
    Attack("images-that-are-none", "An image that is no PNG is left out.",
           tried("""
               display({"image/png": "PHNjcmlwdD4="}, raw=True)
               display({"image/png": b"\\x89PNG\\r\\n\\x1a\\n" + b"\\0" * 8 + b"\\xff" * 40},
                       raw=True)
               """, RIGHT), says=OVER),
)  # fmt: skip

ATTACKS = (
    *DOCUMENTS, *IDENTITIES, *PATCHES, *FORGERIES, *HONEST, *MACHINE, *BOMBS, *PROCESSES, *PAGES,
)  # fmt: skip
