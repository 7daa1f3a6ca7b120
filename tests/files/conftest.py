"""Files with the content of a test."""

from pathlib import Path

import pytest

from trec_run import Write


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a run and returns its path."""

    def write_content(content: str | bytes) -> Path:
        path = tmp_path / "some.run"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_content
