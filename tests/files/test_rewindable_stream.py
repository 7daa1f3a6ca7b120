"""A stream that can be read once can be read again, from any place."""

import io

from hypothesis import given
from hypothesis import strategies as st

from retrieval_metrics.files.rewindable_stream import RewindableStream


class OneWay(io.RawIOBase):
    """A stream that gives few bytes at once and cannot go back."""

    def __init__(self, content: bytes, size: int) -> None:
        self._content = io.BytesIO(content)
        self._size = size

    def read(self, size: int = -1) -> bytes:
        return self._content.read(min(size, self._size))


@given(st.binary(max_size=60), st.integers(1, 20), st.lists(st.tuples(st.integers(0, 70), st.integers(1, 70))))
def test_every_place_reads_as_the_content_does(content: bytes, size: int, reads: list[tuple[int, int]]) -> None:
    stream = RewindableStream(OneWay(content, size))
    stream.seek(0, io.SEEK_END)
    assert stream.tell() == len(content)
    for start, length in reads:
        stream.seek(min(start, len(content)))
        assert stream.read(length) == content[start : start + length]


@given(st.binary(min_size=1, max_size=60), st.integers(1, 20))
def test_what_was_read_is_kept(content: bytes, size: int) -> None:
    stream = RewindableStream(OneWay(content, size))
    start = stream.read(5)
    stream.seek(0)
    assert stream.readable()
    assert stream.seekable()
    assert io.BufferedReader(stream).read() == content
    assert content.startswith(start or b"")
