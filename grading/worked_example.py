"""Write the worked example of grading: the roster and what its invented students hand in.

The notebooks are made from the source of the first problem set, so that they follow it when it
changes. One student is right, one makes mistakes that students make, one never comes to an end, one
mistypes the student number, one hands in a file that is cut off, and one hands in nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from grading.marking.judging import Judge
from grading.problem_set import SOURCE, ProblemSet, read
from grading.release import worked

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ASSIGNMENT = "problem_set_1"
ROSTER = """\
student_id,lms_id,name,also
s2400001,1001,Ada Example,ada@example.org
s2400002,1002,Bob Example,bob@example.org
s2400003,1003,Cleo Example,cleo@example.org
s2400004,1004,Dan Example,dan@example.org
s2400005,1005,Eve Example,eve@example.org
s2400006,1006,Fay Example,fay@example.org
"""
ADA, BOB, CLEO, DAN, EVE = (f"s240000{i}" for i in range(1, 6))

MISTYPED = "s2400014"  # what Dan typed

WHOLE = """\
With my numbers the divided logits start with the variance {divided:.3g} and the undivided ones
with {undivided:.3g}. The onset of freezing for my row is $2 \\ln n$ = {onset:.3g}, so that the
average undivided row starts {side} it. But that is an onset and no switch, and rows scatter
around it, so neither "every row" nor "frozen" is shown. Variance one would take the divisor
{divisor:.3g}; with $\\sqrt{{d_k}}$ it is not one. What the square root does take out is the
head width. That the variance be one is a choice, which no theory demands.
"""
IN_SHORT = """\
Divided {divided:.3g}, not divided {undivided:.3g}. I compare with $2 \\ln n$ = {onset:.3g}: the
undivided row is {side} the onset, on average and gradually, not each row and not all at once.
The divisor for variance one is {divisor:.3g} and not $\\sqrt{{d_k}}$, so the second sentence is
false here. Right is that $\\sqrt{{d_k}}$ makes the start the same at every head width; the size
that it starts at follows from the weights, and one is nothing special.
"""
NO_CHOICE = """\
The variance is {divided:.3g} with the division and {undivided:.3g} without. As $2 \\ln n$ is
{onset:.3g}, the row without it starts {side} the onset of freezing, on average: it sets in
gradually. To have variance one I would divide by {divisor:.3g}, so with $\\sqrt{{d_k}}$ the
variance is not one.
"""
MISTAKES = {
    "q1": """\
mine = personal_numbers(student_id, "q1")
within = mine["d_k"]  # every component adds one
between = 0
""",
    "q2": """\
mine = personal_numbers(student_id, "q2")
widths = np.arange(1, 65537)
divisors = [1, mine["constant"], np.sqrt(widths) / mine["root"], widths / mine["whole"]]
frozen = np.zeros((4, 2))
for row, divisor in enumerate(divisors):
    beyond = widths[widths / divisor**2 > 2 * np.log(mine["n"])]
    if len(beyond) > 0:
        frozen[row] = beyond[0], beyond[-1]
""",
    "q3": """\
mine = personal_numbers(student_id, "q3")


def positions_behind(scores, divisor):
    keep = scores.shape[-1] - mine["removed"]
    if keep <= 0:
        return np.zeros(scores.shape[:-1])
    weights = np.exp(np.sort(scores)[..., :keep] / divisor)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    order = mine["order"] / 10
    return (weights**order).sum(axis=-1) ** (1 / (1 - order))
""",
    "q5": "It is right, because the variance is one then. Without it softmax saturates.\n",
}
ENDLESS = """\
mine = personal_numbers(student_id, "q2")
frozen = np.zeros((4, 2), dtype=int)
width = 1
while width > 0:  # it should stop at 65536
    if (1 - mine["shared"] / 100) * width > 2 * np.log(mine["n"]):
        frozen[0] = width, 65536
"""


def paragraph(problem_set: ProblemSet, student_id: str, words: str) -> dict[str, str]:
    """Return the answer to the last question with a student's own numbers."""
    mine = Judge.of(problem_set).spaces["q1"]["personal_numbers"](student_id, "q5")
    component = mine["heads"] * mine["d_k"] * (mine["std"] / 1000) ** 2
    undivided, onset = mine["d_k"] * component**2, 2 * math.log(mine["n"])
    answer = words.format(
        divided=component**2,
        undivided=undivided,
        onset=onset,
        side="beyond" if undivided > onset else "short of",
        divisor=math.sqrt(mine["d_k"]) * component,
    )
    return {"q5": answer}


def files() -> dict[str, bytes]:
    """Return the files of the example by their paths in its folder."""
    problem_set = read(SOURCE / ASSIGNMENT / f"{ASSIGNMENT}.ipynb")

    def handed_in(student_id: str, words: str, answers: Mapping[str, str]) -> bytes:
        return worked(
            problem_set, student_id, {**paragraph(problem_set, student_id, words), **answers}
        )

    notebooks = {
        ADA: handed_in(ADA, WHOLE, {}),
        BOB: handed_in(BOB, "", MISTAKES),
        CLEO: handed_in(CLEO, NO_CHOICE, {"q2": ENDLESS}),
        DAN: handed_in(MISTYPED, IN_SHORT, {}),
        EVE: handed_in(EVE, WHOLE, {}),
    }
    notebooks[EVE] = notebooks[EVE][: len(notebooks[EVE]) // 2]
    return {"roster.csv": ROSTER.encode()} | {
        f"submissions/{student}/{ASSIGNMENT}.ipynb": content + b"\n"
        for student, content in notebooks.items()
    }


def write(folder: Path) -> None:
    """Write the example into a folder."""
    for name, content in files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
