"""The page of saved files names the version and the kinds of what is saved."""

import json
from pathlib import Path

import retrieval_metrics as rm
from retrieval_metrics.retrieval.answer_log import RUN_LOG_KIND as ANSWERS
from retrieval_metrics.storage.load import READERS

PAGE = (Path(__file__).parent.parent.parent / "docs" / "reference" / "saved-files.md").read_text(encoding="utf-8")


def test_the_version_and_every_kind(tmp_path: Path) -> None:
    rm.evaluate({"q": ["d"]}, {"q": ["d"]}, "mrr").save(tmp_path / "e.json")
    version = json.loads((tmp_path / "e.json").read_bytes())["version"]
    assert f"Version {version} of the format has these keys" in PAGE
    (row,) = [line for line in PAGE.splitlines() if line.startswith("| `format`, `version`, `kind` |")]
    assert f"`retrieval-metrics`, {version}, and " in row
    grow = {"history", ANSWERS}  # files to which lines are added, which no `save` writes
    assert {kind for kind in READERS if f"`{kind}`" not in row} == grow
