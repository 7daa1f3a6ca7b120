"""Runs in JSON: predictions of other tools, and documents with scores or items."""

import json
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm


def saved(tmp_path: Path, text: str, name: str = "some.jsonl") -> Path:
    (tmp_path / name).write_text(text)
    return tmp_path / name


def test_results_are_documents_with_scores_or_items(tmp_path: Path) -> None:
    results = [{"doc_id": "a", "score": 2}, {"doc_id": "b", "score": 3}]
    by_line = json.dumps({"query": "q1", "results": results})
    for text, name in ((by_line, "a.jsonl"), (f"[{by_line}]", "a.json"), (json.dumps({"q1": results}), "b.json")):
        assert dict(rm.read_run(saved(tmp_path, text, name))) == {"q1": {"a": 2.0, "b": 3.0}}
    items = json.dumps({"q1": [{"docid": "a", "text": "x", "score": 2}]})
    assert dict(rm.read_run(saved(tmp_path, items, "c.json"))) == {"q1": [rm.Retrieved("a", "x", score=2)]}


def test_predictions_of_sentence_transformers(tmp_path: Path) -> None:
    path = tmp_path / "Information-Retrieval_evaluation_predictions_cosine.jsonl"
    lines: list[dict[str, Any]] = [
        {
            "query_id": "q1",
            "query": "why?",
            "results": [{"corpus_id": "d2", "score": 0.5}, {"corpus_id": "d1", "score": 0.9}],
        },
        {"query_id": "q2", "query": "how?", "results": []},
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    run = rm.read_run(path)
    assert dict(run) == {"q1": {"d2": 0.5, "d1": 0.9}, "q2": []}
    assert rm.evaluate({"q1": ["d1"]}, run, "mrr").means["mrr"] == 1
    lines[0]["results"] = [{"corpus_id": "d", "score": 1.0}, {"corpus_id": "d", "score": 0.5}]
    path.write_text(json.dumps(lines[0]))
    with pytest.raises(ValueError, match="query 'q1': a document appears twice"):
        rm.read_run(path)


def test_predictions_of_mteb(tmp_path: Path) -> None:
    path = tmp_path / "NFCorpus_predictions.json"
    rankings = {"q1": {"d1": 0.5, "d2": 0.75}}
    content: dict[str, Any] = {"mteb_model_meta": {"model_name": "m"}, "default": {"test": rankings}}
    path.write_text(json.dumps(content))
    assert dict(rm.read_run(path)) == rankings
    content["de"] = {"dev": {"q": {"d": 1.0}}, "test": {"q": {"e": 1.0}}}
    path.write_text(json.dumps(content))
    assert dict(rm.read_run(path, subset="de", split="test")) == {"q": {"e": 1.0}}
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        ({}, "holds 2 subsets, default, de; choose one with subset="),
        ({"subset": "de"}, "holds 2 splits, dev, test; choose one with split="),
        ({"subset": "fr"}, "holds no subset 'fr'; it holds default, de"),
    )
    for options, message in refused:
        with pytest.raises(ValueError, match=message):
            rm.read_run(path, **options)
    (tmp_path / "run.json").write_text(json.dumps(rankings))
    with pytest.raises(ValueError, match="holds no predictions of MTEB"):
        rm.read_run(tmp_path / "run.json", split="test")
    (tmp_path / "run.trec").write_text("q Q0 d 1 1 t\n")
    with pytest.raises(ValueError, match="which are JSON, not trec"):
        rm.read_run(tmp_path / "run.trec", split="test")


def test_pairs_are_refused_and_the_advice_is_read(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('{"1": [["70", 9.5], ["71", 8.5]]}')
    with pytest.raises(ValueError, match=r"query '1': the ranking holds lists such as \['70', 9.5\]; write an object"):
        rm.read_run(path)
    path.write_text('{"1": {"70": 9.5, "71": 8.5}}')
    assert dict(rm.read_run(path)) == {"1": {"70": 9.5, "71": 8.5}}
