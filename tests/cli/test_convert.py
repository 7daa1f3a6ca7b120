"""`retrieval-metrics convert` keeps every number."""

from pathlib import Path

import retrieval_metrics as rm
from retrieval_metrics.cli.main import main


def test_a_run_is_converted_and_its_numbers_stay(files: list[str], tmp_path: Path) -> None:
    previous = files[1]
    for name in ("a.csv", "b.jsonl.zst", "c.parquet", "d.json", "e.tsv", "f.trec.gz"):
        assert main(["convert", "run", previous, str(tmp_path / name)]) == 0
        previous = str(tmp_path / name)
    assert dict(rm.read_run(previous)) == dict(rm.read_run(files[1]))
    assert main(["convert", "qrels", files[0], str(tmp_path / "beir.tsv")]) == 0
    assert (tmp_path / "beir.tsv").read_text().startswith("query-id\tcorpus-id\tscore\nq1\td7\t1\n")
