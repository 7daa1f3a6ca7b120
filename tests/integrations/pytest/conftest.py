import pytest

from pytest_retrieval_metrics import RetrievalCheck
from retrieval_builds import SETTINGS, Builds


@pytest.fixture
def builds(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Builds:
    return Builds(pytester, monkeypatch)


@pytest.fixture
def check(request: pytest.FixtureRequest) -> RetrievalCheck:
    return RetrievalCheck(request.node, SETTINGS, checks=1, records=[])
