"""The board that checks itself."""

from __future__ import annotations

import pytest

from planexec_lite import Plan
from planexec_lite.core import IllegalTransition
from planexec_lite.events import RunStarted, StepDone, StepStarted
from tests.core.shapes import Checked, step


def test_a_board_that_validates_notices_a_fold_that_is_wrong() -> None:
    board = Checked.of([RunStarted(0.0, "x", True, False)])
    board.adopt(Plan.parse([step("1", "search"), step("2", "search")]))
    board.apply(StepStarted(0.0, "1"))
    with pytest.raises(IllegalTransition):
        board.apply(StepDone(1.0, "2", 1))
    board.results["2"] = "out of nowhere"
    with pytest.raises(AssertionError, match="step 2 has a result, and is waiting"):
        board.apply(StepDone(1.0, "1", 1))
