"""Describe as data what libraries do in cases that the literature leaves open."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, get_args

from retrieval_metrics.files.record_classes import register_record
from retrieval_metrics.matching.ranking_order import ScoreOrder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.metrics.base.definition import ParameterValue

Ties: TypeAlias = Literal["docid", "input", "expected"]
UnjudgedRule: TypeAlias = Literal["nonrelevant", "condensed"]
EmptyRule: TypeAlias = Literal["zero", "undefined", "error"]
NoRelevantRule: TypeAlias = Literal["undefined", "zero", "match", "error"]
DuplicateRule: TypeAlias = Literal["ignore", "count", "error"]

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "missing": ("zero", "skip"),
    "empty": get_args(EmptyRule),
    "no_relevant": get_args(NoRelevantRule),
    "negative": ("nonrelevant", "unjudged"),
    "groups": ("credit", "flatten"),
    "duplicates": get_args(DuplicateRule),
    "ties": get_args(Ties),
    "unjudged": get_args(UnjudgedRule),
    "grades": ("real", "integer"),
    "scores": ("double", "single"),
}


@register_record
@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What happens in cases that libraries treat differently.

    Attributes:
        name: The name printed with the results.
        missing: A judged query that is not in the run has retrieved nothing (`"zero"`), or is left out (`"skip"`).
        empty: A query for which nothing was retrieved scores 0, by the formula (`"zero"`), is undefined and left out of
            the mean (`"undefined"`), or is an error.
        no_relevant: A query without a relevant document is undefined and left out of the mean (`"undefined"`), scores 0
            and counts (`"zero"`), scores 1 if nothing was retrieved either and otherwise 0 (`"match"`), or is an error.
        negative: A document with a negative grade is judged and gains nothing (`"nonrelevant"`), or counts as unjudged
            (`"unjudged"`).
        groups: Each group of alternatives is credited once (`"credit"`), or every document of every group is needed on
            its own (`"flatten"`).
        duplicates: A document that is retrieved again keeps its rank without credit (`"ignore"`), is a hit again
            (`"count"`), or is an error. If pieces such as quotes are matched instead of ids, `"count"` acts like
            `"ignore"`. To remove repeats before anything is ranked, pass `match=Matching(deduplicate=True)`.
        ties: Documents with equal scores are ordered by id, descending (`"docid"`), keep the order in which they were
            given (`"input"`), or the value is the mean over all their orders (`"expected"`).
        scores: Scores are compared as they are (`"double"`), or as the nearest numbers of 32 bits, about seven digits
            (`"single"`), so that more of them are equal.
        grades: Any finite grade (`"real"`), or only whole numbers (`"integer"`; others are an error).
        parameters: Per metric name, parameters that differ from the metric's own defaults. Parameters written in a
            metric's name (`map(norm=retrieved)`) take precedence.
        exceptions: Per metric name, the values of `empty`, `no_relevant` and `duplicates` that differ for this metric.
        metrics: The metrics of the library; None if it has all. Other metrics are computed by the same rules.
    """

    name: str
    missing: Literal["zero", "skip"] = "zero"
    empty: EmptyRule = "zero"
    no_relevant: NoRelevantRule = "undefined"
    negative: Literal["nonrelevant", "unjudged"] = "nonrelevant"
    groups: Literal["credit", "flatten"] = "credit"
    duplicates: DuplicateRule = "ignore"
    ties: Ties = "docid"
    unjudged: UnjudgedRule = "nonrelevant"
    grades: Literal["real", "integer"] = "real"
    scores: Literal["double", "single"] = "double"
    parameters: Mapping[str, Mapping[str, ParameterValue]] = field(default_factory=dict)
    exceptions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    metrics: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                _refuse(name, getattr(self, name))
        for metric_name, changed_rules in self.exceptions.items():
            if not set(changed_rules) <= {"empty", "no_relevant", "duplicates"}:
                raise ValueError(
                    f"the exceptions of {self.name} for {metric_name} must be among empty, no_relevant and duplicates, "
                    f"got {sorted(changed_rules)}"
                )
            for name, value in changed_rules.items():
                if value not in _CHOICES[name]:
                    _refuse(name, value)

    @property
    def order(self) -> ScoreOrder:
        """How scored documents are put in order."""
        return ScoreOrder(self.ties, self.scores == "single")

    def for_metric(self, metric: str) -> Rules:
        """Return the rules for one metric, with its exceptions applied.

        Example:
            >>> LLAMA_INDEX.duplicates, LLAMA_INDEX.for_metric("recall").duplicates
            ('count', 'ignore')
        """
        changed: Mapping[str, Any] = self.exceptions.get(metric, {})
        return replace(self, exceptions={}, **changed) if changed else self

    def has(self, metric: str) -> bool:
        """Return whether the library has the metric."""
        return self.metrics is None or metric in self.metrics


def _refuse(name: str, value: str) -> NoReturn:
    hint = ""
    if name == "duplicates":
        hint = "; match=Matching(deduplicate=True) removes repeats before anything is ranked"
    raise ValueError(f"{name} must be one of {', '.join(map(repr, _CHOICES[name]))}, got {value!r}{hint}")


# The default: see "Our rules" in the documentation, guides/coming-from.
STANDARD = Rules(name="standard")

# What trec_eval 10.0 (2026) does: the same value for every query, for str ids and whole grades, in map, ndcg, mrr,
# r_precision and bpref without a cutoff, and map, ndcg, precision, recall and hit_rate (there: success) with one.
# Scores are compared in 64 bits; trec_eval 9.0.8 of 2020, and pytrec_eval with it, compares them in 32
# (`scores="single"`). Raises where a document is retrieved twice (trec_eval: "duplicate docs") and where a grade is
# not a whole number.
TREC_EVAL = Rules(
    name="trec_eval",
    missing="skip",
    no_relevant="zero",
    negative="unjudged",
    duplicates="error",
    grades="integer",
    parameters={"iprec": {"rounding": "nearest"}},
    metrics=("map", "ndcg", "mrr", "precision", "recall", "hit_rate", "r_precision", "bpref"),
)

# What llama-index-core 0.14.25 does in `llama_index/core/evaluation/retrieval/metrics.py`, with a list of k documents
# for `@k`: `AveragePrecision` and `NDCG` walk the list and take a repeated document as a hit again, so they may
# exceed 1; `Precision` and `Recall` compare sets; `Precision` divides by the distinct documents retrieved; `NDCG` is
# binary and its ideal holds every expected id, however short the list. Every `compute` raises ValueError ("Retrieved
# ids and expected ids must be provided") where nothing was retrieved or nothing is relevant; so do these rules. Not
# covered: the granular options, and expected ids that are given twice.
LLAMA_INDEX = Rules(
    name="llama_index",
    empty="error",
    no_relevant="error",
    groups="flatten",
    duplicates="count",
    ties="input",
    parameters={"precision": {"norm": "distinct"}, "ndcg": {"gain": "binary", "ideal": "uncut"}},
    exceptions={"precision": {"duplicates": "ignore"}, "recall": {"duplicates": "ignore"}},
    metrics=("hit_rate", "mrr", "precision", "recall", "map", "ndcg"),
)

# What haystack-ai 3.4.0 does in `haystack/components/evaluators`, with a list of k documents for `@k`:
# `document_ndcg.py` has linear gains and an ideal of all relevant documents, however short the list;
# `document_map.py` divides by all of them (since 2026; before, by those found); each relevant document is credited
# once and a repeat keeps its place; `document_recall.py` is recall in its mode multi_hit and hit rate in single_hit.
# Its ground truth are the documents with a grade above 0. Compared by id: `document_comparison_field="id"`.
HAYSTACK = Rules(
    name="haystack",
    no_relevant="zero",
    groups="flatten",
    ties="input",
    parameters={"ndcg": {"ideal": "uncut"}},
    metrics=("hit_rate", "mrr", "recall", "map", "ndcg"),
)

# What ragas 0.4.3 does without a model, with a list of k contexts for `@k`: in `metrics/_context_precision.py`,
# `IDBasedContextPrecision` (precision) compares sets and is NaN where nothing was retrieved, and
# `NonLLMContextPrecisionWithReference` (map, where texts are equal or differ by more than its threshold) divides by
# the relevant contexts found, repeats counted again, plus 1e-10, so it agrees to 1e-9; in
# `metrics/_context_recall.py`, `IDBasedContextRecall` (recall) compares sets. NaN leaves the mean. With nothing
# relevant recall is NaN and the average precision raises ValueError ("max() iterable argument is empty"), which
# `evaluate` turns into NaN; only if nothing was retrieved either it is 0 there and undefined here.
RAGAS = Rules(
    name="ragas",
    groups="flatten",
    duplicates="count",
    ties="input",
    parameters={"precision": {"norm": "distinct"}, "map": {"norm": "retrieved"}},
    exceptions={
        "precision": {"empty": "undefined", "no_relevant": "zero", "duplicates": "ignore"},
        "recall": {"duplicates": "ignore"},
    },
    metrics=("precision", "recall", "map"),
)

# What AutoRAG 0.3.27 documents and codes in `autorag/evaluation/metric/retrieval.py`: reciprocal rank and average
# precision are means over the groups, average precision divides by the relevant retrieved, NDCG is binary over all
# documents of all groups with an ideal as long as the list, and precision divides by the number retrieved. Average
# precision and NDCG take a repeated document as a hit again; precision and recall compare sets, but precision divides
# by the list. Its decorator gives None instead of a value where nothing was retrieved; the functions themselves, and
# these rules, give 0.
AUTORAG = Rules(
    name="autorag",
    no_relevant="zero",
    duplicates="count",
    ties="input",
    parameters={
        "precision": {"norm": "retrieved"},
        "f1": {"norm": "retrieved"},
        "mrr": {"per": "group"},
        "map": {"per": "group", "norm": "retrieved"},
        "ndcg": {"gain": "binary", "of": "documents", "ideal": "retrieved"},
    },
    exceptions={name: {"duplicates": "ignore"} for name in ("precision", "recall", "f1")},
    metrics=("precision", "recall", "f1", "mrr", "map", "ndcg"),
)

# What mlflow 3.17.2 does in `mlflow/metrics/metric_definitions.py`: `_precision_at_k_eval_fn` counts a repeated
# document again and divides by the number retrieved, `_recall_at_k_eval_fn` compares sets, and `_ndcg_at_k_eval_fn`
# is binary, takes each repeat of a relevant document as one more relevant document
# (`_expand_duplicate_retrieved_docs`) and cuts the ideal at the number retrieved. With nothing relevant recall and
# NDCG are 1 if nothing was retrieved either, and else 0; precision is 0. It has no metric without a cutoff.
MLFLOW = Rules(
    name="mlflow",
    no_relevant="match",
    groups="flatten",
    duplicates="count",
    ties="input",
    parameters={"precision": {"norm": "retrieved"}, "ndcg": {"gain": "binary", "ideal": "expanded"}},
    exceptions={"precision": {"no_relevant": "zero", "duplicates": "count"}, "recall": {"duplicates": "ignore"}},
    metrics=("precision", "recall", "ndcg"),
)

RULE_SETS: Mapping[str, Rules] = {
    rules.name: rules for rules in (STANDARD, TREC_EVAL, LLAMA_INDEX, HAYSTACK, RAGAS, AUTORAG, MLFLOW)
}


def as_rules(rules: str | Rules, ties: str | None = None, unjudged: str | None = None) -> Rules:
    """Return a rule set from its name; a rule set is returned unchanged."""
    if not isinstance(rules, (str, Rules)):
        raise TypeError(f"rules must be the name of a rule set or a Rules, got {type(rules).__name__}")
    if isinstance(rules, str) and rules not in RULE_SETS:
        names = ", ".join(RULE_SETS)
        raise ValueError(f"unknown rules {rules!r}; the rule sets are {names}; you can also pass your own Rules(...)")
    rule_set = RULE_SETS[rules] if isinstance(rules, str) else rules
    if ties is not None and ties not in get_args(Ties):
        raise ValueError(
            f"ties must be one of {', '.join(get_args(Ties))}, or None for the rule set's default, got {ties!r}"
        )
    if unjudged is not None and unjudged not in get_args(UnjudgedRule):
        raise ValueError(
            f"unjudged must be one of {', '.join(get_args(UnjudgedRule))}, or None for the rule set's default, got "
            f"{unjudged!r}"
        )
    changed = {}
    if ties is not None:
        changed["ties"] = ties
    if unjudged is not None:
        changed["unjudged"] = unjudged
    return replace(rule_set, **changed) if changed else rule_set  # type: ignore[arg-type]  # checked above
