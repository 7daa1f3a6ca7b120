"""How the names of metrics are spelled, here and in other tools."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.definition.table import DEFINITIONS, NAME_OF
from retrieval_metrics.judging.budget import Budget

if TYPE_CHECKING:
    from collections.abc import Collection

    from retrieval_metrics.definition.definition import ParameterValue

_NAME = r"\s*(?P<name>[^@()\s]+)\s*(?:\((?P<parameters>[^()]*)\))?\s*(?:@\s*(?P<k>(?s:.*?)))?\s*"
_PEER_CUTOFF = r"(?P<name>.+?)(?:_at_|_cut_|_cut\.|_|\.)(?P<k>\d+)"


class ReadName(NamedTuple):
    """The parts of a name as they are written.

    Attributes:
        name: The metric, in any of its spellings.
        k: The cut-off; None if there is none.
        parameters: The parameters, in the order of the text.
    """

    name: str
    k: int | Budget | None
    parameters: tuple[tuple[str, ParameterValue], ...]


def read_name(text: str) -> ReadName:
    """Return the parts of a name such as `precision(rel=2)@5` or `ndcg_cut_10`.

    Raises:
        ValueError: If it is no name, or its cut-off or a parameter cannot be read.
    """
    match = re.fullmatch(_NAME, text)
    if match is None:
        raise ValueError(
            f"{text!r} is not a metric name; write name@k or name(parameter=value)@k, for example 'ndcg@10'"
        )
    name, k = match["name"], match["k"]
    if k is None and match["parameters"] is None and (peer := _peer_spelling(name)):
        name, k = peer
    parameters = _read_parameters(text, match["parameters"])
    return ReadName(name, None if k is None else _read_cutoff(text, k), tuple(parameters.items()))


def _read_cutoff(text: str, k: str) -> int | Budget:
    if k.isascii() and k.isdigit() and int(k) > 0:
        return int(k)
    budget = Budget.parse(k)
    if budget is None:
        raise ValueError(
            f"the cut-off in {text!r} must be a positive integer, got {k!r}; leave out '@{k}' for all documents, and "
            "write a budget as @2000chars, @800tokens or @3calls"
        )
    return budget


def _peer_spelling(name: str) -> tuple[str, str] | None:
    """Return name and cut-off of `ndcg_cut_10`, `P_10`, `ndcg_at_10`; None if the whole text is a name."""
    match = re.fullmatch(_PEER_CUTOFF, name)
    if match is None or _key(name) in NAME_OF or _key(match["name"]) not in NAME_OF:
        return None
    known = canonical_name(match["name"])
    if name == f"{match['name']}.{match['k']}" and "p" in DEFINITIONS[known].parameters:
        raise ValueError(
            f"{name!r} may mean {known}(p=0.{match['k']}), as ranx writes it, or {known}@{match['k']}; write one of "
            "them"
        )
    return match["name"], match["k"]


def _read_parameters(text: str, inside: str | None) -> dict[str, ParameterValue]:
    parameters: dict[str, ParameterValue] = {}
    for part in (inside or "").split(","):
        if not part.strip():
            continue
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            raise ValueError(f"cannot read {part.strip()!r} in {text!r}; write parameters as name=value")
        if key in parameters:
            raise ValueError(f"parameter {key!r} appears twice in {text!r}")
        parameters[key] = value
    return parameters


def _key(name: str) -> str:
    return name.strip().lower().replace("-", "_")


def canonical_name(name: str, given: Collection[str] = ()) -> str:
    """Return the name that a metric has in the table, from any of its names.

    Args:
        name: The name, without cut-off and parameters.
        given: Names of metrics whose values were given, which are offered too.

    Raises:
        ValueError: If there is none; the message suggests the nearest.
    """
    key = _key(name)
    if key in NAME_OF:
        return NAME_OF[key]
    from difflib import SequenceMatcher, get_close_matches  # noqa: PLC0415  (needed only if a name is wrong)

    names = {**{_key(one): one for one in given}, **NAME_OF}
    close = get_close_matches(key, names, n=4, cutoff=0.5)
    # At a tie what can be computed comes first, whatever values were given earlier in the process.
    close.sort(key=lambda one: (-SequenceMatcher(None, one, key).ratio(), one not in NAME_OF))
    near = dict.fromkeys(names[one] for one in close)
    offer = f"did you mean {' or '.join(near)}?" if near else f"the metrics are {', '.join((*DEFINITIONS, *given))}"
    raise ValueError(f"unknown metric {name!r}; {offer}")
