"""What the site says of itself: its contents for language models, and the folders of the core."""

import importlib.util
import zipfile
from pathlib import Path

import pytest

from documentation_sources import module

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("sphinx") is None, reason="the dependency group docs is not installed: --group docs"
)

PAGES = {
    "index": "# The site\n\n![A picture](a.png)\n\nIt does this. And [that](x.md), too.\n\n```sh\n# no title\n```\n",
    "guides/index": "# Guides\n",
    "integrations/llama_index": "# Llamas\n",
    "guides/one": "# One way\n\n<figure><svg></svg></figure>\n\n| a | b |\n\nHow it goes:\nlike this. More.\n",
    "reference/metrics/ndcg": "# NDCG\n\n$$\nx\n$$\n\nWhat is best? This.\n",
    "reference/metrics": "# Metrics\n\n`name@k` is a name.\n",
}


def test_the_contents_list_every_page_once_with_its_first_sentence() -> None:
    contents = module("_extensions/llms.py").contents(PAGES)
    assert contents == (
        "# The site\n\n> It does this. And that, too.\n\nAll pages as one text: [llms-full.txt](llms-full.txt)\n\n"
        "## Guides\n\n- [One way](guides/one.html): How it goes: like this.\n\n"
        "## Integrations\n\n- [Llamas](integrations/llama_index.html)\n\n"
        "## Metrics\n\n- [NDCG](reference/metrics/ndcg.html): What is best?\n\n"
        "## Reference\n\n- [Metrics](reference/metrics.html): `name@k` is a name.\n"
    )


def test_the_whole_text_has_every_page_and_no_picture() -> None:
    text = "\n".join(module("_extensions/llms.py").full_text(PAGES))
    assert all(f"<!-- {name}.html -->" in text for name in PAGES)
    assert "svg" not in text
    assert "# no title" in text  # code stays


def test_every_folder_of_the_core_is_in_the_house() -> None:
    extension = module("_extensions/house.py")
    rows = [line for line in extension.house().splitlines() if line.startswith("| `")]
    assert len(rows) == sum(len(floor) for part in extension.floors().values() for floor in part)
    assert all(row.split(" | ")[1].removesuffix(" |") for row in rows)
    assert any(row.startswith("| `matching` | Which retrieved items satisfy which judgments") for row in rows)


def test_a_link_to_a_folder_leads_to_its_files_packed() -> None:
    extension = module("_extensions/readmes.py")
    page = Path(extension.DOCS, "tutorial", "index.md")
    (linked,) = extension.LINK.findall(
        extension.relinked("[the handbook](../../examples/handbook)", page.parent, page, {})
    )
    with zipfile.ZipFile(page.parent / linked) as archive:
        assert {"handbook/tickets.md", "handbook/questions.jsonl"} < set(archive.namelist())


def test_sentences_of_an_output_wrap_and_tables_do_not() -> None:
    table = "metric       mean          95% CI                  n"
    sentence = "the first &amp; the second cannot be told apart by any test"
    wrapped = module("_extensions/wrapping.py").wrapping(f"short\n{table}\n{sentence}\n")
    assert wrapped == f'short\n{table}\n<span class="sentence">{sentence}</span>\n'


def test_a_sentence_that_the_command_broke_is_one_line_of_the_page() -> None:
    long = f"{'a long ' * 16}sentence"  # the command breaks lines of 120 characters
    printed = f'<span class="go">{long}</span>\n<span class="go">  that-is-broken</span>'
    assert module("_extensions/wrapping.py").wrapping(printed) == (
        f'<span class="sentence"><span class="go">{long} that-is-broken</span></span>'
    )


def test_an_indented_line_after_a_line_with_room_stays_a_line() -> None:
    below = "q1 (a question): 1.000 -> 0.000"
    heads = "recall@10 worse: 0.526 -> 0.349, 49 of 123 queries", f"  was{' so' * 39}", "goes on and on " * 10 + "on"
    for head in heads:
        printed = f'<span class="go">{head}</span>\n<span class="go">  {below}</span>'
        assert module("_extensions/wrapping.py").wrapping(printed) == (
            f'<span class="sentence"><span class="go">{head}</span></span>\n<span class="go">  {below}</span>'
        )


def test_a_long_name_in_a_table_may_break_between_its_words_and_a_short_one_stays_whole() -> None:
    cell = '<p>a_word, <span class="pre">near_duplicate_question</span> <span class="pre">IDBasedContextRecall</span>'
    assert module("_extensions/wrapping.py").breaking(cell) == (
        '<p>a_word, <span class="pre">near_<wbr>duplicate_<wbr>question</span> '
        '<span class="pre">IDBased<wbr>Context<wbr>Recall</span>'
    )
    assert module("_extensions/wrapping.py").breaking('<span class="pre">--margin</span>') == (
        '<span class="pre"><span class="whole">--margin</span></span>'
    )


def test_an_entry_begins_with_its_sentence_its_formula_and_its_example() -> None:
    extension = module("_extensions/entries.py")
    nodes = extension.nodes
    sentence = nodes.paragraph("", "One.")
    formula = nodes.math_block("", "x")
    paragraph = nodes.paragraph("", "More.")
    source = nodes.rubric("", "Source")
    book = nodes.paragraph("", "A book.")
    example = nodes.rubric("", "Example")
    code = nodes.doctest_block("", ">>> 1")
    content = [sentence, formula, paragraph, nodes.field_list(), example, code, source, book]
    lead, shown, further = extension.split_content(content)
    assert lead == [sentence, formula]
    assert shown == [code]
    assert further == [paragraph, content[3], source, book]
