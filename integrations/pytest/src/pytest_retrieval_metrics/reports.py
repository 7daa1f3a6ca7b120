"""The files of `--retrieval-report`: JSON, JUnit and Markdown; `pages` has HTML."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from pytest_retrieval_metrics.pages import SHOWN, write_pages
from pytest_retrieval_metrics.records import failed, telling_queries, title
from pytest_retrieval_metrics.summary import headline, notes, ordered, table
from retrieval_metrics.adapting.printing import Table, save_text

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_retrieval_metrics.summary import Records

INTERNAL = {"evaluation", "comparison", "questions", "history", "had_baseline", "within"}
"""The keys of a record that only the plug-in uses."""


def write(path: Path, records: Records) -> None:
    """Write all checks, failed ones first, in the format of the path's extension.

    Raises:
        OSError: If the file cannot be written.
    """
    checks = ordered(records)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".html":
        write_pages(path, checks)
    else:
        save_text(path, {".json": _json, ".xml": _junit, ".md": _markdown}[path.suffix](checks))


def _json(records: Records) -> str:
    checks = [{key: value for key, value in one.items() if key not in INTERNAL} for one in records]
    return json.dumps({"checks": checks}, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _junit(records: Records) -> str:
    suite = ET.Element("testsuite", name="retrieval quality", tests=str(len(records)))
    suite.set("failures", str(sum(map(failed, records))))
    suite.set("skipped", str(sum(bool(one["ended"]) for one in records)))
    for one in records:
        module, _, test = one["test"].partition("::")
        case = ET.SubElement(suite, "testcase", classname=module, name=f"{test} {one['name']}".strip())
        properties = ET.SubElement(case, "properties")
        for row in one["metrics"]:
            for part, value in row.items():
                if part not in {"metric", "said", "lines"} and value is not None:
                    ET.SubElement(properties, "property", name=f"{row['metric']}.{part}", value=str(value))
            for query in one["queries"]:
                name = f"{row['metric']}[{query['query']}]"
                for when in ("before", "now"):
                    if (value := query[when].get(row["metric"])) is not None:
                        ET.SubElement(properties, "property", name=f"{name}.{when}", value=str(value))
        if one["ended"]:
            ET.SubElement(case, "skipped", message=" ".join([one["ended"], *one["failure"].splitlines()[:1]]))
        elif failed(one):
            failure = ET.SubElement(case, "failure", message=one["failure"].partition("\n")[0])
            failure.text = one["failure"]
    whole = ET.Element("testsuites")
    whole.append(suite)
    ET.indent(whole)
    return _printable(ET.tostring(whole, encoding="unicode", xml_declaration=True)) + "\n"


def _printable(text: str) -> str:
    """Return a text without control characters that XML does not allow."""
    return "".join(one if one in "\t\n\r" or one >= " " else "�" for one in text)


def _markdown(records: Records) -> str:
    parts = ["# Retrieval quality", f"{headline(records)}."]
    for one in records:
        if not failed(one):
            continue
        lines = [line for row in one["metrics"] for line in row["lines"] if row["outcome"] not in {"passed", "stored"}]
        parts += [f"## {_code(title(one))}", "\n".join(f"- {_safe(line)}" for line in lines or [one["failure"]])]
        found = (telling_queries(one, row, SHOWN) for row in one["metrics"])
        parts += [_safe_table(drawn).markdown() for drawn in found if drawn is not None]
    parts += ["## All checks", _safe_table(table(records)).markdown()]
    parts += [f"- {_safe(note)}" for note in notes(records)]
    return "\n\n".join(parts) + "\n"


def _safe(text: str) -> str:
    """Return a text on one line, escaped so that Markdown does not read it as HTML."""
    return " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")


def _safe_table(drawn: Table) -> Table:
    return drawn._replace(rows=[[_safe(cell) for cell in row] for row in drawn.rows])


def _code(text: str) -> str:
    return f"`{text.replace('`', '_')}`"
