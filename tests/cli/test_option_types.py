"""Texts of arguments become values, or are refused with what they should be."""

import csv
import io

import pytest

from retrieval_metrics.cli.main import main


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "ndgc@10"], "unknown metric 'ndgc'; did you mean ndcg"),
        (["--fail-under", "ndcg@10"], "'ndcg@10' must be a metric and a number, such as ndcg@10=0.35"),
        (["--fail-under", "ndgc@10=1"], "such as ndcg@10=0.35: unknown metric 'ndgc'; did you mean ndcg"),
        (["--fail-under", "ndcg@10=high"], "'ndcg@10=high' must be a metric and a number"),
        (["--memory", "much"], "'much' must be a size such as 4GB or 500MB"),
        (["--format", "xml"], "invalid choice: 'xml'"),
    ],
)
def test_a_wrong_argument_is_explained(
    files: list[str], capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["evaluate", *files, *arguments])
    assert stopped.value.code == 2
    stderr = capsys.readouterr().err
    assert message in stderr
    assert stderr.count("\n") == 1
    assert "retrieval-metrics evaluate --help" in stderr


def test_an_unknown_metric_offers_the_option_for_ones_own(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["evaluate", *files, "-m", "reach@10"])
    assert "unknown metric 'reach'; did you mean" in (stderr := capsys.readouterr().err)
    assert " (for a metric of your own, pass --metrics-from MODULE)" in stderr


def test_a_name_of_autorag_leads_to_the_option_of_its_rules(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["evaluate", *files, "-m", "retrieval_map"])
    assert "did you mean map? --rules autorag computes it" in capsys.readouterr().err


def test_several_metrics_after_one_option(two_runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", *two_runs[:2], "-m", "ndcg@10,precision(rel=2)@5", "-m", "map", "--format", "csv"]) == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert [row[0] for row in rows] == ["metric", "ndcg@10", "precision(rel=2)@5", "map"]


@pytest.mark.parametrize("floor", ["mrr=nan", "mrr=inf", "mrr=-inf"])
def test_a_floor_that_no_mean_can_be_compared_with_is_a_usage_error(two_runs: list[str], floor: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["evaluate", *two_runs[:2], "--fail-under", floor])
    assert stopped.value.code == 2
