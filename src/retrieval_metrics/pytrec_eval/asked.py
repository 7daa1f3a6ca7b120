"""The names of trec_eval's measures, their parameters, and their order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
TENTHS = tuple(at / 10 for at in range(11))
DEFAULTS: Mapping[str, tuple[float, ...]] = {
    "iprec_at_recall": TENTHS,
    "P": CUTS,
    "recall": CUTS,
    "Rprec_mult": tuple(at / 5 for at in range(1, 11)),
    "ndcg_cut": CUTS,
    "map_cut": CUTS,
    "relative_P": CUTS,
    "success": (1, 5, 10),
    "set_F": (1.0,),
}
"""The parameters of each measure that has some, as trec_eval has them."""
SHARES = {"iprec_at_recall", "Rprec_mult", "set_F"}
"""Measures whose parameters are not numbers of documents; that of set_F is not part of its name."""
ORDER = (
    *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"),
    *("iprec_at_recall", "P", "relstring", "recall", "infAP", "gm_bpref", "Rprec_mult", "utility", "11pt_avg"),
    *("binG", "G", "ndcg", "ndcg_rel", "Rndcg", "ndcg_cut", "map_cut", "relative_P", "success", "set_P"),
    *("set_relative_P", "set_recall", "set_map", "set_F", "num_nonrel_judged_ret"),
)
"""All measures in the order in which trec_eval prints them."""

supported_measures = set(ORDER)
supported_nicknames: dict[str, set[str]] = {
    "official": {
        *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"),
        *("iprec_at_recall", "P"),
    },
    "set": {
        *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility", "set_P", "set_relative_P", "set_recall"),
        *("set_map", "set_F"),
    },
    "all_trec": set(ORDER),
}

_WITH_PARAMETERS = re.compile(r"(?P<measure>.+?)[._](?P<values>[0-9]*\.?[0-9]+(?:,[0-9]*\.?[0-9]+)*)")


def asked(measures: Iterable[str]) -> dict[str, tuple[float, ...]]:
    """Return the measures with their parameters, in the order of trec_eval; `()` for a measure that has none.

    A measure with parameters is written `P_5`, `P.5` or `P.5,10`; without them it has those of trec_eval.

    Raises:
        TypeError: If a single text is given instead of several.
        ValueError: If there is no such measure, it has no parameters, or one is out of range.

    Example:
        >>> asked({"map", "P.10,5", "P_20"})
        {'map': (), 'P': (5, 10, 20)}
    """
    if isinstance(measures, str):
        raise TypeError(f"measures must be several names, such as {{{measures!r}}}, got a str")
    found: dict[str, set[float]] = {}
    for name in measures:
        if name in supported_nicknames:
            for each in supported_nicknames[name]:
                found.setdefault(each, set())
        elif name in supported_measures:
            found.setdefault(name, set())
        else:
            measure, values = _parsed(name)
            found.setdefault(measure, set()).update(values)
    return {name: tuple(sorted(found[name])) or DEFAULTS.get(name, ()) for name in ORDER if name in found}


def _parsed(name: str) -> tuple[str, list[float]]:
    known = ", ".join(ORDER)
    match = _WITH_PARAMETERS.fullmatch(name)
    if match is None or match["measure"] not in supported_measures:
        raise ValueError(
            f"unsupported measure {name}; the measures are {known}, with parameters such as P_5 and P.5,10"
        )
    measure, texts = match["measure"], match["values"].split(",")
    if measure not in DEFAULTS:
        raise ValueError(f"unsupported measure {name}: {measure} has no parameters")
    if measure == "set_F" and len(texts) > 1:
        raise ValueError(f"unsupported measure {name}: set_F has one parameter, the weight of recall")
    values: list[float] = [float(text) if measure in SHARES else _documents(name, text) for text in texts]
    if measure == "Rprec_mult" and 0 in values:
        raise ValueError(f"unsupported measure {name}: a cut-off of 0 documents holds nothing")
    return measure, values


def _documents(name: str, text: str) -> int:
    number = float(text)
    if number < 1 or number != int(number):
        raise ValueError(f"unsupported measure {name}: a cut-off is a number of documents, at least 1, got {text}")
    return int(number)


def keys(measure: str, parameters: tuple[float, ...]) -> list[str]:
    """Return the names of a measure's values.

    Example:
        >>> keys("P", (5, 10)), keys("iprec_at_recall", (0.0,)), keys("map", ())
        (['P_5', 'P_10'], ['iprec_at_recall_0.00'], ['map'])
    """
    if measure == "set_F" or not parameters:
        return [measure]
    return [f"{measure}_{value:.2f}" if measure in SHARES else f"{measure}_{value}" for value in parameters]
