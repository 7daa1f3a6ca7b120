import pytest

from retrieval_builds import Builds


@pytest.fixture
def builds(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Builds:
    return Builds(pytester, monkeypatch)
