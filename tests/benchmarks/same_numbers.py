"""Compute generated cases and say which numbers changed since another run, to the last bit.

    python tests/benchmarks/same_numbers.py --keep before.json     # before a change that should change no number
    python tests/benchmarks/same_numbers.py --against before.json  # after it

Every case draws judgments (ids, grades, groups, quotes, spans), runs (scores with ties, lists with repeats, chunks),
metrics and rules, and asks for what one can ask of them. An error is a result too: its type is kept.
"""

import argparse
import json
import random
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import retrieval_metrics as rm
from retrieval_metrics.integration_api import DEFINITIONS

SEMANTICS = ("standard", "trec_eval", "llama_index", "haystack", "ragas", "autorag", "mlflow")
TIES = (None, None, "docid", "input", "expected")
WORDS = (
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
)
SHOWN = 20
"""The largest number of changed results that are printed."""


class Case:
    """One generated case: judgments, two or three runs, and how they are scored."""

    def __init__(self, seed: int) -> None:
        """Draw everything from the seed."""
        self.rng = rng = random.Random(seed)
        self.by_text = seed % 4 == 3
        self.queries = [f"q{number}" for number in range(rng.randint(1, 12))]
        self.texts = {f"s{number}": " ".join(rng.choices(WORDS, k=60)) for number in range(3)}
        self.ids: list[Any] = [f"d{number}" for number in range(12)] if seed % 8 else list(range(12))
        self.qrels = {query: self.judged() for query in self.queries if rng.random() < 0.95}
        listed = rng.random() < 0.5
        self.runs = {
            name: {query: self.ranking(listed=listed) for query in self.queries if rng.random() < 0.95}
            for name in ("one", "two", "three")[: rng.randint(2, 3)]
        }
        self.metrics = self.names()
        self.rules: dict[str, Any] = {
            "semantics": rng.choice(SEMANTICS) if rng.random() < 0.5 else "standard",
            "ties": rng.choice(TIES),
            "unjudged": None,
        }
        if rng.random() < 0.15 and not self.by_text:
            self.rules["unjudged"] = "condensed"

    def judged(self) -> Any:
        """Return the judgments of a query in one of their shapes."""
        rng = self.rng
        if self.by_text:
            return [self.piece() for _ in range(rng.randint(1, 3))]
        chosen = rng.sample(self.ids, rng.randint(1, 5))
        match rng.randint(0, 3):
            case 0:
                return chosen
            case 1:
                return {document: rng.randint(-1, 3) for document in chosen}
            case 2:
                return {document: rng.choice((0, 0.5, 1, 2.5)) for document in chosen}
            case _:
                return [chosen[:2], *([each] for each in chosen[2:])]

    def piece(self) -> Any:
        """Return a quote or a span of one of the texts, or both as alternatives."""
        source = self.rng.choice(sorted(self.texts))
        words = self.texts[source].split()
        first = self.rng.randint(0, len(words) - 10)
        quoted = " ".join(words[first : first + self.rng.randint(5, 10)])
        start = self.texts[source].index(quoted)
        quote, span = rm.Quote(quoted), rm.Span(source, start, start + len(quoted))
        return self.rng.choice([[quote], [span], [quote, span]])

    def ranking(self, *, listed: bool) -> Any:
        """Return a ranking in one of its shapes, sometimes empty, with ties or repeats."""
        rng = self.rng
        if self.by_text:
            return [self.chunk(number) for number in range(rng.randint(0, 8))]
        documents = rng.sample(self.ids, rng.randint(0, 10))
        if listed:
            return documents + documents[:1] if rng.random() < 0.2 else documents
        places = rng.choice((1, 6))
        return {document: round(rng.random(), places) for document in documents}

    def chunk(self, number: int) -> rm.Retrieved:
        """Return a chunk of one of the texts."""
        source = self.rng.choice(sorted(self.texts))
        start = self.rng.randint(0, 200)
        end = start + self.rng.randint(40, 150)
        text = self.texts[source][start:end]
        return rm.Retrieved(f"c{number}", text=text, source=source, start=start, end=start + len(text))

    def names(self) -> list[str]:
        """Return the names of a few metrics, with cut-offs and parameters."""
        rng = self.rng
        # Metrics of what must not come back are asked for apart, so that the draws are those of earlier runs.
        known = [name for name, one in sorted(DEFINITIONS.items()) if one.higher_is_better and name[:4] != "test"]
        found = []
        for name in rng.sample(known, 4):
            rel = "(rel=2)" if rng.random() < 0.15 and "rel" in DEFINITIONS[name].parameters else ""
            cut = rng.choice(("", "", "@1", "@3", "@5", "@200chars" if self.by_text else "@10"))
            found.append(f"{name}{rel}{cut}")
        return found

    def halves(self) -> list[dict[str, Any]]:
        """Return the judgments in two parts."""
        return [{query: self.qrels[query] for query in list(self.qrels)[at::2]} for at in (0, 1)]

    def asked(self) -> Iterator[tuple[str, Callable[[], Any]]]:
        """Yield what is asked of the case, by name."""
        first = self.runs["one"]
        usable = [name for name in self.metrics if _is_known(name)]
        judged = not (self.by_text or self.rules["unjudged"])
        yield "evaluate", lambda: _of_evaluation(rm.evaluate(self.qrels, first, usable, **self.rules))
        yield "default", lambda: _of_evaluation(rm.evaluate(self.qrels, first, **self.rules))
        yield "compare", lambda: _of_comparison(rm.compare(self.qrels, self.runs, resamples=200, **self.rules))
        yield (
            "compare to",
            lambda: _of_comparison(
                rm.compare(self.qrels, self.runs, usable, baseline="one", margin=0.05, resamples=200, **self.rules)
            ),
        )
        if judged:
            yield (
                "bounds",
                lambda: _of_comparison(
                    rm.compare(
                        self.qrels, self.runs, ["mrr", "ndcg@5"], resamples=200, **{**self.rules, "unjudged": "bounds"}
                    )
                ),
            )
        yield (
            "evaluations",
            lambda: _of_comparison(
                rm.compare(
                    {name: rm.evaluate(self.qrels, run, "mrr") for name, run in self.runs.items()}, resamples=200
                )
            ),
        )
        yield "audit", lambda: {name: rm.audit(self.qrels, first, "mrr").means[name] for name in SEMANTICS}
        yield (
            "merge",
            lambda: dict(
                rm.merge(
                    rm.evaluate(part, first, ["mrr", "recall@5"], **self.rules) for part in self.halves()
                ).intervals()
            ),
        )
        yield "fuse", lambda: dict(rm.fuse(self.runs))
        yield (
            "explain",
            lambda: {
                query: [(each.kind, each.rank, each.groups) for each in found.findings]
                for query in list(self.qrels)[:2]
                for found in [rm.evaluate(self.qrels, first, "ndcg@5", **self.rules).explain(query)]
            },
        )


def _is_known(name: str) -> bool:
    try:
        rm.Metric.parse(name)
    except ValueError:
        return False
    return True


def _of_evaluation(result: rm.Evaluation) -> Any:
    worst = [(one.query, one.values) for one in result.worst(result.metrics[0], 3)]
    return {
        "means": result.means,
        "values": result.values,
        "n": result.n,
        "intervals": result.intervals(),
        "residuals": result.residuals,
        "counts": result.counts,
        "ties": result.tie_range,
        "worst": worst,
    }


def _of_comparison(result: rm.Comparison) -> Any:
    return {
        "kinds": [(one.kind, one.metric, one.system, one.baseline, one.interval) for one in result.conclusions],
        "differences": [
            (one.values, one.paired, one.p_corrected, one.max_difference, one.margin) for one in result.differences
        ],
        "table": result.means,
        "intervals": result.intervals,
        "to_judge": [tuple(one) for one in result.to_judge(5)] if result.conclusions[0].unjudged_bounds else None,
    }


def plain(value: Any) -> Any:
    """Return a result as JSON; a float as its bits."""
    if isinstance(value, float | np.floating):
        return float(value).hex()
    if is_dataclass(value) and not isinstance(value, type):
        value = {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(each) for each in value]
    return value if isinstance(value, str | int | bool | None) else str(value)


def computed(seeds: Iterable[int]) -> dict[str, Any]:
    """Return every result by its name."""
    results = {}
    for seed in seeds:
        for name, ask in Case(seed).asked():
            try:
                results[f"{seed} {name}"] = plain(ask())
            except (ValueError, TypeError, KeyError) as error:
                results[f"{seed} {name}"] = type(error).__name__
    return results


def count(value: Any) -> int:
    """Return how many values a result holds."""
    if isinstance(value, dict | list):
        return sum(map(count, value.values() if isinstance(value, dict) else value))
    return 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2_000, help="how many (default: %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the first case, to compute them in parts")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="where to keep the results")
    parser.add_argument("--against", type=Path, metavar="FILE", help="the results of another run")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    results = computed(range(given.first, given.first + given.cases))
    refused = sum(isinstance(result, str) for result in results.values())
    print(f"{given.cases} cases, {len(results)} results ({refused} errors), {count(results)} values")
    if given.keep:
        given.keep.write_text(json.dumps(results))
    if not given.against:
        return 0
    before = json.loads(given.against.read_text())
    differ = [name for name in results.keys() | before.keys() if results.get(name) != before.get(name)]
    for name in islice(sorted(differ), SHOWN):
        print(f"differs: {name}")
    print(f"{len(differ)} results differ")
    return bool(differ)


if __name__ == "__main__":
    sys.exit(main())
