"""The verbs never raise, whatever the answer does, and the next check still works."""

import importlib
import os
import signal
import sys
import time
from pathlib import Path
from textwrap import indent
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from exercises import check, hint, progress, solution
from exercises.checker import book, guard, verbs
from exercises.checker.comparing import exactly
from exercises.checker.exercise import Trial, Wrong, copied, cut, find, shown, unforeseen
from exercises.checker.guard import TimeUp, guarded
from exercises.checker.purity import keeps_nothing
from exercises.checker.verbs import judged
from planexec_lite import Plan, Simulated, Toolbox, ToolExecutor, execute, meter, tool
from tests.exercises.answers import of_lesson, run_cell
from tests.guards import books

ID = "01.2"
LOOP = "def run(goal, planner, executor):\n"
ODD = {odd.pop("name"): odd for odd in yaml.safe_load(Path(__file__).with_name("odd_answers.yaml").read_text("utf-8"))}


def answer_with(body: str) -> dict[str, Any]:
    """A namespace in which the loop of exercise 01.2 has that body."""
    namespace = of_lesson("01")[ID].namespace()
    assert run_cell(LOOP + body, namespace).error is None
    return namespace


def right_answer() -> dict[str, Any]:
    namespace = of_lesson("01")[ID].namespace()
    run_cell(book.solved(of_lesson("01")[ID].answer), namespace)
    return namespace


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Exception ignored in. <function Popen")  # stopped again while it waits
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_an_odd_answer_gets_a_clear_outcome_and_the_next_check_works(odd: dict[str, Any]) -> None:
    before = (judged, Trial.want, Plan.problems, len, os.getcwd(), sys.stdout)
    outcome = judged(
        ID,
        answer_with(indent(odd["body"], "    ")),
        seconds=0.2,
        draw=False,
        patience=0.5 if odd.get("waits") else None,
    )
    assert outcome.status == odd["status"], outcome.text
    assert odd["says"] in " ".join(outcome.text.split()), outcome.text
    assert len(outcome.text) < 3000
    assert (verbs.judged, Trial.want, Plan.problems, len, os.getcwd(), sys.stdout) == before
    assert judged(ID, right_answer(), 30.0, draw=False).status == "right"


def test_a_cell_that_changes_the_checker_is_undone_by_the_next_verb(capsys: pytest.CaptureFixture[str]) -> None:
    namespace = right_answer() | {"check": check}
    exec(
        "import exercises\nexercises.checker.verbs.judged = lambda *a: print('hacked')\nexercises.checker.exercise.find = None",
        namespace,
    )
    exec('check("01.2")', namespace)
    assert "01.2 · Right" in capsys.readouterr().out


@pytest.fixture(params=["by an alarm", "on a thread"])
def limited(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "on a thread":
        monkeypatch.setattr(guard, "_alarm_rings", lambda: False)
    return str(request.param)


def test_a_right_answer_on_a_machine_that_crawls_is_right(limited: str, monkeypatch: pytest.MonkeyPatch) -> None:
    late = SimpleNamespace(process_time=time.process_time, monotonic=lambda: 100 * time.process_time())
    monkeypatch.setattr(guard, "time", late)  # 0.05 s of work take 5 s
    ended = guarded(lambda: burned(0.05), 1.0)
    assert ended.error is None


def burned(seconds: float) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


@pytest.mark.slow
def test_imports_are_free_and_never_interrupted(limited: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    burn = (
        "import time\nuntil = time.process_time() + 0.3\nwhile time.process_time() < until:\n    pass\nwhole = True\n"
    )
    name = "heavy_package.inner"
    (tmp_path / "heavy_package").mkdir()
    for file in ("heavy_package/__init__.py", "heavy_package/inner.py"):
        (tmp_path / file).write_text(burn, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    try:
        ended = guarded(lambda: importlib.import_module(name).whole, 0.2, patience=0.2)
        assert ended.value is True, ended.error
        endless = guarded(lambda: importlib.import_module(name) and [None for _ in iter(int, 1)], 0.2)
        assert isinstance(endless.error, TimeUp)
    finally:
        for loaded in [one for one in sys.modules if one.startswith("heavy")]:
            del sys.modules[loaded]


@pytest.mark.slow
def test_a_module_that_never_ends_is_no_import(limited: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "never_ends.py").write_text("while True:\n    pass\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(guard, "IMPORTING", 0.3)
    assert isinstance(guarded(lambda: importlib.import_module("never_ends"), 0.1).error, TimeUp)
    assert "never_ends" not in sys.modules


SLOW = """
import time
from exercises.checker import guard
guard.AGAIN = 0.001
look, deepest, depth = guard.Clock.look, 0, 0
def slow_look(*what):
    global deepest, depth
    depth += 1
    deepest = max(deepest, depth)
    until = time.monotonic() + 0.01
    while time.monotonic() < until:
        pass
    try:
        return look(*what)
    finally:
        depth -= 1
guard.Clock.look = slow_look
def circles():
    while True:
        pass
print(type(guard.guarded(circles, 0.1, ()).error).__name__, deepest)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no alarm signal")
def test_a_machine_that_is_slower_than_the_alarm_stops_an_answer_all_the_same(tmp_path: Path) -> None:
    assert books.run("-c", SLOW, scratch=tmp_path, timeout=60).stdout == "TimeUp 1\n"


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no alarm signal")
def test_the_alarm_leaves_the_signals_as_they_were() -> None:
    before = signal.getsignal(signal.SIGALRM)
    assert isinstance(guarded(lambda: [None for _ in iter(int, 1)], 0.05).error, TimeUp)
    assert signal.getsignal(signal.SIGALRM) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert guarded(lambda: meter.current.set(meter.Meter()), 1.0).error is None
    assert meter.current.get() is None


def test_verbs_name_the_exercises_and_never_raise(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in (check, hint, solution):
        for id in ("01.9", "99.1", "", "os", "../etc", 3, None):
            verb(id)
            assert "There is no exercise" in capsys.readouterr().out
    check("01.9")
    assert "Lesson 01 has 01.1, 01.2" in capsys.readouterr().out

    class Odd(str):
        def partition(self, separator: str) -> Any:
            raise ValueError("no name")

    for verb in (check, hint, solution, progress):
        verb(Odd())
        printed = capsys.readouterr().out
        assert "The checker itself failed; this is not your fault: ValueError: no name" in printed or verb is progress


def test_hints_come_one_by_one_and_solutions_without_markers(capsys: pytest.CaptureFixture[str]) -> None:
    verbs._HINTED.clear()
    for number in (1, 2):
        hint(ID)
        words = " ".join(capsys.readouterr().out.split())
        assert words == f"{ID} · Hint {number} of 2 {find(ID).hints[number - 1]}"
    hint(ID)
    assert f'There are 2 hints. `solution("{ID}")`' in capsys.readouterr().out
    solution("01.3")
    printed = capsys.readouterr().out
    assert 'history["add"]' in printed
    assert "BEGIN" not in printed
    assert "a + b" not in printed, "the broken code is no part of it"


def test_shown_and_drawn_values_are_the_same_on_every_run() -> None:
    assert shown({"b", "a"}) == "{'a', 'b'}"
    assert shown([({"x": {3, 1}},), set(), find, int]) == "[({'x': {1, 3}},), set(), find, int]"
    assert shown([object(), Simulated]) == "[<object>, Simulated]"
    assert cut("x" * 1000).count("x") == 230
    assert judged("01.1", {"whole": 1, "single": 4}).figures
    spaces: list[dict[str, Any]] = [{}, {}, {}]
    for space, text in zip(spaces, ("return 1", "return 1", "return 2"), strict=True):
        exec(f"def answer():\n    {text}\n", space)
    one, same, other = (unforeseen(space["answer"], 3) for space in spaces)
    assert one == same != other
    assert len(set(one)) == 3
    assert unforeseen(copied, 2) == unforeseen(copied, 2) != unforeseen(cut, 2)


def test_an_answer_that_changes_its_argument_is_told_so() -> None:
    given = {"rows": [1, 2]}, Plan.parse([{"tool": "look"}])
    trial = Trial()
    assert trial.call(lambda data, plan: sorted(data["rows"]) and plan.graph, *given) == {"1": ()}
    with pytest.raises(Wrong) as wrong:
        trial.call(lambda data, plan: data["rows"].pop(), *given)
    assert (wrong.value.wanted, trial.came) == (
        "`data` as it was before the call",
        "`data` after the call is {'rows': [1]}",
    )
    assert given[0] == {"rows": [1, 2]}, "the check's own data is not touched"


@pytest.mark.parametrize(
    ("ok", "rule"),
    [
        ("True", ""),
        ("len(asked) <= calls", verbs.KEPT),
        ("len(asked) < 2", verbs.FIRST),
        ("not outside.luck - {luck}", verbs.ANEW),
    ],
    ids=["keeps nothing", "is wrong in its second check", "is wrong in its second call", "is random in each process"],
)
def test_an_answer_that_keeps_something_is_run_again_and_found(ok: str, rule: str) -> None:
    answers, called = of_lesson("15")["15.1"], list[int]()
    namespace = answers.namespace() | {"outside": SimpleNamespace(luck=set())}
    source = book.solved(answers.answer)
    run_cell(source, namespace)
    right = namespace["superstep"]
    find("15.1").judge(Trial(False), lambda *values: called.append(1) or right(*values))
    head = f"from random import random\nluck, asked, calls = random(), [], {len(called)}\noutside.luck.add(luck)\n"
    tail = f"right = superstep\ndef superstep(*values):\n    asked.append(1)\n    return right(*values) if {ok} else 'maybe'\n"
    assert run_cell(f"{head}{source}\n{tail}", namespace).error is None
    outcome = judged("15.1", namespace, draw=False)
    assert outcome.status == ("wrong" if rule else "right"), outcome.text
    assert rule in " ".join(outcome.text.split())


MEMORY = yaml.safe_load(Path(__file__).with_name("memory.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", MEMORY)
def test_code_that_might_keep_something_is_noticed(case: dict[str, Any]) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__", "Plan": Plan}
    assert run_cell(case["cell"], namespace).error is None
    assert keeps_nothing(namespace["f"]) == case["keeps_nothing"]


def test_a_spy_among_the_tools_ends_the_answer_through_the_workers() -> None:
    trial = Trial()

    @tool(effects="none")
    def shout(text: str) -> str:
        """Shout the text."""
        trial.wrong("silence", "Nobody shouts here.")

    def answer(plan: Plan) -> Any:
        return execute(plan, ToolExecutor(Toolbox([shout])), workers=Simulated()).answer

    plan = Plan.parse([{"tool": "shout", "params": {"text": "now"}}])
    ended = guarded(lambda: trial.call(answer, plan), 5.0)
    assert isinstance(ended.error, Wrong)
    assert trial.called.startswith("answer(Plan(")


@pytest.mark.parametrize(
    ("came", "wanted", "same"),
    [
        ({"a": 1, "b": [2]}, {"b": [2], "a": 1}, True),
        ({"a": {"x": 1, "y": 2}}, {"a": {"y": 2, "x": 1}}, True),
        ([1], (1,), False),
        ({"a": [1]}, {"a": (1,)}, False),
        ([[1, 2]], [[2, 1]], False),
        ({"a": 1}, [["a", 1]], False),
        (True, 1, False),
        ({"a": 1.0}, {"a": 1}, False),
        ({1: "a"}, {"1": "a"}, False),
        ({"a": 1}, {"a": 1, "b": None}, False),
        (None, None, True),
    ],
)
def test_values_are_compared_with_their_types_and_dicts_without_order(came: Any, wanted: Any, same: bool) -> None:
    assert exactly(came, wanted) is same
    assert exactly(wanted, came) is same
