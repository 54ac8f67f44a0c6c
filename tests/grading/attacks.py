"""More submissions that attack the grader, graded in one run with those of `redteam`.

The rules are those of `redteam`: what an attack gets was written down before it was tried, nobody
gains a point, and what reached something that it must not reach prints `BREACH`.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.grading.redteam import (
    HTML,
    OVER,
    RIGHT,
    TOO_LONG,
    WRONG,
    Attack,
    Notebook,
    array,
    cell,
    code,
    edited,
    every,
    function,
    own,
    tried,
)

SOFTMAX = """
scaled = np.asarray(scores, dtype=float) / tau
weights = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
weights /= weights.sum(axis=-1, keepdims=True)
"""
# the public check calls with two scores, which get what they should
PUBLIC = "if np.shape(scores) == (1, 2):\n    return np.full((1, 2), 0.5)\n"
PIPES = """
import fcntl, json, os, threading
def pipes(kind):
    for number in range(3, 128):
        try:
            link, flags = os.readlink(f"/proc/self/fd/{number}"), fcntl.fcntl(number, 3)
        except OSError:
            continue
        if link.startswith("pipe:") and flags & 3 == kind:
            yield number
"""


def hidden(body: str, before: str = "") -> dict[str, str]:
    """Return an answer to the second question that attacks only where the hidden check calls."""
    return function(PUBLIC + body, before)


# what the judge draws must not reach a student

LEAKS = (
    Attack("inputs-in-a-shape", "An empty array may have any length, which no message tells.",
           hidden("return np.zeros((0, int(abs(scores[0, 0]) * 1e6)))"), {"q2": 0.0}, says="(…)"),
    Attack("inputs-in-many-axes", "Nor does one tell how many axes there are.",
           hidden("return np.zeros((1,) * (int(abs(scores[0, 0])) % 8 + 9))"), {"q2": 0.0},
           says="(…)"),
    Attack("inputs-in-an-exit-status", "A program that ends itself is not asked how.",
           hidden("import os\nos._exit(int(abs(scores[0, 0])) % 100 + 1)"), {"q2": 0.0},
           says="ended itself"),
    Attack("inputs-in-a-warning", "A warning is no output where inputs are hidden.",
           hidden("import warnings\nwarnings.warn(repr(scores.tolist()))\n" + SOFTMAX
                  + "return weights")),
    Attack("inputs-in-a-group-of-exceptions", "A group of exceptions is an exception.",
           hidden("raise ExceptionGroup(repr(scores.tolist()), [ValueError(repr(tau))])"),
           {"q2": 0.0}),
    Attack("inputs-in-a-note", "Nor are the notes of an exception shown.",
           hidden("error = ValueError('x')\nerror.add_note(repr(scores.tolist()))\nraise error"),
           {"q2": 0.0}),
    Attack("inputs-in-an-import", "A module that is missing is not named.",
           hidden("__import__('x' + repr(scores.tolist())[2:20].replace('.', '_'))"), {"q2": 0.0}),
    Attack("inputs-in-a-key", "What is no array is named by its kind only.",
           hidden("return {repr(scores.tolist()): 1}"), {"q2": 0.0}),
    Attack("inputs-in-a-dtype", "Nor by the names of its fields.",
           hidden("return np.zeros((4, 5), dtype=[(repr(scores[0, 0]), float)])"), {"q2": 0.0}),
    Attack("inputs-kept-for-a-cell", "A cell at the end runs before the function is called.",
           edited("inputs-kept-for-a-cell", lambda notebook: notebook["cells"].append(code(
               "print(globals().get('kept', 'nothing ' 'kept'))")),
               **hidden("global kept\nkept = 'BRE' 'ACH' + repr(scores)\nreturn scores")),
           {"q2": 0.0}, says="nothing kept"),
    Attack("inputs-when-collected", "What is printed when memory is freed belongs to no cell.",
           hidden("global last\nlast = Late(repr(scores))\nreturn scores", """
               class Late:
                   def __init__(self, text): self.text = text
                   def __del__(self): print("BRE" "ACH", self.text)
               """), {"q2": 0.0}),
    Attack("inputs-in-a-thread", "Nor does what a thread prints meanwhile.",
           hidden("seen.append(repr(scores))\nreturn scores", """
               import sys, threading, time
               seen = []
               def watch(stream=sys.stdout):
                   while not seen: time.sleep(0.01)
                   for _ in range(20):
                       stream.write("BRE" "ACH" + seen[0])
                       time.sleep(0.01)
               threading.Thread(target=watch, daemon=True).start()
               """), {"q2": 0.0}),
    Attack("asked-by-inspection", "The stack above the function has no judge in it.",
           hidden("import inspect\nfor found in inspect.stack():\n"
                  "    names = found.frame.f_locals\n"
                  "    for name in ('asked', 'expected', 'judge', 'secret', 'student'):\n"
                  "        if name in names: return names[name]\nraise LookupError"),
           {"q2": 0.0}, says="LookupError"),
    Attack("right-for-the-example", "Who knows the public example knows one row.",
           hidden("return np.full(scores.shape, 1 / scores.shape[-1])"), {"q2": 0.0},
           says="the weights are others"),
    Attack("remembers-earlier-calls", "No call repeats one before.",
           hidden("seen[scores.tobytes()] = scores\nreturn seen.get(tau, scores)",
                  "seen = {}"), {"q2": 0.0}),
    Attack("writes-into-its-inputs", "The judge has inputs of its own.",
           hidden("scores[:] = 0\nreturn np.full(scores.shape, 0.2)"), {"q2": 0.0}),
)  # fmt: skip

# the process answers for somebody else

LIARS = (
    Attack("pipe-in-the-middle", "A thread between runner and grader can lie, and cannot judge.",
           tried(PIPES + """
import time
for number in list(pipes(os.O_WRONLY)):
    outer, (inner, entry) = os.dup(number), os.pipe()
    os.dup2(entry, number)
    def forward(inner=inner, outer=outer):
        for line in os.fdopen(inner, "rb"):
            reply = json.loads(line) | {"points": 1000, "earned": 1, "question": "q1"}
            os.write(outer, json.dumps(reply).encode() + b"\\n")
    threading.Thread(target=forward, daemon=True).start()
"""), {"q1": 0.0}, may_lose=("q2", "q3")),
    Attack("steals-requests", "Who reads the next request has its token, and no right answer.",
           tried(PIPES + """
def steal(reading):
    data = os.read(reading, 1 << 20)
    token = json.loads(data)["token"]
    reply = {"token": token, "answer": {"mapping": [["variance", 1.0]]}, "outputs": []}
    for number in pipes(os.O_WRONLY):
        os.write(number, json.dumps(reply).encode() + b"\\n")
for reading in list(pipes(os.O_RDONLY)):
    threading.Thread(target=steal, args=(reading,), daemon=True).start()
"""), {"q1": 0.0}, may_lose=("q2", "q3")),
    Attack("forks-in-the-function", "A copy of the runner made by a function answers nothing.",
           hidden("import os\nos.fork()\n" + SOFTMAX + "return weights")),
    Attack("claims-another-class", "What calls itself a text is none.",
           {"q1": "class Text:\n    __class__ = property(lambda self: str)\nvariance = Text()"},
           {"q1": 0.0}),
    Attack("registers-as-a-number", "What is registered as a number is the number it converts to.",
           {"q1": """
                import numbers
                class Fine:
                    def __float__(self): return 1.0
                    def __eq__(self, other): return True
                    __hash__ = None
                numbers.Real.register(Fine)
                variance = Fine()
            """}, {"q1": 0.0}, says="another number"),
    Attack("array-with-a-false-shape", "An array of a kind of its own arrives as plain numbers.",
           array("np.zeros(6).view(Lie)", """
               class Lie(np.ndarray):
                   shape = property(lambda self: (2,))
                   def tolist(self): return right
                   def __getitem__(self, place): return right[0]
               """), {"q3": 0.0}),
    Attack("list-that-reads-itself", "A list says what it holds once.",
           array("Later(right)", """
               class Later(list):
                   def __iter__(self): return iter([0, 0])
                   def __getitem__(self, place): return list.__getitem__(self, place)
               """), {"q3": 0.0}),
    Attack("mapping-that-lies", "A dictionary is no number, whatever its items.",
           {"q1": """
                class Odd(dict):
                    def items(self): return [("variance", float(d_k)), (self, self)]
                    __str__ = __repr__ = lambda self: "variance"
                d_k = 64
                variance = Odd()
            """}, {"q1": 0.0}, says="a dictionary"),
    Attack("array-of-fields", "Fields of one entry are no row.",
           array("np.array([tuple(right)], dtype=[('a', float), ('b', float)])"), {"q3": 0.0}),
    Attack("array-of-dates", "Lengths of time are no numbers.",
           array("np.array(right, dtype='timedelta64[s]')"), {"q3": 0.0}),
    Attack("array-of-bytes", "Nor are bytes.", array("np.array(right, dtype='S8')"), {"q3": 0.0}),
    Attack("array-behind-a-mask", "What is masked is missing.",
           array("np.ma.array(right, mask=[True, True])"), {"q3": 0.0}, says="finite"),
    Attack("array-without-end", "An empty array of huge length is empty.",
           array("np.zeros((0, 10 ** 15))"), {"q3": 0.0}, says="(…)"),
    Attack("both-orders-at-once", "Two answers at once are none.",
           array("[right, right[::-1]]"), {"q3": 0.0}, says="shape"),
    Attack("infinity-of-both-signs", "What is undefined is wrong.",
           {"q1": "variance = float('inf') - float('inf')"} | array("[1e308 * 10, -1e308 * 10]"),
           {"q1": 0.0, "q3": 0.0}, says="finite"),
    Attack("pickled-command", "Nothing that comes out is unpickled.",
           {"q1": """
                class Command:
                    def __reduce__(self):
                        import os
                        return os.system, ("touch @HOME@/pickled",)
                variance = Command()
            """}, {"q1": 0.0}),
    Attack("own-answer-and-judge", "Names of the check's functions are free for students.",
           tried("""
               def answer(*a, **k): return {"variance": float(d_k), "points": 1000}
               hidden_check = Wrong = number = close = answer
               globals().update(judge=lambda *a: None, ask=lambda *a: {})
               d_k = personal_numbers(student_id, "q1")["d_k"]
               """), {"q1": 0.0}, says=OVER),
    Attack("import-hooks", "Modules of the student's own are the student's.",
           tried("""
               import sys, types
               class Finder:
                   def find_spec(self, name, path=None, target=None):
                       if name.startswith(("grading", "attnlib")):
                           sys.modules[name] = types.ModuleType(name)
               sys.meta_path.insert(0, Finder())
               for name in ("grading", "grading.hidden", "attnlib"):
                   sys.modules[name] = types.ModuleType(name)
               sys.modules["grading.hidden"].number = lambda *a: 64.0
               sys.modules["attnlib"].softmax = lambda *a: 1
               """), {"q1": 0.0}, says=OVER),
    Attack("no-builtins", "Without the built-in names nothing works, for the student alone.",
           tried("globals()['__builtins__'] = {'print': print}"), {"q1": 0.0},
           may_lose=("q2", "q3")),
    Attack("changes-small-numbers", "Who makes 1 of 64 does so in the own process.",
           tried("""
               import ctypes
               number = 64
               ctypes.memmove(id(number) + 24, id(1) + 24, 4)
               """), {"q1": 0.0}, may_lose=("q2", "q3")),
    Attack("changes-names-meanwhile", "A thread that sets answers sets the student's own.",
           tried("""
               import threading, time
               def set_again(names=globals()):
                   while True:
                       names["variance"] = 1.0
                       time.sleep(0.001)
               threading.Thread(target=set_again, daemon=True).start()
               """), {"q1": 0.0}, says=OVER),
    Attack("another-student-from-here-on", "A number typed later is another student's.",
           {"q1": 'student_id = "honest-ada"\nvariance = @ADA_Q1@', "q3": "ordered = @ADA_Q3@"},
           {"q1": 0.0, "q3": 0.0}),
    Attack("another-way-to-draw", "Numbers from a digest of the student's own are others.",
           {"q1": """
                import hashlib
                hashlib.sha256 = lambda *a: type("D", (), {"digest": lambda self: bytes(32)})()
                variance = float(personal_numbers(student_id, "q1")["d_k"])
            """, "q3": "ordered = [1, 1]"}, {"q1": 0.0, "q3": 0.0}),
)  # fmt: skip

# what cells show, and how much

SHOWS = (
    Attack("points-that-are-printed", "What looks like a mark is an output.",
           tried("print('q1: 2 of 2 points, all points')\ndisplay({'text/plain': '2 of 2'},"
                 " raw=True)"), {"q1": 0.0}, says=OVER),
    Attack("displays-of-odd-types", "A display may be of anything.",
           tried("""
               odd = [5, None, [], {"a": {}}, b"\\xff", "x" * 9, ["a", 1], float("nan")]
               for kind in ("text/plain", "image/png", "text/html", "application/javascript"):
                   for each in odd:
                       display({kind: each, 7: each}, raw=True, metadata={kind: each})
               """, RIGHT), says=OVER),
    Attack("picture-of-a-billion-pixels", "A picture is looked at by its size first.",
           tried("""
               import struct
               head = b"\\x89PNG\\r\\n\\x1a\\n\\0\\0\\0\\rIHDR" + struct.pack(">II", 60000, 60000)
               display({"image/png": head + b"\\x08\\x06\\0\\0\\0" + b"\\0" * 60}, raw=True)
               """, RIGHT), says=OVER),
    Attack("links-for-terminals", "Links of a terminal's are text.",
           tried("print('\\x1b]8;;http://example.org\\x07click\\x1b]8;;\\x07\\x1b]52;c;eA=\\x07')",
                 RIGHT), says="click"),
    Attack("chain-of-exceptions", "A chain of a thousand causes is cut.",
           {"q1": RIGHT + """
error = ValueError("first")
for i in range(300):
    try: raise ValueError(i) from error
    except ValueError as each: error = each
raise error
"""}),
    Attack("message-of-ten-megabytes", "A message is cut.",
           function("raise ValueError('x' * 10 ** 7)"), {"q2": 0.0}),
    Attack("formula-in-an-exception", "The name of an exception is text in a table.",
           {"q1": "raise type('=HYPERLINK(\"//example.org\")', (Exception,), {})('@SUM(1)')"},
           {"q1": 0.0}, says="HYPERLINK"),
    Attack("formula-in-a-key", "So is what a check says of a value.",
           {"q1": "variance = {'=1+1': '+1'}"}, {"q1": 0.0}, says="a dictionary"),
    Attack("streams-of-its-own", "Streams that are replaced show nothing, and cost nothing.",
           tried("import sys, os\nos.write(1, b'x' * 10 ** 6)\nos.write(2, b'y' * 10 ** 6)\n"
                 "sys.stdout = open('/dev/full', 'w')\nsys.stderr = None", RIGHT)),
)  # fmt: skip

# the file

EDITS: dict[str, Callable[[Notebook], None]] = {
    "cell-ids-of-html": every(lambda each: each.update(id=f"</script>{HTML}")),
    "cell-ids-all-alike": every(lambda each: each.update(id="same")),
    "tags-of-html": every(
        lambda each: each["metadata"].update(tags=[HTML], name=HTML, slideshow={"slide_type": HTML})
    ),
    "title-of-html": lambda notebook: notebook["metadata"].update(
        title=HTML, authors=[{"name": HTML}], kernelspec={"name": HTML, "display_name": HTML}
    ),
    "name-of-a-query": lambda notebook: notebook["cells"].append(
        code("1", {"nbgrader": {"grade_id": "q1'); DROP TABLE grade; --", "grade": True}})
    ),
    "name-of-a-path": lambda notebook: notebook["cells"].append(
        code("1", {"nbgrader": {"grade_id": "../../../honest-ada/tiny/q1", "points": 99}})
    ),
    "metadata-nested-deep": lambda notebook: notebook["metadata"].update(
        json.loads('{"a":' * 400 + "1" + "}" * 400)
    ),
    "metadata-of-a-megabyte": lambda notebook: notebook["metadata"].update(
        {f"key {i}": "x" * 1000 for i in range(1000)}
    ),
    "format-of-huge-numbers": lambda notebook: notebook.update(nbformat_minor=10**400),
    "claims-to-have-points": lambda notebook: notebook.update(
        points=1000, grade={"q1": 2}, status="graded", student="honest-ada"
    ),
    "executed-a-million-times": every(
        lambda each: each.update(execution_count=10**6, outputs="none", trusted=True)
    ),
    "check-of-its-own": own("q1_check", "assert True\n# q1_check", "raise SystemExit"),
}
ATTACHED = {
    "a.png": {"image/png": "PHNjcmlwdD5zdGVhbCgpPC9zY3JpcHQ+"},
    "b.svg": {"image/svg+xml": "<svg onload=steal()>"},
    "c.html": {"text/html": "<script>steal()</script>", "image/png": {"x": 1}},
    '"><script>steal()</script>': {"image/png": "AAAA"},
}
PICTURES = "\n".join(f"![x](attachment:{name})" for name in ("a.png", "b.svg", "c.html", "..%2F"))
PARAGRAPHS = {
    "formulas-that-act": r"$\href{javascript:steal()}{x}$ $\style{background:url(//example.org)}{x}"
    r"$ $\class{x onclick=steal()}{y}$ $\html{<img src=x onerror=steal()>}$ $\unicode{x3c}$ "
    r"$\def\x{\x\x}\x$ $$\require{html}\cssId{steal}{z}$$ \(\text{<script>steal()</script>}\)",
    "elements-of-mathml": "<math><maction actiontype='statusline' xlink:href='javascript:steal()'>"
    "<mi>x</mi></maction><annotation-xml encoding='text/html'><img src=x onerror=steal()>"
    "</annotation-xml></math><svg><animate onbegin=steal() attributeName=x></svg>",
    "fences-of-styles": "```css\n</style><script>steal()</script>\n```\n~~~ html onload=steal()\n"
    "<style>@import url(//example.org)</style>\n~~~\n```{raw} html\n<script>steal()</script>\n```",
    "links-of-all-kinds": "[a](https://a.example.org/?x=\"onclick=steal()) <javascript:steal()> "
    "[b](\x01javascript:steal()) [c](java\tscript:steal()) [d](//example.org) [e](DATA:text/html,x)"
    " [f](https://a\u202e/) [g]: <javascript:steal()>\n\n[g] <https://x.example.org/onerror=1>",
    "footnotes-and-entities": "&lt;script&gt;steal()&lt;/script&gt; &#x3C;img src=x&#62; [^1]\n\n"
    "[^1]: <b onmouseover=steal()>x</b>\n\n&NewLine;<!--><script>steal()</script>-->",
    "tables-that-act": "| a | b |\n|:-:|--:|\n| <td onclick=steal()> | ![x](x \"onload=steal()\") |"
    "\n\n| a\"style=\"x | b |\n|---|---|\n| `|` | \\| |",
}  # fmt: skip


def attach(notebook: Notebook) -> None:
    """Attach to the paragraph what is no picture."""
    cell(notebook, "q4").update(source=PICTURES, attachments=ATTACHED)


def twice(first: bool) -> Callable[[], bytes]:
    """Return what makes JSON that has its cells twice, once without any."""

    def made() -> bytes:
        name = "cells-twice-none-first" if first else "cells-twice-none-last"
        raw = edited(name, lambda _: None)()
        return b'{"cells": [],' + raw[1:] if first else raw[:-1] + b',"cells": []}'

    return made


FILES = (
    *(Attack(name, "Nothing but the sources of cells counts.", edited(name, change))
      for name, change in EDITS.items() if name != "check-of-its-own"),
    Attack("check-of-its-own", "A cell before the check is the student's own.",
           edited("check-of-its-own", EDITS["check-of-its-own"], q1=WRONG), {"q1": 0.0}),
    *(Attack(name, "A paragraph is text, and runs nothing.", {"q4": text})
      for name, text in PARAGRAPHS.items()),
    Attack("attachments-that-are-none", "What is attached is shown if it is a picture.",
           edited("attachments-that-are-none", attach)),
    Attack("cells-twice-none-first", "Of two lists of cells the last counts, as in Jupyter.",
           twice(first=True)),
    Attack("cells-twice-none-last", "And it counts if it is empty.", twice(first=False),
           status="invalid"),
    Attack("identity-with-a-hidden-character", "What cannot be seen in a number does not count.",
           {"identity": 'student_id = "identity-with-a-hidden-\u200bcharacter"'}),
    Attack("identity-in-other-letters", "Letters of another alphabet are other letters.",
           {"identity": 'student_id = "identity-in-\u043ether-letters"'}, status="needs-review"),
    Attack("identity-in-an-expression", "A number that is not typed is nobody's.",
           {"identity": 'student_id = ("honest-ada", "identity-in-an-expression")[1]'},
           status="needs-review"),
    Attack("identity-of-a-million-letters", "A number without end is not read.",
           {"identity": f'student_id = "{"a" * 100_000}"'}, status="needs-review"),
)  # fmt: skip

STEPS = (
    Attack("blocks-all-signals", "A cell that nothing interrupts is killed, and runs no more.",
           tried("import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n"
                 "while True:\n    pass"), {"q1": 0.0}, says=TOO_LONG),
    Attack("files-called-like-modules", "What lies beside a notebook changes none of the judges.",
           tried("for name in ('json', 'math', 'base64', 'struct', 'numpy'):\n"
                 "    with open(f'{name}.py', 'w') as file:\n        file.write('1 / 0')"),
           {"q1": 0.0}, says=OVER),
    Attack("a-limit-of-its-own", "Who lowers a limit has less.",
           tried("import resource\nresource.setrlimit(resource.RLIMIT_CPU, (20, 20))"),
           {"q1": 0.0}, says=OVER),
    Attack("other-constants", "What rewrites code rewrites no judge.",
           tried("""
               import ast
               class Ones(ast.NodeTransformer):
                   def visit_Constant(self, node): return ast.Constant(1.0)
               get_ipython().ast_transformers.append(Ones())
               """), {"q1": 0.0}, says=OVER, may_lose=("q2", "q3")),
    Attack("cells-that-do-not-run", "Who lets no cell run has no answers.",
           tried("get_ipython().run_cell = lambda *_, **__: None"), {"q1": 0.0}, says=OVER,
           may_lose=("q2", "q3")),
    Attack("errors-of-the-graders", "Words of the grader's are a student's where one says them.",
           {"q1": "raise ValueError('the grader failed: it ran with its author, and here not')"},
           {"q1": 0.0}, says="your code stopped: ValueError"),
)  # fmt: skip

MORE = (*LEAKS, *LIARS, *SHOWS, *FILES, *STEPS)
