"""One table, four forms, the same cells."""

from io import StringIO

from rich.console import Console

import retrieval_metrics as rm
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.statistics import Interval

TABLE = Table(["name", "n", "why"], [["a|b", "1", "[bold]x"], ["<c>", "12", "y"]], ["note [1]"], "Title", (0, -1))


def test_text_is_aligned_by_what_a_column_holds() -> None:
    assert TABLE.text().splitlines() == [
        "Title",
        "name   n  why",
        "a|b    1  [bold]x",
        "<c>   12  y",
        "note [1]",
    ]


def test_markdown_escapes_its_own_separator() -> None:
    assert TABLE.markdown().splitlines() == [
        "**Title**",
        "",
        "| name | n | why |",
        "| --- | ---: | --- |",
        "| a\\|b | 1 | [bold]x |",
        "| <c> | 12 | y |",
        "",
        "- note [1]",
    ]


def test_html_escapes_everything() -> None:
    page = TABLE._replace(title="<t>").html()
    assert "&lt;c&gt;" in page
    assert "<strong>&lt;t&gt;</strong>" in page
    assert page.count("<td") == 6


def printed(thing: object) -> str:
    out = StringIO()
    Console(file=out, width=200, no_color=True).print(thing)
    return out.getvalue()


def test_rich_draws_the_same_cells_and_reads_no_markup_in_them() -> None:
    text = printed(TABLE.rich())
    for cell in ("Title", "a|b", "[bold]x", "<c>", "note [1]"):
        assert cell in text


def test_notes_alone_are_no_table() -> None:
    notes = Table((), (), ["said"])
    assert notes.text() == "said"
    assert notes.markdown() == "- said"
    assert notes.html() == "<p>said</p>"
    assert printed(notes.rich()).strip() == "said"


def test_every_result_is_printed_by_rich_with_all_its_parts() -> None:
    qrels, run = {"q1": ["d"], "q2": ["d"]}, {"q1": ["x", "d"], "q2": ["x", "y"]}
    evaluation = rm.evaluate(qrels, run, "mrr")
    comparison = rm.compare(qrels, {"a": run, "b": {"q1": ["d"], "q2": ["d"]}}, "mrr")
    for result in (evaluation, comparison, evaluation.explain("q2"), evaluation.worst("mrr"), evaluation.by(str)):
        assert set(str(result).split()) <= set(printed(result).split())
        assert set(str(result).split()) - {"-"} <= set(result.to_markdown().replace("**", "").split())


def test_numbers_are_written_for_reading() -> None:
    assert numbers.interval(Interval(0.1234, 1.0)) == "[0.123, 1.000]"
    assert numbers.interval(Interval(-0.1, 0.25), difference=True) == "[-0.100, +0.250]"
    assert numbers.interval(Interval(float("nan"), float("nan"))) == "-"
    assert numbers.interval(Interval(0, float("inf"))) == "-"
    assert numbers.mean(0.5, Interval(0.25, 0.75)) == "0.500 [0.250, 0.750]"
    assert numbers.mean(2.0, Interval(0, float("inf"))) == "2.00"
    assert (numbers.p_value(0.00003), numbers.p_value(0.0312)) == ("< 0.001", "0.0312")
    assert (numbers.queries(1), numbers.queries(1250)) == ("1 query", "1,250 queries")
    assert [numbers.signed(value) for value in (0.04449, -0.00004, 0.0, float("inf"))] == [
        "+0.0445", "-0.0000400", "0", "+inf",
    ]  # fmt: skip
    assert numbers.signed(float("nan")) == "nan"
    assert [numbers.value(each) for each in (0.99996, 0.00412, 1e-9, -0.0, 7.0, 812.3)] == [
        "1.000", "0.00412", "0.000", "0.000", "7.00", "812",
    ]  # fmt: skip
    assert numbers.interval(Interval(0.00003, 0.0412)) == "[0.0000, 0.0412]"  # as precise as the larger end
    assert numbers.change(0.71391, 0.71389) == "0.71391 -> 0.71389"
    assert numbers.apart(0.79996, 0.8)[0] == "0.79996"  # what is below a floor is seen to be below it
    assert numbers.listed(["a", "b"]) == "a and b"
    assert (numbers.size(float("inf")), numbers.size(0.05)) == ("-", "0.0500")
