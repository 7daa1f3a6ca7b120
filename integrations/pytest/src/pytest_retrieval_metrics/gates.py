"""The gates: floors of means and queries, and no regression against the baseline beside the test."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from math import inf, isfinite, isinf, isnan
from numbers import Real
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pytest_retrieval_metrics.settings import file_name, shown
from retrieval_metrics import Evaluation, Metric, Retrieved, RetrievedRun, Run, compare, evaluate, load
from retrieval_metrics.adapting.gating import ceiling, doubts_of, refuse_bound
from retrieval_metrics.adapting.printing import numbers, save_text, written
from retrieval_metrics.adapting.twins import positive_integer
from retrieval_metrics.types import Piece

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from pytest_retrieval_metrics.settings import Settings
    from retrieval_metrics import Comparison
    from retrieval_metrics.types import Conclusion, Difference, QueryId

Outcome = Literal[
    "passed",
    "stored",
    "below the floor",
    "above the ceiling",
    "not checked",
    "worse",
    "cannot tell",
    "not compared",
    "not measured",
    "not stored",
    "warning",
]
NOW, BASELINE = "now", "baseline"
ROUNDING = 1e-12
"""A value that misses its floor or baseline by no more than this, the rounding of a sum, still reaches it."""
POWER = 0.8
"""The share of builds in which a drop that "would fail" does."""
NAMED = 5
"""The number of queries named in a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict of a gate on a metric."""

    metric: str
    outcome: Outcome
    figures: str = ""
    said: str = ""
    difference: Difference | None = None
    fails_at: float = inf

    @property
    def line(self) -> str:
        """The metric, the outcome and the numbers, in a line."""
        return f"{self.metric} {self.outcome}" + (f": {self.figures}" if self.figures else "")


def unguarded_gate(metrics: Iterable[str]) -> list[Verdict]:
    """Tell of metrics of which nothing is demanded and that are compared with nothing: they cannot fail."""
    return [
        Verdict(
            metric=metric,
            outcome="not compared",
            figures=f"nothing can fail: there is no bound and no baseline; give {bound_of(metric)}, or baseline=True",
        )
        for metric in metrics
    ]


def lowest(metric: str) -> float:
    """Return the lowest value of a metric: a floor there demands nothing."""
    return Metric.parse(metric).definition.bounds[0]


def bound_of(metric: str) -> str:
    """Return in words where the bound of the mean of a metric is given."""
    return "a floor in at_least" if Metric.parse(metric).definition.higher_is_better else "a ceiling in at_most"


def meeting_gate(evaluation: Evaluation) -> list[Verdict]:
    """Refuse rankings of which nothing is judged, where that makes every metric 0: the ids are of two kinds."""
    falls = [metric for metric in evaluation.metrics if metric.definition.sign > 0]
    zero = next((str(metric) for metric in falls if evaluation.means[metric] == 0), None)
    if zero is None or not evaluation.scores.needed_origin("compared").judged.is_empty:
        return []
    figures = "no judged document was retrieved for any query, so nothing can be told from a baseline of zeros"
    said = (doubt.sentence for doubt in doubts_of(evaluation.scores) if doubt.blocks)  # with what to write
    figures = next(said, figures)
    return [Verdict(metric=zero, outcome="not measured", figures=figures)]


def floor_gate(
    evaluation: Evaluation, floors: Mapping[str, float | None], needs: Mapping[str, int], settings: Settings
) -> list[Verdict]:
    """Compare each mean, or the low end of its interval, with its floor, and its queries with how many it needs."""
    verdicts = []
    for metric, floor in floors.items():
        if floor is None:
            continue
        mean, interval, n = evaluation.means[metric], evaluation.intervals(settings.level)[metric], evaluation.n[metric]
        if n < needs.get(metric, 0):
            figures = f"{of_all(n, len(evaluation.queries))} have a value; the floor needs {needs[metric]}"
            verdicts.append(Verdict(metric=metric, outcome="below the floor", figures=figures))
            continue
        reached, what = (mean, "") if settings.floor == "mean" else (interval.low, "the low end of the interval ")
        if reached >= floor - ROUNDING:
            verdicts.append(Verdict(metric=metric, outcome="passed"))
            continue
        figures = f"{what}{numbers.apart(reached, floor)[0]} < {floor:g}, {of_all(n, len(evaluation.queries))}"
        if isnan(reached):
            figures = "undefined for every query: none has a relevant document"
        said = f"mean {numbers.value(mean)}, {numbers.level_name(settings.level)} {numbers.interval(interval)}"
        verdicts.append(Verdict(metric=metric, outcome="below the floor", figures=figures, said=said))
    return verdicts


def ceiling_gate(evaluation: Evaluation, ceilings: Mapping[str, float], settings: Settings) -> list[Verdict]:
    """Compare each mean, or the upper end of its interval, with its ceiling; what cannot be checked has not passed."""
    strict = settings.floor != "mean"
    found = (ceiling(evaluation.scores, name, most, settings.level, by_bound=strict) for name, most in ceilings.items())
    return [Verdict(metric=one.metric, outcome=one.outcome, figures=one.said) for one in found]


def query_floor_gate(evaluation: Evaluation, floors: Mapping[str, float | Mapping[QueryId, float]]) -> list[Verdict]:
    """Compare the value of each query with its floor, exactly; a number is the floor of all queries."""
    verdicts = []
    for metric, floor in floors.items():
        values = evaluation.per_query[metric]
        if isinstance(floor, (int, float)):
            wanted = dict.fromkeys(values, float(floor))
        else:
            wanted = {query: float(least) for query, least in floor.items()}
        missed = {query: least for query, least in wanted.items() if not values[query] >= least - ROUNDING}
        if missed:
            each = [
                f"{query} is undefined"
                if isnan(values[query])
                else f"{query} {numbers.apart(values[query], least)[0]} < {least:g}"
                for query, least in missed.items()
            ]
            figures = f"{len(missed)} of {numbers.queries(len(wanted))}: {_some(each)}"
            verdicts.append(Verdict(metric=metric, outcome="below the floor", figures=figures))
    return verdicts


def of_all(n: int, queries: int) -> str:
    """Return in words how many queries have a value, of how many."""
    return numbers.queries(n) if n == queries else f"{n} of {numbers.queries(queries)}"


def compared(evaluation: Evaluation, before: Evaluation, alpha: float) -> Comparison:
    """Compare with the baseline, on the queries that are the same in both."""
    # Only drops fail, so the test is one-sided at alpha: it rejects where the two-sided one at 2 alpha does, downwards.
    both = {NOW: evaluation, BASELINE: with_metrics(before, evaluation.metrics)}
    return compare(both, baseline=BASELINE, level=1 - 2 * alpha)


def regression_gate(
    evaluation: Evaluation,
    comparison: Comparison,
    baseline: str,
    settings: Settings,
    guarded: Collection[str] = (),
) -> list[Verdict]:
    """Test each metric against the baseline, a file of that name, on the same queries.

    Where no drop could fail the test, it is not compared, unless something else guards the metric.
    """
    held = {difference.metric for difference in comparison.differences}
    notes, lacking = " ".join(comparison.notes), f"{baseline} does not hold it"
    verdicts = [
        Verdict(metric=str(metric), outcome="not compared", figures=lacking, said=notes)
        for metric in evaluation.metrics
        if str(metric) not in held
    ]
    verdicts += [_verdict(comparison, each, settings, guarded) for each in comparison.conclusions]
    for at, one in enumerate(verdicts):
        if one.difference is not None and one.outcome == "not compared" and notes:  # which is why, so it comes first
            verdicts[at] = replace(one, figures=f"{notes} {one.figures}")
            break
    return verdicts


def _verdict(comparison: Comparison, conclusion: Conclusion, settings: Settings, guarded: Collection[str]) -> Verdict:
    difference, metric = conclusion.found, conclusion.metric
    before, now = (comparison.evaluations[name] for name in (BASELINE, NOW))
    found = difference.detectable(POWER, span=max(_room(difference, before), default=0.0))
    if conclusion.kind in {"no common query", "not comparable"}:
        said = "; ".join([conclusion.sentence.removesuffix("."), *conclusion.caveats])
        return Verdict(metric=metric, outcome="not compared", figures=said, difference=difference)
    able = Able.of(difference, before)
    unable = able.short_of(difference.fewest, difference.alpha / 2, metric)
    if unable and metric not in guarded:
        return Verdict(metric=metric, outcome="not compared", figures=unable, difference=difference)
    outcome: Outcome = "passed"
    if conclusion.kind != "the same" and -conclusion.gain > settings.tolerance:
        outcome = "worse" if conclusion.kind == "worse" else "cannot tell"
    ends = (numbers.interval(one.intervals(settings.level)[metric]) for one in (before, now))
    figures = (
        f"{numbers.change(before.means[metric], now.means[metric])} (p {numbers.p_value(p_of_drop(difference))}), "
        f"{difference.paired.losses} of {numbers.queries(difference.n)}"
    )
    said = (
        f"was {next(ends)}, is {next(ends)}; difference {numbers.signed(difference.mean)} "
        f"{numbers.interval(difference.interval, difference=True)}, alpha {difference.alpha / 2:.4g} per build; "
        f"{difference.paired.wins} better, {difference.paired.ties} equal, {difference.paired.losses} worse"
    )
    if outcome == "cannot tell" and (would_fail := unable or found_in_words(*found)):
        said = f"{would_fail}; {said}"
    return Verdict(
        metric=metric, outcome=outcome, figures=figures, said=said, difference=difference, fails_at=found.high
    )


def _room(difference: Difference, before: Evaluation) -> list[float]:
    """Return how much worse each query of a difference can become."""
    low, high = Metric.parse(difference.metric).definition.bounds
    values = [before.per_query[difference.metric][query] for query in difference.queries]
    return [value - low if difference.higher_is_better else high - value for value in values]


class Able(NamedTuple):
    """How many independent units of a baseline, of how many, can lose: only they can make a drop significant."""

    units: int
    of_all: int
    thing: str

    @classmethod
    def of(cls, difference: Difference, before: Evaluation) -> Able:
        """Count the units of a difference from a baseline, as the test does."""
        clusters, known = difference.clusters, before.scores.clusters
        of_query = range(difference.n) if clusters is None else clusters.tolist()
        units = {unit for unit, room in zip(of_query, _room(difference, before), strict=True) if room > ROUNDING}
        by_source = known is not None and known.by_source
        return cls(
            len(units), difference.units, "query" if clusters is None else "document" if by_source else "cluster"
        )

    def short_of(self, fewest: int, alpha: float, metric: str) -> str:
        """Return in words that no drop can fail a check that needs so many; nothing if they are enough."""
        if self.units >= fewest:
            return ""
        things, others = (f"{self.thing}s", ", or pass clusters=None") if self.thing != "query" else ("queries", "")
        words = numbers.count(self.of_all, self.thing, things)
        if self.units < self.of_all:
            words = f"{self.units} of {words} can get worse"
        needed = f"at least {fewest} are needed (alpha {alpha:.4g})"
        return f"no drop can fail: {words}; {needed}: give {bound_of(metric)}, or ask about more {things}{others}"


def found_in_words(low: float, high: float) -> str:
    """Return in words which drop would fail such a check, by `Difference.detectable`; nothing if no query differs."""
    if isinf(low):
        return ""
    sure = "" if isinf(high) else f", {high:.2f} whichever queries lose"
    return f"a drop of {low:.2f} would have been found in four of five cases{sure}"


def p_of_drop(difference: Difference) -> float:
    """Return the corrected p value of the one-sided test: how likely so low a mean is if nothing got worse."""
    half = difference.p_corrected / 2
    return 1.0 if difference.identical else half if difference.gain < 0 else 1 - half


def never_worse_gate(comparison: Comparison, never_worse: Sequence[QueryId]) -> list[Verdict]:
    """Require that no value of the given queries is lower than in the baseline, exactly, in any metric."""
    of = f"of {numbers.queries(len(never_worse))} that must not get worse"
    verdicts = [
        Verdict(metric=one.metric, outcome="worse", figures=f"{len(lost)} {of}: {_some(lost)}")
        for one, lost in _losses(comparison, never_worse)
    ]
    found = {query for difference in comparison.differences for query in difference.queries}
    if absent := [str(query) for query in never_worse if query not in found]:
        figures = f"{_some(absent)} must not get worse, but cannot be compared: new, rejudged or reworded"
        verdicts.append(Verdict(metric=str(comparison.metrics[0]), outcome="not compared", figures=figures))
    return verdicts


def deterministic_gate(comparison: Comparison) -> list[Verdict]:
    """Require that no query has lost anything in any metric, because a retriever without chance changed it."""
    return [
        Verdict(
            metric=one.metric,
            outcome="worse",
            figures=f"{len(lost)} of {numbers.queries(one.n)} lost, none by chance: {_some(lost)}",
        )
        for one, lost in _losses(comparison, comparison.evaluations[NOW].queries)
    ]


def _losses(comparison: Comparison, queries: Collection[QueryId]) -> Iterator[tuple[Difference, list[str]]]:
    """Yield each metric in which some of the queries lost, with what each of these lost, exactly."""
    for difference in comparison.differences:
        now = comparison.evaluations[NOW].per_query[difference.metric]
        lost = [
            f"{query} {numbers.change(now[query] - change, now[query])}"
            for query, change in losers(difference)
            if abs(change) > ROUNDING and query in queries
        ]
        if lost:
            yield difference, lost


def losers(difference: Difference) -> list[tuple[QueryId, float]]:
    """Return the queries that became worse with their differences, the largest first."""
    gains = _gains(difference)
    return [(query, change) for gain, query, change in sorted(gains, key=itemgetter(0)) if gain < 0]


def winners(difference: Difference) -> list[tuple[QueryId, float]]:
    """Return the queries that became better with their differences, the largest first."""
    gains = _gains(difference)
    return [(query, change) for gain, query, change in sorted(gains, key=itemgetter(0), reverse=True) if gain > 0]


def _gains(difference: Difference) -> Iterator[tuple[float, QueryId, float]]:
    """Yield how much better each query is, the query, and how its value has changed."""
    sign = 1 if difference.higher_is_better else -1
    for query, change in zip(difference.queries, difference.values.tolist(), strict=True):
        yield sign * change, query, change


def _some(names: list[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def floors_of(at_least: Any) -> tuple[dict[str, float | None], dict[str, int]]:
    """Return the floor of each metric by its full name, and how many queries it needs, if that is said."""
    if not isinstance(at_least, Mapping):
        raise TypeError(f"at_least must map metrics to floors, such as {{'ndcg@10': 0.35}}; got {at_least!r}")
    if not at_least:
        raise ValueError("at_least is empty: name a metric and its floor, {'ndcg@10': 0.35}; None if it has a baseline")
    floors: dict[str, float | None] = {}
    needs: dict[str, int] = {}
    for name, given in _by_name("at_least", at_least).items():
        floor = given
        if isinstance(given, tuple) and len(given) == PAIR:
            floor, needs[name] = given[0], positive_integer(given[1], f"the queries that the floor of {name} needs")
        floors[name] = None if floor is None else _bound("at_least", name, f"floor of {name}", floor)
    return floors, needs


def ceilings_of(at_most: Any) -> dict[str, float]:
    """Return the ceiling of each metric by its full name; only of those in which lower is better."""
    if not isinstance(at_most, Mapping):
        raise TypeError(f"at_most must map metrics to ceilings, such as {{'leak@5': 0}}; got {at_most!r}")
    given = _by_name("at_most", at_most)
    for name, most in given.items():
        if Metric.parse(name).definition.higher_is_better:
            raise ValueError(f"higher is better in {name}, so it has no ceiling; write at_least={{{name!r}: {most!r}}}")
    return {name: _bound("at_most", name, f"ceiling of {name}", most) for name, most in given.items()}


def query_floors_of(per_query: Any, queries: Sequence[QueryId]) -> dict[str, float | dict[QueryId, float]]:
    """Return the floor of every query, or of each named query, for each metric by its full name."""
    if per_query is None:
        return {}
    if not isinstance(per_query, Mapping):
        raise TypeError(
            "at_least_per_query must map metrics to the floor of every query, or to floors by query id, such as "
            f"{{'recall@10': {{'q7': 1.0}}}}; got {per_query!r}"
        )
    found: dict[str, float | dict[QueryId, float]] = {}
    what = "at_least_per_query"
    for name, floor in _by_name(what, per_query).items():
        if isinstance(floor, Mapping):
            queries_of(list(floor), queries)
            said = f"floor of {name} for"
            found[name] = {query: _bound(what, name, f"{said} {query!r}", least) for query, least in floor.items()}
        else:
            found[name] = _bound(what, name, f"floor of {name}", floor)
    return found


def queries_of(wanted: Any, queries: Sequence[QueryId]) -> list[QueryId]:
    """Return the queries named in a test."""
    if isinstance(wanted, str):
        raise TypeError(f"never_worse must be a list of query ids, got {wanted!r}; pass [{wanted!r}]")
    known = set(queries)
    for query in wanted:
        if query not in known:
            near = get_close_matches(str(query), map(str, queries), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"there is no judged query {query!r}{hint}")
    return list(wanted)


def _by_name(what: str, given: Mapping[Any, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for metric, value in given.items():
        name = str(metric if isinstance(metric, Metric) else Metric.parse(metric))
        if name in found:
            raise ValueError(f"{what} has {name} twice, in two spellings")
        found[name] = value
    return found


PAIR = 2
"""A floor, and how many queries it needs."""


def _bound(argument: str, metric: str, what: str, bound: Any) -> float:
    if isinstance(bound, bool) or not isinstance(bound, Real):
        raise TypeError(f"the {what} must be a number, a pair of it and the number of queries, or None; got {bound!r}")
    if not abs(float(bound)) < float("inf"):
        raise ValueError(f"the {what} must be finite, got {bound!r}")
    refuse_bound(argument, metric, float(bound))
    return float(bound)


WAY_OUT = "restore it from version control, or delete it and write a new one with --retrieval-update"
CONFLICT = ("<<<<<<< ", ">>>>>>> ")
BEST = "best"
"""The folder of the best approved baselines, beside the baselines."""
DATED = ('"written": ', '"digest": ')
"""The beginnings of the lines with the date and the version of the writer, and with the digest, which covers them."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The baseline of a check."""

    path: Path
    where: str
    known: Evaluation | None
    best: Mapping[Path, Evaluation] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path, test: str, root: Path, *, with_best: bool) -> Baseline:
        """Read the baseline of a test, and the best approved ones if they are asked for."""
        try:
            known = read(path, test) if path.exists() else None
            best = {kept: read(kept, test) for kept in bests_of(path) if with_best}
        except ValueError as error:
            raise ValueError(str(error).replace(str(path.parent), shown(path.parent, root))) from None
        return cls(path, shown(path, root), known, best)


def best_of(path: Path, metric: str) -> Path:
    """Return where the best approved baseline of a metric is kept, if it is not the baseline itself."""
    return path.parent / BEST / path.stem / file_name(metric)


def bests_of(path: Path) -> list[Path]:
    """Return the best approved baselines that are kept beside a baseline."""
    folder = best_of(path, "").parent
    return sorted(folder.iterdir()) if folder.is_dir() else []


def read(path: Path, test: str) -> Evaluation:
    """Read the baseline of a test from a file."""
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
    """Write an evaluation as a baseline, and return whether anything but the date changed."""
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
    """Return an evaluation whose rankings hold only what judging needs, such as ids if ids are judged."""
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
