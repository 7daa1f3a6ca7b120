"""Register the classes of small records that saved files may hold, where they are defined."""

from __future__ import annotations

from typing import Any, TypeVar

RecordT = TypeVar("RecordT", bound=type)

# The registered classes by name. Those of lower folders are registered by `saved_records`.
RECORDS: dict[str, Any] = {}


def register_record(record_class: RecordT) -> RecordT:
    """Allow a dataclass or named tuple in saved files, under its name: `load` may then create it."""
    RECORDS[record_class.__name__] = record_class
    return record_class
