"""Twenty random kills of executors, three times: the results and the bookings of an undisturbed run."""

from __future__ import annotations

from pathlib import Path

import pytest

from planexec_lab.tickets import Tickets
from tests.elsewhere import kills


@pytest.mark.weekly
@pytest.mark.parametrize("seed", range(3))
def test_twenty_killed_executors_change_no_result(tmp_path: Path, seed: int) -> None:
    file = tmp_path / "tickets.db"
    tickets = Tickets(file)
    try:
        with kills.executors(kills.command("planexec_lab.tickets", file)) as kill:
            print(kills.survives(kill, tickets, tmp_path, seed))
    finally:
        tickets.shutdown()
