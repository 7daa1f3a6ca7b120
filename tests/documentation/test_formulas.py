"""The formulas of the docstrings become LaTeX with the same meaning."""

import inspect
import re

import pytest

import retrieval_metrics as rm
from documentation_sources import module

latex = module("_extensions/formulas.py").latex


@pytest.mark.parametrize(
    ("written", "typeset"),
    [
        ("P = a / (b + c)", r"P = \frac{a}{b + c}"),
        ("F1@k = 2 P R / (P + R)", r"\text{F1@}k = \frac{2 P R}{P + R}"),
        ("S_i = (2^g_i - 1) / 2^G", r"S_{i} = \frac{2^{g_{i}} - 1}{2^{G}}"),
        ("x = (a + b) * (c + d)", r"x = ( a + b ) \cdot ( c + d )"),
        ("y = (a) (b) / c", r"y = ( a ) \frac{b}{c}"),
        ("sum over i <= k of g_i / log2(i + 1)", r"\sum_{i \le k} \frac{g_{i}}{\log_{2}( i + 1 )}"),
        ("1 / min{i <= k : g_i > 0}", r"\frac{1}{\min\{ i \le k : g_{i} > 0 \}}"),
        ("|{i : g_i > 0}| / R", r"\frac{| \{ i : g_{i} > 0 \} |}{R}"),
        ("a = b,   c = d", r"a = b ,\quad c = d"),
        ("1 if some x is y, else 0", r"1 \text{ if some } x \text{ is } y , \text{ else } 0"),
        ("argmax over d of f(d)", r"\underset{d}{\text{argmax}} \; f ( d )"),
        ("lambda * rel(d)", r"\lambda \cdot \operatorname{rel}( d )"),
    ],
)
def test_a_formula_is_typeset(written: str, typeset: str) -> None:
    assert latex(written) == typeset


@pytest.mark.parametrize("written", ["a = (b + c", "sum over i <= k", "a = b § c", "a) + b"])
def test_what_is_no_formula_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="formula"):
        latex(written)


PUBLIC = dict.fromkeys(getattr(module, name) for module in (rm, rm.metrics) for name in module.__all__)
FUNCTIONS = [object_ for object_ in PUBLIC if inspect.isfunction(object_)]
ABOVE_ARGS = [(inspect.getdoc(function) or "").split("\nArgs:")[0] for function in FUNCTIONS]
FORMULAS = [line for text in ABOVE_ARGS for line in re.findall(r"\n\n {4}(?! |>>>)(.+)\n", text)]


def test_the_docstrings_have_formulas() -> None:
    assert len(FORMULAS) >= 16


@pytest.mark.parametrize("written", FORMULAS)
def test_every_formula_of_a_docstring_is_read(written: str) -> None:
    typeset = latex(written)
    assert typeset.count("{") == typeset.count("}")
    assert "/" not in typeset  # every quotient is a fraction
