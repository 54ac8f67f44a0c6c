"""Formulas of TeX as MathML: that they come out right, and that nothing else comes out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, fromstring

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grading.reports import formulas
from grading.reports.formulas import mathml

SOURCES = sorted((Path(__file__).parents[2] / "grading" / "source").glob("*/*.ipynb"))
BETWEEN_DOLLARS = re.compile(r"\$([^$\n]+)\$")
ELEMENTS = {
    *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "msup", "msub", "msubsup", "munder"),
    *("mover", "munderover", "mfrac", "msqrt", "mroot", "mtable", "mtr", "mtd", "mstyle"),
    "mphantom",
}
ATTRIBUTES = {
    *("display", "class", "mathvariant", "form", "columnalign", "linethickness", "scriptlevel"),
    *("stretchy", "fence", "accent", "movablelimits", "displaystyle", "lspace", "rspace"),
    *("width", "minsize", "maxsize"),
}


def written() -> list[str]:
    """Return the formulas of both problem sets, of the statements and of the model answers."""
    texts = [
        cell.source
        for path in SOURCES
        for cell in nbformat.read(path, 4).cells
        if cell.cell_type == "markdown"
    ]
    return sorted({tex for text in texts for tex in BETWEEN_DOLLARS.findall(text)})


def inner(tex: str, *, display: bool = False) -> str:
    """Return what is in the outermost row of a formula."""
    found = mathml(tex, display=display)
    assert found is not None, tex
    start = '<math display="block"><mrow>' if display else "<math><mrow>"
    assert found.startswith(start)
    return str(found).removeprefix(start).removesuffix("</mrow></math>")


def tree(tex: str) -> Element:
    return fromstring(mathml(tex))  # noqa: S314, made of known elements


def harm(found: str | None) -> list[str]:
    """List what has no place in a formula."""
    if found is None:
        return []
    parts = list(fromstring(found).iter())  # noqa: S314, what cannot be parsed is a finding, too
    wrong = [each.tag for each in parts if each.tag not in ELEMENTS]
    wrong += [name for each in parts for name in each.attrib if name not in ATTRIBUTES]
    values = [value for each in parts for value in each.attrib.values()]
    return wrong + [value for value in values if not re.fullmatch(r"[a-z]+|-?[\d.]+(em)?", value)]


class TestWhatIsSet:
    def test_there_are_formulas_in_both_problem_sets(self) -> None:
        assert len(SOURCES) == 2
        assert len(written()) > 50

    @pytest.mark.parametrize("display", [False, True])
    def test_each_formula_of_the_problem_sets_is_set(self, display: bool) -> None:
        assert [tex for tex in written() if mathml(tex, display=display) is None] == []

    def test_each_says_what_its_source_says(self) -> None:
        # letters and digits in their order, which indices and fractions do not change here
        said = {tex: "".join(tree(tex).itertext()) for tex in written()}
        for tex, text in said.items():
            spelled = re.sub(r"\\(ln|exp|tanh)\b", r" \1", re.sub(r"\\(text|mathrm)\b", "", tex))
            plain = re.sub(r"\\[A-Za-z]+", "", spelled)
            assert re.sub(r"[^A-Za-z0-9]", "", text) == re.sub(r"[^A-Za-z0-9]", "", plain)
            assert "\\" not in text

    @pytest.mark.parametrize(
        ("tex", "wanted"),
        [
            (r"\sqrt{d_k}", "<msqrt><mrow><msub><mi>d</mi><mi>k</mi></msub></mrow></msqrt>"),
            (r"d_{\text{model}}", "<msub><mi>d</mi><mrow><mtext>model</mtext></mrow></msub>"),
            (r"\eta\propto\tau", "<mi>η</mi><mo>∝</mo><mi>τ</mi>"),
            (r"W_q^\top", "<msubsup><mi>W</mi><mi>q</mi><mi>⊤</mi></msubsup>"),
            (r"\partial L", "<mi>∂</mi><mi>L</mi>"),
            (r"\frac12", "<mfrac><mn>1</mn><mn>2</mn></mfrac>"),
            (r"a < b", "<mi>a</mi><mo>&lt;</mo><mi>b</mi>"),
            (r"a\not\in b", "<mi>a</mi><mo>∉</mo><mi>b</mi>"),
            (r"\sim\perp", "<mo>∼</mo><mo>⟂</mo>"),
            (r"a:b;", "<mi>a</mi><mo>:</mo><mi>b</mi><mo>;</mo>"),
            (r"f'", "<msup><mi>f</mi><mi>′</mi></msup>"),
            (r"2\,\%", '<mn>2</mn><mspace width="0.167em"></mspace><mi>%</mi>'),
            (r"\text{5 \% \& more}", "<mtext>5\u00a0%\u00a0&amp;\u00a0more</mtext>"),
            (r"\mathbb{R}\mathcal{L}", "<mi>ℝ</mi><mi>ℒ</mi>"),
            (r"\hat{x}", '<mover accent="true"><mrow><mi>x</mi></mrow><mo>^</mo></mover>'),
            (r"\overline{ab}", '<mrow class="overline"><mrow><mi>a</mi><mi>b</mi></mrow></mrow>'),
            (r"\underline{a}", '<mrow class="underline"><mrow><mi>a</mi></mrow></mrow>'),
            (
                r"\begin{matrix}a\\[2pt]b\end{matrix}",
                "<mtable><mtr><mtd><mi>a</mi></mtd></mtr><mtr><mtd><mi>b</mi></mtd></mtr></mtable>",
            ),
            ("_2", "<msub><mi></mi><mn>2</mn></msub>"),
        ],
    )
    def test_a_formula_becomes_its_elements(self, tex: str, wanted: str) -> None:
        assert inner(tex) == wanted

    @pytest.mark.parametrize(
        ("tex", "text"),
        [
            (r"\mathbf{ab}", "𝐚𝐛"),
            (r"\mathbf{1}", "𝟏"),
            (r"\bm{x}", "𝒙"),
            (r"\boldsymbol{\mu}", "𝝁"),
            (r"\mathcal{LA}", "ℒ𝒜"),
            (r"\mathfrak{Ca}", "ℭ𝔞"),
            (r"\mathbb{RA}", "ℝ𝔸"),
            (r"\textbf{so!}", "𝐬𝐨!"),
            (r"\mathtt{ab}", "𝚊𝚋"),
            (r"\mathfrak{12}", "12"),
        ],
    )
    def test_letters_of_a_style_are_characters_of_their_own(self, tex: str, text: str) -> None:
        # browsers know no other style than the upright one
        assert "".join(tree(tex).itertext()) == text
        assert "mathvariant" not in mathml(tex)

    def test_upright_letters_are_one_word(self) -> None:
        assert inner(r"\mathrm{Var}(q)") == (
            '<mrow><mi mathvariant="normal">Var</mi></mrow>'
            '<mo stretchy="false">(</mo><mi>q</mi><mo stretchy="false">)</mo>'
        )
        assert '<mi mathvariant="normal">d</mi>' in inner(r"\mathrm{d}x")

    @pytest.mark.parametrize(
        ("tex", "before", "after"),
        [
            (r"\ln n", "0em", "0.167em"),
            (r"2\ln n", "0.167em", "0.167em"),
            (r"\exp(x)", "0em", "0em"),
            (r"\kappa\tanh(s)", "0.167em", "0em"),
            (r"-\ln p", "0em", "0.167em"),
            (r"(\ln 3, 0)", "0em", "0.167em"),
            (r"(a)\ln x", "0.167em", "0.167em"),
            (r"\log|x|", "0em", "0.167em"),
            (r"\operatorname{Var} X", "0em", "0.167em"),
            (r"\operatorname{Var}", "0em", "0em"),
        ],
    )
    def test_a_name_is_set_off_from_what_it_is_applied_to(
        self, tex: str, before: str, after: str
    ) -> None:
        assert f'<mo lspace="{before}" rspace="{after}">' in inner(tex)

    @pytest.mark.parametrize(
        ("tex", "form"),
        [
            ("-a", "prefix"),
            ("a-b", "infix"),
            ("[1, 0, -3]", "prefix"),
            ("(-a)", "prefix"),
            (r"a\,-b", "infix"),
            ("a=-b", "prefix"),
            ("(a)-b", "infix"),
            ("x^2-b", "infix"),
            ("|-a|", "prefix"),
            ("|a|-b", "infix"),
            (r"\exp-a", "prefix"),
            (r"\cdots-b", "infix"),
        ],
    )
    def test_a_sign_is_told_from_a_difference(self, tex: str, form: str) -> None:
        assert re.findall(r'<mo form="(\w+)">−</mo>', inner(tex)) == [form]

    @pytest.mark.parametrize("tex", [r"\lVert q\rVert", r"\|q\|", r"|q|", r"\lvert q\rvert"])
    def test_bars_are_close(self, tex: str) -> None:
        bars = [each for each in tree(tex).iter("mo") if each.text in "|‖"]
        assert [(each.get("lspace"), each.get("rspace")) for each in bars] == [("0em", "0em")] * 2
        assert {each.get("stretchy") for each in bars} == {"false"}

    def test_indices_of_sums_and_limits_go_below_where_there_is_room(self) -> None:
        assert inner(r"\max_i x").startswith('<munder><mo movablelimits="true"')
        assert inner(r"\sum_i^n x", display=True).startswith("<munderover><mo>∑")
        assert inner(r"\sum_i^n x").startswith('<munderover><mo movablelimits="true">∑')
        assert inner(r"x_i^n").startswith("<msubsup>")

    def test_a_bracket_with_an_index_is_as_large_as_its_partner(self) -> None:
        text = inner(r"\bigl\{x\bigr\}^2")
        sizes = 'minsize="1.2em" maxsize="1.2em"'
        assert text.count(sizes) == 2
        assert f'<msup><mrow><mo stretchy="true" fence="true" {sizes}>}}</mo></mrow><mn>' in text

    @pytest.mark.parametrize(
        "name", ["matrix", "pmatrix", "bmatrix", "cases", "align", "align*", "aligned", "split"]
    )
    def test_an_environment_is_a_table(self, name: str) -> None:
        text = inner(rf"\begin{{{name}}} a & b \\ c & d \end{{{name}}}", display=True)
        assert (text.count("<mtr>"), text.count("<mtd")) == (2, 4)
        assert "(1)" not in text

    def test_a_brace_without_partner_is_empty(self) -> None:
        assert '<mo stretchy="true" fence="true" form="prefix"></mo>' in inner(r"\left. x \right|")


HOSTILE = [
    r"\href{javascript:alert(1)}{x}",
    r"\href{https://evil.example}{x}",
    r"\url{javascript:alert(1)}",
    r"\class{back}{x}",
    r"\style{position:fixed;top:0}{x}",
    r"\style{background:url(https://evil.example/x)}{x}",
    r"\cssId{marks}{x}",
    r"\data{x=1}{x}",
    r"\require{html}x",
    r"\color{red}{x}",
    r"\textcolor{red\" onclick=\"alert(1)}{x}",
    r"\colorbox{red}{x}",
    r"\fcolorbox{red}{blue}{x}",
    r"\unicode{x202e}",
    r"\unicode{0}",
    r"\text{&#x202e;}",
    r"\text{&#60;script&#62;}",
    r"\verb|<script>|",
    r"\hspace{-50em}x",
    r"\kern-500pt x",
    r"\raise 50em x",
    r"\rule{500em}{500em}",
    r"\llap{4 of 4}",
    r"\mathrlap{x}",
    r"\smash{x}",
    r"\Huge x",
    r"\includegraphics{https://evil.example/x.png}",
    r"\input{/etc/passwd}",
    r"\write18{id}",
    r"\newcommand{\a}{\href{javascript:alert(1)}{x}}\a",
    r"\def\a{\a}\a",
    r"\def\a{xx}\def\b{\a\a}\def\c{\b\b}\c",
    r"\DeclareMathOperator{\a}{x}\a",
    r"\newenvironment{a}{x}{y}\begin{a}\end{a}",
    r"\begin{href}x\end{href}",
    r"\begin{a}x\end{b}",
    r"\begin{matrix} a",
    r"\sideset{_a}{_b}{\sideset{_a}{_b}{x}}",
    r"\toggle{a}{b}\endtoggle",
    r"\mathchoice{a}{b}{c}{d}",
    r"\phantom{hidden}",
    r"\foo",
    r"\sqrrt{2}",
    "\\",
    "{",
    "}",
    "}{",
    r"\text{a {b} c}}",
    r"\frac{a}",
    r"\frac",
    r"\sqrt",
    r"\left(",
    r"\right)",
    r"a^b^c",
    "a_b_c",
    r"a & b",
    r"\text{\bf x}",
    r"\operatorname{arg\,max}",
    r"\bigl\frac",
    "",
    " \n",
    "{" * 10_000 + "x" + "}" * 10_000,
    "{" * 900 + "x" + "}" * 900,
    r"\sqrt" * 300 + "x",
    r"\hat" * 400 + "x",
    "x^{" * 60 + "x" + "}" * 60,
    r"\left(" * 150 + "x" + r"\right)" * 150,
    "x" * 100_000,
    r"\frac{a}{b}" * 10_000,
    r"\begin{matrix}" * 60 + r"\end{matrix}" * 60,
]
SLIPPED = [
    "<script>alert(1)</script>",
    "</math><script>alert(1)</script>",
    r"\text{<script>alert(1)</script>}",
    r"\text{</mtext></math><img src=x onerror=alert(1)>}",
    r"\mbox{<img src=x onerror=alert(1)>}",
    r"\textbf{<svg onload=alert(1)>}",
    r"\text{&lt;script&gt;}",
    r"\text{<!--}",
    r"\text{<![CDATA[<script>]]>}",
    r"\text{\" onmouseover=\"alert(1)}".replace('\\"', '"'),
    r"\left< x \right>",
    r"\bigl< x",
    r"<mglyph><style><!--</style><img title='--><img src onerror=alert(1)>'>",
    r"\text{<annotation-xml encoding='text/html'><script>alert(1)</script></annotation-xml>}",
    r"\operatorname{javascript}:alert(1)",
    "x % <script>",
]


class TestStrangers:
    @pytest.mark.parametrize("tex", HOSTILE, ids=lambda tex: ascii(tex)[:40])
    @pytest.mark.parametrize("display", [False, True])
    def test_what_is_not_known_is_not_set(self, tex: str, display: bool) -> None:
        assert mathml(tex, display=display) is None

    @pytest.mark.parametrize("tex", SLIPPED)
    def test_what_looks_like_elements_is_text(self, tex: str) -> None:
        found = mathml(tex)
        assert found is not None
        assert harm(found) == []
        assert "<script" not in found
        assert "<img" not in found

    @settings(max_examples=300, deadline=None)
    @given(
        st.lists(
            st.sampled_from(
                [
                    *(f"\\{name} " for name in sorted(formulas.COMMANDS)),
                    *("{", "}", "{a}", "{b}", "_", "^", "'", "[", "]", "&", r"\\", r"\{", "|", "<"),
                    *(r"\begin{cases}", r"\end{cases}", r"\begin{array}{lc}", r"\end{array}"),
                    *(r"\left(", r"\right)", r"\text{<b>", r"\alpha", "2em", "%", "\n", "\0"),
                    *(r"\def", r"\href", "\u202e", "\ud800", '"', "δ", "~", r"\not", "#1"),
                ]
            ),
            max_size=25,
        ).map("".join),
        st.booleans(),
    )
    def test_no_source_raises_or_becomes_more_than_a_formula(self, tex: str, display: bool) -> None:
        found = mathml(tex, display=display)
        text = None if found is None else re.sub("[\0\ud800]", "", found)
        assert harm(text) == []
        assert len(found or "") < 200 * (len(tex) + 10)

    def test_the_test_of_harm_sees_it(self) -> None:
        bad = '<math onclick="f(1)"><maction href="x"/><mi style="a:b">x</mi></math>'
        assert harm(bad) == ["maction", "onclick", "href", "style", "f(1)", "a:b"]

    def test_the_longest_and_the_deepest_formula_are_set(self) -> None:
        assert mathml("x" * formulas.LONGEST) is not None
        assert mathml("x" * (formulas.LONGEST + 1)) is None
        depth = formulas.DEEPEST - 2
        assert mathml("{" * depth + "x" + "}" * depth) is not None
        assert mathml("{" * (depth + 1) + "x" + "}" * (depth + 1)) is None

    def test_many_indices_and_letters_stay_as_long_as_they_are(self) -> None:
        assert len(mathml("x_i^2+" * 300)) < 40 * 1_800


class TestWhatTheLibraryReturns:
    """The library is not trusted: what it returns is chosen from, whatever it is."""

    @pytest.fixture
    def returned(self, monkeypatch: pytest.MonkeyPatch) -> Any:
        def become(made: Element | Exception) -> str | None:
            def convert(*_: Any, **__: Any) -> Element:
                if isinstance(made, Exception):
                    raise made
                return made

            monkeypatch.setattr(formulas, "convert_to_element", convert)
            return mathml.__wrapped__("x")

        return become

    @pytest.mark.parametrize(
        "tag",
        [
            *("script", "annotation-xml", "annotation", "semantics", "maction", "mglyph", "merror"),
            *("mstyle><script", "a", "svg", "menclose", "mpadded", "ms", "MI", "mi onclick"),
        ],
    )
    def test_an_element_that_is_not_known_ends_the_formula(self, returned: Any, tag: str) -> None:
        made = Element("math")
        SubElement(SubElement(made, "mrow"), tag).text = "x"
        assert returned(made) is None

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            *(("href", "javascript:alert(1)"), ("onclick", "alert(1)"), ("style", "color:red")),
            *(("class", "back"), ("id", "marks"), ("mathcolor", "red"), ("xlink:href", "x")),
            *(("xmlns", "http://www.w3.org/1999/xhtml"), ("mathbackground", "url(x)")),
            *(("width", "100vw"), ("lspace", '1em" onclick="x'), ("form", "prefix\n")),
            *(("minsize", "500em"), ("stretchy", "True"), ("mathvariant", "bold")),
        ],
    )
    def test_an_attribute_that_is_not_known_is_left_out(
        self, returned: Any, name: str, value: str
    ) -> None:
        made = Element("math", {name: value})
        SubElement(made, "mi", {name: value}).text = "7"
        assert returned(made) in ("<math><mi>7</mi></math>", "<math><mi>𝟕</mi></math>")

    def test_text_outside_of_tokens_is_left_out(self, returned: Any) -> None:
        made = Element("math")
        made.text = "<script>"
        SubElement(made, "mi").tail = "<script>"
        assert returned(made) == "<math><mi></mi></math>"

    @pytest.mark.parametrize(("tag", "count"), [("mfrac", 1), ("msub", 3), ("msubsup", 2)])
    def test_an_element_with_parts_missing_ends_the_formula(
        self, returned: Any, tag: str, count: int
    ) -> None:
        made = Element("math")
        parts = SubElement(made, tag)
        for _ in range(count):
            SubElement(parts, "mi").text = "x"
        assert returned(made) is None

    def test_a_token_with_elements_in_it_ends_the_formula(self, returned: Any) -> None:
        made = Element("math")
        SubElement(SubElement(made, "mtext"), "mi").text = "x"
        assert returned(made) is None

    @pytest.mark.parametrize(
        "error", [ValueError("x"), RecursionError(), StopIteration(), IndexError(), KeyError("x")]
    )
    def test_whatever_it_raises_is_no_formula(self, returned: Any, error: Exception) -> None:
        assert returned(error) is None
