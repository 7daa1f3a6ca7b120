"""Check the fields of a record that a file holds, so that a wrong one is an error when the file is read, not later."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.validation import show_value
from retrieval_metrics.files.record_classes import RECORDS

if TYPE_CHECKING:
    from collections.abc import Mapping

# What a field may hold, by the words of its annotation. A whole number is a number, and JSON tells them apart.
_CLASSES_BY_WORD: dict[str, tuple[type, ...]] = {
    "None": (type(None),),
    "bool": (bool,),
    "int": (int,),
    "float": (float, int),
    "str": (str,),
    "FloatArray": (np.ndarray,),
    "IntArray": (np.ndarray,),
    "BoolArray": (np.ndarray,),
}
# How the annotation of a mapping of names begins, before the type of its values.
_MAPPING_OF_TEXTS = "Mapping[str, "


def require_field_types(record_class: type, values: Mapping[str, Any]) -> None:
    """Raise if a field of a record has another type than its annotation says; annotations that say more are left out.

    Args:
        record_class: A registered dataclass or named tuple.
        values: The decoded fields, by name.

    Raises:
        TypeError: If a field has another type.
    """
    for name, annotation in _get_annotations(record_class).items():
        if name not in values:
            continue
        classes = _find_classes(annotation)
        value = values[name]
        is_bool_as_number = isinstance(value, bool) and bool not in classes
        if classes and (is_bool_as_number or not isinstance(value, classes)):
            raise TypeError(f"{name} of {record_class.__name__} must be {annotation}, got {show_value(value)}")
        if isinstance(value, dict):
            _require_value_types(value, annotation, f"{name} of {record_class.__name__}")


def _require_value_types(mapping: dict[Any, Any], annotation: str, where: str) -> None:
    """Raise if a value of a mapping has another type than an annotation such as `Mapping[str, float]` says."""
    if not annotation.startswith(_MAPPING_OF_TEXTS):
        return
    classes = _find_classes(annotation.removeprefix(_MAPPING_OF_TEXTS).removesuffix("]"))
    for key, value in mapping.items():
        if classes and not isinstance(value, classes):
            raise TypeError(f"the values of {where} must fit {annotation}, got {show_value(value)} for {key!r}")


def _get_annotations(record_class: type) -> dict[str, str]:
    """Return the annotations of the fields as they are written."""
    if is_dataclass(record_class):
        return {field.name: str(field.type) for field in fields(record_class)}
    annotations = {}
    for name, annotation in record_class.__annotations__.items():
        annotations[name] = str(getattr(annotation, "__forward_arg__", annotation))  # named tuples keep references
    return annotations


def _find_classes(annotation: str) -> tuple[type, ...]:
    """Return the classes of an annotation such as `float | None`; none if it holds a word that is unknown here."""
    classes: list[type] = []
    for word in annotation.split(" | "):
        if word.startswith("Mapping["):
            classes.append(dict)
        elif word.startswith("tuple["):
            classes.append(tuple)
        elif word in RECORDS:
            classes.append(RECORDS[word])
        elif word in _CLASSES_BY_WORD:
            classes.extend(_CLASSES_BY_WORD[word])
        else:
            return ()
    return tuple(classes)
