"""Rules for every figure: the same bytes everywhere, safe HTML, an alternative text, contrast, a light import."""

import hashlib
import itertools
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from planexec_lab import views
from planexec_lab.views.drawing import text_fitting, theme
from planexec_lite import Plan, Run
from tests.views import worlds
from tests.views.drawing import contrast

ROOT = Path(__file__).parents[2]
HOSTILE_RUN = worlds.run(worlds.HOSTILE_PLAN, slots=2)
BAD = worlds.deploy(fails=["5"], retries=2)
RUNS = {
    "nothing": Run(),
    "failure": BAD,
    "replan": worlds.replanned(),
    "midway": worlds.midway(),
    "hostile": HOSTILE_RUN,
}
EACH = {
    "board": views.board,
    "graph": views.graph,
    "timeline": views.timeline,
    "spans": views.spans,
}
FIGURES: dict[str, Callable[[], views.Figure]] = {
    **{f"{view} of {name}": partial(make, run) for view, make in EACH.items() for name, run in RUNS.items()},
    "graph": lambda: views.graph(worlds.plan(worlds.DEPLOY)),
    "graph with durations": lambda: views.graph(worlds.replanned(), worlds.SECONDS),
    "graph of thirty": lambda: views.graph(worlds.layered(6, 5)),
    "graph of no plan": lambda: views.graph(Plan()),
    "timeline of streaming": lambda: views.timeline(worlds.streamed()),
    "timeline predicted": lambda: views.timeline(BAD, predicted={str(n): 20.0 * n for n in range(1, 9)}),
    "timeline of hostile predicted": lambda: views.timeline(
        worlds.run(worlds.HOSTILE_PLAN, 1), predicted=dict.fromkeys(HOSTILE_RUN.board.steps, 1.0)
    ),
    "timelines": lambda: views.timelines({"good": worlds.deploy(), "bad": BAD}),
    "timelines of thirty": lambda: views.timelines({str(n): worlds.run(worlds.layered(6, 5), n) for n in (2, 5)}),
    "timelines of hostile": lambda: views.timelines(dict.fromkeys(worlds.HOSTILE, HOSTILE_RUN)),
    "diff": lambda: views.diff(worlds.replanned()),
    "diff of hostile": lambda: views.diff(worlds.HOSTILE_PLAN, worlds.plan([("0", worlds.HOSTILE[1], 1, [])])),
    "curves": lambda: views.curves(
        {"a": {1: 2.0, 2: 1}, "b": {1: 3.0, 2: 3}}, "It falls", across="cooks", up="minutes"
    ),
    "tallies": lambda: views.tallies({"a": {"bad": 2, "good": 1}}, "One of three", wanted="good", of="answers"),
    "tallies of hostile": lambda: views.tallies(
        {name: {worlds.HOSTILE[0]: 1, "good": 0} for name in worlds.HOSTILE}, worlds.HOSTILE[1], wanted="good", of="x"
    ),
    "thoughts": lambda: views.thoughts(worlds.thinking()),
    "thoughts of nothing": lambda: views.thoughts(Run()),
}
ALLOWED = {"figure", "figcaption", "img", "table", "caption", "thead", "tbody", "tr", "th", "td", "span", "strong"}


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.depth += tag != "img"

    def handle_endtag(self, tag: str) -> None:
        self.depth -= 1


def parse(figure: views.Figure) -> list[tuple[str, dict[str, str | None]]]:
    parser = Tags()
    parser.feed(figure._repr_html_())
    parser.close()
    assert parser.depth == 0
    return parser.tags


def svg_in(figure: views.Figure) -> str:
    """The SVG as a browser reads it: line breaks in an address are dropped, then percent signs are decoded."""
    address = next(attributes["src"] for tag, attributes in parse(figure) if tag == "img")
    assert address is not None
    return unquote(address.replace("\n", "").removeprefix("data:image/svg+xml,"), errors="strict")


def digests() -> list[str]:
    texts = {name: made._repr_html_() + made.text for name, make in FIGURES.items() for made in [make()]}
    return [f"{name} {hashlib.sha256(text.encode()).hexdigest()}" for name, text in texts.items()]


def printed(script: str, **variables: str) -> list[str]:
    """The lines that a script prints in a separate process."""
    env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"} | variables
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.mark.wide
def test_the_bytes_are_the_same_under_every_hash_seed_locale_and_own_settings(tmp_path: Path) -> None:
    script = "from tests.views.test_figures import digests\nprint(*digests(), sep='\\n')"
    (tmp_path / "matplotlibrc").write_text(
        "font.size: 30\naxes.facecolor: red\nsvg.fonttype: path\nlines.linestyle: --\n"
    )
    elsewhere = {"MATPLOTLIBRC": str(tmp_path), "LC_ALL": "C", "TZ": "Asia/Tokyo"}
    assert printed(script, PYTHONHASHSEED="1") == printed(script, PYTHONHASHSEED="2", **elsewhere) == digests()


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_holds_only_what_an_untrusted_notebook_shows(name: str) -> None:
    figure = FIGURES[name]()
    tags = parse(figure)
    assert {tag for tag, _ in tags} <= ALLOWED
    assert not any(key.startswith("on") for _, attributes in tags for key in attributes)
    assert "<svg" not in figure._repr_html_().lower()
    assert figure.width <= 720
    assert all(attributes.get("style") for tag, attributes in tags if tag == "figure")
    images = [attributes for tag, attributes in tags if tag == "img"]
    assert len(images) == (not name.startswith(("board", "diff", "thoughts")))
    for image in images:
        assert image["alt"] == figure.alt
        assert text_fitting.clean(figure.title) in figure.alt
        check_picture(figure)


def check_picture(figure: views.Figure) -> None:
    """It is well-formed, runs nothing, and no text in it is smaller than 11 pixels."""
    root = ElementTree.fromstring(svg_in(figure))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not [element for element in root.iter() if element.tag.endswith(("script", "foreignObject", "image"))]
    assert not [key for element in root.iter() for key in element.attrib if key.startswith("on")]
    shown = figure.width / float(root.attrib["viewBox"].split()[2])
    texts = [element.attrib for element in root.iter("{http://www.w3.org/2000/svg}text")]
    sizes = [
        text.get("font-size") or next(part for part in re.split("[; ]", text["style"]) if part.endswith("px"))
        for text in texts
    ]
    assert min(float(size.removesuffix("px")) * shown for size in sizes) >= 10.99


@pytest.mark.parametrize(
    "look",
    [*theme.LOOKS.values(), theme.PLANNER, *theme.CHANGES.values(), *theme.TURNS.values()],
    ids=lambda look: look.word,
)
def test_every_state_can_be_read(look: theme.Look) -> None:
    assert contrast(look.ink, look.fill) >= 4.5
    assert contrast(theme.TEXT, look.fill) >= 4.5
    assert contrast(look.ink, theme.PLATE) >= 4.5


@pytest.mark.parametrize("looks", [theme.LOOKS, theme.CHANGES, theme.TURNS])
def test_states_differ_in_symbol_word_and_fill(looks: dict[str, theme.Look]) -> None:
    for one, other in itertools.combinations(looks.values(), 2):
        assert one.symbol != other.symbol
        assert one.word != other.word
        assert one.fill != other.fill


def test_texts_and_lines_on_the_plate_can_be_read() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)
    assert min(contrast(ink, theme.PLATE) for ink in (theme.TEXT, theme.MUTED, theme.ALARM)) >= 4.5
    assert contrast(theme.LINE, theme.PLATE) >= 3


NO_FIGURES: list[tuple[Callable[[], Any], str]] = [
    (lambda: views.diff(Plan()), "nothing to compare"),
    (lambda: views.ledger(Run(), "day"), "by='day': one of role, plan"),
    (lambda: views.player(BAD).text(99), "there is no event 99"),
    (lambda: views.timeline(BAD, predicted={"33": 1}), "no step '33'.*'3'"),
    (lambda: views.timeline(BAD, predicted={"1": -1}), "step 1 at -1"),
    (lambda: views.timeline(BAD, predicted={"1": float("nan")}), "step 1 at nan"),
    *((partial(views.bars, values, "", "s"), "bars: ") for values in ({}, {"a": -1.0})),
    *(
        (partial(views.curves, lines, "", across="x", up="y"), "curves: ")
        for lines in ({}, {"a": {}}, {"a": {1: 1.0}, "b": {2: 1.0}}, {"a": {1: -1.0}})
    ),
    *(
        (partial(views.tallies, rows, "", wanted="good", of="x"), "tallies: ")
        for rows in (
            {},
            {"a": {}},
            {"a": {"bad": 1}},
            {"a": {"good": -1}},
            {"a": {"good": 1}, "b": {"bad": 1, "good": 1}},
        )
    ),
]


@pytest.mark.parametrize(("make", "message"), NO_FIGURES)
def test_what_can_not_be_drawn_is_an_error(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_view_changes_nothing() -> None:
    run = worlds.replanned()
    events, board = list(run.events), Run(run.events).board
    for make in (views.graph, views.board, views.timeline, views.diff, views.thoughts):
        make(run)
    views.timelines({"one": run, "other": run})
    views.timeline(run, predicted={"1": 0.0})
    assert run.events == events
    assert run.board == board


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    [
        "import sys, planexec_lite\nassert 'planexec_lab.views' not in sys.modules\nfrom planexec_lab import views\n"
        "views.graph(planexec_lite.Plan()); views.board(planexec_lite.Run())\n"
        "assert {'matplotlib', 'IPython', 'ipywidgets', 'numpy'} & set(sys.modules) == set()",
        "import sys\nfrom planexec_lab import views\nassert 'ipywidgets' not in sys.modules\n"
        "import planexec_lab.views.review_desk.draft\nassert callable(views.desk)\nassert 'ipywidgets' in sys.modules",
        "import sys\nfrom tests.views.worlds import deploy\nfrom planexec_lab import views\nviews.timeline(deploy())\n"
        "assert 'matplotlib.pyplot' not in sys.modules\nimport matplotlib\nmatplotlib.rcParams['font.size'] = 31\n"
        "before = dict.copy(matplotlib.rcParams)\nviews.timeline(deploy())\nassert before == dict.copy(matplotlib.rcParams)",
    ],
    ids=["no drawing library before it draws", "no widgets before one is asked for", "own settings stay"],
)
def test_what_is_not_needed_is_not_loaded_or_changed(script: str) -> None:
    assert printed(script) == []


# --- words that fit ---------------------------------------------------------------------------------------------------


@given(worlds.names, st.floats(20, 300))
def test_a_shortened_text_fits_and_keeps_its_ends(text: str, room: float) -> None:
    text = text_fitting.clean(text)
    short = text_fitting.fit(text, room, 11)
    assert text_fitting.width(short, 11) <= room
    if short != text:
        head, _, tail = short.partition("…")
        assert (text.startswith(head), text.endswith(tail)) == (True, True)


@given(worlds.names, st.floats(40, 300), st.integers(1, 3))
@example("\x1b\u200d🀀\u200d🀀", 40.0, 1)
def test_wrapped_lines_fit(text: str, room: float, most: int) -> None:
    lines = text_fitting.wrap_to(text_fitting.clean(text), room, 11, most)
    assert len(lines) <= most
    assert all(text_fitting.width(line.strip(), 11) <= room for line in lines)


def test_clean_text_is_one_line_and_is_measured_as_it_is_drawn() -> None:
    assert text_fitting.clean("a\n b\t\tc\x00d\u202ee\ud800") == "a b c\ufffdd\ufffde\ufffd"
    assert text_fitting.width("Deploy to production", 11) == pytest.approx(118, rel=0.03)
    assert text_fitting.width("i" * 10, 10) < text_fitting.width("m" * 10, 10) < text_fitting.width("数" * 10, 10)
