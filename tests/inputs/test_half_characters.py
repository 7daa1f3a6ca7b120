"""Half of a character, such as a cut emoji, is written where a file can hold it, and refused by name elsewhere."""

from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm

HALF = "d\ud83d"
RUN: Any = {"q": [HALF, "d2"]}


@pytest.mark.parametrize("name", ["run.json", "run.jsonl"])
def test_json_holds_half_a_character(name: str, tmp_path: Path) -> None:
    items = {"q": [rm.Retrieved("d", HALF), rm.Retrieved("d2", "text")]}
    rm.write_run(items, tmp_path / name)
    assert rm.read_run(tmp_path / name)["q"][0].text == HALF


@pytest.mark.parametrize("name", ["run.trec", "run.csv", "run.parquet"])
def test_other_files_refuse_it_by_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    for write, written in ((rm.write_run, RUN), (rm.write_run, {HALF: ["d"]}), (rm.write_qrels, {HALF: {HALF: 1}})):
        with pytest.raises(ValueError, match=r"ud83d.* holds half of a character"):
            write(written, path)
    assert not path.exists()


def test_it_is_escaped_where_it_is_printed() -> None:
    printed = str(rm.evaluate({HALF: [HALF]}, {HALF: [HALF]}, "mrr").explain(HALF))
    assert "d\\ud83d" in printed
    printed.encode()


def test_a_file_that_is_read_names_it(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('{"q": ["d\\ud83d", "d2"]}')
    with pytest.raises(ValueError, match=r"ud83d.*run\.json holds half of a character"):
        rm.read_run(path)
