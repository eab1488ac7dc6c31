"""What holds for every figure: the same bytes everywhere, safe HTML, an alternative text, contrast, a light import."""

import hashlib
import itertools
import os
import pkgutil
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab import views
from planexec_lab.views.drawing import text_fitting, theme
from planexec_lite import Plan, Run
from tests.rounds import rounds
from tests.views import worlds
from tests.views.drawing import contrast

ROOT = Path(__file__).parents[2]
HOSTILE_RUN = worlds.run(worlds.HOSTILE_PLAN, slots=2)
FIGURES: dict[str, Callable[[], views.Figure]] = {
    "graph": lambda: views.graph(worlds.plan(worlds.DEPLOY)),
    "graph of run": lambda: views.graph(worlds.deploy(fails=["5"]), worlds.SECONDS),
    "graph of thirty": lambda: views.graph(worlds.layered(6, 5)),
    "graph of hostile": lambda: views.graph(worlds.run(worlds.HOSTILE_PLAN)),
    "graph of nothing": lambda: views.graph(Plan()),
    "board": lambda: views.board(worlds.deploy(fails=["5"], retries=1)),
    "board of hostile": lambda: views.board(worlds.run(worlds.HOSTILE_PLAN)),
    "board of nothing": lambda: views.board(Run()),
    "timeline": lambda: views.timeline(worlds.deploy()),
    "timeline of failure": lambda: views.timeline(worlds.deploy(fails=["5"], retries=2)),
    "timeline of hostile": lambda: views.timeline(worlds.run(worlds.HOSTILE_PLAN, slots=2)),
    "timeline of nothing": lambda: views.timeline(Run()),
    "graph of replan": lambda: views.graph(worlds.replanned(), worlds.SECONDS),
    "board of replan": lambda: views.board(worlds.replanned()),
    "board midway": lambda: views.board(worlds.midway()),
    "timeline of replan": lambda: views.timeline(worlds.replanned()),
    "timeline midway": lambda: views.timeline(worlds.midway()),
    "timeline of streaming": lambda: views.timeline(worlds.streamed()),
    "timeline predicted": lambda: views.timeline(
        worlds.deploy(fails=["5"], retries=2), predicted={str(n): 20.0 * n for n in range(1, 9)}
    ),
    "timeline of hostile predicted": lambda: views.timeline(
        worlds.run(worlds.HOSTILE_PLAN, 1), predicted=dict.fromkeys(HOSTILE_RUN.board.steps, 1.0)
    ),
    "timelines": lambda: views.timelines({"good": worlds.deploy(), "bad": worlds.deploy(fails=["5"])}),
    "timelines of thirty": lambda: views.timelines({str(n): worlds.run(worlds.layered(6, 5), n) for n in (2, 5)}),
    "timelines of hostile": lambda: views.timelines(dict.fromkeys(worlds.HOSTILE, HOSTILE_RUN)),
    "timelines of nothing": lambda: views.timelines({"": Run()}),
    "diff": lambda: views.diff(worlds.replanned()),
    "diff of hostile": lambda: views.diff(worlds.HOSTILE_PLAN, worlds.plan([("0", worlds.HOSTILE[1], 1, [])])),
    "diff of nothing": lambda: views.diff(Plan(), Plan()),
    "sequence": lambda: views.sequence(worlds.replanned()),
    "curves": lambda: views.curves(
        {"a": {1: 2.0, 2: 1}, "b": {1: 3.0, 2: 3}}, "It falls", across="cooks", up="minutes"
    ),
    "tallies": lambda: views.tallies({"a": {"bad": 2, "good": 1}}, "One of three", wanted="good", of="answers"),
    "tallies of hostile": lambda: views.tallies(
        {name: {worlds.HOSTILE[0]: 1, "good": 0} for name in worlds.HOSTILE}, worlds.HOSTILE[1], wanted="good", of="x"
    ),
    "sequence midway": lambda: views.sequence(worlds.midway()),
    "sequence of hostile": lambda: views.sequence(worlds.run(worlds.HOSTILE_PLAN)),
    "sequence of nothing": lambda: views.sequence(Run()),
    "spans": lambda: views.spans(worlds.replanned()),
    "spans midway": lambda: views.spans(worlds.midway()),
    "spans of hostile": lambda: views.spans(worlds.run(worlds.HOSTILE_PLAN)),
    "spans of nothing": lambda: views.spans(Run()),
    "thoughts": lambda: views.thoughts(worlds.thinking()),
    "thoughts of nothing": lambda: views.thoughts(Run()),
}
SVGS = [name for name in FIGURES if not name.startswith(("board", "diff", "thoughts"))]
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


def test_no_module_of_views_takes_the_place_of_a_public_name() -> None:
    assert {module.name for module in pkgutil.iter_modules(views.__path__)} & set(views.__all__) == set()


@pytest.mark.slow
def test_the_bytes_are_the_same_under_every_hash_seed_locale_and_own_settings(tmp_path: Path) -> None:
    script = (
        "import hashlib\nfrom tests.views.test_figures import FIGURES\n"
        "for name, make in FIGURES.items():\n"
        "    figure = make()\n"
        "    print(name, hashlib.sha256((figure._repr_html_() + figure.text).encode()).hexdigest())\n"
    )
    (tmp_path / "matplotlibrc").write_text(
        "font.size: 30\naxes.facecolor: red\nsvg.fonttype: path\nlines.linestyle: --\n"
    )
    outputs = []
    for seed, extra in (("1", {}), ("2", {"MATPLOTLIBRC": str(tmp_path), "LC_ALL": "C", "TZ": "Asia/Tokyo"})):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", **extra}
        done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    here = {name: hashlib.sha256((f._repr_html_() + f.text).encode()).hexdigest() for name, f in _made()}
    assert outputs[0] == "".join(f"{name} {digest}\n" for name, digest in here.items())


def _made() -> list[tuple[str, views.Figure]]:
    return [(name, make()) for name, make in FIGURES.items()]


@pytest.mark.parametrize("name", FIGURES)
def test_the_html_holds_only_what_an_untrusted_notebook_shows(name: str) -> None:
    figure = FIGURES[name]()
    tags = parse(figure)
    assert {tag for tag, _ in tags} <= ALLOWED
    assert not any(key.startswith("on") for _, attributes in tags for key in attributes)
    assert "<svg" not in figure._repr_html_().lower()
    assert figure.width <= 720
    assert all(style for tag, attributes in tags if tag == "figure" for style in [attributes.get("style")])


@pytest.mark.parametrize("name", SVGS)
def test_the_picture_has_an_alternative_text_and_is_well_formed(name: str) -> None:
    figure = FIGURES[name]()
    (image,) = (attributes for tag, attributes in parse(figure) if tag == "img")
    assert image["alt"] == figure.alt
    assert text_fitting.clean(figure.title) in figure.alt
    root = ElementTree.fromstring(svg_in(figure))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not [element for element in root.iter() if element.tag.endswith(("script", "foreignObject", "image"))]
    assert not [key for element in root.iter() for key in element.attrib if key.startswith("on")]


@pytest.mark.parametrize("name", SVGS)
def test_no_text_is_smaller_than_11_pixels(name: str) -> None:
    figure = FIGURES[name]()
    root = ElementTree.fromstring(figure.svg)
    shown = figure.width / float(root.attrib["viewBox"].split()[2])
    sizes = []
    for element in root.iter("{http://www.w3.org/2000/svg}text"):
        style = element.attrib.get("style", "")
        size = element.attrib.get("font-size") or next(
            part for part in style.replace(";", " ").split() if part.endswith("px")
        )
        sizes.append(float(size.removesuffix("px")) * shown)
    assert sizes
    assert min(sizes) >= 10.99


@pytest.mark.parametrize("name", ["graph of run", "graph of hostile", "board", "board of hostile"])
def test_every_step_stands_in_the_text_with_its_state(name: str) -> None:
    lines = FIGURES[name]().text.splitlines()
    shown = [line.split()[0] for line in lines if any(str(look) in line for look in theme.LOOKS.values())]
    assert shown == ([str(n) for n in range(10)] if "hostile" in name else list(worlds.SECONDS))


@pytest.mark.parametrize("name", ["timeline", "timeline of failure"])
def test_every_step_stands_in_the_text_of_a_timeline(name: str) -> None:
    text = FIGURES[name]().text
    ran = {id for id in worlds.SECONDS if f"step {id} " in text or f"step {id}," in text}
    assert ran == (set("12345") if "failure" in name else set(worlds.SECONDS))


@pytest.mark.slow
@rounds(30)
@given(st.lists(worlds.names, min_size=1, max_size=4))
def test_hostile_names_never_leave_their_place(given_names: list[str]) -> None:
    plan = worlds.plan([(str(n), name, 1, []) for n, name in enumerate(given_names)])
    run = worlds.run(worlds.plan([(str(n), name.replace("\ud800", ""), 1, []) for n, name in enumerate(given_names)]))
    for figure in (
        views.graph(plan),
        views.graph(run),
        views.board(run),
        views.sequence(run),
        views.diff(plan, Plan()),
        views.timelines({given_names[0]: run}),
    ):
        assert {tag for tag, _ in parse(figure)} <= ALLOWED
        assert "\x00" not in figure.text
        figure._repr_html_().encode()
        if figure.svg:
            ElementTree.fromstring(svg_in(figure))


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


def test_the_kit_loads_no_views_and_the_views_load_no_matplotlib() -> None:
    script = (
        "import sys, planexec_lite\nassert 'planexec_lab.views' not in sys.modules\n"
        "from planexec_lab import views\nfrom planexec_lite import Plan, Run\nviews.graph(Plan()); views.board(Run())\n"
        "print([name for name in ('matplotlib', 'IPython', 'ipywidgets', 'numpy') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.slow
def test_a_timeline_leaves_pyplot_alone_and_the_persons_settings_as_they_were() -> None:
    script = (
        "import sys\nfrom tests.views.worlds import deploy\nfrom planexec_lab import views\n"
        "views.timeline(deploy())\nassert 'matplotlib.pyplot' not in sys.modules\n"
        "import matplotlib\nmatplotlib.rcParams['font.size'] = 31\nbefore = dict.copy(matplotlib.rcParams)\n"
        "views.timeline(deploy())\nprint(before == dict.copy(matplotlib.rcParams))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_a_view_changes_nothing() -> None:
    run = worlds.replanned()
    events, board = list(run.events), Run(run.events).board
    for make in (views.graph, views.board, views.timeline, views.diff, views.sequence, views.thoughts):
        make(run)
    views.timelines({"one": run, "other": run})
    views.timeline(run, predicted={"1": 0.0})
    assert run.events == events
    assert run.board == board
