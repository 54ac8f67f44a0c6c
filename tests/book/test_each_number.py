"""Every number in the text is computed by the kernel of its notebook, and a wrong one is noticed.

The kernels are those of the build. `test_nbval.py` compares the numbers with what is computed now.
"""

from __future__ import annotations

import pytest

from book import numbers
from book.numbers import Notebook, Values, problems
from book.reader_notebooks import ForReader
from book.reader_session import is_part
from tests.book.building import BuildResult
from tests.book.notebooks import BOOK, NOTEBOOKS, ROOT, read
from tests.book.test_numbers import unnoticed_numerals, unnoticed_values


@pytest.fixture(scope="module")
def values(request: pytest.FixtureRequest, build_result: BuildResult) -> Values:
    """Return what the kernels of the build made of one notebook's bindings."""
    assert build_result.status == 0, "the book does not build, so there are no numbers to compare"
    return numbers.computed(ROOT / request.param, ROOT)


@pytest.mark.parametrize(("name", "values"), [(n, n) for n in NOTEBOOKS], indirect=["values"])
class TestEachNotebook:
    def test_readers_are_told_of_no_change_and_of_every_change(
        self, name: str, values: Values
    ) -> None:
        notebook = Notebook(read(name))
        told = [pair for one in notebook.passages for pair in ForReader(BOOK).entries(one)]
        assert [binding for binding, _ in told] == notebook.bindings
        for binding, entry in told:
            value = numbers.numbers(values[binding])
            assert is_part(value, entry["numbers"]), binding.template
            assert not is_part([*value[:-1], "9.87"], entry["numbers"])

    @pytest.mark.proof("numerals")
    def test_every_altered_numeral_is_noticed(self, name: str, values: Values) -> None:
        found = problems(Notebook(read(name)), values)
        assert not found, "\n".join(map(str, found))
        assert not list(unnoticed_numerals(read(name), values))

    @pytest.mark.proof("numerals")
    def test_every_expression_that_gives_another_number_is_noticed(
        self, name: str, values: Values
    ) -> None:
        assert not list(unnoticed_values(read(name), values))
