"""Read the runs that ranx saves as .lz4: a mapping of queries to scored documents, in CBOR compressed twice by LZ4."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.optional_packages import import_optional
from retrieval_metrics.files.opening import Reader

if TYPE_CHECKING:
    from collections.abc import Mapping


def read_ranx_run(source: Reader) -> Mapping[str, Any]:
    """Return the documents of each query with their scores.

    Raises:
        ValueError: If the file is damaged, or holds something else.
        ImportError: If lz4 or cbor2 is not installed.
    """
    cbor2 = import_optional("cbor2", "reading a run of ranx")
    inner_text = Reader(source.name, BytesIO(source.content()), source.limits, is_regular=False)
    try:
        content = cbor2.loads(inner_text.content())
    except (cbor2.CBORDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{source.name} is damaged, or not a run of ranx: {error}") from error
    if not isinstance(content, dict) or not all(isinstance(ranking, dict) for ranking in content.values()):
        raise ValueError(f"{source.name} is not a run of ranx, which maps queries to documents with scores")
    return content
