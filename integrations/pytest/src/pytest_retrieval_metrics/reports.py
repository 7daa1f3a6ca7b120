"""Write the report of all checks as JSON, JUnit, Markdown or HTML."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from pytest_retrieval_metrics.check_records import format_title, has_failed
from pytest_retrieval_metrics.report_pages import write_pages
from pytest_retrieval_metrics.summary_wording import (
    format_headline,
    format_notes,
    list_failure_lines,
    make_query_tables,
    make_table,
)
from retrieval_metrics.integration_api.text import Table, save_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pytest_retrieval_metrics.check_records import CheckRecord, MetricRow, QueryRow

# The keys of a record that only the plug-in uses.
INTERNAL_KEYS = frozenset(
    ("units_at_risk", "evaluation", "comparison", "questions", "history", "had_baseline", "within")
)

# The keys of a metric that do not become properties in JUnit.
TEXT_KEYS = frozenset(("metric", "details", "lines"))


def write_report(path: Path, records: Sequence[CheckRecord]) -> None:
    """Write all checks, failed ones first, in the format of the path's extension."""
    checks = sort_records(records)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".html":
        write_pages(path, checks)
        return
    format_report = {".json": _format_json, ".xml": _format_junit, ".md": _format_markdown}[path.suffix]
    save_text(path, format_report(checks))


def sort_records(records: Sequence[CheckRecord]) -> list[CheckRecord]:
    """Return the checks, failed ones first."""
    return sorted(records, key=lambda record: (not has_failed(record), record["test"], record["name"]))


def _format_json(records: Sequence[CheckRecord]) -> str:
    checks = []
    for record in records:
        check = dict(record)
        for key in INTERNAL_KEYS:
            del check[key]
        checks.append(check)
    return json.dumps({"checks": checks}, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _format_junit(records: Sequence[CheckRecord]) -> str:
    suite = ET.Element("testsuite", name="retrieval quality", tests=str(len(records)))
    suite.set("failures", str(sum(map(has_failed, records))))
    suite.set("skipped", str(sum(bool(record["ended"]) for record in records)))
    for record in records:
        module, _, test = record["test"].partition("::")
        case = ET.SubElement(suite, "testcase", classname=module, name=f"{test} {record['name']}".strip())
        properties = ET.SubElement(case, "properties")
        for row in record["metrics"]:
            _add_metric_properties(properties, row)
            for query_row in record["queries"]:
                _add_query_properties(properties, row["metric"], query_row)
        if record["ended"]:
            first_lines = record["failure"].splitlines()[:1]
            ET.SubElement(case, "skipped", message=" ".join([record["ended"], *first_lines]))
        elif has_failed(record):
            failure = ET.SubElement(case, "failure", message=record["failure"].partition("\n")[0])
            failure.text = record["failure"]
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return _replace_control_characters(ET.tostring(root, encoding="unicode", xml_declaration=True)) + "\n"


def _add_metric_properties(properties: ET.Element, row: MetricRow) -> None:
    for key, value in row.items():
        if key not in TEXT_KEYS and value is not None:
            ET.SubElement(properties, "property", name=f"{row['metric']}.{key}", value=str(value))


def _add_query_properties(properties: ET.Element, metric: str, row: QueryRow) -> None:
    name = f"{metric}[{row['query']}]"
    before = row["before"].get(metric)
    if before is not None:
        ET.SubElement(properties, "property", name=f"{name}.before", value=str(before))
    now = row["now"].get(metric)
    if now is not None:
        ET.SubElement(properties, "property", name=f"{name}.now", value=str(now))


def _replace_control_characters(text: str) -> str:
    """Return a text without control characters that XML does not allow."""
    characters = []
    for character in text:
        is_allowed = character in "\t\n\r" or character >= " "
        characters.append(character if is_allowed else "\N{REPLACEMENT CHARACTER}")
    return "".join(characters)


def _format_markdown(records: Sequence[CheckRecord]) -> str:
    blocks = ["# Retrieval quality", f"{format_headline(records)}."]
    for record in records:
        if not has_failed(record):
            continue
        lines = list_failure_lines(record) or [record["failure"]]
        blocks.append(f"## {_format_code(format_title(record))}")
        blocks.append(_format_list(lines))
        for query_table in make_query_tables(record):
            blocks.append(query_table.markdown())
    blocks += ["## All checks", make_table(records).markdown()]
    notes = format_notes(records)
    if notes:
        blocks.append(_format_list(notes))
    return "\n\n".join(blocks) + "\n"


def _format_list(texts: Iterable[str]) -> str:
    """Return texts as a list, each on one line, in which Markdown reads no HTML."""
    return Table((), (), [" ".join(text.split()) for text in texts]).markdown()


def _format_code(text: str) -> str:
    return f"`{text.replace('`', '_')}`"
