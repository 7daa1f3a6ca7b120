"""A result that is saved field by field equals the one that is loaded, and damage is named with its field."""

from pathlib import Path

import pytest

import retrieval_metrics as rm
from retrieval_metrics.datasets.sample import Sample
from retrieval_metrics.files.saved_fields import decode_saved_fields
from retrieval_metrics.files.saved_format import SavedFile, read_saved_file

QUERIES = {number: f"what is {number}?" for number in range(4)}
SAMPLE = rm.pool(QUERIES, {"old": {query: ["d1"] for query in QUERIES}}, {"d1": "a text"}).sample(2)


def test_what_is_loaded_equals_what_was_saved(tmp_path: Path) -> None:
    SAMPLE.save(tmp_path / "sample.json")
    saved_file = read_saved_file(tmp_path / "sample.json")
    assert saved_file.kind == Sample.kind
    assert decode_saved_fields(Sample, saved_file) == SAMPLE


def test_a_missing_field_is_named() -> None:
    with pytest.raises(ValueError, match=r"sample\.json is damaged at \w+: there is no"):
        decode_saved_fields(Sample, SavedFile("sample.json", Sample.kind, {}))
