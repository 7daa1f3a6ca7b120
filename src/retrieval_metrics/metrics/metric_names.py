"""Read the names of metrics as they are spelled here and in other tools."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.metrics.base.registry import DEFINITIONS, NAME_BY_ALIAS

if TYPE_CHECKING:
    from collections.abc import Collection

    from retrieval_metrics.matching.budget import Budget
    from retrieval_metrics.metrics.base.definition import ParameterValue

_NAME_PATTERN = r"\s*(?P<name>[^@()\s]+)\s*(?:\((?P<parameters>[^()]*)\))?\s*(?:@\s*(?P<k>(?s:.*?)))?\s*"
_PEER_CUTOFF_PATTERN = r"(?P<name>.+?)(?:_at_|_cut_|_cut\.|_|\.)(?P<k>\d+)"

# What other tools, or whole words, mean here. They are suggested, and not accepted, because given scores may have such
# a name and be something else: the accuracy of answers, the F1 score of their words.
MEANINGS = {
    "acc": "hit_rate",
    "accuracy": "hit_rate",
    "auprc": "map",
    "average_precision_score": "map",
    "discounted_cumulative_gain": "dcg",
    "expected_reciprocal_rank": "err",
    "f_measure": "f1",
    "f_score": "f1",
    "hit_ratio": "hit_rate",
    "hits": "hit_rate",
    "hr": "hit_rate",
    "ndcg_score": "ndcg",
    "normalised_discounted_cumulative_gain": "ndcg",
    "normalized_discounted_cumulative_gain": "ndcg",
    "positive_predictive_value": "precision",
    "ppv": "precision",
    "rank_biased_precision": "rbp",
    "sensitivity": "recall",
    "top_k_accuracy": "hit_rate",
    "tpr": "recall",
    "true_positive_rate": "recall",
}
# Python refuses to read much longer numbers, and no ranking is nearly as long.
MAX_CUTOFF_DIGITS = 100
# AutoRAG's names begin with this; its values are those of its own rules.
AUTORAG_PREFIX = "retrieval_"
# Maximal marginal relevance, which is often looked for among the metrics.
MMR = "mmr"
MMR_NAMES = frozenset((MMR, "maximal_marginal_relevance", "maximum_marginal_relevance", "max_marginal_relevance"))
# Diversity needs vectors, so it is no metric of a run either.
DIVERSITY_NAMES = frozenset(("diversity", "ild", "intra_list_diversity"))
DIVERSITY_HINT = "the diversity of a list is rm.intra_list_diversity"
# From this similarity on, a name is suggested: for "recal" it is "recall", for "latency" none.
MIN_SIMILARITY = 0.6
# The functions whose name differs from that of the metric.
_FUNCTION_BY_METRIC = {"mrr": "reciprocal_rank", "map": "average_precision"}


class MetricNameParts(NamedTuple):
    """The parts of a name as they are written.

    Attributes:
        name: The metric, in any of its spellings.
        k: The cutoff; None if there is none.
        parameters: The parameters, in the order of the text.
    """

    name: str
    k: int | Budget | None
    parameters: tuple[tuple[str, ParameterValue], ...]


def read_name(text: str) -> MetricNameParts:
    """Return the parts of a name such as `precision(rel=2)@5` or `ndcg_cut_10`."""
    match = re.fullmatch(_NAME_PATTERN, text)
    if match is None:
        raise ValueError(f"{text!r} is not a metric name; {_suggest_spelling(text)}")
    name = match["name"]
    cutoff = match["k"]
    if cutoff is None and match["parameters"] is None:
        peer_spelling = _read_peer_spelling(name)
        if peer_spelling is not None:
            name, cutoff = peer_spelling
    parameters = _read_parameters(text, match["parameters"])
    k = None if cutoff is None else _read_cutoff(text, cutoff)
    return MetricNameParts(name, k, tuple(parameters.items()))


def _read_cutoff(text: str, cutoff: str) -> int | Budget:
    is_readable = cutoff.isascii() and cutoff.isdigit() and len(cutoff) <= MAX_CUTOFF_DIGITS
    if is_readable and int(cutoff) > 0:
        return int(cutoff)
    if "," in cutoff:
        names = [name.strip() for name in text.split(",")]
        raise ValueError(f"{text!r} names several metrics; write a list: {names}")
    # Imported here because few cutoffs are budgets.
    from retrieval_metrics.matching.budget import Budget

    budget = Budget.parse(cutoff)
    if budget is None:
        raise ValueError(
            f"the cutoff in {text!r} must be a positive integer, got {cutoff!r}; leave out '@{cutoff}' for all "
            "documents, and write a budget as @2000chars, @800tokens or @3calls"
        )
    return budget


def _read_peer_spelling(name: str) -> tuple[str, str] | None:
    """Return name and cutoff of `ndcg_cut_10`, `P_10`, `ndcg_at_10`; None if the whole text is a name."""
    match = re.fullmatch(_PEER_CUTOFF_PATTERN, name)
    if match is None or _normalise_name(name) in NAME_BY_ALIAS:
        return None
    stem = match["name"]
    cutoff = match["k"]
    if _normalise_name(stem) not in NAME_BY_ALIAS:
        return None
    metric_name = canonical_name(stem)
    if name == f"{stem}.{cutoff}" and "p" in DEFINITIONS[metric_name].parameters:
        raise ValueError(
            f"{name!r} may mean {metric_name}(p=0.{cutoff}), as ranx writes it, or {metric_name}@{cutoff}; write one "
            "of them"
        )
    return stem, cutoff


def _read_parameters(text: str, parameters_text: str | None) -> dict[str, ParameterValue]:
    parameters: dict[str, ParameterValue] = {}
    if parameters_text is None:
        return parameters
    for assignment in parameters_text.split(","):
        if not assignment.strip():
            continue
        key, equals, value = (part.strip() for part in assignment.partition("="))
        if not (key and equals and value):
            raise ValueError(f"cannot read {assignment.strip()!r} in {text!r}; write parameters as name=value")
        if key in parameters:
            raise ValueError(f"parameter {key!r} appears twice in {text!r}")
        parameters[key] = value
    return parameters


class UnknownMetricError(ValueError):
    """No metric has this name, though its form is one that a name can have."""


def _normalise_name(name: str) -> str:
    return name.strip().lower().replace("-", "_")


def canonical_name(name: str, given_names: Collection[str] = ()) -> str:
    """Return the name that a metric has in the table, from any of its names."""
    key = _normalise_name(name)
    if key in NAME_BY_ALIAS:
        return NAME_BY_ALIAS[key]
    raise UnknownMetricError(f"unknown metric {name!r}; {_suggest_names(key, given_names)}")


def _find_meaning(key: str) -> str | None:
    """Return the metric that a name of another tool, or in whole words, means; None if it is none of them."""
    name = key.removesuffix("_at_k")
    return NAME_BY_ALIAS.get(name) or MEANINGS.get(name)


def suggest_call(name: str) -> str:
    """Return what to write instead if a metric's name is used as a function of the package; "" for other names."""
    key = _read_attribute_name(name)
    other_hint = _suggest_no_metric(key)
    metric_name = _find_meaning(key)
    if other_hint:
        return other_hint
    if metric_name is None:
        return _suggest_name_with_cutoff(key, "; write evaluate(qrels, run, {!r})")
    function_name = _FUNCTION_BY_METRIC.get(metric_name, metric_name)
    return f"; write evaluate(qrels, run, {metric_name!r}), or for one ranking metrics.{function_name}(gains)"


def suggest_own_name(name: str, public_names: Collection[str]) -> str:
    """Return what to write instead of a name that an integration does not have; "" if it means no metric and no MMR.

    Args:
        name: The unknown name, such as `Accuracy`.
        public_names: The names of the integration, among them its metrics, such as `HitRate`.
    """
    key = _read_attribute_name(name)
    if key in MMR_NAMES:
        classes = [public_name for public_name in public_names if public_name.startswith(MMR.upper())]
        if classes:
            return f"; for maximal marginal relevance there is {', '.join(classes)}"
    other_hint = _suggest_no_metric(key)
    metric_name = _find_meaning(key)
    if other_hint:
        return other_hint
    if metric_name is None:
        return _suggest_name_with_cutoff(key, "; pass the metric by its name, {!r}")
    for public_name in public_names:
        if _find_meaning(_read_attribute_name(public_name)) == metric_name:
            return f"; this metric is {public_name}"
    return f"; pass the metric by its name, {metric_name!r}"


def _suggest_name_with_cutoff(key: str, hint: str) -> str:
    """Return a hint that names the metric and cutoff that a name such as `top_5_accuracy` means; "" for other names."""
    name_with_cutoff = _find_name_with_cutoff(key)
    if name_with_cutoff is None:
        return ""
    return hint.format(name_with_cutoff)


def _suggest_no_metric(key: str) -> str:
    """Return the function that computes what is often looked for among the metrics; "" for other names."""
    if key in MMR_NAMES:
        return f"; maximal marginal relevance is rm.{MMR}(query, candidates)"
    if key in DIVERSITY_NAMES:
        return f"; {DIVERSITY_HINT}(vectors)"
    return ""


def _read_attribute_name(name: str) -> str:
    """Return the name of a metric that the name of a function or class means, such as `hit_ratio` for `HitRatio`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return _normalise_name(words).removeprefix(AUTORAG_PREFIX).partition("_at_")[0]


def _suggest_spelling(text: str) -> str:
    """Return what to write instead of a text that is not a name, such as `Mean Reciprocal Rank`."""
    words, at, cutoff = text.partition("@")
    key = "_".join(_normalise_name(words).split())
    if key in MMR_NAMES:
        return f"maximal marginal relevance is rm.{MMR}"
    if key in DIVERSITY_NAMES:
        return DIVERSITY_HINT
    meaning = _find_meaning(key)
    if meaning is not None:
        return f"did you mean {meaning}{at}{cutoff}?"
    name_with_cutoff = _find_name_with_cutoff(key)
    if name_with_cutoff is not None and not at:
        return f"did you mean {name_with_cutoff}?"
    return "write name@k or name(parameter=value)@k, for example 'ndcg@10'"


def _find_name_with_cutoff(key: str) -> str | None:
    """Return the name that `precision_at_5` or `top_5_accuracy` means; None if it is no such name, or has no cutoff."""
    top_k = re.fullmatch(r"top_?(\d+)_?acc(?:uracy)?", key)
    peer_spelling = _read_peer_spelling(key)
    if top_k is not None:
        metric_name = "hit_rate"
        cutoff = top_k[1]
    elif peer_spelling is not None:
        metric_name = canonical_name(peer_spelling[0])
        cutoff = peer_spelling[1]
    else:
        return None
    if len(cutoff) > MAX_CUTOFF_DIGITS or int(cutoff) == 0:
        return None
    return f"{metric_name}@{int(cutoff)}"


def _suggest_names(key: str, given_names: Collection[str]) -> str:
    """Return a question that names the metrics most like an unknown one, or all that can be computed if none is."""
    from difflib import SequenceMatcher, get_close_matches

    if key in MMR_NAMES and key != MMR:
        return f"maximal marginal relevance is rm.{MMR}"
    if key in DIVERSITY_NAMES:
        return DIVERSITY_HINT
    meaning = _find_meaning(key) or _find_name_with_cutoff(key)
    if meaning is not None:
        return f"did you mean {meaning}?"
    meaning = _find_meaning(key.removeprefix(AUTORAG_PREFIX))
    if meaning is not None:
        return f"did you mean {meaning}? rules='autorag' computes it as AutoRAG does"
    name_by_key = {_normalise_name(name): name for name in given_names}
    name_by_key.update(NAME_BY_ALIAS)
    close_keys = get_close_matches(key, name_by_key, n=4, cutoff=MIN_SIMILARITY)

    def closest_first(close_key: str) -> tuple[float, bool]:
        is_given = close_key not in NAME_BY_ALIAS
        # At a tie what can be computed comes first, whatever values were given earlier in the process.
        return -SequenceMatcher(None, close_key, key).ratio(), is_given

    close_keys.sort(key=closest_first)
    close_names = dict.fromkeys(name_by_key[close_key] for close_key in close_keys)
    if close_names:
        suggestion = f"did you mean {' or '.join(close_names)}?"
        return f"{suggestion} Maximal marginal relevance is rm.{MMR}" if key == MMR else suggestion
    # Names of given values that are not like it are left out: earlier calls may have left many.
    return f"the metrics are {', '.join(DEFINITIONS)}"
