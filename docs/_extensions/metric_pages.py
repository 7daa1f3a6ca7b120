"""Write what a page about a metric says that follows from the metric itself: its formula, its edges, its names.

A page that says ```` ```{metric} ndcg ```` gets the picture, the definition from the docstring, the same edge
cases under the rules of every library that has the metric, and its names and parameters. All of it is computed
while the site is built.
"""

import inspect
import re
import warnings
from collections.abc import Iterator
from math import isnan, nan
from types import FunctionType

from docstrings import CODE, SYMBOL
from formulas import latex
from metric_pictures import picture
from situations import LIBRARIES, SPELLINGS, Situation, situations_of
from sphinx.application import Sphinx

import retrieval_metrics as rm
from retrieval_metrics.comparison.rule_attribution import effective_rules, list_rule_changes
from retrieval_metrics.comparison.rule_meanings import format_rule
from retrieval_metrics.metrics.base.definition import Definition
from retrieval_metrics.metrics.base.registry import DEFINITIONS
from retrieval_metrics.metrics.base.rules import RULE_SETS, STANDARD

BLOCK = re.compile(r"^```\{metric\} (\w+)\n```$", re.MULTILINE)
K = 3
"""The cutoff of the edge cases."""


def metric_page(name: str) -> str:
    """Return the computed part of the page about a metric, as Markdown."""
    definition = DEFINITIONS[name]
    parts = [picture(definition), *_defined(definition), *_edges(definition), *_names(definition)]
    return "\n\n".join(parts)


def function_of(definition: Definition) -> FunctionType | None:
    """Return the public function of one ranking that belongs to a metric."""
    functions = (getattr(rm.metrics, name) for name in rm.metrics.__all__)
    return next((function for function in functions if function.__module__ == definition.score.__module__), None)


def _defined(definition: Definition) -> Iterator[str]:
    function = function_of(definition)
    text = inspect.getdoc(function or definition.score) or ""
    definition_text, _, arguments = text.partition("\n\nArgs:")
    yield "## Definition"
    for paragraph in definition_text.split("\n\n"):
        if paragraph.startswith("    "):
            yield from (f"$$\n{latex(line)}\n$$" for line in paragraph.splitlines())
        else:
            yield _prose(" ".join(paragraph.split()))
    example = re.search(r"^Example:\n(.*)", arguments, flags=re.MULTILINE | re.DOTALL)
    if example:
        yield f"```pycon\n{inspect.cleandoc(example[1])}\n```"
    if function:
        yield f"The function is {{py:obj}}`rm.{function.__name__} <{_public(function)}>`."


def _public(function: FunctionType) -> str:
    package = "retrieval_metrics" if function.__name__ in rm.__all__ else "retrieval_metrics.metrics"
    return f"{package}.{function.__name__}"


def _prose(paragraph: str) -> str:
    """Return a paragraph of a docstring as Markdown, as a statement instead of an order to return something."""
    paragraph = paragraph.replace(", shape (queries,)", "")
    if paragraph.startswith("Return "):
        paragraph = paragraph.removeprefix("Return ")
        paragraph = paragraph[0].upper() + paragraph[1:]
    parts = CODE.split(paragraph)
    parts[::2] = [SYMBOL.sub(_symbol, plain) for plain in parts[::2]]
    parts[1::2] = [f"`{code}`" for code in parts[1::2]]
    return "".join(parts)


def _symbol(match: re.Match[str]) -> str:
    if match["formula"]:
        return f"${latex(match[0])}$"
    return f"\\{match[0]}" if match[0] in "|_" else match[0]  # a star is emphasis, there as here


def _edges(definition: Definition) -> Iterator[str]:
    metric = rm.Metric(definition.name, K if definition.takes_cutoff else None)
    other_metrics = [
        name for name, rules in RULE_SETS.items() if rules is not STANDARD and rules.metrics and rules.has(metric.name)
    ]
    yield "## Edge cases" + (" by library" if other_metrics else "")
    undefined = "*Left out* means that the value is undefined and the query is left out of the mean."
    bold = " Values in bold differ from `standard`, the rules of this package." if other_metrics else ""
    yield f"`{metric}` for a single query. {undefined}{bold}"
    yield "\n".join(_table(metric, other_metrics, situations_of(definition)))
    if not other_metrics:
        yield "None of the libraries that `rm.audit` covers has this metric."
        return
    yield "Where they differ from `standard`:"
    yield "\n".join(f"* **{LIBRARIES[name]}**: {_differences(metric, name)}." for name in other_metrics)
    yield "[Coming from another tool](../../guides/coming-from.md) shows which of these rules change your numbers."


def _table(metric: rm.Metric, other_metrics: list[str], situations: tuple[Situation, ...]) -> Iterator[str]:
    columns = [
        "situation",
        "relevant",
        "retrieved",
        *(["value"] if not other_metrics else ["standard", *(LIBRARIES[name] for name in other_metrics)]),
    ]
    yield f"| {' | '.join(columns)} |"
    yield f"| --- | --- | --- |{' ---: |' * (len(columns) - 3)}"
    for situation in situations:
        ours = value_of(metric, situation, "standard")
        theirs = [value_of(metric, situation, name) for name in other_metrics]
        marked = [shown if shown == ours else f"**{shown}**" for shown in theirs]
        yield f"| {' | '.join([situation.words, situation.needed, situation.returned, ours, *marked])} |"


def value_of(metric: rm.Metric, situation: Situation, rules: str) -> str:
    """Return what a rule set makes of a situation, as a table shows it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rm.RetrievalWarning)
        try:
            other = rm.Retrieved("a") if metric.definition.needs_places else "a"
            run = {"other": [other], **situation.run}
            result = rm.evaluate({"q": situation.qrels, "other": ["a"]}, run, [metric], rules=rules)
        except ValueError:
            return "error"
    value = result.per_query[metric].get("q", nan)
    return "left out" if isnan(value) else f"{value:.3g}"


def _differences(metric: rm.Metric, rules: str) -> str:
    standard_rules = effective_rules(STANDARD, metric)
    library_rules = effective_rules(RULE_SETS[rules], metric)
    changes = list_rule_changes(standard_rules, library_rules, metric)
    return "; ".join(format_rule(change, metric) for change in changes) or "nothing"


def _names(definition: Definition) -> Iterator[str]:
    name = definition.name
    shown = (
        f"`{name}@10`, or `{name}` for the whole ranking" if definition.takes_cutoff else f"`{name}`, without a cutoff"
    )
    yield "## Names and parameters" if definition.parameters else "## Names"
    yield f"Write {shown}."
    aliases = [f"`{alias}`" for alias in definition.aliases]
    spelled = [
        f"`{spelling}` ({tool})" for tool, spellings in SPELLINGS.items() for spelling in _understood(name, spellings)
    ]
    if aliases or spelled:
        yield f"Also accepted: {', '.join(aliases + spelled)}."
    if definition.parameters:
        rows = [
            f"| `{key}` | {'' if parameter.default is None else f'`{parameter.default}`'} | {parameter.meaning} |"
            for key, parameter in definition.parameters.items()
        ]
        yield "\n".join(["| parameter | default | meaning |", "| --- | --- | --- |", *rows])


def _understood(name: str, spellings: tuple[str, ...]) -> Iterator[str]:
    for spelling in spellings:
        if rm.Metric.parse(spelling).name == name and spelling.partition("@")[0] != name:
            yield spelling


def _expand(_app: Sphinx, _name: str, source: list[str]) -> None:
    source[0] = BLOCK.sub(lambda match: metric_page(match[1]), source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Change what a page says before it is parsed."""
    app.connect("source-read", _expand)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
