"""Read and write baselines, the evaluations that are stored beside a test in one file per check."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from pytest_retrieval_metrics.file_names import format_path, make_file_name
from retrieval_metrics import Budget, Evaluation, Matching, Retrieved, RetrievedRun, Run, evaluate, load
from retrieval_metrics.integration_api.text import format_saved, save_text
from retrieval_metrics.types import Piece

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from retrieval_metrics import Metric

RECOVERY_HINT = "restore it from version control, or delete it and write a new one with --retrieval-update"
CONFLICT_MARKERS = ("<<<<<<< ", ">>>>>>> ")

# The entries of the metadata that judging by a source or by the name of a file may read.
MATCHED_ENTRIES = {
    "source": ("source",),
    "filename": ("source", "file_path", "file_name", "filename", "path"),
}

# The folder of the best approved baselines, beside the baselines.
BEST_FOLDER = "best"

# The line of a file that holds the labels begins so.
LABELS_LINE_START = '"labels": '

# These lines hold the date and the version of the writer, and the digest, which covers both. They differ between two
# files that hold the same evaluation.
DATED_LINES = ('"written": ', '"digest": ')


@dataclass(frozen=True, slots=True)
class Baseline:
    """The baseline of a check.

    Attributes:
        path: Its file, whether it exists or not.
        shown_path: The path as messages show it.
        evaluation: What the file holds; None if there is no file yet.
        best: The best approved baselines, by their files, if they were asked for.
    """

    path: Path
    shown_path: str
    evaluation: Evaluation | None
    best: Mapping[Path, Evaluation] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, test: str, root: Path, *, with_best: bool) -> Baseline:
        """Read the baseline of a test, and the best approved ones if they are asked for."""
        evaluation = None
        best: dict[Path, Evaluation] = {}
        try:
            if path.exists():
                evaluation = read_baseline(path, test)
            if with_best:
                best = {best_file: read_baseline(best_file, test) for best_file in best_paths(path)}
        except ValueError as error:
            raise ValueError(str(error).replace(str(path.parent), format_path(path.parent, root))) from None
        return cls(path, format_path(path, root), evaluation, best)


def best_folder(path: Path) -> Path:
    """Return the folder of the best approved baselines that are kept beside a baseline."""
    return path.parent / BEST_FOLDER / path.stem


def best_path(path: Path, metric: str) -> Path:
    """Return where the best approved baseline of a metric is kept, if it is not the baseline itself."""
    return best_folder(path) / make_file_name(metric)


def best_paths(path: Path) -> list[Path]:
    """Return the best approved baselines that are kept beside a baseline."""
    folder = best_folder(path)
    if not folder.is_dir():
        return []
    return sorted(folder.iterdir())


def read_baseline(path: Path, test: str) -> Evaluation:
    """Read the baseline of a test from a file."""
    text = path.read_text(encoding="utf-8", errors="replace")
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith(CONFLICT_MARKERS):
            raise ValueError(f"{path} has an unresolved merge conflict at line {number}; {RECOVERY_HINT}")
    if '"qrels": "sha256:' in text:
        raise ValueError(
            f"{path} is a baseline of an earlier format, without questions and rankings; delete it, and write a "
            "new one with --retrieval-update on the unchanged retriever"
        )
    try:
        evaluation = load(path)
    except (ValueError, OSError) as error:
        if "pip install" in str(error):  # the file is fine, but a newer release of the core has written it
            raise ValueError(str(error)) from error
        raise ValueError(f"{error}; {RECOVERY_HINT}") from error
    if not isinstance(evaluation, Evaluation):
        raise ValueError(f"{path} holds a {type(evaluation).__name__}, not an evaluation; {RECOVERY_HINT}")
    owner = str(evaluation.labels.get("test", test))
    if owner != test and owner.lower() == test.lower():
        raise ValueError(
            f"{path} is the baseline of {owner}, whose name differs from {test} only in case: on file systems that "
            "ignore case, both have one baseline; rename a test"
        )
    return evaluation


def write_baseline(path: Path, evaluation: Evaluation, labels: Mapping[str, str | int], *, texts: bool = False) -> bool:
    """Write an evaluation as a baseline, and return whether anything but the date changed.

    Args:
        path: The file.
        evaluation: The evaluation.
        labels: The labels of the file.
        texts: Whether to store retrieved texts, which judging by ids, sources or metadata does not need.
    """
    means = {metric: round(mean, 4) for metric, mean in evaluation.means.items() if isfinite(mean)}
    stored = evaluation if texts else strip_unused_fields(evaluation)
    text = format_saved(stored, labels={**labels, **means})
    if path.exists() and _undated_lines(path.read_text(encoding="utf-8")) == _undated_lines(text):
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    save_text(path, text)
    return True


def _undated_lines(text: str) -> list[str]:
    """Return the lines of a file that do not depend on when it was written."""
    return [line for line in text.splitlines() if not line.startswith(DATED_LINES)]


def with_metrics(baseline: Evaluation, metrics: Sequence[Metric]) -> Evaluation:
    """Return a baseline with these metrics; missing ones are computed from its rankings, if there was one round.

    Metrics that are given, such as faithfulness, and a baseline of values alone stay as they are.
    """
    scores = baseline.scores
    computed = [metric for metric in metrics if not metric.definition.is_given]
    has_all = set(computed) <= set(baseline.metrics)
    if has_all or scores.origin is None or baseline.labels.get("rounds", 1) != 1:
        return baseline
    origin = scores.origin
    options: dict[str, Any] = {"rules": scores.rules, "match": origin.match, "clusters": scores.clusters}
    evaluation = evaluate(origin.judged.qrels, origin.run, computed, **options)
    given = [metric for metric in baseline.metrics if metric.definition.is_given]
    if not given:
        return evaluation
    values = {metric: baseline.per_query[metric] for metric in map(str, given)}
    lower_is_better = [str(metric) for metric in given if not metric.definition.higher_is_better]
    bounds = {str(metric): _stated_bounds(metric) for metric in given}
    return evaluation.with_scores(values, bounds=bounds, lower_is_better=lower_is_better)


def _stated_bounds(metric: Metric) -> tuple[float | None, float | None]:
    """Return the bounds of a metric as they are stated: None where there is none."""
    low, high = metric.definition.bounds
    return low if isfinite(low) else None, high if isfinite(high) else None


def read_labels(path: Path) -> dict[str, Any]:
    """Return the labels of a baseline without reading the rest; none if it cannot be read."""
    try:
        with path.open(encoding="utf-8") as file:
            label_line = next((line for line in file if line.startswith(LABELS_LINE_START)), "")
        labels = json.loads(label_line.removeprefix(LABELS_LINE_START).rstrip().removesuffix(","))
    except (OSError, ValueError):
        return {}
    if not isinstance(labels, dict):
        return {}
    return labels


def strip_unused_fields(evaluation: Evaluation, *, keep_texts: bool = False) -> Evaluation:
    """Return an evaluation whose rankings hold only what judging needs, such as ids if ids are judged.

    Texts are needed where passages are judged, by quotes, texts or spans, and by budgets of characters.
    """
    scores = evaluation.scores
    origin = scores.origin
    if origin is None or needs_texts(evaluation):
        return evaluation
    key = origin.match.by if isinstance(origin.match, Matching) else origin.match
    rankings = origin.run.rankings() if isinstance(origin.run, Run) else origin.run.items()
    run: Any = {}
    for query, ranking in rankings:
        run[query] = _strip_ranking(ranking, key, keep_texts=keep_texts)
    if keep_texts and isinstance(origin.run, RetrievedRun):
        run = RetrievedRun(run, origin.run.errors, origin.run.seconds)
    return Evaluation(replace(scores, origin=origin._replace(run=run)), labels=evaluation.labels)


def needs_texts(evaluation: Evaluation) -> bool:
    """Return whether an evaluation can only be judged again with the texts that were retrieved."""
    origin = evaluation.scores.origin
    if origin is None:
        return False
    if any(isinstance(document, Piece) for document in origin.judged.qrels.documents):
        return True
    return any(isinstance(metric.k, Budget) and metric.k.unit == "chars" for metric in evaluation.metrics)


def _strip_ranking(ranking: Any, key: Any, *, keep_texts: bool) -> Any:
    """Return a ranking of items without what `key` does not compare; with their texts, to be shown, if asked for."""
    if not isinstance(ranking, (list, tuple)) or not ranking or not isinstance(ranking[0], Retrieved):
        return ranking
    if keep_texts:
        return [replace(item, metadata=_judged_metadata(item, key)) for item in ranking]
    if key == "id" and not any(item.contains for item in ranking):
        return [item.id for item in ranking]
    return [_strip_item(item, key) for item in ranking]


def _strip_item(item: Retrieved, key: Any) -> Retrieved:
    metadata = _judged_metadata(item, key)
    source = None if key == "id" else item.source
    return Retrieved(item.id, source=source, metadata=metadata, tokens=item.tokens, contains=item.contains)


def _judged_metadata(item: Retrieved, key: Any) -> dict[str, Any] | None:
    """Return the entries of the metadata that judging by a key reads; None if there are none."""
    if item.metadata is None or key == "id" or not isinstance(key, str):
        return None
    names = MATCHED_ENTRIES.get(key, (key.removeprefix("metadata:"),))
    return {name: item.metadata[name] for name in names if name in item.metadata} or None
