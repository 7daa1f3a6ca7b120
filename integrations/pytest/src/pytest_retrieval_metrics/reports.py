"""All checks of a run: the table in the terminal, and the file of `--retrieval-report`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from retrieval_metrics.adapting import numbers, save_text, tables

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    Records = Sequence[dict[str, Any]]

HEADER = ("test", "metric", "mean", "interval", "n", "floor", "difference", "p", "detects", "outcome")
WORDS = (0, 1, -1)
RATCHET = (
    "A baseline that is updated again and again drifts upwards: what looks good by chance becomes the standard.\n"
    "With the best of five builds as the baseline, about 10 % of unchanged builds fail instead of 3 %."
)
"""From `tests/benchmarks/gate.py`."""
PAGE = (
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Retrieval quality</title>'
    "<style>:root {{ color-scheme: light dark }} body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem }} "
    "td, th {{ padding: .2rem 1rem .2rem 0 }}</style></head>\n<body><h1>Retrieval quality</h1>\n{}\n</body></html>\n"
)


def summary(records: Records) -> str:
    """Return the table of all checks as text."""
    return tables.text(*_table(records))


def write(path: Path, records: Records) -> None:
    """Write all checks, in the form that the path's ending names."""
    ordered = sorted(records, key=lambda one: (one["test"], one["name"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = {".json": _json, ".xml": _junit, ".html": _html}[path.suffix]
    save_text(path, writer(ordered))


def _json(records: Records) -> str:
    return json.dumps({"checks": records}, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _html(records: Records) -> str:
    said = [
        f"{_title(one)}, {row['metric']}: {row['said']}" for one in records for row in one["metrics"] if row["said"]
    ]
    notes = tables.html((), (), said) if said else ""
    return PAGE.format(tables.html(*_table(records)) + notes)


def _junit(records: Records) -> str:
    failing = {"below the floor", "worse"}
    suite = ET.Element("testsuite", name="retrieval quality", tests=str(len(records)))
    failures = 0
    for one in records:
        module, _, test = one["test"].partition("::")
        title = f"{test} {one['name']}".strip()
        case = ET.SubElement(suite, "testcase", classname=module, name=title)
        properties = ET.SubElement(case, "properties")
        for row in one["metrics"]:
            for part, value in row.items():
                if part not in {"metric", "said"} and value is not None:
                    ET.SubElement(properties, "property", name=f"{row['metric']}.{part}", value=str(value))
        failed = [row for row in one["metrics"] if row["outcome"] in failing]
        if failed:
            failures += 1
            message = "; ".join(f"{row['metric']}: {row['outcome']}: {row['said']}" for row in failed)
            ET.SubElement(case, "failure", message=message)
    suite.set("failures", str(failures))
    whole = ET.Element("testsuites")
    whole.append(suite)
    ET.indent(whole)
    return ET.tostring(whole, encoding="unicode", xml_declaration=True) + "\n"


def _title(one: dict[str, Any]) -> str:
    return f"{one['test']} {one['name']}".strip()


def _table(records: Records) -> tables.Table:
    rows = [
        [
            _title(one),
            row["metric"],
            _cell(row["mean"]),
            "-" if row["low"] is None else f"[{row['low']:.3f}, {row['high']:.3f}]",
            str(row["n"]),
            "-" if row["floor"] is None else f"{row['floor']:g}",
            "-" if row["difference"] is None else numbers.signed(row["difference"]),
            "-" if row["p"] is None else numbers.p_value(row["p"]),
            "-" if row["detects"] is None else f"{row['detects']:.2f}",
            row["outcome"],
        ]
        for one in records
        for row in one["metrics"]
    ]
    levels = sorted({one["level"] for one in records})
    said_alpha = " or ".join(f"{alpha:.4g}" for alpha in sorted({one["alpha"] for one in records}))
    note = (
        f"interval: {', '.join(map(numbers.level_name, levels))}; "
        f"p: corrected for the metrics of a check, and worse if at most {said_alpha}; "
        "detects: the drop that fails in at least 80 % of builds, unknown where no query differs from the baseline"
    )
    return tables.Table(HEADER, rows, [note] if rows else ["no check ran"], "", WORDS)


def _cell(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"
