"""The values of an earlier run, in a small JSON file beside the test."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics import Evaluation
from retrieval_metrics.adapting import Scores, save_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from retrieval_metrics import Qrels

VERSION = 1
LONGEST_NAME = 120
HEX_OF_A_NAME = 8


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a check measured when its baseline was written.

    Attributes:
        qrels: Fingerprint of the judgments.
        rules: Name of the rule set.
        metrics: Names of the metrics.
        values: Per query the value of each metric, NaN where it is undefined.
        ranks: Per query the rank of each relevant document that was retrieved.
    """

    qrels: str
    rules: str
    metrics: tuple[str, ...]
    values: Mapping[str, tuple[float, ...]]
    ranks: Mapping[str, Mapping[str, int]]

    @classmethod
    def of(cls, evaluation: Evaluation) -> Baseline:
        """Keep what an evaluation found."""
        judged = evaluation.scores.needed_origin("kept as a baseline").judged
        ranks: dict[str, dict[str, int]] = {}
        for at, query in enumerate(evaluation.queries):
            values = {
                str(finding.document): finding.rank
                for finding in evaluation.explain(query).findings
                if finding.rank is not None
            }
            ranks[key(evaluation.queries[at])] = values
        rows = map(tuple, evaluation.values.tolist())
        return cls(
            fingerprint(judged.qrels),
            evaluation.rules.name,
            tuple(map(str, evaluation.metrics)),
            dict(zip(map(key, evaluation.queries), rows, strict=True)),
            ranks,
        )

    @classmethod
    def read(cls, path: Path) -> Baseline:
        """Read the file.

        Raises:
            ValueError: If it is no baseline of this version.
        """
        try:
            held = json.loads(path.read_text(encoding="utf-8"))
            if held["version"] != VERSION:
                raise ValueError(f"version {held['version']!r}, this is version {VERSION}")  # noqa: TRY301  (said below)
            metrics = tuple(held["metrics"])
            values, ranks = {}, {}
            for query, row in held["queries"].items():
                numbers = [row[metric] for metric in metrics]
                values[query] = tuple(nan if number is None else float(number) for number in numbers)
                ranks[query] = row["ranks"]
            return cls(held["qrels"], held["rules"], metrics, values, ranks)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(
                f"{path} is not a baseline: {type(error).__name__}: {error}; write a new one with --retrieval-update"
            ) from error

    def means(self) -> dict[str, float | None]:
        """Return the mean of each metric to four places; None where it is undefined."""
        means: dict[str, float | None] = {}
        for at, metric in enumerate(self.metrics):
            defined = [row[at] for row in self.values.values() if not isnan(row[at])]
            means[metric] = round(sum(defined) / len(defined), 4) if defined else None
        return means

    def changes(self, earlier: Baseline, path: Path) -> list[str]:
        """Return in words what this baseline holds instead of an earlier one in the same file."""
        before = earlier.means()
        return [f"{path.name}: {metric} {before.get(metric)} -> {mean}" for metric, mean in self.means().items()]

    def write(self, path: Path) -> None:
        """Write the file, a line per query, so that a change of the baseline can be read in a review."""
        means = self.means()
        head = {
            "version": VERSION, "qrels": self.qrels, "rules": self.rules, "metrics": list(self.metrics), "means": means
        }  # fmt: skip
        lines = [f"  {_json(name)}: {_json(value)}," for name, value in head.items()]
        rows = []
        for query, row in self.values.items():
            numbers = {name: None if isnan(value) else value for name, value in zip(self.metrics, row, strict=True)}
            rows.append(f"    {_json(query)}: {_json(numbers | {'ranks': self.ranks[query]})}")
        text = "\n".join(["{", *lines, '  "queries": {', ",\n".join(rows), "  }", "}", ""])
        path.parent.mkdir(parents=True, exist_ok=True)
        save_text(path, text)

    def evaluation(self, now: Evaluation) -> Evaluation:
        """Return the earlier values as an evaluation of the same queries, for the metrics that both have."""
        metrics = [metric for metric in now.metrics if str(metric) in self.metrics]
        places = [self.metrics.index(str(metric)) for metric in metrics]
        queries = [query for query in now.queries if key(query) in self.values]
        rows = [[self.values[key(query)][place] for place in places] for query in queries]
        kept = np.flatnonzero([key(query) in self.values for query in now.queries])
        ideals = {metric: now.scores.column("ideal", metric) for metric in metrics}
        return Evaluation(
            Scores(
                metrics=tuple(metrics),
                queries=tuple(queries),
                values=np.array(rows, dtype=np.float64).reshape(len(queries), len(metrics)),
                counts=now.counts,
                rules=now.rules,
                # The same judgments: what metrics can reach is the same.
                ideals={metric: ideal[kept] for metric, ideal in ideals.items() if ideal is not None},
            )
        )


def key(query: str | int) -> str:
    """Return a query id as JSON holds it."""
    return str(query)


def fingerprint(qrels: Qrels) -> str:
    """Return a name of the judgments, the same whatever the order of queries, groups and documents.

    Example:
        >>> import retrieval_metrics as rm
        >>> one, other = rm.Qrels({"q1": ["a", "b"], "q2": ["c"]}), rm.Qrels({"q2": {"c": 1}, "q1": ["b", "a"]})
        >>> fingerprint(one) == fingerprint(other)
        True
    """
    of_queries = []
    for at, query in enumerate(qrels.queries):
        judgments: Any = qrels.judgments(at)
        groups = judgments if isinstance(judgments, list) else [judgments]
        said = sorted(
            repr(sorted((repr(document), float(grade)) for document, grade in group.items())) for group in groups
        )
        of_queries.append(repr((repr(query), qrels.is_flat, said)))
    return f"sha256:{sha256(chr(10).join(sorted(of_queries)).encode()).hexdigest()[:16]}"


def file_name(test: str, name: str) -> str:
    """Return the file of a test's baseline: its name within its file, made fit for every file system.

    Example:
        >>> file_name("TestSearch::test_words[bm25]", "")
        'TestSearch.test_words[bm25].json'
    """
    full = test.replace("::", ".") + (f".{name}" if name else "")
    fit = re.sub(r"[^\w\-.\[\]]", "_", full)[:LONGEST_NAME]
    if fit != full:  # two tests may become one name
        fit += f"-{sha256(full.encode()).hexdigest()[:HEX_OF_A_NAME]}"
    return f"{fit}.json"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
