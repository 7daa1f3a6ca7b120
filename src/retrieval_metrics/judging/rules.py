"""Rule sets: what a library does where the literature leaves a choice, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.metrics.definition import ParameterValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What happens in the situations that libraries treat differently.

    Attributes:
        name: The name printed with the results.
        missing: A judged query that is not in the run scores 0 (`"zero"`), or is left out (`"skip"`).
        no_relevant: A query without a relevant document is undefined and leaves the mean (`"undefined"`), or scores 0
            and stays (`"zero"`).
        negative: A document of negative grade is judged and gains nothing (`"nonrelevant"`), or counts as never judged
            (`"unjudged"`).
        repeats: A document that is retrieved again keeps its rank and earns nothing (`"ignore"`), or is an error.
        grades: Any finite grade (`"real"`), or only whole numbers (`"integer"`; others are an error).
        parameters: Per metric name, parameters that differ from the metric's own defaults. What a metric's name says
            explicitly (`map(norm=retrieved)`) wins over this.
    """

    name: str
    missing: Literal["zero", "skip"] = "zero"
    no_relevant: Literal["undefined", "zero"] = "undefined"
    negative: Literal["nonrelevant", "unjudged"] = "nonrelevant"
    repeats: Literal["ignore", "error"] = "ignore"
    grades: Literal["real", "integer"] = "real"
    parameters: Mapping[str, Mapping[str, ParameterValue]] = field(default_factory=dict)


STANDARD = Rules(name="standard")
"""The default: see the table "What each situation does" in the README."""

TREC_EVAL = Rules(
    name="trec_eval", missing="skip", no_relevant="zero", negative="unjudged", repeats="error", grades="integer"
)
"""What trec_eval does, through pytrec_eval-terrier: the same value for every query, to 1e-9, for str ids, whole grades
and scores whose order and ties are the same in 32 bits, in map, ndcg, mrr, r_precision and bpref without a cut-off, and
map, ndcg, precision, recall and hit_rate (there: success) with one."""

AUTORAG = Rules(
    name="autorag",
    no_relevant="zero",
    parameters={
        "precision": {"norm": "retrieved"},
        "f1": {"norm": "retrieved"},
        "mrr": {"per": "group"},
        "map": {"per": "group", "norm": "retrieved"},
        "ndcg": {"gain": "binary", "of": "documents", "ideal": "retrieved"},
    },
)
"""What AutoRAG documents and codes: reciprocal rank and average precision are means over the groups, average precision
divides by the relevant retrieved, NDCG is binary over all documents of all groups with an ideal as long as the list,
and precision divides by the number retrieved."""

RULE_SETS: Mapping[str, Rules] = {rules.name: rules for rules in (STANDARD, TREC_EVAL, AUTORAG)}


def as_rules(semantics: str | Rules) -> Rules:
    """Return the rule set of that name, or the given one.

    Raises:
        ValueError: If no rule set has that name.
        TypeError: If it is neither a name nor a rule set.
    """
    if isinstance(semantics, Rules):
        return semantics
    if not isinstance(semantics, str):
        msg = f"semantics must be the name of a rule set or a Rules, got {type(semantics).__name__}"
        raise TypeError(msg)
    if semantics not in RULE_SETS:
        known = ", ".join(RULE_SETS)
        msg = f"unknown semantics {semantics!r}; known are {known}, or pass your own Rules(...)"
        raise ValueError(msg)
    return RULE_SETS[semantics]
