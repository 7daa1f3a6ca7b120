"""One table, four forms, the same cells."""

import re
from io import StringIO

import pytest
from markdown_it import MarkdownIt
from rich.console import Console

import retrieval_metrics as rm
from retrieval_metrics.reports.tables import Table

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
        "| \\<c> | 12 | y |",
        "",
        "- note [1]",
    ]


SHOWN_AS_THEY_ARE = [
    "[0.642, 0.860]",
    "<0.0001",
    "recall_at_10",
    "a\\|b",
    "a|`b|c`",
    "\\d\\",
    "two\nlines",
    "_a_ **b** ~c~ `d`",
    "[a](http://x) <b> &amp; <!-- c -->",
    "__init__",
]


@pytest.mark.parametrize("text", [*SHOWN_AS_THEY_ARE, "# a", "1. a", "- a", "+", "--", ">a"])
def test_markdown_shows_names_as_they_are(text: str) -> None:
    table = Table(["x", text], [["1", text]], [text], text)
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(table.markdown())
    assert [token.type for token in tokens].count("list_item_open") == 1
    shown = []
    for token in tokens:
        if token.type == "inline":
            parts = [child for child in token.children or () if not child.type.startswith("strong")]
            assert {child.type for child in parts} <= {"text", "text_special"}
            shown.append("".join(child.content for child in parts))
    in_one_line = text.replace("\n", "\\n")
    assert shown == [in_one_line, "x", in_one_line, "1", in_one_line, in_one_line]


@pytest.mark.parametrize("text", ["[0.642, 0.860]", "<0.0001", "recall_at_10", "ndcg@10 & more"])
def test_ordinary_cells_stay_readable_in_markdown(text: str) -> None:
    assert Table(["x"], [[text]]).markdown().splitlines()[-1] == f"| {text} |"


def test_html_escapes_everything() -> None:
    page = TABLE._replace(title="<t>").html()
    assert "&lt;c&gt;" in page
    assert "<strong>&lt;t&gt;</strong>" in page
    assert page.count("<td") == 6


def printed(renderable: object) -> str:
    out = StringIO()
    Console(file=out, width=200, no_color=True).print(renderable)
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
    qrels = {"q1": ["d"], "q2": ["d"]}
    run = {"q1": ["x", "d"], "q2": ["x", "y"]}
    evaluation = rm.evaluate(qrels, run, "mrr")
    comparison = rm.compare(qrels, {"a": run, "b": {"q1": ["d"], "q2": ["d"]}}, "mrr")
    for result in (evaluation, comparison, evaluation.explain("q2"), evaluation.worst("mrr"), evaluation.group_by(str)):
        assert set(str(result).split()) <= set(printed(result).split())
        markdown = re.sub(r"\\(.)", r"\1", result.to_markdown().replace("**", ""))
        assert set(str(result).split()) - {"-"} <= set(markdown.split())


def test_a_heading_and_a_note_in_markdown_are_text() -> None:
    title = "a\n# forged <img src=x> [link](http://evil) **b**"
    lines = Table(["x"], [["1"]], [title], title).markdown().splitlines()
    text = r"a\n# forged \<img src=x> \[link](http://evil) \*\*b\*\*"
    assert lines[0] == f"**{text}**"
    assert lines[-1] == f"- {text}"
