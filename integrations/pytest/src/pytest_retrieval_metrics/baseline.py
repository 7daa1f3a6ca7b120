"""Baselines: the evaluation of a check, saved beside the test."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from pytest_retrieval_metrics.naming import shown
from retrieval_metrics import Evaluation, Retrieved, RetrievedRun, Run, evaluate, load
from retrieval_metrics.adapting.printing import save_text, written
from retrieval_metrics.types import Piece

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from retrieval_metrics import Metric

WAY_OUT = "restore it from version control, or delete it and write a new one with --retrieval-update"
CONFLICT = ("<<<<<<< ", ">>>>>>> ")
BEST = "best"
"""The folder of the best approved baselines, beside the baselines."""
DATED = ('"written": ', '"digest": ')
"""The beginnings of the lines with the date and the version of the writer, and with the digest, which covers them."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The baseline of a check.

    Attributes:
        path: The file.
        where: The file, as it is shown.
        known: The evaluation in it, whose labels are the test, the name of the check, its repeats and its means; None
            if there is no file.
        best: The best approved baseline; None if it is the baseline itself, or is not asked for.
    """

    path: Path
    where: str
    known: Evaluation | None
    best: Evaluation | None = None

    @classmethod
    def of(cls, path: Path, test: str, root: Path, *, with_best: bool) -> Baseline:
        """Read the baseline of a test.

        Raises:
            ValueError: If a file cannot be used; the message says what to do.
        """
        try:
            known = read(path, test) if path.exists() else None
            best = read(best_of(path), test) if with_best and best_of(path).exists() else None
        except ValueError as error:
            raise ValueError(str(error).replace(str(path.parent), shown(path.parent, root))) from None
        return cls(path, shown(path, root), known, best)


def best_of(path: Path) -> Path:
    """Return where the best approved baseline is kept, if it is not the baseline itself."""
    return path.parent / BEST / path.name


def read(path: Path, test: str) -> Evaluation:
    """Read the baseline of a test from a file.

    Raises:
        ValueError: If it cannot be used; the message names the file and says what to do.
    """
    text = path.read_text(encoding="utf-8", errors="replace")
    marks = [number for number, line in enumerate(text.splitlines(), start=1) if line.startswith(CONFLICT)]
    if marks:
        raise ValueError(f"{path} has an unresolved merge conflict at line {marks[0]}; {WAY_OUT}")
    if '"qrels": "sha256:' in text:
        raise ValueError(
            f"{path} is a baseline of an earlier format, without questions and rankings; delete it, and write a "
            "new one with --retrieval-update on the unchanged retriever"
        )
    try:
        found = load(path)
    except (ValueError, OSError) as error:
        way = "" if "pip install" in str(error) else f"; {WAY_OUT}"
        raise ValueError(f"{error}{way}") from error
    if not isinstance(found, Evaluation):
        raise ValueError(f"{path} holds a {type(found).__name__}, not an evaluation; {WAY_OUT}")  # noqa: TRY004  (a file)
    owner = str(found.labels.get("test", test))
    if owner != test and owner.lower() == test.lower():
        raise ValueError(
            f"{path} is the baseline of {owner}, whose name differs from {test} only in case: on file systems that "
            "ignore case, both have one baseline; rename a test"
        )
    return found


def write(path: Path, evaluation: Evaluation, labels: Mapping[str, str | int]) -> bool:
    """Write an evaluation as a baseline, and return whether anything but the date changed.

    Raises:
        ValueError: If it cannot be saved.
        OSError: If the file cannot be written.
    """
    means = {metric: round(mean, 4) for metric, mean in evaluation.means.items() if isfinite(mean)}
    text = written(lean(evaluation), labels={**labels, **means})
    if path.exists() and _undated(path.read_text(encoding="utf-8")) == _undated(text):
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    save_text(path, text)
    return True


def _undated(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith(DATED)]


def with_metrics(baseline: Evaluation, metrics: Sequence[Metric]) -> Evaluation:
    """Return a baseline with these metrics; missing ones are computed from its rankings, if there was one round."""
    if set(metrics) <= set(baseline.metrics) or baseline.labels.get("repeats", 1) != 1:
        return baseline
    scores = baseline.scores
    origin = scores.needed_origin("computed anew")
    given: dict[str, Any] = {"semantics": scores.rules, "match": origin.match, "clusters": scores.clusters}
    return evaluate(origin.judged.qrels, origin.run, list(metrics), **given)


def labels_of(path: Path) -> dict[str, Any]:
    """Return the labels of a baseline without reading the rest; none if it cannot be read."""
    try:
        with path.open(encoding="utf-8") as file:
            line = next((line for line in file if line.startswith('"labels": ')), "")
        found = json.loads(line.partition(": ")[2].rstrip().removesuffix(","))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def lean(evaluation: Evaluation, *, texts: bool = False) -> Evaluation:
    """Return an evaluation whose rankings hold only what judging needs, such as ids if ids are judged.

    Args:
        evaluation: The evaluation.
        texts: Whether to keep texts, failures and durations too, for reports.
    """
    scores = evaluation.scores
    origin = scores.needed_origin("kept as a baseline")
    by_id = origin.match == "id" and not any(isinstance(one, Piece) for one in origin.judged.qrels.documents)
    rankings = origin.run.rankings() if isinstance(origin.run, Run) else origin.run.items()
    run: Any = {query: _lean(ranking, texts=texts) if by_id else ranking for query, ranking in rankings}
    if texts and isinstance(origin.run, RetrievedRun):
        run = RetrievedRun(run, origin.run.errors, origin.run.seconds)
    return Evaluation(replace(scores, origin=origin._replace(run=run)), labels=evaluation.labels)


def _lean(ranking: Any, *, texts: bool) -> Any:
    if not isinstance(ranking, list) or not ranking or not isinstance(ranking[0], Retrieved):
        return ranking
    if texts:
        return [replace(item, metadata=None) for item in ranking]
    return [item.id for item in ranking]
