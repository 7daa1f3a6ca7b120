"""A page is one file that fetches nothing, runs its own script only and shows texts as they are."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

from retrieval_metrics.integration_api.text import Table, page


def written(tmp_path: Path, title: str = "A page", data: Any = None) -> str:
    page.write(tmp_path / "page.html", title, [page.paragraph("a < b")], data)
    return (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_only_script_that_may_run_is_the_one_that_is_there(tmp_path: Path) -> None:
    text = written(tmp_path, data={"ids": ["q1"]})
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    (allowed,) = re.findall(r"script-src 'sha256-([^']*)'", text)
    assert allowed == b64encode(sha256(script.encode()).digest()).decode()
    assert "default-src 'none'" in text
    assert text.count("<script") == 2  # the data, and what shows them


def test_no_text_ends_the_data_and_every_text_comes_back(tmp_path: Path) -> None:
    data = {"texts": ["</script><script>alert(1)</script>", "<!--", "a\u2028b", "\u6587"], "values": [0.1 + 0.2]}
    text = written(tmp_path, data=data)
    content = text.partition('id="data">')[2].partition("</script>")[0]
    assert json.loads(content) == data
    assert "<" not in content


def test_without_data_there_is_no_element_for_them(tmp_path: Path) -> None:
    assert 'id="data"' not in written(tmp_path)


def test_words_are_escaped_and_half_a_pair_is_written_as_its_number(tmp_path: Path) -> None:
    text = written(tmp_path, "<title> & \ud83d")
    assert "<title>&lt;title&gt; &amp; \\ud83d</title>" in text
    assert "<h1>&lt;title&gt; &amp; \\ud83d</h1>" in text
    assert "<p>a &lt; b</p>" in text


def test_indented_sentences_belong_to_the_one_before() -> None:
    html = page.sentences(["new is better.", "  but not by <much>."])
    assert html == "<ul><li>new is better.</li><li class=faint>but not by &lt;much&gt;.</li></ul>"


def test_the_notes_of_a_table_stand_below_it_and_do_not_scroll_with_it() -> None:
    table, notes = page.table(Table(["a"], [["1"]], ["said <so>"])).split("</div>")
    assert table.startswith('<div class="wide"')
    assert "said" not in table
    assert notes == '<p class="notes">said &lt;so&gt;</p>'
    assert page.table(Table((), (), ["alone"])) == '<p class="notes">alone</p>'
