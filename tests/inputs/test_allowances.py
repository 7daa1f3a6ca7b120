"""An unknown value of `allow=` is refused."""

import pytest

import retrieval_metrics as rm
from table_forms import IDS


def test_an_unknown_allowance_is_refused() -> None:
    with pytest.raises(ValueError, match="allow= takes 'blanks' and 'repeated', not 'blank'"):
        rm.read_run(IDS, allow="blank")
