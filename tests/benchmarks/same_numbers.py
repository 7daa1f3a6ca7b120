"""Compute generated cases and say which numbers changed since another run, to the last bit.

    python tests/benchmarks/same_numbers.py --keep before.json     # before a change that should change no number
    python tests/benchmarks/same_numbers.py --against before.json  # after it

Every case draws judgments (ids, grades, groups, quotes, spans), runs (scores with ties, lists with duplicates, chunks),
metrics and rules, and computes everything that they allow: evaluations, comparisons, audits, merges, fusion,
explanations, tuning, changes, stages, traces of agents, and files. An error is a result too: its type is kept.
"""

import argparse
import json
import random
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import retrieval_metrics as rm
from retrieval_metrics.integration_api import DEFINITIONS

RULE_SETS = ("standard", "trec_eval", "llama_index", "haystack", "ragas", "autorag", "mlflow")
TIES = (None, None, "docid", "input", "expected")
WORDS = [
    "index",
    "query",
    "vector",
    "chunk",
    "score",
    "rank",
    "token",
    "search",
    "page",
    "model",
    "graph",
    "table",
    "cache",
]
# The largest number of changed results that are printed.
MAX_PRINTED = 20


class Case:
    """One generated case: judgments, two or three runs, and how they are scored."""

    def __init__(self, seed: int) -> None:
        """Draw everything from the seed."""
        self.rng = rng = random.Random(seed)
        self.by_text = seed % 4 == 3
        self.queries = [f"q{number}" for number in range(rng.randint(1, 12))]
        self.texts = {f"s{number}": " ".join(rng.choices(WORDS, k=60)) for number in range(3)}
        self.ids: list[Any] = [f"d{number}" for number in range(12)] if seed % 8 else list(range(12))
        self.qrels = {query: self.draw_judgments() for query in self.queries if rng.random() < 0.95}
        is_listed = rng.random() < 0.5
        self.runs = {
            name: {query: self.draw_ranking(is_listed=is_listed) for query in self.queries if rng.random() < 0.95}
            for name in ("one", "two", "three")[: rng.randint(2, 3)]
        }
        self.metrics = self.draw_metrics()
        self.options: dict[str, Any] = {
            "rules": rng.choice(RULE_SETS) if rng.random() < 0.5 else "standard",
            "ties": rng.choice(TIES),
            "unjudged": None,
        }
        if rng.random() < 0.15 and not self.by_text:
            self.options["unjudged"] = "condensed"

    def draw_judgments(self) -> Any:
        """Return the judgments of a query in one of their shapes."""
        rng = self.rng
        if self.by_text:
            return [self.draw_piece() for _ in range(rng.randint(1, 3))]
        chosen = rng.sample(self.ids, rng.randint(1, 5))
        match rng.randint(0, 3):
            case 0:
                return chosen
            case 1:
                return {document: rng.randint(-1, 3) for document in chosen}
            case 2:
                return {document: rng.choice((0, 0.5, 1, 2.5)) for document in chosen}
            case _:
                return [chosen[:2], *([document] for document in chosen[2:])]

    def draw_piece(self) -> Any:
        """Return a quote or a span of one of the texts, or both as alternatives."""
        source = self.rng.choice(sorted(self.texts))
        words = self.texts[source].split()
        first = self.rng.randint(0, len(words) - 10)
        quoted = " ".join(words[first : first + self.rng.randint(5, 10)])
        start = self.texts[source].index(quoted)
        quote = rm.Quote(quoted)
        span = rm.Span(source, start, start + len(quoted))
        return self.rng.choice([[quote], [span], [quote, span]])

    def draw_ranking(self, *, is_listed: bool) -> Any:
        """Return a ranking in one of its shapes, sometimes empty, with ties or duplicates."""
        rng = self.rng
        if self.by_text:
            return [self.draw_chunk(number) for number in range(rng.randint(0, 8))]
        documents = rng.sample(self.ids, rng.randint(0, 10))
        if is_listed:
            return documents + documents[:1] if rng.random() < 0.2 else documents
        decimals = rng.choice((1, 6))
        return {document: round(rng.random(), decimals) for document in documents}

    def draw_chunk(self, number: int) -> rm.Retrieved:
        """Return a chunk of one of the texts."""
        source = self.rng.choice(sorted(self.texts))
        start = self.rng.randint(0, 200)
        end = start + self.rng.randint(40, 150)
        text = self.texts[source][start:end]
        return rm.Retrieved(f"c{number}", text=text, source=source, start=start, end=start + len(text))

    def draw_metrics(self) -> list[str]:
        """Return the names of a few metrics, with cutoffs and parameters."""
        rng = self.rng
        # Metrics of forbidden documents are left out, so that the draws are those of earlier runs.
        metric_names = [
            name
            for name, definition in sorted(DEFINITIONS.items())
            if definition.higher_is_better and name[:4] != "test"
        ]
        names = []
        for name in rng.sample(metric_names, 4):
            rel = "(rel=2)" if rng.random() < 0.15 and "rel" in DEFINITIONS[name].parameters else ""
            cutoff = rng.choice(("", "", "@1", "@3", "@5", "@200chars" if self.by_text else "@10"))
            names.append(f"{name}{rel}{cutoff}")
        return names

    def split_qrels(self) -> list[dict[str, Any]]:
        """Return the judgments in two parts."""
        return [{query: self.qrels[query] for query in list(self.qrels)[start::2]} for start in (0, 1)]

    def computations(self) -> Iterator[tuple[str, Callable[[], Any]]]:
        """Yield what is computed of the case, by name."""
        qrels = self.qrels
        runs = self.runs
        options = self.options
        first = runs["one"]
        usable = [name for name in self.metrics if is_metric_name(name)]
        yield "evaluate", lambda: evaluation_values(rm.evaluate(qrels, first, usable, **options))
        yield "default", lambda: evaluation_values(rm.evaluate(qrels, first, **options))
        yield "compare", lambda: comparison_values(rm.compare(qrels, runs, resamples=200, **options))
        yield (
            "compare to",
            lambda: comparison_values(
                rm.compare(qrels, runs, usable, baseline="one", margin=0.05, resamples=200, **options)
            ),
        )
        if not (self.by_text or options["unjudged"]):
            bounded = {**options, "unjudged": "bounds"}
            yield (
                "bounds",
                lambda: comparison_values(rm.compare(qrels, runs, ["mrr", "ndcg@5"], resamples=200, **bounded)),
            )
        yield "evaluations", lambda: comparison_values(self.compare_evaluations())
        yield "audit", lambda: {name: rm.audit(qrels, first, "mrr").means[name] for name in RULE_SETS}
        yield "merge", self.merge_halves
        yield "fuse", lambda: dict(rm.fuse(runs))
        yield "explain", self.explain_queries
        yield "tune", self.tune_settings
        yield "changes", self.list_changes
        yield "stages", self.list_stage_losses
        yield "traces", self.evaluate_trajectories
        yield "files", self.read_written_files

    def compare_evaluations(self) -> rm.Comparison:
        """Compare finished evaluations."""
        evaluations = {name: rm.evaluate(self.qrels, run, "mrr") for name, run in self.runs.items()}
        return rm.compare(evaluations, resamples=200)

    def merge_halves(self) -> Any:
        """Return the intervals of two merged halves."""
        parts = [
            rm.evaluate(part, self.runs["one"], ["mrr", "recall@5"], **self.options) for part in self.split_qrels()
        ]
        return dict(rm.merge(parts).intervals())

    def explain_queries(self) -> Any:
        """Return the outcomes of the documents of two queries."""
        evaluation = rm.evaluate(self.qrels, self.runs["one"], "ndcg@5", **self.options)
        outcomes = {}
        for query in list(self.qrels)[:2]:
            findings = evaluation.explain(query).findings
            outcomes[query] = [(finding.kind, finding.rank, finding.groups) for finding in findings]
        return outcomes

    def tune_settings(self) -> Any:
        """Return what tuning over the runs chooses, and its estimates."""
        tuning = rm.tune(self.runs, self.qrels, "mrr@5", default="one", resamples=100)
        estimates = (
            tuning.mean,
            tuning.expected_mean,
            tuning.gain,
            tuning.expected_gain,
            tuning.p,
            tuning.is_significant,
        )
        return [tuning.winner, tuning.default, *estimates, sorted(tuning.indistinguishable)]

    def list_changes(self) -> Any:
        """Return what changed between two runs without judgments."""
        changes = rm.changes(self.runs["one"], self.runs["two"])
        return [list(changes.means.values()), changes.values]

    def list_stage_losses(self) -> Any:
        """Return the share that every stage of a pipeline of two stages loses."""
        stages = {"first": self.runs["one"], "reranked": self.runs["two"]}
        run = rm.RetrievedRun(self.runs["two"], stages=stages)
        losses = rm.evaluate(self.qrels, run, ["recall@3"]).stages.losses("recall@3")
        return [losses.means, losses.values]

    def evaluate_trajectories(self) -> Any:
        """Return the values of the searches of agents, each query searched with two runs."""
        if self.by_text:
            return None
        trajectories = {}
        for query in self.queries:
            calls = []
            for name in ("one", "two"):
                ranking = self.runs[name].get(query, [])
                calls.append(rm.SearchCall(query, list(ranking)))
            trajectories[query] = rm.Trajectory(calls)
        values = {}
        recorded = rm.Trajectories(trajectories)
        views = {"union": recorded.union(), "last": recorded.last(), "interleaved": recorded.interleaved()}
        for name, view in views.items():
            values[name] = evaluation_values(rm.evaluate(self.qrels, view, ["recall@5", "mrr"]))
        return values

    def read_written_files(self) -> Any:
        """Return the evaluation of judgments and a run that were written to files, and of a saved one."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            evaluation = rm.evaluate(self.qrels, self.runs["one"], ["mrr", "ndcg@5"], **self.options)
            evaluation.save(folder / "saved.json")
            values = [evaluation_values(rm.load(folder / "saved.json"))]
            if not self.by_text:
                rm.write_qrels(self.qrels, folder / "qrels.jsonl")
                rm.write_run(self.runs["one"], folder / "run.jsonl")
                qrels = rm.read_qrels(folder / "qrels.jsonl")
                run = rm.read_run(folder / "run.jsonl")
                values.append(evaluation_values(rm.evaluate(qrels, run, ["mrr", "ndcg@5"])))
            return values


def is_metric_name(name: str) -> bool:
    """Return whether a name is that of a metric."""
    try:
        rm.Metric.parse(name)
    except ValueError:
        return False
    return True


def evaluation_values(evaluation: rm.Evaluation) -> Any:
    """Return every number of an evaluation."""
    worst = evaluation.worst(evaluation.metrics[0], 3)
    return {
        "means": evaluation.means,
        "values": evaluation.values,
        "n": evaluation.n,
        "intervals": evaluation.intervals(),
        "residuals": evaluation.residuals,
        "counts": evaluation.counts,
        "ties": evaluation.tie_range,
        "worst": [(explanation.query, explanation.values) for explanation in worst],
    }


def comparison_values(comparison: rm.Comparison) -> Any:
    """Return every number of a comparison."""
    conclusions = [
        (conclusion.kind, conclusion.metric, conclusion.system, conclusion.baseline, conclusion.interval)
        for conclusion in comparison.conclusions
    ]
    differences = [
        (
            difference.values,
            list(vars_of(difference.paired)),
            difference.p_corrected,
            difference.max_difference,
            difference.margin,
        )
        for difference in comparison.differences
    ]
    has_bounds = comparison.conclusions[0].unjudged_bounds
    return {
        "kinds": conclusions,
        "differences": differences,
        "table": comparison.means,
        "intervals": comparison.intervals,
        "to_judge": [tuple(document) for document in comparison.to_judge(5)] if has_bounds else None,
    }


def vars_of(record: Any) -> Iterator[Any]:
    """Yield the fields of a record."""
    for field in fields(record):
        yield getattr(record, field.name)


def encode(value: Any) -> Any:
    """Return a result as JSON; a float as its bits."""
    if isinstance(value, float | np.floating):
        return float(value).hex()
    if is_dataclass(value) and not isinstance(value, type):
        return [encode(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, Mapping):
        return {str(key): encode(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [encode(entry) for entry in value]
    return value if isinstance(value, str | int | bool | None) else str(value)


def compute(seeds: Iterable[int]) -> dict[str, Any]:
    """Return every result by its name."""
    results = {}
    for seed in seeds:
        for name, computation in Case(seed).computations():
            try:
                results[f"{seed} {name}"] = encode(computation())
            except (ValueError, TypeError, KeyError) as error:
                results[f"{seed} {name}"] = type(error).__name__
    return results


def count_values(value: Any) -> int:
    """Return how many values a result holds."""
    if isinstance(value, dict):
        return sum(map(count_values, value.values()))
    if isinstance(value, list):
        return sum(map(count_values, value))
    return 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2_000, help="how many (default: %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the first case, to compute them in parts")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="where to keep the results")
    parser.add_argument("--against", type=Path, metavar="FILE", help="the results of another run")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    results = compute(range(arguments.first, arguments.first + arguments.cases))
    n_refused = sum(isinstance(result, str) for result in results.values())
    print(f"{arguments.cases} cases, {len(results)} results ({n_refused} errors), {count_values(results)} values")
    if arguments.keep:
        arguments.keep.write_text(json.dumps(results))
    if not arguments.against:
        return 0
    before = json.loads(arguments.against.read_text())
    differing = [name for name in results.keys() | before.keys() if results.get(name) != before.get(name)]
    for name in islice(sorted(differing), MAX_PRINTED):
        print(f"differs: {name}")
    print(f"{len(differing)} results differ")
    return bool(differing)


if __name__ == "__main__":
    sys.exit(main())
