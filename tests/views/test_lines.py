"""No line runs through a card or a bar: in the figures that the lessons store, and in those of 500 random plans."""

import json
import re
from random import Random
from urllib.parse import unquote

import pytest

from planexec_lab import views
from tests.guards.books import APPENDIX, LESSONS
from tests.views import worlds
from tests.views.drawing import pierced

STORED = re.compile(r'src="data:image/svg\+xml,([^"]*)"')
AT_ONCE = 20  # plans in a test


def test_in_no_figure_of_a_lesson_a_line_runs_through_a_box() -> None:
    cells = [cell for path in [*LESSONS, *APPENDIX] for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    shown = [
        "".join(output.get("data", {}).get("text/html", "")) for cell in cells for output in cell.get("outputs", [])
    ]
    figures = [unquote(address.replace("\n", "")) for html in shown for address in STORED.findall(html)]
    assert len(figures) > 50
    assert [found for figure in figures for found in pierced(figure)] == []


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, *(pytest.param(n, marks=pytest.mark.wide) for n in range(AT_ONCE, 500, AT_ONCE))])
def test_in_figures_of_random_plans_no_line_runs_through_a_box(first: int) -> None:
    for seed in range(first, first + AT_ONCE):
        chance = Random(seed)
        rows = [
            (str(n), "", chance.randint(1, 9), [str(other) for other in range(n) if chance.random() < 2 / (n + 1)])
            for n in range(chance.randint(4, 16))
        ]
        run = worlds.run(worlds.plan(rows), slots=chance.randint(2, 6))
        for figure in (views.graph(run, views.durations(run)), views.timeline(run)):
            assert pierced(figure.svg) == [], (seed, figure.title)


def test_a_line_through_a_box_is_found() -> None:
    """In a graph and in a timeline, as a curve and as a straight line."""
    run = worlds.deploy()
    for figure, line in (
        (views.graph(run), '<path d="M10 60C80 60 90 70 700 80" fill="none" stroke="#6E6E6E"/>'),
        (views.timeline(run), '<path d="M 20 60 L 520 60" style="fill: none; stroke: #005a42; stroke-width: 1.875"/>'),
    ):
        assert pierced(figure.svg) == []
        assert pierced(figure.svg.replace("</svg>", f"{line}</svg>")) != []
