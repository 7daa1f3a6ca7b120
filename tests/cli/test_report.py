"""`retrieval-metrics report` shows the texts of queries and documents."""

from pathlib import Path

import pytest

from retrieval_metrics.cli.main import main


@pytest.mark.usefixtures("saved_folder")
def test_a_report_shows_the_texts_of_queries_and_documents(capsys: pytest.CaptureFixture[str]) -> None:
    Path("queries.tsv").write_text("".join(f"q{n}\twhat is number {n}?\n" for n in range(10)))
    Path("corpus.jsonl").write_text('{"_id": "d", "text": "a passage of note"}\n{"_id": "x", "text": "another"}\n')
    texts = ["--queries", "queries.tsv", "--corpus", "corpus.jsonl"]
    assert main(["evaluate", "qrels.trec", "new.trec", "-m", "mrr", "--save", "new.json"]) == 0
    for call in (
        ["evaluate", "qrels.trec", "new.trec", "-m", "mrr", "--report", "report.html"],
        ["compare", "qrels.trec", "old.trec", "new.trec", "-m", "mrr", "--report", "report.html"],
        ["report", "new.json", "-o", "report.html"],
    ):
        Path("report.html").unlink(missing_ok=True)
        assert main([*call, *texts]) == 0
        written = Path("report.html").read_text()
        assert "what is number 3?" in written
        assert "a passage of note" in written
    capsys.readouterr()
    assert main(["evaluate", "qrels.trec", "new.trec", *texts]) == 2
    assert "so they need --report FILE" in capsys.readouterr().err
